//! Refusals of keys that are set where they have no effect.

use ssdlab_base::Nanos;
use ssdlab_base::quantity::Share;
use ssdlab_nand::chip::{Chip, PhysicsConfig};
use ssdlab_nand::refusal::{IdleKey, Refusal};

use super::{ArrayUnit, DriveConfig, RetriesChoice, StartProgramMode};
use crate::ftl::PageSequence;
use crate::metadata::MetadataConfig;
use crate::policy::component::ComponentFacts;
use crate::policy::suspend::SuspendFacts;
use ssdlab_schemes::{
    AnyBackground, AnyEviction, AnyPlacement, AnyProgramMode, AnyReadStart, AnyScheduler,
    AnySuspend, EvictionChoice, ReadStartChoice,
};

const FLAT: &str = "under flat physics";
const NO_SUSPEND: &str = "with suspend = \"none\"";
const WHOLE: &str = "without a suspend policy that drops loops";
const NOT_HELD: &str = "where no read is held until it has decoded (flash.hold_until_decoded)";
const NORMAL: &str =
    "as long as no link of `program_mode` chooses another mode than the normal one";
const UNASKED: &str = "behind a link that answers for every page";
const NO_BUFFER: &str = "without a buffer";

/// Refuses keys without effect, if `typed` says that the user set them.
pub(super) fn check_effects(
    config: &DriveConfig,
    chip: &Chip,
    typed: &dyn Fn(&str) -> bool,
) -> Result<(), Refusal> {
    let sections = [
        of_flash(config, chip),
        of_buffer(config),
        of_program(config),
        of_policies(config, chip),
        of_metadata(config, chip),
        of_start(config, chip),
    ];
    for (key, value, without_effect, when) in sections.into_iter().flatten() {
        if let Some(value) = value.filter(|_| without_effect && typed(key)) {
            return Err(Refusal::new(key, value, format!("no such setting {when}")));
        }
    }
    Ok(())
}

fn of_flash(config: &DriveConfig, chip: &Chip) -> Vec<IdleKey> {
    let flash = &config.flash;
    let suspend = AnySuspend::needs(&config.suspend);
    let pipelined =
        matches!(flash.retries, RetriesChoice::Pipelined(_)).then(|| "pipelined".to_owned());
    let hold = shown(flash.hold_until_decoded);
    let measured = matches!(config.physics, PhysicsConfig::Measured(_));
    let second_class = config.timing.program_modes.get(1).map(|class| class.name.clone());
    vec![
        ("flash.hold_until_decoded", hold.clone(), chip.is_flat(), FLAT),
        (
            "flash.hold_until_decoded",
            hold,
            flash.cache_read,
            "with flash.cache_read, where units hold no page",
        ),
        (
            "flash.multi_plane",
            shown(flash.multi_plane),
            flash.array == ArrayUnit::Plane,
            "with array = \"plane\", where every plane works by itself",
        ),
        (
            "timing.erase",
            Some(config.timing.erase.to_string()),
            measured,
            "with physics.measured, whose file has the times of erases",
        ),
        ("flash.retries", pipelined, !holds_until_decoded(config, chip), NOT_HELD),
        ("flash.suspend_time", shown(flash.suspend_time), !suspend.suspends, NO_SUSPEND),
        ("flash.resume_time", shown(flash.resume_time), !suspend.suspends, NO_SUSPEND),
        ("flash.program_loops", shown(flash.program_loops), !suspend.loops, WHOLE),
        ("flash.erase_loops", shown(flash.erase_loops), !suspend.loops, WHOLE),
        ("timing.program_modes", second_class, programs_normally(config), NORMAL),
    ]
}

fn programs_normally(config: &DriveConfig) -> bool {
    !config.program_mode.iter().any(|link| AnyProgramMode::needs(link).chooses)
}

/// Returns the first link of `program_mode` that is behind a link that answers for every page. Such
/// a link is never asked.
fn of_program(config: &DriveConfig) -> Vec<IdleKey> {
    let links = &config.program_mode;
    let last = links.iter().position(|link| AnyProgramMode::needs(link).decides_all);
    let unasked = last.and_then(|at| links.get(at + 1));
    vec![("program_mode", unasked.map(|link| link.name().to_owned()), true, UNASKED)]
}

fn of_buffer(config: &DriveConfig) -> Vec<IdleKey> {
    let buffer = &config.buffer;
    let none = buffer.size.get() == 0;
    let evict =
        (config.eviction != EvictionChoice::default()).then(|| config.eviction.name().to_owned());
    vec![
        ("buffer.latency", shown(buffer.latency), none, NO_BUFFER),
        ("buffer.reads", shown(buffer.reads), none, NO_BUFFER),
        ("buffer.keep_free", shown(buffer.keep_free.map(Share::get)), none, NO_BUFFER),
        ("eviction", evict, none, NO_BUFFER),
    ]
}

