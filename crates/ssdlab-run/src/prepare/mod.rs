//! Checks a plan and resolves it to a prepared run.

mod options;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault, Nanos};
use ssdlab_config::{BUILT_IN, Effective, Layers};
use ssdlab_core::config::{Refusal, StartConfig};
use ssdlab_core::{DriveConfig, Resolved};
use ssdlab_workload::twins::Twin;
use ssdlab_workload::{Generator, WorkloadConfig};

use crate::begin::Begins;
use crate::catalog::{self, RunConfig};
use crate::chips::simulated;
use crate::open::check_rereadable;
use crate::plan::Plan;
use crate::settle::Goal;
use crate::shared::Shared;
use crate::{mix, state, twin};

/// The part of a run that the statistics leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// This many requests at the start.
    Requests(u64),
    /// All requests that arrive before this time.
    Time(Nanos),
}

/// Settings of the records of a run.
#[derive(Clone, Debug, Default)]
pub struct OutputOptions {
    /// Length of an interval; if absent, intervals grow so that a run has some hundred.
    pub interval: Option<Nanos>,
    /// Length of the timeline.
    pub timeline_span: Nanos,
}

/// Resources that a plan shares with others that run beside it.
#[derive(Debug, Default)]
pub(crate) struct InCommon {
    /// Its trace.
    pub trace: Option<Arc<Shared>>,
    /// The members of its mix that are traces.
    pub members: Vec<Option<Arc<Shared>>>,
    /// The start state of its drive.
    pub begins: Option<Begins>,
    /// A remark for the user if the start state could be shared, but memory is too short.
    pub begins_alone: Option<String>,
}

/// A checked plan.
#[derive(Debug)]
pub struct Prepared {
    /// The plan as the user gave it.
    pub plan: Plan,
    /// The drive, with all settings resolved to numbers.
    pub resolved: Arc<Resolved>,
    /// The whole config with the origin of each value. Plans with the same settings share it.
    pub effective: Arc<Effective>,
    /// The closed-form workload.
    pub workload: WorkloadConfig,
    /// The twin that replaces the closed-form workload.
    pub twin: Option<Twin>,
    /// The mix that replaces the closed-form workload.
    pub(crate) mix: Option<mix::Layout>,
    /// Resources shared with other plans.
    pub(crate) shared: InCommon,
    /// The part of the run that the statistics leave out.
    pub warmup: Warmup,
    /// The most replays of the workload.
    pub replays: u32,
    /// The share of worn-out blocks that ends the replays.
    pub until_worn: Option<f64>,
    /// The figure that ends the run once it has settled.
    pub(crate) until_settled: Option<Goal>,
    /// Factor on the times between arrivals.
    pub time_scale: f64,
    /// Whether to overwrite the drive until it is steady.
    pub steady: bool,
    /// Settings of the records of the run.
    pub output: OutputOptions,
}

/// The keys below `workload.` that apply to twins.
const OF_TWINS: [&str; 5] = ["hints", "burstiness", "overlap", "read_theta", "small_in_page"];
/// The keys among them that apply only to twins.
const ONLY_OF_TWINS: &[&str] = OF_TWINS.split_at(1).1;
/// The number of the device's layer.
const PRESET: u32 = 1;

