//! What is to be run: a device, a scheme, settings, a workload or a trace.

mod options;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault, Nanos};
use ssdlab_config::{Effective, Layers};
use ssdlab_core::config::catalogue::{Entry, PRESETS, SCHEMES};
use ssdlab_core::config::{Refusal, StartConfig};
use ssdlab_core::{DriveConfig, Resolved};
use ssdlab_workload::twins::Twin;
use ssdlab_workload::{Generator, WorkloadConfig, parse_spec};

use crate::chips::simulated;
use crate::observe::Wanted;
use crate::shared::InCommon;
use crate::traces::AppOrder;
use crate::{mix, state, twin};

/// A drive and its closed-form workload.
pub type RunConfig = DriveConfig<WorkloadConfig>;

/// One run, as asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// The preset.
    pub device: String,
    /// Config files, later ones before earlier ones.
    pub config: Vec<PathBuf>,
    /// Assignments `key=value`, later ones before earlier ones.
    pub set: Vec<String>,
    /// The scheme; empty for `conventional`.
    pub scheme: String,
    /// A trace, `FILE` or `FILE:format`.
    pub trace: Option<String>,
    /// A closed-form workload or a twin, by name; not beside a trace.
    pub workload: Option<String>,
    /// Traces and twins that run at once, in queues and addresses of their own; beside neither.
    pub mix: Vec<AppOrder>,
    /// The seed of all chance.
    pub seed: u64,
    /// Requests after which the workload ends.
    pub limit: Option<u64>,
    /// What is left out of the statistics: a number of requests, or a time with its unit.
    pub warmup: Option<String>,
    /// `steady`: random overwriting until write amplification settles.
    pub precondition: Option<String>,
    /// How often the workload runs, each time from where the last has left the drive; absent for once.
    pub replays: Option<u32>,
    /// The share of the blocks that are worn out after which the workload runs no more, such as `5%`.
    pub until_worn: Option<String>,
    /// Factor on the times between arrivals; absent for 1.
    pub time_scale: Option<f64>,
    /// Requests kept outstanding, in place of arrival times.
    pub closed: Option<u32>,
    /// Whether addresses beyond the drive are folded into it.
    pub fit: bool,
    /// A file with the state in which the drive begins, as `ssdlab state save` wrote it.
    pub state: Option<PathBuf>,
    /// Whether invariants are checked after every event.
    pub paranoid: bool,
    /// Whether the result holds what a report draws.
    pub detail: bool,
    /// A Parquet file for a row a request.
    pub log: Option<PathBuf>,
    /// A Parquet file for a row an interval.
    pub series: Option<PathBuf>,
    /// Length of these intervals and of those of a report; absent for as fine as some hundred are.
    pub interval: Option<String>,
    /// A file for what every part of the drive does, in the format of the Perfetto viewer.
    pub timeline: Option<PathBuf>,
    /// How long the timeline is; absent for 10 ms.
    pub timeline_span: Option<String>,
    /// A name for the result.
    pub label: Option<String>,
}

/// What is left out of the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// The first requests.
    Requests(u64),
    /// What arrives before this time.
    Time(Nanos),
}

/// A plan whose every part has been checked.
#[derive(Debug)]
pub struct Prepared {
    /// As asked for.
    pub plan: Plan,
    /// The drive in flat numbers.
    pub resolved: Arc<Resolved>,
    /// The whole config and the origin of each value.
    pub effective: Effective,
    /// The closed-form workload.
    pub workload: WorkloadConfig,
    /// The twin that runs in its place.
    pub twin: Option<Cow<'static, Twin>>,
    /// The mix of traces that runs in its place.
    pub(crate) mix: Option<mix::Layout>,
    /// What it has in common with other plans.
    pub(crate) shared: InCommon,
    /// What is left out of the statistics.
    pub warmup: Warmup,
    /// How often the workload runs.
    pub replays: u32,
    /// The share of the blocks that are worn out after which it runs no more.
    pub until_worn: Option<f64>,
    /// Factor on the times between arrivals.
    pub time_scale: f64,
    /// Whether the drive is overwritten until it is steady.
    pub steady: bool,
    /// What is kept of the run besides its figures.
    pub wanted: Wanted,
}

/// The settings of a workload that a twin has, too, after `workload.`.
const OF_TWINS: [&str; 4] = ["hints", "overlap", "read_theta", "small_in_page"];
/// Those of them that nothing else has.
const ONLY_OF_TWINS: &[&str] = OF_TWINS.split_at(1).1;
/// The number of the layer that is the device.
const PRESET: u32 = 1;

