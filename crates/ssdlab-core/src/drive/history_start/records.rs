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
pub fn began(drive: &Drive) -> Vec<Began> {
    let blocks = (0..drive.ftl().blocks.len() as u32).map(BlockId);
    let now = drive.now();
    let wear = blocks.map(|block| {
        let history = drive.flash().cells.block_history(block, now);
        (drive.ftl().blocks.erases(block), history.map_or(0.0, |history| history.wear))
    });
    wear.collect()
}

/// Returns the blocks of a drive after its history. `ranked` lists the blocks of each plane as they
/// ranked when it began.
pub fn of(
    drive: &Drive,
    tenants: &[Tenant],
    (ranked, began): (&[Vec<BlockId>], &[Began]),
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
    sample.more_erases = more_erases(resolved, &sample, workload);
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
        pages.map(|page| cells.program_mode(resolved.geometry().page(block, page)).0).collect()
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
        history: history.map(|history| BlockHistory { wear: history.wear - wear, ..history }),
        modes,
    }
}

/// Returns by class the P/E cycles of a block in the part of the history that was not run: as many
/// for each write as in the part that was.
fn more_erases(
    resolved: &Resolved,
    sample: &HistorySample,
    workload: &HistoryWorkload,
) -> Vec<f64> {
    let classes = if resolved.classes.by_priority { resolved.classes.count } else { 1 };
    let more = (0..classes).map(|class| {
        let own = |record: &&Record| record.class.index() == class;
        let of_class = || sample.records.iter().filter(own);
        let erases: f64 = of_class().map(|record| f64::from(record.erases)).sum();
        let each = erases / of_class().count().max(1) as f64;
        let writes = |tenant: &Tenant| {
            let last = Priority(classes as u8 - 1);
            Priority::of_queue(tenant.queue).min(last).class().index() == class
        };
        each * (workload.writes_for(writes) - 1.0)
    });
    more.collect()
}
