//! What came of the requests of each submission queue, and how pages were read.

use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_core::account::Part;
use ssdlab_core::stats::Latencies;
use ssdlab_core::{Drive, Op};

use super::{QueueResult, kind_of};

/// What passes of a read's time before its command goes to the flash.
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

/// Pages read for the host, by rung; none where there is but one.
pub(super) fn read_levels(drive: &Drive) -> Vec<u64> {
    by_rung(drive, &drive.stats().read_at)
}

/// Counts for every rung; none where there is but one.
fn by_rung(drive: &Drive, counts: &[u64]) -> Vec<u64> {
    let rungs = usize::from(drive.flash().cells.rungs());
    let every = counts.iter().copied().chain(std::iter::repeat(0));
    every.take(if rungs > 1 { rungs } else { 0 }).collect()
}

/// By queue, if there are several.
pub(super) fn queues(drive: &Drive) -> Vec<QueueResult> {
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
            read_retries: by_rung(drive, retries),
            read,
        }
    });
    all.collect()
}
