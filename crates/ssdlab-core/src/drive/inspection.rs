//! Read access to a drive: its state, its statistics, and its records.

use std::collections::BTreeMap;

use ssdlab_base::SimTime;
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use super::Drive;
use super::machine::{Life, WearOut};
use crate::account::{Cause, OpKind};
use crate::buffer::Buffer;
use crate::config::Resolved;
use crate::flash::Flash;
use crate::ftl::{BlockState, Ftl};
use crate::policy::Hotness;
use crate::policy::allocation::BlockClass;
use crate::policy::component::Components;
use crate::policy::counters::Counters;
use crate::policy::event::{Event, EventMask, PageUses};
use crate::stats::{Ended, Stats, StreamCounts};
use ssdlab_schemes::{AnyPlacement, AnySuspend};

/// The state of a block, as seen from outside.
#[derive(Clone, Copy, Debug)]
pub struct BlockInfo {
    /// Number of P/E cycles.
    pub erases: u32,
    /// Number of pages that hold valid data.
    pub valid: u16,
    /// True raw bit error rate of the worst page; `None` under flat physics, and for a block
    /// without data.
    pub rber: Option<f64>,
}

impl Drive {
    /// Returns the current time of the drive.
    pub fn now(&self) -> SimTime {
        self.machine.now
    }

    /// Returns the statistics since they began.
    pub fn stats(&self) -> &Stats {
        &self.machine.stats
    }

    /// Returns the statistics of each stream, if the drive has several.
    pub fn streams(&self) -> Option<&[StreamCounts]> {
        self.machine.lifetime.streams.as_ref().map(|streams| streams.counts())
    }

    /// Returns the flash back end, read-only.
    pub fn flash(&self) -> &Flash {
        &self.machine.flash
    }

    /// Returns the tables of the translation layer, read-only.
    pub fn ftl(&self) -> &Ftl {
        &self.machine.ftl
    }

    /// Returns the resolved config of the drive.
    pub fn resolved(&self) -> &Resolved {
        &self.machine.resolved
    }

    /// Returns the largest number of page operations under way at a time, and the number for which
    /// memory is reserved.
    pub fn operations(&self) -> (usize, usize) {
        (self.machine.flash.txns.slots(), self.machine.flash.txns.reserved())
    }

    /// Returns the number of unfinished requests.
    pub fn unfinished(&self) -> u32 {
        self.machine.host.unfinished()
    }

    /// Returns whether no operation is under way.
    pub fn is_idle(&self) -> bool {
        self.next_event().is_none()
    }

    /// Returns the time of the drive's next event; `None` if the drive is idle.
    pub fn next_event(&self) -> Option<SimTime> {
        if !self.machine.host.completions.is_empty() {
            return Some(self.machine.now);
        }
        let buffer = self.buffer.pages.as_ref().map_or(SimTime::NEVER, Buffer::next_event);
        let next = self.machine.flash.next_event().min(buffer);
        if self.translation.dispatch.holds_groups() {
            // These may wait for the scheduler's timer.
            let next = next.min(self.background.next_of_scheduler(&self.machine));
            return (next != SimTime::NEVER).then_some(next);
        }
        (next != SimTime::NEVER).then_some(next)
    }

    /// Returns whether the queue has room for a request now.
    pub fn has_room(&self, queue: u8) -> bool {
        self.machine.host.has_room(queue)
    }

    /// Returns the state of a block at `now`; `None` if the block is bad. `block` counts within the
    /// plane.
    pub fn block(&self, plane: u32, block: u32, now: SimTime) -> Option<BlockInfo> {
        let id = BlockId(self.machine.geometry.first_block(PlaneId(plane)).0 + block);
        let table = &self.machine.ftl.blocks;
        (table.state(id) != BlockState::Bad).then(|| BlockInfo {
            erases: table.erases(id),
            valid: table.valid(id),
            rber: self.machine.flash.cells.rber_of(id, now),
        })
    }