impl Plan {
    /// Checks everything that can be checked before the run.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn prepare(&self) -> Result<Prepared, Fault> {
        if self.state.is_some() && self.precondition.is_some() {
            return Err(Fault::new("--precondition", "a way to precondition beside --state")
                .expected("one or the other: a saved drive is as steady as it was saved"));
        }
        let (config, effective) = self.resolve()?;
        let (drive, mut workload) = config.split();
        self.check_workload_keys(&effective)?;
        self.check_options(&effective, &drive, &workload)?;
        if let Some(limit) = self.limit {
            workload.requests = workload.requests.min(limit);
        }
        let typed = |key: &str| self.is_typed(&effective, key);
        let resolved = Resolved::typed(&drive, self.seed, &typed)
            .map_err(|refusal| refused(&effective, refusal))?;
        let mut twin = twin::of(self)?.map(Cow::Borrowed);
        if let Some(twin) = &mut twin {
            if let Some(overlap) = workload.overlap {
                *twin = Cow::Owned(twin.overlapping(overlap));
            }
            if let Some(theta) = workload.read_theta {
                let reshaped = twin.reading_by(theta);
                *twin = Cow::Owned(reshaped.map_err(|fault| at_origin(&effective, fault))?);
            }
            if let Some(within) = workload.small_in_page {
                *twin = Cow::Owned(twin.small_in_page(within));
            }
            twin::check_queues(twin, &effective, drive.host.queues)?;
            let source = twin.source(self.seed)?.with_hints(&workload.hints, self.seed);
            source.map_err(|fault| at_origin(&effective, fault))?;
        } else if !self.reads_traces() {
            Generator::new(&workload, self.seed).map_err(|fault| at_origin(&effective, fault))?;
        }
        if let Some(spec) = &self.trace {
            check_rereadable(spec)?;
        }
        let mix = mix::of(self, &effective, drive.host.queues)?;
        if u32::from(workload.queue) >= u32::from(drive.host.queues) {
            let most = drive.host.queues - 1;
            let expected = format!("0 to {most}, since host.queues is {}", drive.host.queues);
            return Err(effective.fault_at("workload.queue").expected(expected));
        }
        Ok(Prepared {
            shared: InCommon::default(),
            warmup: self.parse_warmup()?,
            replays: self.parse_replays()?,
            until_worn: self.parse_until_worn(&resolved)?,
            time_scale: self.parse_time_scale()?,
            steady: self.parse_precondition()?,
            wanted: self.parse_wanted()?,
            plan: self.clone(),
            resolved: Arc::new(resolved),
            effective,
            workload,
            twin,
            mix,
        })
    }

    /// Whether its requests come from traces.
    fn reads_traces(&self) -> bool {
        self.trace.is_some() || !self.mix.is_empty()
    }

    /// The scheme's name.
    pub fn scheme_name(&self) -> &str {
        if self.scheme.is_empty() { "conventional" } else { &self.scheme }
    }

    /// Refuses settings of a closed-form workload beside a trace, and of a trace without one.
    fn check_workload_keys(&self, effective: &Effective) -> Result<(), Fault> {
        for leaf in effective.leaves() {
            let Some(key) = leaf.path.strip_prefix("workload.") else { continue };
            let twin = twin::of(self)?.is_some();
            let only_of_twins = ONLY_OF_TWINS.contains(&key);
            let fits = match twin {
                true => OF_TWINS.contains(&key),
                false => !only_of_twins && key.starts_with("trace.") == self.reads_traces(),
            };
            if effective.is_default(&leaf.path) || fits {
                continue;
            }
            if twin {
                let those = OF_TWINS.join(", ");
                let expected = format!("no workload settings but {those} beside a twin");
                return Err(effective.fault_at(&leaf.path).expected(expected));
            }
            let expected = match self.reads_traces() {
                _ if only_of_twins => "no such setting without a twin",
                true => "no workload settings beside a trace",
                false => "no such setting without a trace",
            };
            return Err(effective.fault_at(&leaf.path).expected(expected));
        }
        Ok(())
    }

    /// Refuses settings that an option of the run leaves without effect.
    fn check_options(
        &self,
        effective: &Effective,
        drive: &DriveConfig,
        workload: &WorkloadConfig,
    ) -> Result<(), Fault> {
        let (began, unset) = (&drive.start, StartConfig::default());
        let (asks, default) = (workload, WorkloadConfig::default());
        // What says when requests arrive, which a closed loop does not; and what is on a drive
        // that is then overwritten.
        let closed = ("--closed", self.closed.is_some());
        let steady = ("--precondition", self.precondition.is_some());
        let idle = [
            (closed, "workload.interarrival", asks.interarrival != default.interarrival),
            (closed, "workload.arrivals", asks.arrivals != default.arrivals),
            (steady, "start.fill", began.fill != unset.fill),
            (steady, "start.preload", began.preload != unset.preload),
            (steady, "start.age_max", began.age_max != unset.age_max),
            (steady, "start.voltages", began.voltages != unset.voltages),
        ];
        let typed = |key: &str| self.is_typed(effective, key);
        let idle = idle.iter().find(|((_, given), key, set)| *given && *set && typed(key));
        if let Some(((option, _), key, _)) = idle {
            let expected = format!("no such setting beside {option}");
            return Err(effective.fault_at(key).expected(expected));
        }
        Ok(())
    }

    /// Whether a key was set otherwise than by the device: what that says and this run has no use for is no
    /// mistake, nor is a file that repeats it.
    fn is_typed(&self, effective: &Effective, key: &str) -> bool {
        if effective.is_of_layer(key, PRESET) {
            return false;
        }
        // Nobody types a setting by itself to have it as it is.
        let path = |argument: &str| argument.split('=').next().unwrap_or("").trim().to_owned();
        let within = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut set = self.set.iter().map(|argument| path(argument));
        if set.any(|path| within(&path, key) || within(key, &path)) {
            return true;
        }
        let at = format!("/{}", key.replace('.', "/"));
        let repeats = |device: Effective| {
            !device.is_default(key) && device.json().pointer(&at) == effective.json().pointer(&at)
        };
        !self.device_alone().is_ok_and(repeats)
    }

    /// What the device says, and nobody else.
    fn device_alone(&self) -> Result<Effective, Fault> {
        let preset = find(PRESETS, "--device", "a device", &self.device)?;
        let layers = preset.layers("preset").into_iter();
        let layers = layers.fold(Layers::new(), |layers, (name, toml)| layers.text(name, toml));
        Ok(layers.resolve::<RunConfig>()?.1)
    }

    /// The layers of its device and its scheme.
    pub(crate) fn named(&self) -> Result<Layers, Fault> {
        let preset = find(PRESETS, "--device", "a device", &self.device)?;
        let scheme = find_scheme("--scheme", self.scheme_name(), preset.name)?;
        let layers = preset.layers("preset").into_iter().chain(scheme.layers("scheme"));
        Ok(layers.fold(Layers::new(), |below, (name, toml)| below.text(name, toml)))
    }

    /// The layers of this plan, merged.
    fn resolve(&self) -> Result<(RunConfig, Effective), Fault> {
        let mut layers = self.named()?;
        if let Some(state) = &self.state {
            layers = layers.json(format!("state {}", state.display()), state::start_of(state)?);
        }
        for file in &self.config {
            layers = layers.file(file)?;
        }
        let beside = [("--trace", self.trace.is_some()), ("--workload", self.workload.is_some())];
        if let Some((other, _)) = beside.iter().find(|(_, given)| *given && !self.mix.is_empty()) {
            return Err(
                Fault::new("--mix", format!("a mix beside {other}")).expected("one or the other")
            );
        }
        if let Some(workload) = &self.workload {
            if self.trace.is_some() {
                return Err(Fault::new("--workload", "a workload beside --trace")
                    .expected("one or the other"));
            }
            if twin::of(self)?.is_none() {
                layers = layers.set(&format!("workload.kind={workload}"))?;
            }
        }
        for argument in &self.set {
            let key = argument.split('=').next().unwrap_or_default().trim();
            if self.workload.is_some() && key == "workload.kind" {
                return Err(Fault::new(format!("--set {argument}"), "a kind beside --workload")
                    .expected("one or the other"));
            }
            layers = layers.set(argument)?;
        }
        let (mut config, mut effective) = layers.resolve::<RunConfig>()?;
        if let Some(read) = simulated::read(&config, &effective, &self.config)? {
            let sha256 = serde_json::json!({"physics": {"measured": {"sha256": read.sha256}}});
            (config, effective) = layers.json("the file's own", sha256).resolve::<RunConfig>()?;
            read.into_config(&mut config);
        }
        Ok((config, effective))
    }
}

