//! Figures of each submission queue, and the levels at which pages decoded.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_core::account::Part;
use ssdlab_core::config::PhysicsConfig;
use ssdlab_core::stats::Latencies;
use ssdlab_core::{Drive, Op};

use super::{KindResult, kind_of};

/// Figures of the host interface, and of each queue if there are several.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Queues {
    /// By submission queue. The first has the highest priority. Only with several queues.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueResult>,
    /// The same figures as in `queues`, by name; only with three queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priorities>,
    /// Writes of pages that ended with the program of an earlier write of their page, which took
    /// their data along. They have no program of their own, so `ops` and `waf` do not count them.
    /// Only with `host.same_page = "superseding"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_writes: Option<u64>,
}

/// Three submission queues by the priority of their requests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Priorities {
    /// The first queue, which has the highest priority.
    pub high: QueueResult,
    /// The second queue.
    pub mid: QueueResult,
    /// The third queue.
    pub low: QueueResult,
}

/// Requests of one submission queue.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct QueueResult {
    /// Its reads.
    pub read: KindResult,
    /// Its writes.
    pub write: KindResult,
    /// Part of the mean latency of a read before its command goes to the flash, in microseconds.
    pub read_waiting_us: f64,
    /// Pages read from the flash for this queue, by the number of retries from 0; empty where reads
    /// have no retries.
    pub read_retries: Vec<u64>,
}

/// Pages read from the flash for the host, by the sensing level or the retry step at which they
/// decoded; empty where there is only one.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct DecodedAt {
    /// Pages read from the flash for the host, by the sensing level at which they decoded: `1`, `2`
    /// and so on; only where reads climb levels (`physics.levels`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, u64>,
    /// Pages read from the flash for the host, by the step of the read-retry ladder at which they
    /// decoded. The first step is no retry. Only where reads climb such a ladder
    /// (`physics.retries`, `physics.measured`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retry_steps: Vec<u64>,
}

/// The parts of a read's latency before its command goes to the flash.
const WAITING: [Part; 11] = [
    Part::HostQueue,
    Part::Page,
    Part::Buffer,
    Part::Map,
    Part::DieHost,
    Part::DieGc,
    Part::DieWl,
    Part::DieMigration,
    Part::DieMapping,
    Part::DieRmw,
    Part::DieRefresh,
];

/// Returns the counts of every level; empty if there is only one level.
fn by_level(drive: &Drive, counts: &[u64]) -> Vec<u64> {
    let levels = usize::from(drive.resolved().chip.levels());
    let every = counts.iter().copied().chain(std::iter::repeat(0));
    every.take(if levels > 1 { levels } else { 0 }).collect()
}

impl DecodedAt {
    pub(super) fn of(drive: &Drive) -> DecodedAt {
        let levels = by_level(drive, &drive.stats().read_at);
        match drive.resolved().config.physics {
            PhysicsConfig::Levels(_) => {
                let numbered = (1..).map(|level: u32| level.to_string()).zip(levels);
                DecodedAt { levels: numbered.collect(), ..DecodedAt::default() }
            }
            _ => DecodedAt { retry_steps: levels, ..DecodedAt::default() },
        }
    }
}

impl Queues {
    pub(super) fn of(drive: &Drive) -> Queues {
        let queues = queues(drive);
        let priority = match &queues[..] {
            [high, mid, low] => {
                let [high, mid, low] = [high, mid, low].map(QueueResult::clone);
                Some(Priorities { high, mid, low })
            }
            _ => None,
        };
        Queues { queues, priority, superseded_writes: drive.superseded_writes() }
    }
}

/// Returns figures by queue; empty if there is only one queue.
fn queues(drive: &Drive) -> Vec<QueueResult> {
    let stats = drive.stats();
    if stats.latencies.len() < 2 {
        return Vec::new();
    }
    let of = |queue: &[Latencies; Op::COUNT], op: Op| {
        kind_of(&queue[op as usize], queue[op as usize].sectors * SECTOR_BYTES)
    };
    let all = stats.latencies.iter().zip(&stats.read_retries).map(|(queue, retries)| {
        let read = of(queue, Op::Read);
        let waited = WAITING.iter().map(|part| read.blame_us.get(part.name()).unwrap_or(&0.0));
        QueueResult {
            read_waiting_us: waited.sum(),
            write: of(queue, Op::Write),
            read_retries: by_level(drive, retries),
            read,
        }
    });
    all.collect()
}
