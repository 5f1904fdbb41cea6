//! The true state of the cells: facts about each block that only the physics may use.
//!
//! Flat physics uses no such facts, so none are recorded then.

mod block_history;
mod probes;
mod retry_spread;
mod saved;

use std::ops::Range;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use ssdlab_base::{CellTime, Nanos, SimTime, prefetch};
use ssdlab_nand::chip::{Chip, Conditions};
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::program_mode::{MAX_PROGRAM_MODES, ProgramMode};
use ssdlab_nand::{BlockId, Geometry, Level, PageType, Ppn};

pub(crate) use self::block_history::BlockHistory;
use self::retry_spread::{COMPARED, RetrySpread};
use super::link::Moved;
use super::txn::Txn;
use crate::account::{Cause, OpKind};

/// The true state of every block.
#[derive(Clone, Debug)]
pub struct Cells {
    chip: Chip,
    order: PageOrder,
    facts: Facts,
    /// Nanoseconds on the cells' clock for each nanosecond of the run.
    time_scale: u32,
    /// Number of flash reads under physics that is not flat.
    probe: u64,
    /// Sum of the raw bit errors of a codeword, over the reads whose errors were counted.
    errors: u64,
    /// Sum of the raw bit error rates of these reads.
    rber: f64,
    /// Ages of the data in these reads, in milliseconds on the cells' clock.
    ages: Histogram<u64>,
    /// The spread of retries between pages, if a caller asks for it.
    retry_spread: Option<RetrySpread>,
    /// Pages programmed, and pages read for the host, by program mode.
    programmed: [u64; MAX_PROGRAM_MODES],
    read: [u64; MAX_PROGRAM_MODES],
    /// Erases, each weighted with the wear of the voltages that programmed the block's pages.
    worn: f64,
    /// Reads of its block that a read of the host counts for.
    reads_of_host: u32,
    pages_per_block: usize,
}

/// One read in this many has its bit errors and its age counted.
const COUNTED: u64 = 16;
/// A century in milliseconds, the largest age that is recorded. Ages keep two digits.
const OLDEST_MS: u64 = 36_525 * 24 * 3_600_000;

/// The history of each block; empty under flat physics.
#[derive(Clone, Debug)]
pub struct Facts {
    blocks: Vec<CellHistory>,
    /// The program mode of each page since its block's last erase, or [`UNKNOWN`]; empty if there
    /// is only one mode.
    program_mode: Vec<u8>,
}

/// The history of a block, in one row: a read needs all of it, and reads visit blocks at random.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
struct CellHistory {
    /// When the first page since the last erase was programmed, in nanoseconds on the cells' clock;
    /// negative before the run began.
    born: CellTime,
    /// When the block was last erased, and the mean time between its erases.
    erased: CellTime,
    #[serde(with = "saved::whole_ns")]
    dwell: Nanos,
    /// P/E cycles.
    wear: f32,
    /// Page reads since the last erase.
    reads: u32,
}

impl CellHistory {
    const NEW: CellHistory = CellHistory {
        born: UNBORN,
        erased: CellTime::START,
        dwell: Nanos::ZERO,
        wear: 0.0,
        reads: 0,
    };

    /// Returns when its data was programmed, if it holds any.
    fn born(&self) -> Option<CellTime> {
        (self.born != UNBORN).then_some(self.born)
    }
}

const UNBORN: CellTime = CellTime::from_ns(i64::MIN);
/// The mode of a page not programmed since the erase, or programmed normally before the start.
const UNKNOWN: u8 = u8::MAX;

impl Cells {
    /// Creates blocks that were never written.
    pub fn new(chip: Chip, order: PageOrder, geometry: &Geometry, time_scale: u32) -> Cells {
        let blocks = if chip.is_flat() { 0 } else { geometry.block_count() as usize };
        let one_voltage = chip.program_modes().len() == 1;
        let pages = if one_voltage { 0 } else { geometry.page_count() as usize };
        Cells {
            chip,
            order,
            time_scale,
            probe: 0,
            errors: 0,
            rber: 0.0,
            ages: Histogram::new_with_max(OLDEST_MS, 2).expect("a valid range"),
            retry_spread: None,
            programmed: [0; MAX_PROGRAM_MODES],
            read: [0; MAX_PROGRAM_MODES],
            worn: 0.0,
            reads_of_host: 1,
            pages_per_block: geometry.pages as usize,
            facts: Facts {
                blocks: vec![CellHistory::NEW; blocks],
                program_mode: vec![UNKNOWN; pages],
            },
        }
    }

    /// Assigns the cells to this drive's chip, if they were drawn for a drive with an equal start.
    pub(crate) fn are_of(&mut self, chip: &Chip) {
        self.chip = chip.clone();
    }

