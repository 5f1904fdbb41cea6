//! Commands on traces alone: measure them, convert them to other formats, and merge several.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use ssdlab_base::{Fault, Nanos, Stop};
use ssdlab_workload::{
    Described, Format, Record, Select, Selection, Source, Trace, TraceOptions, WRITABLE, open_with,
    parse_spec,
};

use crate::catalog::{self, RunConfig};
use crate::control::{Control, Progress};

mod convert;
mod info;
mod member;
mod mix;
mod out;

pub use convert::{Converted, convert};
pub use info::{TraceInfo, info};
pub(crate) use member::{Member, Members, twin_of};
pub use mix::{AppOrder, MixOrder, Mixed, MixedApp, mix};
pub(crate) use mix::{member_label, merged, shifts};

/// How to read traces, and which part of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// Settings `workload.trace.KEY=VALUE`.
    pub set: Vec<String>,
    /// Start time of the part, such as `"10s"`, counted from the first request.
    pub from: Option<String>,
    /// End time of the part. Requests at this time or later are left out.
    pub to: Option<String>,
    /// Sample of the addresses: one page of 4 KiB in this many.
    pub one_page_in: Option<u64>,
    /// Seed of the sample and of twins.
    pub seed: u64,
    /// The most requests of each trace.
    pub limit: Option<u64>,
    /// Ends the reading of each trace early once it is set.
    #[serde(skip)]
    pub stop: Stop,
}

impl Reading {
    /// Returns a copy that ends early when `control` is stopped.
    fn heeding(&self, control: &Control) -> Reading {
        Reading { stop: control.stop(), ..self.clone() }
    }

    /// Returns the part of a trace to read.
    ///
    /// # Errors
    /// When a text is not a time, or when the part ends before it starts.
    fn selection(&self) -> Result<Selection, Fault> {
        let from = time("--from", self.from.as_deref())?.unwrap_or(Selection::ALL.from);
        let to = time("--to", self.to.as_deref())?.unwrap_or(Selection::ALL.to);
        if to <= from {
            let expected = format!("a time after {from}");
            return Err(Fault::new("--to", "invalid value").got(to).expected(expected));
        }
        let one_page_in = self.one_page_in.unwrap_or(1).max(1);
        let limit = self.limit.unwrap_or(u64::MAX);
        Ok(Selection { from, to, one_page_in, seed: self.seed, limit })
    }

    /// Returns the options for the readers of traces.
    fn options(&self) -> Result<TraceOptions, Fault> {
        let key = |set: &String| set.split('=').next().unwrap_or_default().trim().to_owned();
        if let Some(other) = self.set.iter().find(|set| !key(set).starts_with("workload.trace.")) {
            let expected = "workload.trace.device, .tick, .unsorted, .columns or .max_request";
            let fault = Fault::new(format!("--set {other}"), "no setting of how a trace is read");
            return Err(fault.got(key(other)).expected(expected));
        }
        let layers = catalog::device(crate::PRESETS[0].name)?;
        let layers = self.set.iter().try_fold(layers, |layers, set| layers.set(set))?;
        let options = layers.resolve::<RunConfig>()?.0.split().1.trace;
        Ok(TraceOptions { stop: self.stop.clone(), ..options })
    }

    /// Opens a trace whose requests carry their devices.
    fn open(&self, spec: &str) -> Result<Trace, Fault> {
        let (path, format) = parse_spec(spec)?;
        let options = self.options()?;
        let missed = |fault: Fault| match twin_of(spec, None) {
            Ok(Some(twin)) => {
                let twin = &twin.name;
                fault.hint(format!("a workload has this name: ssdlab workload show {twin}"))
            }
            _ => fault,
        };
        Ok(open_with(&path, format, &options).map_err(missed)?.with_devices())
    }

    /// Opens the selected part of a trace.
    fn open_part(&self, spec: &str) -> Result<Select<Trace>, Fault> {
        Ok(Select::new(self.open(spec)?, self.selection()?))
    }
}

