//! Keys that are set where they have no effect.

use ssdlab_base::Nanos;
use ssdlab_base::quantity::Share;
use ssdlab_nand::chip::{Chip, PhysicsConfig};
use ssdlab_nand::refusal::Refusal;

use super::{ArrayUnit, DriveConfig, RetriesChoice, StartVoltages};
use crate::belief::grade::GradeChoice;
use crate::belief::groups::Scope;
use crate::belief::hotness::HotPreload;
use crate::belief::quality::RetriesBelief;
use crate::ftl::{Opens, PageSequence};
use crate::policy::tend::Victim;
use crate::slots::{EvictChoice, OrderChoice, PreemptChoice, ProgramChoice, ReadChoice};

/// A key, its value if it is set, whether it has no effect, and when that is so.
type Idle = (&'static str, Option<String>, bool, &'static str);

const FLAT: &str = "under flat physics";
const NOBODY: &str = "with preempt = \"nobody\"";
const WHOLE: &str = "without preempt = \"esra\", which alone drops loops";
const NO_PASSING: &str = "without order = \"priority\", or where no read is held until it has decoded \
                          (flash.hold_until_decoded)";
const NOT_HELD: &str = "where no read is held until it has decoded (flash.hold_until_decoded)";
const NORMAL: &str = "as long as no link of `program` chooses another voltage than the normal one";
const ALIKE: &str = "without program = [\"by_hotness\"]: all pages are programmed alike";
const UNASKED: &str = "behind a link that answers for every page";
const NO_BUFFER: &str = "without a buffer";
const UNLEARNED: &str = "without a buffer to learn from: buffer.size is 0B";

/// Refuses keys that are set where they have no effect, if they were `typed`.
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
        of_belief(config, chip),
        of_start(config, chip),
    ];
    for (key, value, without_effect, when) in sections.into_iter().flatten() {
        if let Some(value) = value.filter(|_| without_effect && typed(key)) {
            return Err(Refusal::new(key, value, format!("no such setting {when}")));
        }
    }
    Ok(())
}

