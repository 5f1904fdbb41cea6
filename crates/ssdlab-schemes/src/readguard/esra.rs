//! `suspend = esra`: ReadGuard's extended suspend/resume arbiter, section 5.4. A host read aborts
//! the current loop of a program or an erase. A read that failed to decode lets a read of a higher
//! priority pass.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_nand::refusal::{IdleKey, Refusal};

use ssdlab_policy::account::OpKind;
use ssdlab_policy::suspend::{SuspendFacts, SuspendNeeds, SuspendPolicy, SuspendView, Verdict};
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `esra`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EsraConfig {
    /// Whether a read aborts the current loop of a program (`flash.program_loops`). Default: true.
    /// Source: ReadGuard, section 6.1.
    pub program: bool,
    /// Whether a read aborts the current loop of an erase (`flash.erase_loops`). Default: true.
    /// Source: ReadGuard, section 6.1.
    pub erase: bool,
    /// Whether a read also interrupts an operation for a request of a higher priority; only with
    /// `scheduler = "strict_priority"`. Default: true with `strict_priority`. Source: ReadGuard,
    /// section 3.1 (reads go first whatever a request's priority).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend_higher_priority: Option<bool>,
    /// Number of times that a loop may be aborted. After that it runs to its end, and reads wait
    /// only for that end. Default: 8. Source: ReadGuard (ruled: else dense reads starve the
    /// operation).
    #[schemars(range(min = 1))]
    pub max_aborts: u8,
    /// Whether a read that failed to decode is suspended for a host read of a higher priority; only
    /// with `scheduler = "strict_priority"`, where array units hold reads until they decode.
    /// Default: true with `strict_priority`. Source: ReadGuard, section 5.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<bool>,
    /// The most host reads that an array unit suspends at a time. Reads that its planes perform
    /// together count as one; reads of garbage collection do not count. Only with `reads`. Default:
    /// 2. Source: ReadGuard, section 5.4 (one for each of two lower priorities).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_suspended_reads: Option<u8>,
}

impl Default for EsraConfig {
    fn default() -> EsraConfig {
        EsraConfig {
            program: true,
            erase: true,
            suspend_higher_priority: None,
            max_aborts: 8,
            reads: None,
            max_suspended_reads: None,
        }
    }
}

impl EsraConfig {
    fn max_suspended_reads(&self) -> u8 {
        self.max_suspended_reads.unwrap_or(2)
    }
}

/// Aborts loops, and suspends reads.
#[derive(Clone, Debug)]
pub struct Esra {
    config: EsraConfig,
}

impl Policy for Esra {
    type Config = EsraConfig;

    fn check(config: &EsraConfig, _: &PolicyContext) -> Result<(), Refusal> {
        let least = [
            ("suspend.esra.max_aborts", config.max_aborts),
            ("suspend.esra.max_suspended_reads", config.max_suspended_reads()),
        ];
        match least.into_iter().find(|(_, most)| *most == 0) {
            Some((key, most)) => Err(Refusal::new(key, most, "at least 1")),
            None => Ok(()),
        }
    }

    fn build(config: &EsraConfig, _: &PolicyContext) -> Esra {
        Esra { config: config.clone() }
    }
}

impl SuspendPolicy for Esra {
    fn needs(config: &EsraConfig) -> SuspendNeeds {
        let reads = config.reads.unwrap_or(true);
        let max_suspended_reads = if reads { config.max_suspended_reads() } else { 0 };
        SuspendNeeds { suspends: true, loops: true, max_suspended_reads }
    }

    fn idle_keys(config: &EsraConfig, facts: &SuspendFacts) -> Vec<IdleKey> {
        const NO_PASSING: &str = "without scheduler = \"strict_priority\", or where no read is held until it has \
                                  decoded (flash.hold_until_decoded)";
        let shown = |value: Option<bool>| value.map(|value| value.to_string());
        // Forbidding an impossible action is no mistake: compared schemes set it for all drives.
        let reads = shown(config.reads.filter(|pass| *pass));
        let most = config.max_suspended_reads.map(|most| most.to_string());
        let together = !facts.reads_may_pass;
        vec![
            ("suspend.esra.reads", reads.clone(), facts.is_flat, "under flat physics"),
            ("suspend.esra.reads", reads, together, NO_PASSING),
            ("suspend.esra.max_suspended_reads", most.clone(), together, NO_PASSING),
            (
                "suspend.esra.suspend_higher_priority",
                shown(config.suspend_higher_priority),
                !facts.by_priority,
                "without scheduler = \"strict_priority\"",
            ),
            (
                "suspend.esra.max_suspended_reads",
                most,
                config.reads == Some(false),
                "with suspend.esra.reads = false",
            ),
        ]
    }

    fn verdict(&mut self, view: &SuspendView) -> Verdict {
        if view.running.kind == Some(OpKind::Read) {
            let has_room = view.suspended_reads < self.config.max_suspended_reads();
            return if has_room { Verdict::Suspend } else { Verdict::Wait };
        }
        let allowed = match view.running.kind {
            Some(OpKind::Program) => self.config.program,
            Some(OpKind::Erase) => self.config.erase,
            _ => false,
        };
        let over = !view.works_for_higher || self.config.suspend_higher_priority.unwrap_or(true);
        match allowed && over {
            false => Verdict::Wait,
            true if view.running.aborts < self.config.max_aborts => Verdict::DropLoop,
            true => Verdict::AfterLoop,
        }
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_base::Nanos;
    use ssdlab_policy::account::Cause;
    use ssdlab_policy::suspend::InService;

    use super::*;

    #[test]
    fn as_many_reads_are_suspended_as_there_are_lower_priorities() {
        let mut esra = Esra { config: EsraConfig::default() };
        let running = InService {
            kind: Some(OpKind::Read),
            cause: Cause::Host,
            remaining: Nanos::ZERO,
            suspended: 0,
            has_suspended: false,
            aborts: 0,
        };
        let mut verdict = |suspended_reads| {
            esra.verdict(&SuspendView { suspended_reads, ..SuspendView::of_a_read(running) })
        };
        let verdicts = [0, 1, 2].map(&mut verdict);
        assert_eq!(verdicts, [Verdict::Suspend, Verdict::Suspend, Verdict::Wait]);
    }
}