    /// Returns the state of each component and policy as text, with its place in the config.
    pub fn policy_states(&mut self) -> Vec<(String, String)> {
        self.machine.policies.states()
    }

    /// Returns the counters of each policy, by its place in the config. Policies without counters
    /// are left out.
    pub fn counters(&mut self) -> BTreeMap<String, Counters> {
        let counters = self.machine.policies.counters();
        counters.filter(|(_, counters)| !counters.is_empty()).collect()
    }

    /// Returns whether a policy needs to know before the run how often the run will use each page
    /// ([`publish_uses`](Drive::publish_uses)).
    pub fn needs_page_uses(&self) -> bool {
        self.machine.policies.subscribed.has(EventMask::USES_KNOWN)
    }

    /// Publishes how often the run will use each page. Call it before any page is laid down.
    pub fn publish_uses(&mut self, uses: &PageUses) {
        self.machine.publish(&Event::UsesKnown(uses));
    }

    /// Returns whether a policy declares that it moves pages that the host has read, or has moved
    /// single pages since the statistics began.
    pub fn migrates(&self) -> bool {
        self.background.migrates || self.machine.stats.migration.has_moves()
    }

    /// Returns the number of blocks that are reserved for pages that are read often.
    pub fn reserved_blocks(&self) -> u64 {
        let metadata = &self.machine.policies.metadata;
        let planes = (0..self.machine.geometry.plane_count()).map(PlaneId);
        let classes = self.machine.resolved.classes.count;
        let each = planes.flat_map(|plane| {
            let classes = BlockClass::numbered(0..classes);
            classes.map(move |class| metadata.reserved_blocks(plane, class).unwrap_or(0))
        });
        each.map(u64::from).sum()
    }

    /// Returns whether the scheduler holds requests back.
    pub fn holds_back(&self) -> bool {
        self.translation.dispatch.has_window()
    }

    /// Returns whether any policy heeds the latency hints of the host.
    pub fn heeds_hints(resolved: &Resolved) -> bool {
        resolved.config.placement.iter().any(|link| AnyPlacement::needs(link).hints)
    }