    /// Returns the time on the cells' clock at `now`, a time of the run.
    #[inline]
    pub fn time(&self, now: SimTime) -> CellTime {
        CellTime::at(now, self.time_scale)
    }

    /// Returns the number of levels of a read, or of attempts on a ladder of retries.
    pub fn levels(&self) -> u8 {
        self.chip.levels()
    }

    /// Returns the last level.
    pub(super) fn last_level(&self) -> Level {
        Level::last_of(self.levels())
    }

    /// Returns when the first page of a block since its erase was programmed, on the cells' clock;
    /// `None` without data. A controller that stamps its blocks knows this time, too.
    pub fn stamp(&self, block: BlockId) -> Option<CellTime> {
        self.facts.blocks.get(block.index()).and_then(CellHistory::born)
    }

    /// Prefetches the history of a page that will soon be read, and of its block.
    pub fn prefetch(&self, page: Ppn, block: BlockId) {
        prefetch::fetch(&self.facts.blocks, block.index());
        prefetch::fetch(&self.facts.program_mode, page.index());
    }

    /// Returns whether the history of a page affects its reads; false under flat physics.
    pub fn remember(&self) -> bool {
        !self.chip.is_flat()
    }

    /// Returns the history of a block; under flat physics that of a new block.
    fn history(&self, block: BlockId) -> CellHistory {
        self.facts.blocks.get(block.index()).copied().unwrap_or(CellHistory::NEW)
    }

    /// Returns the mean time between a block's erases, on the cells' clock.
    pub fn dwell(&self, block: BlockId) -> Nanos {
        self.history(block).dwell
    }

    /// Returns the wear of a block's cells, in P/E cycles.
    pub fn wear(&self, block: BlockId) -> f32 {
        self.history(block).wear
    }

    /// Returns the page reads of a block since its erase.
    pub fn reads(&self, block: BlockId) -> u32 {
        self.history(block).reads
    }

    /// Returns the days at the reference temperature in a nanosecond on the cells' clock.
    pub fn days_in_a_nano(&self) -> f64 {
        self.chip.days_in_a_nano()
    }

    /// Returns two means over the reads whose errors were counted: raw bit errors of a codeword,
    /// and the true raw bit error rate. `None` before the first such read.
    pub fn errors(&self) -> Option<(f64, f64)> {
        let counted = self.probe.div_ceil(COUNTED) as f64;
        (self.probe > 0).then(|| (self.errors as f64 / counted, self.rber / counted))
    }

    /// Returns the ages of the data in the reads whose errors were counted, in milliseconds on the
    /// cells' clock. The controller's own reads count as well.
    pub fn ages(&self) -> &Histogram<u64> {
        &self.ages
    }

    /// Returns where the modes of a block's pages are stored; an empty range if there is only one
    /// mode.
    fn pages_of(&self, block: usize) -> Range<usize> {
        let pages = if self.facts.program_mode.is_empty() { 0 } else { self.pages_per_block };
        block * pages..(block + 1) * pages
    }

    /// Returns counts since the last reset: pages programmed and pages read for the host, by
    /// program mode, and the weighted erases. The weight of an erase is the wear of the voltages
    /// that programmed its block's pages.
    pub fn wearing(&self) -> (&[u64], &[u64], f64) {
        let classes = self.chip.program_modes().len();
        (&self.programmed[..classes], &self.read[..classes], self.worn)
    }

    /// Counts a page that was read for the host.
    pub(crate) fn count_read(&mut self, txn: &Txn) {
        self.read[txn.program_mode.index()] += 1;
    }

    /// Resets the counts.
    pub(super) fn reset_counts(&mut self) {
        (self.probe, self.errors, self.rber) = (0, 0, 0.0);
        self.ages.reset();
        self.retry_spread = self.retry_spread.map(|_| RetrySpread::NONE);
        (self.programmed, self.read, self.worn) =
            ([0; MAX_PROGRAM_MODES], [0; MAX_PROGRAM_MODES], 0.0);
    }

    /// Sets the start state of a block: its wear, the mean time between its erases and, if it holds
    /// data, the age of the data.
    pub(crate) fn set_start(
        &mut self,
        block: BlockId,
        wear: u32,
        dwell: Nanos,
        age: Option<Nanos>,
    ) {
        if self.chip.is_flat() {
            return;
        }
        let history = &mut self.facts.blocks[block.index()];
        (history.wear, history.dwell) = (wear as f32, dwell);
        if let Some(age) = age {
            self.set_age(block, age);
        }
    }

    /// Sets the age of a block's data at the start.
    pub(crate) fn set_age(&mut self, block: BlockId, age: Nanos) {
        self.facts.blocks[block.index()].born = CellTime::from_ns(-(age.as_ns() as i64));
        self.hold_normal(block.index());
    }

