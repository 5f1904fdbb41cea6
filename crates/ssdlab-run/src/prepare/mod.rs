//! A plan whose every part has been checked.

mod options;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault, Nanos};
use ssdlab_config::{Effective, Layers};
use ssdlab_core::config::{Refusal, StartConfig};
use ssdlab_core::{DriveConfig, Resolved};
use ssdlab_workload::twins::Twin;
use ssdlab_workload::{Generator, WorkloadConfig};

use crate::begin::Begins;
use crate::catalog::{self, RunConfig};
use crate::chips::simulated;
use crate::open::check_rereadable;
use crate::plan::Plan;
use crate::shared::Shared;
use crate::{mix, state, twin};

/// What is left out of the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// The first requests.
    Requests(u64),
    /// What arrives before this time.
    Time(Nanos),
}

/// What is to be kept of a run.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Length of an interval; as fine as some hundred rows are if it is not given.
    pub interval: Option<Nanos>,
    /// How long the timeline is.
    pub timeline_span: Nanos,
}

/// What a plan has in common with others that run beside it.
#[derive(Debug, Default)]
pub struct InCommon {
    /// Its trace.
    pub trace: Option<Arc<Shared>>,
    /// Those of its mix's members, where they are traces.
    pub members: Vec<Option<Arc<Shared>>>,
    /// What its drive begins with.
    pub begins: Option<Begins>,
    /// Why it does not begin as another does, if only for lack of memory.
    pub begins_alone: Option<String>,
}

/// A plan whose every part has been checked.
#[derive(Debug)]
pub struct Prepared {
    /// As asked for.
    pub plan: Plan,
    /// The drive in flat numbers.
    pub resolved: Arc<Resolved>,
    /// The whole config and the origin of each value: the same for plans of the same settings.
    pub effective: Arc<Effective>,
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

/// What decides a plan's config: its device, scheme, state, files, assignments, workload, and
/// whether it has a trace or a mix besides.
type Settings<'a> =
    ([&'a str; 2], &'a Option<PathBuf>, &'a [PathBuf], &'a [String], &'a Option<String>, [bool; 2]);

/// The config of a plan, and where its values are from.
type Settled = (RunConfig, Arc<Effective>);

/// Checks everything of all plans that can be checked before the first of them runs. Plans of the
/// same settings have one config.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn prepare_all(plans: &[Plan]) -> Result<Vec<Prepared>, Fault> {
    let mut known: BTreeMap<Settings<'_>, Settled> = BTreeMap::new();
    let mut prepare = |plan| {
        Plan::check_start(plan)?;
        let settled = match known.entry(Plan::settings(plan)) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => entry.insert(plan.resolve()?).clone(),
        };
        plan.prepare_as(settled)
    };
    plans.iter().map(&mut prepare).collect()
}

impl Plan {
    /// Checks everything that can be checked before the run.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn prepare(&self) -> Result<Prepared, Fault> {
        self.check_start()?;
        self.prepare_as(self.resolve()?)
    }

    /// Refuses two ways to begin.
    fn check_start(&self) -> Result<(), Fault> {
        if self.state.is_none() || self.precondition.is_none() {
            return Ok(());
        }
        Err(Fault::new("--precondition", "a way to precondition beside --state")
            .expected("one or the other: a saved drive is as steady as it was saved"))
    }

    /// What decides its config.
    fn settings(&self) -> Settings<'_> {
        let beside = [self.trace.is_some(), !self.mix.is_empty()];
        let names = [&*self.device, self.scheme_name()];
        (names, &self.state, &self.config, &self.set, &self.workload, beside)
    }

    /// As [`Plan::prepare`], with its config.
    fn prepare_as(&self, (config, effective): Settled) -> Result<Prepared, Fault> {
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

    /// Refuses settings of a closed-form workload beside a trace, and of a trace without one.
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
            (steady, "start.unwritten_reads", began.unwritten_reads != unset.unwritten_reads),
            (steady, "start.age_max", began.age_max != unset.age_max),
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

    /// Whether a key was set otherwise than by the device: what that says and this run has no use
    /// for is no mistake, nor is a file that repeats it.
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
        let of_device =
            catalog::device(&self.device).and_then(|layers| layers.resolve::<RunConfig>());
        !of_device.map(|(_, effective)| effective).is_ok_and(repeats)
    }

    /// The config of this plan, with what the files that it names hold.
    fn resolve(&self) -> Result<Settled, Fault> {
        let layers = self.layers()?;
        let (mut config, mut effective) = layers.resolve::<RunConfig>()?;
        if let Some(read) = simulated::read(&config, &effective, &self.config)? {
            let sha256 = serde_json::json!({"physics": {"measured": {"sha256": read.sha256}}});
            (config, effective) = layers.json("the file's own", sha256).resolve::<RunConfig>()?;
            read.into_config(&mut config);
        }
        Ok((config, Arc::new(effective)))
    }

    /// The layers of this plan.
    ///
    /// # Errors
    /// When one cannot be read, or two options contradict each other.
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
    /// What is run, as results say it: a trace's file, "mix of ...", "twin of ...", a closed form's
    /// name.
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

/// A refused value, at its origin and as it is written there; of a whole table, as the drive
/// words it.
fn refused(effective: &Effective, refusal: Refusal) -> Fault {
    let fault = effective.fault_at(&refusal.key).expected(refusal.expected);
    if effective.leaves().iter().any(|leaf| leaf.path == refusal.key) {
        fault
    } else {
        fault.got(refusal.got)
    }
}

/// A fault that names a key, at the origin of that key.
fn at_origin(effective: &Effective, fault: Fault) -> Fault {
    let placed = effective.fault_at(&fault.what);
    Fault { got: fault.got.or(placed.got.clone()), expected: fault.expected, ..placed }
}

/// The whole config of a plan: as TOML, as a listing with origins, and its hash.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn effective(plan: &Plan) -> Result<(String, String, String), Fault> {
    let effective = plan.prepare()?.effective;
    Ok((effective.toml().into(), effective.listing(), effective.hash().into()))
}
