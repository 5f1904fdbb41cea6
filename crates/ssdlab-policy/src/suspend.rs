//! `suspend`: who may interrupt whom on a die?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;

use crate::account::{Cause, OpKind, Priority};
use crate::{Policy, PolicyContext};

/// What a policy may know of the operation that a unit performs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InService {
    /// Its kind; `None` when the unit can start something now or is between two operations.
    pub kind: Option<OpKind>,
    /// What it is for.
    pub cause: Cause,
    /// The array time until it ends.
    pub remaining: Nanos,
    /// How often it has been suspended.
    pub suspended: u8,
    /// Whether another operation is set aside already.
    pub aside: bool,
    /// How often the loop that it is in was dropped; 0 where none is.
    pub aborts: u8,
}

/// What a suspend policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct SuspendView {
    /// What the array unit does now: a program or an erase. Or it holds reads whose attempt failed.
    pub running: InService,
    /// The priority of the host read that has come or waits.
    pub priority: Priority,
    /// Whether what the unit does is for a request of a higher priority.
    pub works_for_higher: bool,
    /// Reads of the host that the unit has set aside already; reads that its planes do together
    /// count as one. 0 if the unit programs or erases.
    pub reads_aside: u8,
}

/// What becomes of the operation in service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It goes on; the newcomer waits.
    Wait,
    /// It is set aside until no host read waits for its unit; reads, until none of a higher
    /// priority does.
    Suspend,
    /// As `Suspend`, and the loop that it is in is dropped: it goes on at that loop's beginning.
    /// Only of a policy that needs loops; of others it is `Suspend`.
    DropLoop,
    /// As `Suspend`, once the loop that it is in has ended. As for `DropLoop`.
    AfterLoop,
}

/// What a suspend policy needs of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SuspendNeeds {
    /// Whether it ever interrupts anything.
    pub suspends: bool,
    /// Whether programs and erases have loops, for [`Verdict::DropLoop`] and
    /// [`Verdict::AfterLoop`].
    pub loops: bool,
    /// The most failed reads that a unit may set aside. 0: it is not asked about failed reads.
    pub max_suspended_reads: u8,
}

/// What of a drive decides which settings of a suspend policy have an effect.
#[derive(Clone, Copy, Debug)]
pub struct SuspendFacts {
    /// No read ever fails.
    pub is_flat: bool,
    /// Units hold reads until they have decoded, and requests have priorities among reads.
    pub reads_may_pass: bool,
    /// Requests go by priority.
    pub by_priority: bool,
}

/// A key and its value, if it is set; whether it has no effect, and when that is so.
pub type IdleKey = (&'static str, Option<String>, bool, &'static str);

/// Who may interrupt whom.
pub trait SuspendPolicy: Policy {
    /// What it needs of the drive, with these settings.
    fn needs(_: &Self::Config) -> SuspendNeeds {
        SuspendNeeds { suspends: true, ..SuspendNeeds::default() }
    }

    /// Settings that may have no effect on a drive, which refuses them then.
    fn idle_keys(_: &Self::Config, _: &SuspendFacts) -> Vec<IdleKey> {
        Vec::new()
    }

    /// Asked when a host read comes to a unit that programs or erases. If the policy suspends
    /// reads, also asked when a host read of a higher priority waits for a unit whose reads failed
    /// to decode.
    fn verdict(&mut self, view: &SuspendView) -> Verdict;
}

/// `none` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoSuspendConfig {}

/// Every operation runs to its end.
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

    #[inline]
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
    /// How often one operation may be interrupted. Assumed.
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

/// Host reads interrupt programs and erases.
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