fn of_flash(config: &DriveConfig, chip: &Chip) -> Vec<Idle> {
    let flash = &config.flash;
    let nobody = matches!(config.preempt, PreemptChoice::Nobody(_));
    let drops = matches!(config.preempt, PreemptChoice::Esra(_));
    let pipelined =
        matches!(flash.retries, RetriesChoice::Pipelined(_)).then(|| "pipelined".to_owned());
    let hold = shown(flash.hold_until_decoded);
    let measured = matches!(config.physics, PhysicsConfig::Measured(_));
    let second_class = config.timing.voltages.get(1).map(|class| class.name.clone());
    vec![
        ("flash.hold_until_decoded", hold.clone(), chip.is_flat(), FLAT),
        (
            "flash.hold_until_decoded",
            hold,
            flash.cache_read,
            "with flash.cache_read, which lets every page go",
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
        ("flash.retries", pipelined, !holds(config, chip), NOT_HELD),
        ("flash.suspend_time", shown(flash.suspend_time), nobody, NOBODY),
        ("flash.resume_time", shown(flash.resume_time), nobody, NOBODY),
        ("flash.program_loops", shown(flash.program_loops), !drops, WHOLE),
        ("flash.erase_loops", shown(flash.erase_loops), !drops, WHOLE),
        ("timing.voltages", second_class, programs_normally(config), NORMAL),
    ]
}

fn programs_normally(config: &DriveConfig) -> bool {
    config.program.iter().all(|link| matches!(link, ProgramChoice::Normal(_)))
}

fn by_hotness(config: &DriveConfig) -> bool {
    config.program.iter().any(|link| matches!(link, ProgramChoice::Voltages(_)))
}

/// Links of `program` that are never asked, behind one that answers for every page.
fn of_program(config: &DriveConfig) -> Vec<Idle> {
    let answers = |link: &&ProgramChoice| {
        matches!(link, ProgramChoice::Voltages(_) | ProgramChoice::Always(_))
    };
    let links = &config.program;
    let unasked = links.iter().position(|link| answers(&link)).and_then(|at| links.get(at + 1));
    vec![("program", unasked.map(|link| link.name().to_owned()), true, UNASKED)]
}

fn of_buffer(config: &DriveConfig) -> Vec<Idle> {
    let buffer = &config.buffer;
    let none = buffer.size.get() == 0;
    let evict = (config.evict != EvictChoice::default()).then(|| config.evict.name().to_owned());
    vec![
        ("buffer.latency", shown(buffer.latency), none, NO_BUFFER),
        ("buffer.reads", shown(buffer.reads), none, NO_BUFFER),
        ("buffer.keep_free", shown(buffer.keep_free.map(Share::get)), none, NO_BUFFER),
        ("evict", evict, none, NO_BUFFER),
    ]
}

fn of_policies(config: &DriveConfig, chip: &Chip) -> Vec<Idle> {
    let gc = config.tend.gc.get();
    let draws = gc.is_some_and(|gc| gc.victim == Victim::DChoices);
    let choices = gc.and_then(|gc| gc.choices);
    let (reads, most_aside, over_higher) = match &config.preempt {
        PreemptChoice::Esra(esra) => (esra.reads, esra.most_aside, esra.over_higher),
        _ => (None, None, None),
    };
    let alike = !matches!(config.order, OrderChoice::Priority(_));
    let together = !reads_may_pass(config, chip);
    let worst = matches!(config.read, ReadChoice::Worst(_)).then(|| "worst".to_owned());
    vec![
        ("tend.gc.choices", shown(choices), !draws, "without victim = \"d_choices\""),
        (
            "ftl.copies",
            config.ftl.copies.map(|copies| format!("{copies:?}").to_lowercase()),
            config.ftl.page_order == PageSequence::Relaxed,
            "with page_order = \"relaxed\", where all that is written shares the blocks of a plane",
        ),
        // To forbid what cannot be is no mistake: schemes that are compared say it for all drives.
        ("preempt.esra.reads", shown(reads.filter(|pass| *pass)), chip.is_flat(), FLAT),
        ("preempt.esra.reads", shown(reads.filter(|pass| *pass)), together, NO_PASSING),
        ("preempt.esra.most_aside", shown(most_aside), together, NO_PASSING),
        ("preempt.esra.over_higher", shown(over_higher), alike, "without order = \"priority\""),
        (
            "preempt.esra.most_aside",
            shown(most_aside),
            reads == Some(false),
            "with preempt.esra.reads = false",
        ),
        ("read", worst, chip.is_flat(), FLAT),
    ]
}

fn of_belief(config: &DriveConfig, chip: &Chip) -> Vec<Idle> {
    let grade = &config.belief.grade;
    let graded = (grade.classes() > 1).then(|| grade.name().to_owned());
    let opens = config.ftl.opens;
    let growth = match grade {
        GradeChoice::Measured(groups) => shown(groups.growth),
        _ => None,
    };
    let predicts = opens == Opens::Healthiest;
    let scope = match grade {
        GradeChoice::Measured(groups) if groups.scope != Scope::default() => {
            Some(format!("{:?}", groups.scope).to_lowercase())
        }
        _ => None,
    };
    let believed = grade_of_retries(config).map(str::to_owned);
    // Of what a fit found, who does not ask makes no use: it goes to every scheme that is compared.
    let fitted = matches!(config.belief.retries, RetriesBelief::Predicted(_));
    let unasked = !fitted && !asks_for_retries(config);
    let hotness = config.belief.hotness.get().map(|_| "buffer".to_owned());
    let uses = config.belief.hotness.get();
    let rewrites = uses.is_some_and(|uses| uses.preload == HotPreload::Rewrite);
    let rewrite = rewrites.then(|| "rewrite".to_owned());
    let stays = config.tend.read_hot.get().is_none();
    vec![
        ("belief.grade", graded, chip.is_flat(), FLAT),
        ("belief.retries", believed.clone(), chip.is_flat(), FLAT),
        (
            "belief.retries",
            believed,
            unasked,
            "where nobody asks for it: without ftl.opens = \"fewest_retries\" or tend.inversions",
        ),
        ("belief.hotness", hotness, config.buffer.size.get() == 0, UNLEARNED),
        ("belief.hotness.buffer.preload", rewrite, !by_hotness(config), ALIKE),
        ("belief.grade.measured.scope", scope, stays, "without tend.read_hot"),
        ("belief.grade.measured.growth", growth, !predicts, "without ftl.opens = \"healthiest\""),
    ]
}

/// Whether anybody makes use of what is believed of retries.
pub(super) fn asks_for_retries(config: &DriveConfig) -> bool {
    config.ftl.opens == Opens::FewestRetries || config.tend.inversions.get().is_some()
}

fn grade_of_retries(config: &DriveConfig) -> Option<&'static str> {
    let retries = &config.belief.retries;
    retries.believes().then(|| retries.name())
}

fn of_start(config: &DriveConfig, chip: &Chip) -> Vec<Idle> {
    let start = &config.start;
    let empty = start.fill.get() == 0.0;
    let ageless = if chip.is_flat() { FLAT } else { "without physics.levels.retention" };
    let retries = matches!(config.physics, PhysicsConfig::Retries(_));
    let invalid = set(start.invalid, Share::new(0.0));
    vec![
        ("start.age_max", set(start.age_max, Nanos::ZERO), !chip.heeds_age(), ageless),
        ("start.dwell", set(start.dwell, Nanos::ZERO), !retries, "without physics.retries"),
        ("start.invalid", invalid.clone(), empty, "without start.fill"),
        ("start.steady", set(start.steady, false), empty, "without start.fill"),
        (
            "start.voltages",
            (start.voltages == StartVoltages::Programmed).then(|| "programmed".to_owned()),
            programs_normally(config),
            NORMAL,
        ),
        ("start.invalid", invalid, start.steady, "with start.steady, which decides it"),
        (
            "tend.gc",
            config.tend.gc.get().is_none().then(|| "false".to_owned()),
            !empty && start.steady,
            "with start.steady: such a drive is drawn by collecting",
        ),
    ]
}

fn shown<T: ToString>(value: Option<T>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn set<T: PartialEq + ToString>(value: T, unset: T) -> Option<String> {
    (value != unset).then(|| value.to_string())
}

/// Whether array units hold reads, which may fail, until they have decoded.
fn holds(config: &DriveConfig, chip: &Chip) -> bool {
    let flash = &config.flash;
    !chip.is_flat() && flash.hold_until_decoded.unwrap_or(true) && !flash.cache_read
}

/// Whether a read that fails can be set aside for one of a higher priority: its unit holds it, and
/// priorities are what orders reads.
pub(super) fn reads_may_pass(config: &DriveConfig, chip: &Chip) -> bool {
    holds(config, chip) && matches!(config.order, OrderChoice::Priority(_))
}