impl Prepared {
    /// What is run, as results say it: a trace's file, "mix of ...", "twin of ...", a closed form's name.
    pub(crate) fn workload_name(&self) -> String {
        match (&self.mix, &self.plan.trace, &self.twin) {
            (Some(mix), ..) => mix.name(&self.plan),
            (None, Some(spec), _) => spec.clone(),
            (None, None, Some(twin)) => twin.title.clone(),
            (None, None, None) => self.workload.kind.name().to_owned(),
        }
    }

    /// Refuses a closed-form workload that reaches beyond the drive, unless it is folded.
    ///
    /// # Errors
    /// When it does.
    pub(crate) fn check_footprint(&self) -> Result<(), Fault> {
        let most = Bytes::new(self.resolved.sectors() * SECTOR_BYTES);
        if let Some(twin) = &self.twin {
            return twin::check_footprint(twin, most, self.plan.fit);
        }
        if self.plan.reads_traces() || self.plan.fit || self.workload.footprint <= most {
            return Ok(());
        }
        let fault = self.effective.fault_at("workload.footprint");
        let fault = fault.expected(format!("at most what the host can address, {most}"));
        Err(fault.hint("--fit folds such addresses into the drive"))
    }
}

/// Refuses a trace that is no file: a run reads it more than once, first whether it can be read, last
/// its hash.
pub(crate) fn check_rereadable(spec: &str) -> Result<(), Fault> {
    let (path, _) = parse_spec(spec)?;
    if path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Err(Fault::new(path.display().to_string(), "is no file")
            .expected("a trace in a file, which can be read again"));
    }
    Ok(())
}