    /// Marks the pages of a block whose mode is unknown as normally programmed.
    fn hold_normal(&mut self, block: usize) {
        let pages = self.pages_of(block);
        let unknown = self.facts.program_mode[pages].iter_mut().filter(|class| **class == UNKNOWN);
        unknown.for_each(|class| *class = ProgramMode::NORMAL.0);
    }

    #[inline]
    fn page_type(&self, txn: &Txn, geometry: &Geometry) -> PageType {
        self.order.page_type(geometry.page_in_block(txn.ppn))
    }

    /// Sets page type and program mode of a dispatched operation. For a read, the mode is the one
    /// that programmed the page.
    #[inline]
    pub(super) fn begin(&mut self, txn: &mut Txn, geometry: &Geometry) {
        txn.page_type = self.page_type(txn, geometry);
        txn.program_mode = match txn.kind {
            OpKind::Program => txn.hint.program_mode.unwrap_or_default(),
            // No table records this page: it was written before the start.
            _ if txn.age.is_some() => txn.unwritten_mode,
            _ => self.program_mode_of(txn.ppn),
        };
    }

    /// Returns the mode of the last program of a page.
    fn program_mode_of(&self, page: Ppn) -> ProgramMode {
        let known = self.facts.program_mode.get(page.index()).filter(|class| **class != UNKNOWN);
        known.map_or(ProgramMode::NORMAL, |&class| ProgramMode(class))
    }

    /// Returns the age of a page's data, counted from the first program of its block after the last
    /// erase. The age of a page that no table records counts from its own program. A controller
    /// that stamps its blocks knows this age, too. Zero under flat physics.
    #[inline]
    pub fn age(&self, txn: &Txn, block: BlockId, now: SimTime) -> Nanos {
        let now = self.time(now);
        match (txn.age, self.history(block).born()) {
            (Some(age), _) => age + now.saturating_since(CellTime::START),
            (None, Some(born)) => now.saturating_since(born),
            (None, None) => Nanos::ZERO,
        }
    }

    /// Returns the conditions of a page as it is read.
    #[inline]
    fn conditions(
        &self,
        txn: &Txn,
        block: BlockId,
        geometry: &Geometry,
        now: SimTime,
    ) -> Conditions {
        let history = self.history(block);
        Conditions {
            page: geometry.page_in_block(txn.ppn),
            page_type: txn.page_type,
            program_mode: txn.program_mode,
            pe_cycles: history.wear,
            retention: self.age(txn, block, now),
            reads: history.reads,
            dwell: history.dwell,
        }
    }

    /// Returns the raw bit errors of a codeword of a page that was read, as a controller counts
    /// them.
    pub fn errors_of(&self, txn: &Txn, geometry: &Geometry, now: SimTime) -> u32 {
        let block = geometry.block_of(txn.ppn);
        self.chip.errors(block, &self.conditions(txn, block, geometry, now))
    }

    /// Returns the most raw bit errors of a codeword that the last level decodes.
    pub fn max_errors(&self) -> u32 {
        self.chip.max_errors()
    }

    /// Returns the level at which a read that is sensed now decodes, and counts the read.
    #[inline]
    pub(super) fn level_needed(&mut self, txn: &Txn, geometry: &Geometry, now: SimTime) -> Level {
        if self.chip.is_flat() { Level::FIRST } else { self.level_by_errors(txn, geometry, now) }
    }

    #[inline(never)]
    fn level_by_errors(&mut self, txn: &Txn, geometry: &Geometry, now: SimTime) -> Level {
        let block = geometry.block_of(txn.ppn);
        let conditions = self.conditions(txn, block, geometry, now);
        let reads = if txn.cause == Cause::Host { self.reads_of_host } else { 1 };
        let history = &mut self.facts.blocks[block.index()];
        history.reads = history.reads.saturating_add(reads);
        if self.probe.is_multiple_of(COUNTED) {
            self.errors += u64::from(self.chip.errors(block, &conditions));
            self.rber += self.chip.rber(block, &conditions);
            self.ages.saturating_record(conditions.retention.as_ns() / 1_000_000);
            let compares = self.retry_spread.is_some() && txn.cause == Cause::Host;
            if compares && self.probe.is_multiple_of(COMPARED) {
                self.compare_pages(block, geometry, conditions);
            }
        }
        self.probe += 1;
        self.chip.level_needed(block, &conditions).unwrap_or(Level::BEYOND)
    }

    /// Sets the level of the first attempt of a read. Where attempts beyond the needed level fail,
    /// a start n levels beyond that level becomes one n levels below it. The policy must not learn
    /// of this, so the difference is kept.
    #[inline]
    pub(super) fn begin_read(&self, txn: &mut Txn) {
        if self.chip.fails_beyond() && txn.level > txn.level_needed && txn.failed == 0 {
            let level = txn.level.mirrored(txn.level_needed);
            txn.ahead = txn.level.0 - level.0;
            txn.level = level;
        }
    }