fn of_policies(config: &DriveConfig, chip: &Chip) -> Vec<IdleKey> {
    let facts = SuspendFacts {
        is_flat: chip.is_flat(),
        reads_may_pass: reads_may_pass(config, chip),
        by_priority: AnyScheduler::needs(&config.scheduler).by_priority,
    };
    let worst = matches!(config.read_start, ReadStartChoice::HighestLevel(_))
        .then(|| "highest_level".to_owned());
    let mut keys = vec![
        (
            "ftl.gc_stream",
            config.ftl.gc_stream.map(|copies| format!("{copies:?}").to_lowercase()),
            config.ftl.page_order == PageSequence::Relaxed,
            "with page_order = \"relaxed\", where all that is written shares the blocks of a plane",
        ),
        ("read_start", worst.clone(), chip.is_flat(), FLAT),
        (
            "read_start",
            worst,
            chip.fails_beyond(),
            "with physics where a read fails beyond the retry that it needs (beyond = \"fails\")",
        ),
    ];
    keys.extend(AnySuspend::idle_keys(&config.suspend, &facts));
    keys
}

fn of_metadata(config: &DriveConfig, chip: &Chip) -> Vec<IdleKey> {
    let facts = ComponentFacts {
        is_flat: chip.is_flat(),
        has_buffer: config.buffer.size.get() > 0,
        free_block_policy: config.ftl.free_block_policy,
        migrates: AnyBackground::any_uses(&config.background, |uses| uses.migration),
        by_hotness: config.program_mode.iter().any(|link| AnyProgramMode::needs(link).hotness),
        is_used: false,
    };
    config.metadata.idle_keys(facts, |component| is_used(config, component))
}

/// Returns whether a policy uses the metadata component of this name.
pub(super) fn is_used(config: &DriveConfig, component: &str) -> bool {
    let placement = config.placement.iter().flat_map(AnyPlacement::components).copied();
    let program_mode = config.program_mode.iter().flat_map(AnyProgramMode::components).copied();
    let background = AnyBackground::components(&config.background);
    let others = [
        AnyScheduler::components(&config.scheduler),
        AnyReadStart::components(&config.read_start),
        AnySuspend::components(&config.suspend),
        AnyEviction::components(&config.eviction),
    ];
    let mut all = others
        .into_iter()
        .flatten()
        .copied()
        .chain(background)
        .chain(placement)
        .chain(program_mode);
    let ranking = MetadataConfig::ranking_for(config.ftl.free_block_policy);
    ranking.is_some_and(|(name, _)| name == component) || all.any(|used| used == component)
}

fn of_start(config: &DriveConfig, chip: &Chip) -> Vec<IdleKey> {
    let start = &config.start;
    let empty = start.fill.get() == 0.0;
    let ageless = if chip.is_flat() { FLAT } else { "without physics.levels.retention" };
    let retries = matches!(config.physics, PhysicsConfig::Retries(_));
    let invalid = set(start.invalid, Share::new(0.0));
    let owners = start.owners.map(|owners| format!("{owners:?}").to_lowercase());
    let shared = !config.separates_priorities();
    let with_priorities = "without blocks that are kept apart by priority (metadata.block_class)";
    vec![
        ("start.owners", owners.clone(), shared, with_priorities),
        ("start.owners", owners, empty, "without start.fill"),
        (
            "start.history",
            start.history.get().map(|_| "a history".to_owned()),
            empty,
            "without start.fill",
        ),
        ("start.age_max", set(start.age_max, Nanos::ZERO), !chip.heeds_age(), ageless),
        ("start.dwell", set(start.dwell, Nanos::ZERO), !retries, "without physics.retries"),
        ("start.invalid", invalid.clone(), empty, "without start.fill"),
        ("start.steady_state", set(start.steady_state, false), empty, "without start.fill"),
        (
            "start.program_mode",
            (start.program_mode == StartProgramMode::Policy).then(|| "policy".to_owned()),
            programs_normally(config),
            NORMAL,
        ),
        ("start.invalid", invalid, start.steady_state, "with start.steady_state, which decides it"),
    ]
}

fn shown<T: ToString>(value: Option<T>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn set<T: PartialEq + ToString>(value: T, unset: T) -> Option<String> {
    (value != unset).then(|| value.to_string())
}

/// Returns whether array units hold reads, which may fail, until they have decoded.
fn holds_until_decoded(config: &DriveConfig, chip: &Chip) -> bool {
    let flash = &config.flash;
    !chip.is_flat() && flash.hold_until_decoded.unwrap_or(true) && !flash.cache_read
}

/// Returns whether a unit may suspend a read that failed, for a read of a higher priority. That
/// needs units that hold failed reads, and a scheduler that orders reads by priority.
pub(super) fn reads_may_pass(config: &DriveConfig, chip: &Chip) -> bool {
    holds_until_decoded(config, chip) && AnyScheduler::needs(&config.scheduler).by_priority
}