fn time(option: &str, text: Option<&str>) -> Result<Option<Nanos>, Fault> {
    let wrong = |text: &str| {
        let expected = "a time with its unit, such as \"10s\"";
        Fault::new(option, "invalid value").got(format!("{text:?}")).expected(expected)
    };
    text.map(|text| text.parse().map_err(|_: String| wrong(text))).transpose()
}

/// Returns the fault for a trace without any request left.
fn nothing_left(name: &str) -> Fault {
    Fault::new(name, "no request is left")
        .expected("at least one within --from, --to and --sample-addresses")
}

/// How certain the format of a trace is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The user named the format.
    Named,
    /// The first lines match this format only.
    Recognized,
    /// The first lines match other formats as well.
    Ambiguous,
}

/// A source that ends when it is stopped, and that reports its progress.
struct Controlled<'a, S> {
    inner: S,
    control: &'a Control,
    progress: &'a Progress,
    handed_out: u64,
    /// Start and end of this source's share of the whole work, from 0 to 1.
    part: (f64, f64),
}

impl<'a, S: Source> Controlled<'a, S> {
    fn new(inner: S, control: &'a Control, index: usize) -> Controlled<'a, S> {
        Controlled {
            inner,
            control,
            progress: &control.progress[index],
            handed_out: 0,
            part: (0.0, 1.0),
        }
    }

    /// Returns whether the user stopped it.
    fn is_stopped(&self) -> bool {
        self.control.stop.load(Ordering::Relaxed)
    }
}

impl<S: Source> Described for Controlled<'_, S> {
    fn name(&self) -> &str {
        self.inner.name()
    }
}

impl<S: Source> Source for Controlled<'_, S> {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        let share = self.inner.progress().map(|share| {
            let (begin, end) = self.part;
            begin + share * (end - begin)
        });
        self.progress.note(share, self.handed_out);
        if self.is_stopped() {
            return Ok(0);
        }
        let count = self.inner.fill(batch, most)?;
        self.handed_out += count as u64;
        Ok(count)
    }

    fn expected(&self) -> Option<u64> {
        self.inner.expected()
    }

    fn progress(&self) -> Option<f64> {
        self.inner.progress()
    }

    fn line(&self, index: usize) -> Option<u64> {
        self.inner.line(index)
    }

    fn device(&self, index: usize) -> Option<&str> {
        self.inner.device(index)
    }
}

/// Returns a remark if the written format loses the names of these twins.
fn nameless(out: &str, format: Format, twins: &[String]) -> Option<String> {
    let names = matches!(format, Format::Ssdlab | Format::Parquet);
    (!names && !twins.is_empty()).then(|| {
        let twins = twins.join(", ");
        format!("{out}: {format} does not tell twins: nothing in it says that it holds {twins}")
    })
}

/// A trace format, as the documentation lists it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FormatInfo {
    /// The name that follows `FILE:`.
    pub name: &'static str,
    /// A description of the format.
    pub summary: &'static str,
    /// The columns of a request.
    pub columns: &'static str,
    /// The unit of the time column.
    pub time_unit: String,
    /// Whether ssdlab can write it, too.
    pub is_written: bool,
}

/// Returns every format that ssdlab reads. Recognition prefers the earlier ones.
pub fn formats() -> Vec<FormatInfo> {
    let about = |format: &Format| FormatInfo {
        name: format.name(),
        summary: format.summary(),
        columns: format.columns(),
        time_unit: format.time_unit(),
        is_written: WRITABLE.contains(format),
    };
    Format::ALL.iter().map(about).collect()
}

/// Returns the file of a trace that is named as `FILE` or `FILE:format`.
///
/// # Errors
/// When the name is not valid.
pub fn file_of(spec: &str) -> Result<PathBuf, Fault> {
    parse_spec(spec).map(|(path, _)| path)
}
