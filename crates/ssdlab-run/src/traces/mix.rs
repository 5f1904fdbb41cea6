//! Merges several traces into one: applications that share a drive.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault, Nanos};
use ssdlab_workload::twins::Twin;
use ssdlab_workload::{
    App, Described, Merge, Offset, Op, Placing, Reach, Record, Select, Source, Written, lay_out,
    twin_in,
};

use super::out::Out;
use super::{Controlled, Member, Members, Reading, file_of, nameless, time, twin_of};
use crate::control::Control;

/// An application: a trace or a twin, and how to place its requests in time and address space.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppOrder {
    /// Its name.
    pub name: String,
    /// Its trace, `FILE` or `FILE:format`. If no such file exists, the name of a twin, such as
    /// `dlv/hm0`.
    pub trace: String,
    /// The submission queue of all its requests. If absent, the queue in the trace, which is
    /// usually 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u8>,
    /// Factor on the times between its requests; absent for 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Arrival time of its first request, such as `"10s"`; absent for 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Offset added to its addresses, such as `"64GiB"`. If absent or `auto`, its addresses follow
    /// those of the applications before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
}

/// Applications, and the settings common to all of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixOrder {
    /// The applications.
    pub apps: Vec<AppOrder>,
    /// Whether applications without an explicit offset keep their addresses, and so share them.
    #[serde(default)]
    pub share_addresses: bool,
    /// How to read the traces. The limit applies to the mix.
    #[serde(default)]
    pub reading: Reading,
}

/// Report on a written mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mixed {
    /// The output file, as the user named it.
    pub out: String,
    /// The format that was written.
    pub format: &'static str,
    /// Counts of the written requests. In JSON, its fields stand beside the others.
    #[serde(flatten)]
    pub written: Written,
    /// Remarks for the user on how the traces were read.
    pub remarks: Vec<String>,
    /// The applications.
    pub apps: Vec<MixedApp>,
}

/// An application in a mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MixedApp {
    /// Its name.
    pub name: String,
    /// Its trace or twin, as the user named it.
    pub trace: String,
    /// Its original, such as "twin of hm_0 (DLV)"; none for a trace.
    pub twin: Option<String>,
    /// The format that its trace was read in; `twin` for a twin.
    pub format: &'static str,
    /// The submission queue of all its requests. If absent, each request keeps the queue in the
    /// trace.
    pub queue: Option<u8>,
    /// Factor on the times between its requests.
    pub scale: f64,
    /// Arrival time of its first request, in microseconds.
    pub start_us: f64,
    /// Offset added to its addresses, in bytes.
    pub shift_bytes: i64,
    /// Its reads and writes in the mix.
    pub requests: u64,
    /// Its trims in the mix.
    pub trims: u64,
    /// Its flushes in the mix.
    pub flushes: u64,
}

impl AppOrder {
    /// Returns the name of this option in messages.
    fn place(&self, key: &str) -> String {
        format!("{}@{key}", self.name)
    }

    /// Refuses a trace that cannot be read twice. The first pass finds its addresses, and the
    /// second reads its requests.
    fn check_twice(&self) -> Result<(), Fault> {
        let path = file_of(&self.trace)?;
        if path.is_file() || !path.exists() {
            return Ok(());
        }
        Err(Fault::new(path.display().to_string(), "is no file, and would be read twice")
            .expected("a file")
            .hint("with --share-addresses it is read once"))
    }

    /// Returns the queue, time scale and start time of its requests, without the address offset.
    pub(crate) fn placing(&self) -> Result<Placing, Fault> {
        let scale = self.scale.unwrap_or(1.0);
        if !(scale.is_finite() && scale > 0.0) {
            let fault = Fault::new(self.place("scale"), "invalid value").got(scale);
            return Err(fault.expected("a number above 0"));
        }
        let start = time(&self.place("start"), self.start.as_deref())?.unwrap_or(Nanos::ZERO);
        Ok(Placing { queue: self.queue, scale, start, shift: 0 })
    }