/// A refused value, at its origin and as it is written there; of a whole table, as the drive
/// words it.
fn refused(effective: &Effective, refusal: Refusal) -> Fault {
    let fault = effective.fault_at(&refusal.key).expected(refusal.expected);
    match effective.leaves().iter().any(|leaf| leaf.path == refusal.key) {
        true => fault,
        false => fault.got(refusal.got),
    }
}

/// A fault that names a key, at the origin of that key.
fn at_origin(effective: &Effective, fault: Fault) -> Fault {
    let placed = effective.fault_at(&fault.what);
    Fault { got: fault.got.or(placed.got.clone()), expected: fault.expected, ..placed }
}

fn find(
    entries: &'static [Entry],
    option: &str,
    what: &str,
    name: &str,
) -> Result<&'static Entry, Fault> {
    let names = || entries.iter().map(|entry| entry.name);
    entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
        Fault::new(option, format!("not {what}"))
            .got(format!("{name:?}"))
            .expected(names().collect::<Vec<_>>().join(", "))
            .suggest(name, names())
    })
}

/// The schemes that have this name in their families.
fn namesakes(name: &str) -> impl Iterator<Item = &'static Entry> {
    SCHEMES
        .iter()
        .filter(move |entry| entry.name.split_once('/').is_some_and(|(_, own)| own == name))
}

/// The scheme of this name; a bare one is of the device's own family.
fn find_scheme(option: &str, name: &str, device: &str) -> Result<&'static Entry, Fault> {
    let family = |entry: &Entry| entry.name.split('/').next().unwrap_or_default().to_owned();
    let other = namesakes(name).next();
    let own = namesakes(name).find(|entry| device.starts_with(&format!("{}-", family(entry))));
    let found = own.map_or_else(|| find(SCHEMES, option, "a scheme", name), Ok);
    found.map_err(|fault| match other {
        Some(other) => fault.suggest(other.name, [other.name]),
        None => fault,
    })
}

/// The text of a preset.
///
/// # Errors
/// When there is no such preset.
pub fn preset_text(name: &str) -> Result<String, Fault> {
    let entry = find(PRESETS, "preset", "a device", name)?;
    Ok(match entry.over {
        None => entry.toml.to_owned(),
        Some((base, toml)) => {
            let table = |toml: &str| toml.parse::<toml::Table>().expect("a preset is TOML");
            let mut whole = table(toml);
            lay_over(&mut whole, table(entry.toml));
            let text = toml::to_string(&whole).expect("a table can be written");
            let differs: String = entry.toml.lines().map(|line| format!("#   {line}\n")).collect();
            format!("# {base}, where it differs:\n{differs}\n{text}")
        }
    })
}

/// Sets what `over` says in `under`.
fn lay_over(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => lay_over(under, over),
            (_, value) => drop(under.insert(key, value)),
        }
    }
}

/// The text of a scheme; its family may be left out if only one has it.
///
/// # Errors
/// When there is no such scheme, or there are several.
pub fn scheme_text(name: &str) -> Result<&'static str, Fault> {
    let namesakes: Vec<&Entry> = namesakes(name).collect();
    match namesakes[..] {
        [one] => Ok(one.toml),
        [] => find(SCHEMES, "scheme", "a scheme", name).map(|entry| entry.toml),
        _ => {
            let names: Vec<&str> = namesakes.iter().map(|entry| entry.name).collect();
            let fault = Fault::new("scheme", "of several families").got(format!("{name:?}"));
            Err(fault.expected(names.join(" or ")))
        }
    }
}

/// The whole config of a plan: as TOML, as a listing with origins, and its hash.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn effective(plan: &Plan) -> Result<(String, String, String), Fault> {
    let effective = plan.prepare()?.effective;
    Ok((effective.toml().into(), effective.listing(), effective.hash().into()))
}

/// The JSON Schema of a config.
pub fn schema() -> serde_json::Value {
    ssdlab_config::json_schema::<RunConfig>()
}

/// Every key of a config, as a table in Markdown.
pub fn keys_markdown() -> String {
    ssdlab_config::markdown::<RunConfig>()
}