/// The settings that decide a plan's config: device, scheme, state, files, assignments, workload,
/// and whether it also has a trace or a mix.
type Settings<'a> =
    ([&'a str; 2], &'a Option<PathBuf>, &'a [PathBuf], &'a [String], &'a Option<String>, [bool; 2]);

/// The config of a plan, and the origins of its values.
type Configured = (RunConfig, Arc<Effective>);

/// Checks all plans before the first of them runs. Plans with the same settings share one config.
///
/// # Errors
/// The first fault.
pub(crate) fn prepare_all(plans: &[Plan]) -> Result<Vec<Prepared>, Fault> {
    let mut known: BTreeMap<Settings<'_>, Configured> = BTreeMap::new();
    let mut prepare = |plan| {
        Plan::check_start(plan)?;
        let configured = match known.entry(Plan::settings(plan)) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => entry.insert(plan.resolve()?).clone(),
        };
        plan.prepare_as(configured)
    };
    plans.iter().map(&mut prepare).collect()
}

impl Plan {
    /// Checks the plan as far as possible before the run.
    ///
    /// # Errors
    /// The first fault.
    pub fn prepare(&self) -> Result<Prepared, Fault> {
        self.check_start()?;
        self.prepare_as(self.resolve()?)
    }

    /// Returns the fault for a refused value. If the user did not set the value, and the scheme
    /// works on its family's device, the scheme does not fit the device.
    fn refused(&self, effective: &Effective, refusal: Refusal) -> Fault {
        let fault = refused(effective, refusal);
        let built_in = ["scheme ", "preset ", BUILT_IN];
        if !built_in.iter().any(|own| fault.source.starts_with(own)) {
            return fault;
        }
        let scheme = self.scheme_name();
        let fits = |device: &&str| {
            let plan = Plan { device: (*device).to_owned(), ..self.clone() };
            plan.resolve().is_ok_and(|(config, effective)| {
                let typed = |key: &str| plan.is_typed(&effective, key);
                Resolved::typed(&config.split().0, self.seed, &typed).is_ok()
            })
        };
        let device = catalog::device_for(scheme).filter(|device| *device != self.device);
        match device.filter(fits) {
            Some(device) => Fault::new("--scheme", "does not work on this device")
                .got(format!("{scheme} on {}", self.device))
                .expected(format!("--device {device}"))
                .hint(Fault { source: String::new(), ..fault }),
            None if fault.source == BUILT_IN && fault.hint.is_none() => {
                let key = fault.what.clone();
                fault.hint(format!("--set {key} changes it"))
            }
            None => fault,
        }
    }

    /// Refuses a plan with two ways to begin.
    fn check_start(&self) -> Result<(), Fault> {
        if self.state.is_none() || self.precondition.is_none() {
            return Ok(());
        }
        Err(Fault::new("--precondition", "a way to precondition beside --state")
            .expected("one or the other: a saved drive is as steady as it was saved"))
    }

    /// Returns the settings that decide its config.
    fn settings(&self) -> Settings<'_> {
        let beside = [self.trace.is_some(), !self.mix.is_empty()];
        let names = [&*self.device, self.scheme_name()];
        (names, &self.state, &self.config, &self.set, &self.workload, beside)
    }

    /// Prepares the plan as [`Plan::prepare`] does, with its resolved config.
    fn prepare_as(&self, (config, effective): Configured) -> Result<Prepared, Fault> {
        let (drive, mut workload) = config.split();
        self.check_workload_keys(&effective)?;
        self.check_options(&effective, &drive, &workload)?;
        if let Some(limit) = self.limit {
            workload.requests = workload.requests.min(limit);
        }
        let typed = |key: &str| self.is_typed(&effective, key);
        let resolved = Resolved::typed(&drive, self.seed, &typed)
            .map_err(|refusal| self.refused(&effective, refusal))?;
        let twin = twin::of(self)?.map(|twin| twin::changed(twin, &workload)).transpose();
        let twin = twin.map_err(|fault| at_origin(&effective, fault))?;
        if let Some(twin) = &twin {
            twin::check_queues(twin, &effective, drive.host.queues)?;
            let source = twin.source(self.seed)?.with_hints(&workload.hints, self.seed);
            source.map_err(|fault| at_origin(&effective, fault))?;
        } else if !self.reads_traces() {
            Generator::new(&workload, self.seed).map_err(|fault| at_origin(&effective, fault))?;
        }
        workload.trace.check().map_err(|fault| at_origin(&effective, fault))?;
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
            until_settled: Goal::of(self, drive.host.queues)?,
            time_scale: self.parse_time_scale()?,
            steady: self.parse_precondition()?,
            output: self.parse_output()?,
            plan: self.clone(),
            resolved: Arc::new(resolved),
            effective,
            workload,
            twin,
            mix,
        })
    }

    /// Refuses settings of a closed-form workload for a trace, and settings of a trace without one.
    fn check_workload_keys(&self, effective: &Effective) -> Result<(), Fault> {
        for leaf in effective.leaves() {
            let Some(key) = leaf.path.strip_prefix("workload.") else { continue };
            let twin = twin::of(self)?.is_some();
            let only_of_twins = ONLY_OF_TWINS.contains(&key);
            let fits = if twin {
                OF_TWINS.contains(&key)
            } else {
                !only_of_twins && key.starts_with("trace.") == self.reads_traces()
            };
            if effective.is_default(&leaf.path) || fits {
                continue;
            }
            if twin {
                let those = OF_TWINS.join(", ");
                let expected = format!("no workload settings but {those} beside a twin");
                return Err(effective.fault_at(&leaf.path).expected(expected));
            }
            let expected = if only_of_twins {
                "no such setting without a twin"
            } else if self.reads_traces() {
                "no workload settings beside a trace"
            } else {
                "no such setting without a trace"
            };
            return Err(effective.fault_at(&leaf.path).expected(expected));
        }
        Ok(())
    }

    /// Refuses settings that an option of the run makes ineffective.
    fn check_options(
        &self,
        effective: &Effective,
        drive: &DriveConfig,
        workload: &WorkloadConfig,
    ) -> Result<(), Fault> {
        let (began, unset) = (&drive.start, StartConfig::default());
        let (asks, default) = (workload, WorkloadConfig::default());
        // A closed loop ignores arrival times. Preconditioning overwrites the start contents.
        let closed = ("--closed", self.closed.is_some());
        let steady = ("--precondition", self.precondition.is_some());
        let idle = [
            (closed, "workload.interarrival", asks.interarrival != default.interarrival),
            (closed, "workload.arrivals", asks.arrivals != default.arrivals),
            (steady, "start.fill", began.fill != unset.fill),
            (steady, "start.unwritten_reads", began.unwritten_reads != unset.unwritten_reads),
            (steady, "start.age_max", began.age_max != unset.age_max),
            (steady, "start.history", began.history != unset.history),
            (steady, "start.program_mode", began.program_mode != unset.program_mode),
        ];
        let typed = |key: &str| self.is_typed(effective, key);
        let idle = idle.iter().find(|((_, is_set), key, set)| *is_set && *set && typed(key));
        if let Some(((option, _), key, _)) = idle {
            let expected = format!("no such setting beside {option}");
            return Err(effective.fault_at(key).expected(expected));
        }
        Ok(())
    }

    /// Returns whether the user set a key. A key that only the device sets may be ineffective in
    /// this run. So may a key in a file that repeats the device's value.
    fn is_typed(&self, effective: &Effective, key: &str) -> bool {
        if effective.is_of_layer(key, PRESET) {
            return false;
        }
        // An explicit assignment counts even if it repeats the device's value.
        let path = |argument: &str| argument.split('=').next().unwrap_or("").trim().to_owned();
        let within = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let mut set = self.set.iter().map(|argument| path(argument));
        if set.any(|path| within(&path, key) || within(key, &path)) {
            return true;
        }
        // A state file decides the start, also under schemes that a key of it does not concern.
        if self.state.is_some() && within("start", key) {
            return false;
        }
        let at = format!("/{}", key.replace('.', "/"));
        let repeats = |device: Effective| {
            !device.is_default(key) && device.json().pointer(&at) == effective.json().pointer(&at)
        };
        let of_device =
            catalog::device(&self.device).and_then(|layers| layers.resolve::<RunConfig>());
        !of_device.map(|(_, effective)| effective).is_ok_and(repeats)
    }

    /// Returns the config of this plan, including the contents of the files that it names.
    fn resolve(&self) -> Result<Configured, Fault> {
        let layers = self.layers()?;
        let resolved = layers.resolve::<RunConfig>().map_err(as_option);
        let (mut config, mut effective) = resolved?;
        if let Some(read) = simulated::read(&config, &effective, &self.config)? {
            let sha256 = serde_json::json!({"physics": {"measured": {"sha256": read.sha256}}});
            (config, effective) = layers.json("the file's own", sha256).resolve::<RunConfig>()?;
            read.into_config(&mut config);
        }
        Ok((config, Arc::new(effective)))
    }

    /// Returns the config layers of this plan.
    ///
    /// # Errors
    /// When a layer cannot be read, or when two options contradict each other.
    pub(crate) fn layers(&self) -> Result<Layers, Fault> {
        let mut layers = catalog::device_and_scheme(&self.device, self.scheme_name())?;
        if let Some(state) = &self.state {
            layers = layers.json(format!("state {}", state.display()), state::start_of(state)?);
        }
        for file in &self.config {
            layers = match self.piped.get(file) {
                Some(text) => layers.text(file.display().to_string(), text),
                None => layers.file(file)?,
            };
        }
        let beside = [("--trace", self.trace.is_some()), ("--workload", self.workload.is_some())];
        if let Some((other, _)) = beside.iter().find(|(_, is_set)| *is_set && !self.mix.is_empty())
        {
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
        Ok(layers)
    }
}