    /// Returns the address offset.
    pub(crate) fn offset(&self, shared: bool) -> Result<Offset, Fault> {
        let text = match self.offset.as_deref() {
            None if shared => return Ok(Offset::By(0)),
            None | Some("auto") => return Ok(Offset::Behind),
            Some(text) => text,
        };
        let wrong = || {
            let fault = Fault::new(self.place("offset"), "invalid value");
            let expected = "auto, or a size of whole sectors below 2^62 bytes, such as \"64GiB\"";
            fault.got(format!("{text:?}")).expected(expected)
        };
        let bytes = if text == "0" { Ok(Bytes::new(0)) } else { text.parse::<Bytes>() };
        let bytes = bytes.map_err(|_| wrong())?.get();
        let fits = bytes.is_multiple_of(SECTOR_BYTES) && bytes < 1 << 62;
        if fits { Ok(Offset::By(bytes / SECTOR_BYTES)) } else { Err(wrong()) }
    }
}

/// A mix that is ready to be read, and descriptions of its applications.
pub(crate) struct OpenMix {
    /// The applications merged.
    pub merge: Merge,
    /// The applications, with their requests not counted yet.
    pub apps: Vec<MixedApp>,
    /// Remarks for the user on how the traces are read.
    pub remarks: Vec<String>,
}

/// Opens the traces of a mix and lays out their addresses; `None` if stopped. For the layout, it
/// may have to read each trace to its end. `control` must have been made for one plan.
///
/// # Errors
/// When a trace cannot be read or is invalid, or when a setting of an application is invalid.
pub(crate) fn open_mix(order: &MixOrder, control: &Control) -> Result<Option<OpenMix>, Fault> {
    let mut placings: Vec<Placing> =
        order.apps.iter().map(AppOrder::placing).collect::<Result<_, _>>()?;
    let reading = order.reading.heeding(control);
    let open = |nth: usize| reading.open(&order.apps[nth].trace).map(Member::trace);
    let twins = order.apps.iter().map(|app| twin_of(&app.trace, None));
    let twins: Vec<Option<&Twin>> = twins.collect::<Result<_, _>>()?;
    let seed = order.reading.seed;
    let members = Members { apps: &order.apps, twins: &twins, seed, open: &open };
    let found = shifts(&members, order.share_addresses, control, 0, 0.5)?;
    let Some(found) = found else { return Ok(None) };
    for (placing, shift) in placings.iter_mut().zip(found) {
        placing.shift = shift;
    }
    let opened = members.open_all()?;
    let remarks = opened.iter().flat_map(Member::remarks).collect();
    let parts = order.apps.iter().zip(&opened).zip(&placings);
    let apps = parts.map(|((app, member), placing)| describe(app, member, placing)).collect();
    Ok(Some(OpenMix { merge: merged(&order.apps, opened, placings), apps, remarks }))
}

/// Returns the label of an application's requests. The label of a twin names its original.
pub(crate) fn member_label(name: &str, twin: Option<&str>) -> String {
    twin.map_or_else(|| name.to_owned(), |title| format!("{name} ({title})"))
}

/// Merges members, one for each of these applications.
pub(crate) fn merged(apps: &[AppOrder], members: Vec<Member>, placings: Vec<Placing>) -> Merge {
    let parts = apps.iter().zip(members).zip(placings);
    let merged = parts.map(|((app, member), placing)| App {
        name: member_label(&app.name, member.title().as_deref()),
        source: Box::new(member),
        placing,
    });
    Merge::new(merged.collect())
}

/// Returns the sectors to add to the addresses of each application; `None` if stopped. It may have
/// to read each trace to its end. This reading is `part` of the work of plan `index`.
///
/// # Errors
/// When a trace cannot be read or is invalid, or when a setting of an application is invalid.
pub(crate) fn shifts(
    members: &Members<'_>,
    is_shared: bool,
    control: &Control,
    index: usize,
    part: f64,
) -> Result<Option<Vec<i64>>, Fault> {
    let apps = members.apps;
    let offsets = apps.iter().map(|app| app.offset(is_shared));
    let offsets: Vec<Offset> = offsets.collect::<Result<_, _>>()?;
    let mut reaches = vec![Reach::default(); offsets.len()];
    if offsets.contains(&Offset::Behind) {
        apps.iter().try_for_each(AppOrder::check_twice)?;
        // Open all traces first, so that an unreadable one fails before a long read of another.
        let opened = members.open_all()?;
        let step = part / apps.len() as f64;
        for (nth, member) in opened.into_iter().enumerate() {
            if let Some(reach) = member.reach() {
                reaches[nth] = reach;
                continue;
            }
            let source = Controlled::new(member, control, index);
            let part = (step * nth as f64, step * (nth + 1) as f64);
            match reach(Controlled { part, ..source })? {
                None => return Ok(None),
                Some(reach) => reaches[nth] = reach,
            }
        }
    }
    let places: Vec<(Reach, Offset)> = reaches.into_iter().zip(offsets).collect();
    Ok(Some(lay_out(&places)))
}

