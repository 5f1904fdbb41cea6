//! The blocks of a drive at the end of its history.

use std::collections::BTreeMap;

use ssdlab_nand::{BlockId, PageInBlock, PlaneId};

use super::workload::HistoryWorkload;
use crate::account::Priority;
use crate::config::Resolved;
use crate::drive::start::{HistorySample, Record, areas, group_of};
use crate::drive::{Drive, Tenant};
use crate::flash::BlockHistory;
use crate::policy::allocation::{BlockClass, StreamId, Writer};

/// The wear of a block when its history began: as the controller counts it, and its cells'.
type Began = (u32, f32);

/// Returns the wear of each block.
pub(crate) fn began(drive: &Drive) -> Vec<Began> {
    let blocks = (0..drive.ftl().blocks.len() as u32).map(BlockId);
    let now = drive.now();
    let wear = blocks.map(|block| {
        let history = drive.flash().cells.block_history(block, now);
        (drive.ftl().blocks.erases(block), history.map_or(0.0, |history| history.wear))
    });
    wear.collect()
}

/// Returns the blocks of a drive after its history. `ranked` lists the blocks of each plane as they
/// ranked when it began, and `halfway` the erases of each block as the workload counted them.
pub(crate) fn of(
    drive: &Drive,
    tenants: &[Tenant],
    (ranked, began, halfway): (&[Vec<BlockId>], &[Began], &[u32]),
    workload: &HistoryWorkload,
) -> HistorySample {
    let resolved = drive.resolved();
    let ftl = drive.ftl();
    let groups =
        tenants.len() + if resolved.classes.by_priority { resolved.classes_of_blocks() } else { 1 };
    let mut sample = HistorySample {
        groups,
        free_blocks: resolved.free_blocks_of_plane(),
        blocks: ranked.iter().map(Vec::len).sum::<usize>() as f64 / ranked.len() as f64,
        subpools: ftl.alloc.subpools(),
        ..HistorySample::default()
    };
    let group = groups_of_pages(resolved, tenants);
    for (plane, blocks) in (0..).map(PlaneId).zip(ranked) {
        let opened = opened_by(drive, plane);
        let pool = ftl.blocks.pool(plane);
        let began_at = sample.records.len() as u32;
        for (place, &block) in blocks.iter().enumerate() {
            let record = Record {
                rank: (place as f64 + 0.5) / blocks.len() as f64,
                open: opened.get(&block).copied(),
                closed_after: pool.clock - pool.closed[(block.0 - pool.block(0).0) as usize],
                ..record_of(drive, block, began[block.index()])
            };
            let first = sample.valid.len();
            sample.valid.resize(first + groups, 0);
            for page in (0..record.written).map(PageInBlock) {
                if let Some(lpn) = ftl.map.valid(resolved.geometry().page(block, page)) {
                    sample.valid[first + group[lpn.index()]] += 1;
                }
            }
            sample.records.push(record);
        }
        sample.planes.push(began_at..sample.records.len() as u32);
    }
    let second = ranked
        .iter()
        .flatten()
        .map(|block| f64::from(ftl.blocks.erases(*block) - halfway[block.index()]));
    add_erases(resolved, &mut sample.records, &second.collect::<Vec<_>>(), workload);
    sample
}

/// Returns the group of each logical page.
fn groups_of_pages(resolved: &Resolved, tenants: &[Tenant]) -> Vec<usize> {
    let filled = resolved.config.start.fill.of(u64::from(resolved.logical_pages)) as u32;
    let mut groups = vec![tenants.len(); resolved.logical_pages as usize];
    for area in areas(resolved, tenants, filled) {
        let pages = area.pages.start as usize..area.pages.end as usize;
        groups[pages].fill(group_of(&area, tenants.len()));
    }
    groups
}

/// Returns the writer of each open block of a plane.
fn opened_by(drive: &Drive, plane: PlaneId) -> BTreeMap<BlockId, (Writer, StreamId)> {
    let alloc = &drive.ftl().alloc;
    let stream = drive.resolved().config.streams().default;
    let all = alloc.open_list(plane).into_iter();
    let mut opened: BTreeMap<_, _> =
        all.map(|(block, _)| (block, (Writer::Host, stream))).collect();
    for &writer in alloc.writers() {
        let own = alloc.open_blocks(plane, writer).into_iter();
        opened.extend(own.map(|(stream, block)| (block, (writer, stream))));
    }
    opened
}

/// Returns the final state of a block, without its rank among others.
fn record_of(drive: &Drive, block: BlockId, (erases, wear): Began) -> Record {
    let (resolved, ftl, cells) = (drive.resolved(), drive.ftl(), &drive.flash().cells);
    let written = ftl.blocks.written(block);
    let modes = if resolved.chip.program_modes().len() > 1 && written > 0 {
        let pages = (0..resolved.geometry().pages as u16).map(PageInBlock);
        pages.map(|page| cells.program_mode(resolved.geometry().page(block, page))).collect()
    } else {
        Vec::new()
    };
    let history = cells.block_history(block, drive.now());
    Record {
        rank: 0.0,
        class: if resolved.classes.by_priority {
            ftl.blocks.class(block)
        } else {
            BlockClass::BEST
        },
        open: None,
        written,
        closed_after: 0,
        erases: ftl.blocks.erases(block) - erases,
        more_erases: 0.0,
        history: history.map(|history| BlockHistory { wear: history.wear - wear, ..history }),
        modes,
    }
}

/// Adds to each record the P/E cycles in the part of the history that was not run. `second` lists
/// the erases of each block in the second half of the part that was run.
///
/// The blocks of a class have as many for each write as in this half: the drive is then closest to
/// its steady state. Blocks differ as much as the halves agree that they do: each deviates from the
/// mean to the same side as in the part that was run.
fn add_erases(
    resolved: &Resolved,
    records: &mut [Record],
    second: &[f64],
    workload: &HistoryWorkload,
) {
    let classes = if resolved.classes.by_priority { resolved.classes.count } else { 1 };
    for class in 0..classes {
        let writes = |tenant: &Tenant| {
            let last = Priority(classes as u8 - 1);
            Priority::of_queue(tenant.queue).min(last).class().index() == class
        };
        let left_out = workload.writes_left_out(writes);
        let own: Vec<usize> =
            (0..records.len()).filter(|&at| records[at].class.index() == class).collect();
        if left_out == 0.0 || own.is_empty() {
            continue;
        }
        let halves = |&at: &usize| (f64::from(records[at].erases) - second[at], second[at]);
        let halves: Vec<(f64, f64)> = own.iter().map(halves).collect();
        let mean =
            |of: fn(&(f64, f64)) -> f64| halves.iter().map(of).sum::<f64>() / own.len() as f64;
        let (all, late) = (mean(|half| half.0 + half.1), mean(|half| half.1));
        let agreement = correlation(&halves).max(0.0);
        // The formula of Spearman and Brown: the part of the variance of the sums that lasts.
        let lasting = (2.0 * agreement / (1.0 + agreement)).sqrt();
        for (&at, half) in own.iter().zip(&halves) {
            let above = (half.0 + half.1) / all.max(f64::MIN_POSITIVE) - 1.0;
            records[at].more_erases = left_out * late * (1.0 + lasting * above);
        }
    }
}

/// Returns the correlation of pairs; 0 if one side does not vary.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let mut sums = [0.0; 3];
    for pair in pairs {
        let (dx, dy) = (pair.0 - x, pair.1 - y);
        sums = [sums[0] + dx * dx, sums[1] + dy * dy, sums[2] + dx * dy];
    }
    let [xx, yy, xy] = sums;
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}