impl Prepared {
    /// Returns the workload's name in results: a trace's file, "mix of ...", "twin of ...", or the
    /// name of a distribution.
    pub(crate) fn workload_name(&self) -> String {
        match (&self.mix, &self.plan.trace, &self.twin) {
            (Some(mix), ..) => mix.name(&self.plan),
            (None, Some(spec), _) => spec.clone(),
            (None, None, Some(twin)) => twin.title.clone(),
            (None, None, None) => self.workload.kind.name().to_owned(),
        }
    }

    /// Refuses a workload with a footprint beyond the drive's end, unless addresses are folded.
    ///
    /// # Errors
    /// When the footprint is too large.
    pub(crate) fn check_footprint(&self) -> Result<(), Fault> {
        let most = Bytes::new(self.resolved.sectors() * SECTOR_BYTES);
        if let Some(twin) = &self.twin {
            return twin::check_footprint(twin, most, self.plan.wrap);
        }
        if self.plan.reads_traces() || self.plan.wrap || self.workload.footprint <= most {
            return Ok(());
        }
        let fault = self.effective.fault_at("workload.footprint");
        let fault = fault.expected(format!("at most what the host can address, {most}"));
        Err(fault.hint("--wrap folds such addresses into the drive"))
    }
}

/// Adds to the fault of an unknown key that an option of the run has this name.
fn as_option(fault: Fault) -> Fault {
    const OPTIONS: &[&str] =
        &["seed", "limit", "device", "scheme", "stage", "trace", "closed", "warmup", "replays"];
    let key = fault.what.strip_suffix(": unknown key");
    match key.filter(|key| OPTIONS.contains(key)).map(str::to_owned) {
        Some(key) => fault.hint(format!("--{key} is an option, not a setting")),
        None => fault,
    }
}

/// Returns the fault for a refused value, with its origin and its text there. For a whole table,
/// the fault shows the drive's wording.
fn refused(effective: &Effective, refusal: Refusal) -> Fault {
    let fault = effective.fault_at(&refusal.key).expected(refusal.expected);
    if effective.leaves().iter().any(|leaf| leaf.path == refusal.key) {
        fault
    } else {
        fault.got(refusal.got)
    }
}

/// Places a fault that names a key at the origin of that key.
fn at_origin(effective: &Effective, fault: Fault) -> Fault {
    let placed = effective.fault_at(&fault.what);
    Fault {
        got: fault.got.or(placed.got.clone()),
        expected: fault.expected,
        hint: fault.hint,
        ..placed
    }
}

/// Returns the whole config of a plan as TOML, as a listing with origins, and its hash.
///
/// # Errors
/// The first fault of the plan.
pub fn effective(plan: &Plan) -> Result<(String, String, String), Fault> {
    let effective = plan.prepare()?.effective;
    Ok((effective.toml().into(), effective.listing(), effective.hash().into()))
}