    #[inline]
    pub(super) fn sense_time(&self, txn: &Txn) -> Nanos {
        self.chip.sense_time(txn.page_type, txn.program_mode, txn.level, txn.failed > 0)
    }

    /// Returns the time to sense the next attempt of a read while the unit outputs the current one.
    pub(super) fn pipelined_sense_time(&self, txn: &Txn) -> Nanos {
        self.chip.sense_time(txn.page_type, txn.program_mode, txn.pipelined_level, true)
    }

    #[inline]
    pub(super) fn read_transfer(&self, txn: &Txn, moves: &[Moved]) -> Nanos {
        let Moved { bytes, time } = moves[txn.sectors as usize];
        self.chip.transfer_time(txn.program_mode, txn.level, bytes, time)
    }

    pub(super) fn decode_time(&self, txn: &Txn) -> Nanos {
        self.chip.decode_time(txn.level)
    }

    /// Returns whether every attempt to read takes time.
    pub(super) fn attempts_take_time(&self) -> bool {
        self.chip.attempts_take_time()
    }

    #[inline]
    pub(super) fn program_time(&self, txn: &Txn) -> Nanos {
        self.chip.program_time(txn.page_type, txn.program_mode)
    }

    /// Returns the time to program a page in this mode, the mean over the page types.
    pub(super) fn nominal_program(&self, program_mode: ProgramMode, types: u8) -> Nanos {
        let each = (0..types).map(|t| self.chip.program_time(PageType(t), program_mode));
        each.sum::<Nanos>() / u64::from(types)
    }

    pub(super) fn erase_time(&self, block: BlockId) -> Nanos {
        self.chip.erase_time(block, self.history(block).wear)
    }

    /// Records that a page was programmed in this mode.
    #[inline]
    pub(super) fn keep_voltage(&mut self, page: Ppn, program_mode: ProgramMode) {
        self.programmed[program_mode.index()] += 1;
        self.set_program_mode(page, program_mode);
    }

    /// Sets the mode in which a page was programmed before the run.
    pub(crate) fn set_program_mode(&mut self, page: Ppn, program_mode: ProgramMode) {
        if let Some(class) = self.facts.program_mode.get_mut(page.index()) {
            *class = program_mode.0;
        }
    }

    /// Marks the modes of all pages as unknown.
    pub(crate) fn forget_voltages(&mut self) {
        self.facts.program_mode.fill(UNKNOWN);
    }

    /// Returns the mode of the last program of a page.
    pub fn program_mode(&self, page: Ppn) -> ProgramMode {
        self.program_mode_of(page)
    }

    /// Returns the wear of an erase of a block: the mean over the voltages that programmed its
    /// pages. Source: HIRE, section 2.1 (wearing is in proportion to the voltages).
    fn wear_of_erase(&self, block: usize) -> f64 {
        let known =
            self.facts.program_mode[self.pages_of(block)].iter().filter(|class| **class != UNKNOWN);
        let (sum, pages) = known.fold((0.0, 0u32), |(sum, pages), &class| {
            (sum + self.chip.wear_weight(ProgramMode(class)), pages + 1)
        });
        if pages == 0 { 1.0 } else { sum / f64::from(pages) }
    }

    /// Records that a page of the block was programmed.
    pub(super) fn programmed(&mut self, block: BlockId, now: SimTime) {
        let now = self.time(now);
        if let Some(history) = self.facts.blocks.get_mut(block.index())
            && history.born == UNBORN
        {
            history.born = now;
        }
    }

    /// Records an erase of the block, which counts for `counts_for` P/E cycles.
    pub(super) fn erased(&mut self, block: BlockId, now: SimTime, counts_for: u32) {
        let at = block.index();
        let wear = f64::from(counts_for) * self.wear_of_erase(at);
        self.worn += wear;
        let pages = self.pages_of(at);
        self.facts.program_mode[pages].fill(UNKNOWN);
        if self.chip.is_flat() {
            return;
        }
        let now = self.time(now);
        let history = &mut self.facts.blocks[at];
        let cycles = u64::from(history.wear as u32);
        let span = u128::from(now.saturating_since(history.erased).as_ns());
        // The mean over all cycles so far, the new ones included. A 64-bit sum would overflow after
        // thousands of cycles of months each.
        let sum = u128::from(history.dwell.as_ns()) * u128::from(cycles) + span;
        let mean = sum / u128::from(cycles + u64::from(counts_for));
        let dwell = Nanos::from_ns(mean as u64);
        let wear = history.wear + wear as f32;
        *history = CellHistory { born: UNBORN, erased: now, dwell, wear, reads: 0 };
    }
}

#[cfg(test)]
mod tests;