fn describe(app: &AppOrder, member: &Member, placing: &Placing) -> MixedApp {
    MixedApp {
        name: app.name.clone(),
        trace: app.trace.clone(),
        twin: member.title(),
        format: member.format(),
        queue: placing.queue,
        scale: placing.scale,
        start_us: placing.start.as_ns() as f64 / 1e3,
        shift_bytes: placing.shift * SECTOR_BYTES as i64,
        requests: 0,
        trims: 0,
        flushes: 0,
    }
}

/// Returns the range of addresses of an application; `None` if stopped.
fn reach(mut source: Controlled<'_, Member>) -> Result<Option<Reach>, Fault> {
    const BATCH: usize = 4096;
    let mut reach = Reach::default();
    let mut batch = Vec::with_capacity(BATCH);
    while source.fill(&mut batch, BATCH)? > 0 {
        reach.take(&batch);
        batch.clear();
    }
    Ok((!source.is_stopped()).then_some(reach))
}

/// Merges traces into one file. The file appears only when it is complete. If the user stops the
/// merge, no file appears and the result is `None`. `control` must have been made for one plan.
///
/// # Errors
/// Those of [`open_mix`], and when `out` cannot be written.
pub fn mix(order: &MixOrder, out: &str, control: &Control) -> Result<Option<Mixed>, Fault> {
    let selection = order.reading.selection()?;
    let inputs: Vec<PathBuf> =
        order.apps.iter().map(|app| file_of(&app.trace)).collect::<Result<_, _>>()?;
    let target = Out::new(out, &inputs)?;
    let format = target.format;
    let Some(OpenMix { merge, mut apps, mut remarks }) = open_mix(order, control)? else {
        return Ok(None);
    };
    control.keep();
    let counted = Counted { inner: Select::new(merge, selection), counts: BTreeMap::new() };
    let mut source = Controlled { part: (0.5, 1.0), ..Controlled::new(counted, control, 0) };
    let stopped = || control.stop.load(std::sync::atomic::Ordering::Relaxed);
    let Some(written) = target.write(&mut source, |_| Ok(!stopped()))? else { return Ok(None) };
    remarks.extend(source.inner.inner.inner().warnings());
    let counts = &source.inner.counts;
    let twins: Vec<String> = counts.keys().filter(|of| twin_in(of).is_some()).cloned().collect();
    remarks.extend(nameless(out, format, &twins));
    for app in &mut apps {
        // Its own requests, and those of twins within its trace.
        let own = counts.iter().filter(|(of, _)| {
            let rest = of.strip_prefix(&app.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" (twin of "))
        });
        for (_, [requests, trims, flushes]) in own {
            app.requests += requests;
            app.trims += trims;
            app.flushes += flushes;
        }
    }
    Ok(Some(Mixed { out: out.into(), format: format.name(), written, remarks, apps }))
}

/// Counts the requests of each device: reads and writes, trims, flushes.
struct Counted<S> {
    inner: S,
    counts: BTreeMap<String, [u64; 3]>,
}

impl<S: Source> Described for Counted<S> {
    fn name(&self) -> &str {
        self.inner.name()
    }
}

impl<S: Source> Source for Counted<S> {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        let before = batch.len();
        let count = self.inner.fill(batch, most)?;
        for (index, record) in batch[before..].iter().enumerate() {
            let Some(device) = self.inner.device(index) else { continue };
            if !self.counts.contains_key(device) {
                self.counts.insert(device.to_owned(), [0; 3]);
            }
            let counts = self.counts.get_mut(device).expect("just put there");
            counts[match record.op {
                Op::Read | Op::Write => 0,
                Op::Trim => 1,
                Op::Flush => 2,
            }] += 1;
        }
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