    /// Returns the metadata components that the drive keeps.
    pub fn components(&self) -> Components<'_> {
        Components::new(&self.machine.policies.metadata)
    }

    /// Returns the hotness of a page, if the drive learns it.
    pub fn hotness_of(&self, lpn: Lpn) -> Option<Hotness> {
        self.machine.hotness_of(lpn)
    }

    /// Returns whether the jobs of a policy mix blocks of different classes now.
    pub fn across_classes(&self) -> bool {
        self.machine.policies.across_classes()
    }

    /// Returns how the blocks have worn out; `None` if wear does not run forward.
    pub fn life(&self) -> Option<Life> {
        self.machine.life()
    }

    /// Returns the share of the blocks that were not worn out at the start, and so may wear out.
    pub fn may_wear_out(&self) -> f64 {
        self.machine.lifetime.wear_out.as_deref().map_or(1.0, WearOut::may_wear_out)
    }

    /// Returns the share of the blocks that have worn out since the start; 0 if wear does not run
    /// forward.
    pub fn worn_out(&self) -> f64 {
        self.machine.lifetime.wear_out.as_deref().map_or(0.0, WearOut::worn_out)
    }

    /// Returns the bytes that a controller needs for the state of the drive's policies, by
    /// structure.
    pub fn metadata_bytes(&mut self) -> Vec<(&'static str, u64)> {
        let blocks = u64::from(self.machine.geometry.block_count());
        let mut bits = Vec::new();
        if !self.machine.policies.metadata.classifies() {
            let classes = self.machine.resolved.classes.count as u64;
            let of_a_block = u64::from(classes.next_power_of_two().trailing_zeros());
            bits.push(("block_classes", blocks * of_a_block));
        }
        bits.push(("page_progress", blocks * self.machine.ftl.progress_bits()));
        let held = self.machine.resolved.map_cache.map_or(0, |shape| u64::from(shape.slots));
        bits.push(("map_cache", held * self.machine.geometry.page_size.get() * 8));
        if self.machine.resolved.flash.reads_pass {
            // The last failed read voltages of the suspended reads of each plane: those of the
            // host, and one of garbage collection.
            let needs = AnySuspend::needs(&self.machine.resolved.config.suspend);
            let most = u64::from(needs.max_suspended_reads) + 1;
            let planes = u64::from(self.machine.geometry.plane_count());
            let levels = u64::from(self.machine.flash.cells.levels()).next_power_of_two();
            bits.push(("suspended_reads", planes * most * u64::from(levels.trailing_zeros())));
        }
        let reserved = self.reserved_blocks();
        bits.extend(self.machine.policies.metadata_bits(reserved));
        bits.retain(|(_, bits)| *bits > 0);
        bits.into_iter().map(|(name, bits)| (name, bits.div_ceil(8))).collect()
    }

    /// Returns the write amplification: pages programmed for each page that the host wrote. `None`
    /// before the host wrote any.
    pub fn write_amplification(&self) -> Option<f64> {
        let programs = self.machine.flash.counts.ops()[OpKind::Program as usize];
        let host = programs[Cause::Host as usize];
        (host > 0).then(|| programs.iter().sum::<u64>() as f64 / host as f64)
    }

    /// Returns the number of page writes that superseded the program of an earlier write of their
    /// page; `None` if writes keep their order.
    pub fn superseded_writes(&self) -> Option<u64> {
        self.machine.host.hazards.supersedes().then_some(self.machine.stats.superseded)
    }

    /// Resets the statistics: they begin now, with the requests that arrive from now on.
    pub fn reset_stats(&mut self) {
        self.machine.carry_counts();
        let log = self.machine.stats.log.take().map(|_| Vec::new());
        self.machine.stats =
            Stats { log, ..Stats::new(self.machine.host.queues(), self.machine.now) };
        self.machine.flash.reset_counts(self.machine.now);
        self.machine.publish(&Event::CountsReset);
        if let Some(streams) = &mut self.machine.lifetime.streams {
            streams.reset();
        }
        self.machine.host.forget_counted();
    }

    /// Compares, from now on, the pages of the blocks that some host reads access.
    pub fn compare_pages(&mut self) {
        self.machine.flash.cells.compare();
    }

    /// Logs every request that ends from now on, until it is taken.
    pub fn keep_log(&mut self) {
        self.machine.stats.log = Some(Vec::new());
        self.machine.record_page_waits();
    }

    /// Moves the requests that ended since the last call to `rows`.
    pub fn take_log(&mut self, rows: &mut Vec<Ended>) {
        if let Some(log) = &mut self.machine.stats.log {
            rows.append(log);
        }
    }

    /// Records events of these kinds from now on as text, as a policy that subscribes to them gets
    /// them.
    pub fn record_events(&mut self, kinds: EventMask) {
        self.machine.policies.record(kinds);
    }

    /// Returns the events that were recorded since the last call.
    pub fn take_events(&mut self) -> Vec<String> {
        self.machine.policies.take_recorded()
    }

    /// Records from now on the work of every part of the back end that begins before `until`.
    /// [`Flash::timeline`] holds the record.
    pub fn record(&mut self, until: SimTime) {
        debug_assert!(
            !self.machine.flash.lookahead.is_on(),
            "a drive with lookahead skips moments"
        );
        self.machine.flash.record(self.machine.now, until);
    }

    /// Makes the drive compute the consequences of a read or a program in advance, as soon as they
    /// are certain. The drive then processes fewer events, with the same results. Has no effect on
    /// a drive that is audited or recorded, or that has an operation under way.
    pub fn enable_lookahead(&mut self) {
        if self.is_idle() && self.machine.auditor.is_none() {
            self.machine.flash.enable_lookahead(
                self.machine.policies.reads.by_one,
                self.translation.dispatch.has_window(),
                self.machine.now,
            );
        }
    }
}
