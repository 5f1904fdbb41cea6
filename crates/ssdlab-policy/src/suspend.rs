//! `suspend`: which operation may interrupt another on a die?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Nanos, SimTime};
use ssdlab_nand::refusal::IdleKey;
use ssdlab_nand::{Lpn, PlaneId, Ppn};

use crate::account::{Cause, OpKind, Priority};
use crate::component::Components;
use crate::{Policy, PolicyContext};

/// The operation that an array unit performs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InService {
    /// The kind of operation; `None` if the unit is free or between two operations.
    pub kind: Option<OpKind>,
    /// Why the drive performs the operation.
    pub cause: Cause,
    /// The array time that the operation still needs.
    pub remaining: Nanos,
    /// How often the operation has been suspended.
    pub suspended: u8,
    /// Whether the unit already holds a suspended operation.
    pub has_suspended: bool,
    /// How often the current loop was aborted; 0 for an operation without loops.
    pub aborts: u8,
}

/// The view of a suspend policy.
#[derive(Clone, Copy, Debug)]
pub struct SuspendView<'a> {
    /// The current time.
    pub now: SimTime,
    /// The operation of the array unit: a program, an erase, or reads whose last attempt failed.
    pub running: InService,
    /// The plane of the host read that has arrived or waits.
    pub plane: PlaneId,
    /// The logical page of that read.
    pub lpn: Lpn,
    /// The page on the flash.
    pub ppn: Ppn,
    /// When the request of that read arrived.
    pub arrival: SimTime,
    /// The priority of that read.
    pub priority: Priority,
    /// Whether the operation of the unit belongs to a request of a higher priority.
    pub works_for_higher: bool,
    /// Number of host reads that the unit has already suspended. Reads that its planes perform
    /// together count as one. 0 if the unit programs or erases.
    pub suspended_reads: u8,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

impl SuspendView<'_> {
    /// Returns a read of the highest priority about which nothing else is known.
    pub fn of_a_read(running: InService) -> SuspendView<'static> {
        SuspendView {
            now: SimTime::START,
            running,
            plane: PlaneId(0),
            lpn: Lpn(0),
            ppn: Ppn(0),
            arrival: SimTime::START,
            priority: Priority::HIGHEST,
            works_for_higher: false,
            suspended_reads: 0,
            components: Components::NONE,
        }
    }
}

/// The answer of a suspend policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The operation continues and the host read waits.
    Wait,
    /// The unit suspends the operation until no host read waits for the unit. It suspends reads
    /// until no read of a higher priority waits.
    Suspend,
    /// As `Suspend`, and the unit aborts the current loop. The operation later resumes at the
    /// beginning of that loop. Without [`SuspendNeeds::loops`] it is the same as `Suspend`.
    DropLoop,
    /// As `Suspend`, once the current loop has ended. Without [`SuspendNeeds::loops`] it is the
    /// same as `Suspend`.
    AfterLoop,
}

/// The needs of a suspend policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SuspendNeeds {
    /// Whether the policy ever suspends an operation.
    pub suspends: bool,
    /// Whether programs and erases have loops, for [`Verdict::DropLoop`] and
    /// [`Verdict::AfterLoop`].
    pub loops: bool,
    /// The most failed reads that a unit may suspend. 0: the drive does not ask about failed reads.
    pub max_suspended_reads: u8,
}

/// The facts of a drive that decide which settings of a suspend policy have an effect.
#[derive(Clone, Copy, Debug)]
pub struct SuspendFacts {
    /// Whether no read ever fails.
    pub is_flat: bool,
    /// Whether units hold reads until they decode, and reads differ in priority.
    pub reads_may_pass: bool,
    /// Whether the scheduler goes by priority.
    pub by_priority: bool,
}

/// A suspend policy: decides whether a host read interrupts the operation of its unit.
pub trait SuspendPolicy: Policy {
    /// Returns the policy's needs with these settings.
    fn needs(_: &Self::Config) -> SuspendNeeds {
        SuspendNeeds { suspends: true, ..SuspendNeeds::default() }
    }

    /// Returns the settings that have no effect on some drives. Such a drive refuses them.
    fn idle_keys(_: &Self::Config, _: &SuspendFacts) -> Vec<IdleKey> {
        Vec::new()
    }

    /// Decides about the operation of a unit. The drive asks when a host read comes to a unit that
    /// programs or erases. If the policy suspends reads, it also asks when a host read of a higher
    /// priority waits for a unit whose reads failed to decode.
    fn verdict(&mut self, view: &SuspendView) -> Verdict;
}

/// `none` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoSuspendConfig {}

/// Lets every operation run to its end.
#[derive(Clone, Debug)]
pub struct NoSuspend;

impl Policy for NoSuspend {
    type Config = NoSuspendConfig;

    fn build(_: &NoSuspendConfig, _: &PolicyContext) -> NoSuspend {
        NoSuspend
    }
}

impl SuspendPolicy for NoSuspend {
    fn needs(_: &NoSuspendConfig) -> SuspendNeeds {
        SuspendNeeds::default()
    }

    fn verdict(&mut self, _: &SuspendView) -> Verdict {
        Verdict::Wait
    }
}

/// Settings of `program_erase`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramEraseSuspendConfig {
    /// Whether a read may interrupt a program. Assumed.
    pub program: bool,
    /// Whether a read may interrupt an erase. Assumed.
    pub erase: bool,
    /// Number of times that one operation may be interrupted. Assumed.
    pub max_suspends: u8,
    /// An operation that would end within this time is not interrupted. Assumed.
    pub min_remaining: Nanos,
}

impl Default for ProgramEraseSuspendConfig {
    fn default() -> ProgramEraseSuspendConfig {
        ProgramEraseSuspendConfig {
            program: true,
            erase: true,
            max_suspends: 8,
            min_remaining: Nanos::from_us(50),
        }
    }
}

/// Lets host reads interrupt programs and erases.
#[derive(Clone, Debug)]
pub struct ProgramEraseSuspend {
    config: ProgramEraseSuspendConfig,
}

impl Policy for ProgramEraseSuspend {
    type Config = ProgramEraseSuspendConfig;

    fn build(config: &ProgramEraseSuspendConfig, _: &PolicyContext) -> ProgramEraseSuspend {
        ProgramEraseSuspend { config: config.clone() }
    }
}

impl SuspendPolicy for ProgramEraseSuspend {
    fn verdict(&mut self, view: &SuspendView) -> Verdict {
        let allowed = match view.running.kind {
            Some(OpKind::Program) => self.config.program,
            Some(OpKind::Erase) => self.config.erase,
            _ => false,
        };
        let worth_it = view.running.remaining > self.config.min_remaining
            && view.running.suspended < self.config.max_suspends;
        if allowed && worth_it { Verdict::Suspend } else { Verdict::Wait }
    }
}
