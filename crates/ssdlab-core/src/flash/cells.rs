//! What the cells really hold: the facts about each block that only the physics may use.
//!
//! Under `flat` physics nothing is recorded, for nothing is asked.

mod apart;
mod kept;
mod probes;

use std::ops::Range;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use ssdlab_base::{CellTime, Nanos, ahead};
use ssdlab_nand::chip::{Chip, Conditions};
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::program_mode::{PROGRAM_MODES_MAX, ProgramMode};
use ssdlab_nand::{BlockId, Geometry, Level, PageType, Ppn};

use self::apart::{Apart, COMPARED};
use super::link::Moved;
use super::txn::Txn;
use crate::account::{Cause, OpKind};

/// The truth about every block.
#[derive(Clone, Debug)]
pub struct Cells {
    chip: Chip,
    order: PageOrder,
    facts: Facts,
    /// Nanoseconds that pass in the cells for each of the run's.
    time_scale: u64,
    /// Flash reads under physics that is not flat.
    probe: u64,
    /// Raw bit errors of a codeword, summed over the reads whose errors were counted.
    errors: u64,
    /// Their raw bit error rates, summed.
    rber: f64,
    /// How old what they read was, in milliseconds of the cells' clock.
    ages: Histogram<u64>,
    /// How far apart the retries are that pages of what is read need, if anyone asks.
    apart: Option<Apart>,
    /// Pages that were programmed, and those that were read for the host, by their voltages.
    programmed: [u64; PROGRAM_MODES_MAX],
    read: [u64; PROGRAM_MODES_MAX],
    /// Erases, each counted by the wear of the voltages with which its block's pages were
    /// programmed.
    worn: f64,
    pages_per_block: usize,
}

/// One read in this many has its bit errors and its age counted for the statistics.
const COUNTED: u64 = 16;
/// A century in milliseconds: what is older is told as that old. To two digits.
const OLDEST_MS: u64 = 36_525 * 24 * 3_600_000;

/// What happened to each block; nothing is kept under flat physics.
#[derive(Clone, Debug)]
pub struct Facts {
    blocks: Vec<Past>,
    /// The voltage class with which each page was programmed since its block's last erase, or
    /// [`UNKNOWN`]; empty if there is but one.
    program_mode: Vec<u8>,
}

/// What happened to a block: a row, since a read asks for all of it and blocks are read at random.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
struct Past {
    /// When the first page since the last erase was programmed, in nanoseconds of the cells' clock;
    /// negative before the run began.
    born: CellTime,
    /// When it was erased last, and the mean time between its erases.
    erased: CellTime,
    dwell: u64,
    /// P/E cycles.
    wear: f32,
    /// Page reads since the last erase.
    reads: u32,
}

impl Past {
    const NEW: Past = Past { born: UNBORN, erased: CellTime::START, dwell: 0, wear: 0.0, reads: 0 };

    /// When its data was programmed, if it holds any.
    fn born(&self) -> Option<CellTime> {
        (self.born != UNBORN).then_some(self.born)
    }
}

const UNBORN: CellTime = CellTime::from_ns(i64::MIN);
/// The longest time on the cells' clock, before the start and after it: a century and more. Sums
/// and differences of two are no overflow.
const LONGEST: i64 = i64::MAX / 2;
/// Of a page that was not programmed since the erase, or before the start: normally, then.
const UNKNOWN: u8 = u8::MAX;

impl Cells {
    /// Blocks that were never written.
    pub fn new(chip: Chip, order: PageOrder, geometry: &Geometry, time_scale: u32) -> Cells {
        let blocks = if chip.is_flat() { 0 } else { geometry.block_count() as usize };
        let one_voltage = chip.program_modes().len() == 1;
        let pages = if one_voltage { 0 } else { geometry.page_count() as usize };
        Cells {
            chip,
            order,
            time_scale: time_scale.into(),
            probe: 0,
            errors: 0,
            rber: 0.0,
            ages: Histogram::new_with_max(OLDEST_MS, 2).expect("a valid range"),
            apart: None,
            programmed: [0; PROGRAM_MODES_MAX],
            read: [0; PROGRAM_MODES_MAX],
            worn: 0.0,
            pages_per_block: geometry.pages as usize,
            facts: Facts { blocks: vec![Past::NEW; blocks], program_mode: vec![UNKNOWN; pages] },
        }
    }

    /// Makes them this drive's, if they were drawn for another that begins alike.
    pub fn are_of(&mut self, chip: &Chip) {
        self.chip = chip.clone();
    }

    /// What the cells' clock shows at `now`, a moment of the run.
    #[inline]
    pub fn time(&self, now: u64) -> CellTime {
        CellTime::from_ns(now.saturating_mul(self.time_scale).min(LONGEST as u64) as i64)
    }

    /// What happened to each block, in a time that begins `now`.
    pub fn save(self, now: u64) -> Facts {
        let now = self.time(now);
        let before = |moment: CellTime| CellTime::from_ns(moment.as_ns() - now.as_ns());
        let mut facts = self.facts;
        for past in &mut facts.blocks {
            past.erased = before(past.erased);
            past.born = past.born().map_or(UNBORN, before);
        }
        facts
    }

    /// Takes over what happened to each block; false if it happened to another drive.
    pub fn restore(&mut self, facts: Facts) -> bool {
        // Where there was but one way to program, or is, every page must be of that one.
        let ways = self.chip.program_modes().len();
        let fits = facts.blocks.len() == self.facts.blocks.len()
            && facts
                .program_mode
                .iter()
                .all(|&class| class == UNKNOWN || usize::from(class) < ways);
        if fits {
            let program_mode = std::mem::take(&mut self.facts.program_mode);
            self.facts = facts;
            if self.facts.program_mode.len() != program_mode.len() {
                self.facts.program_mode = program_mode;
                for block in 0..self.facts.blocks.len() {
                    if self.facts.blocks[block].born().is_some() {
                        self.hold_normal(block);
                    }
                }
            }
        }
        fits
    }

    /// Levels of a read, or attempts of a ladder of retries.
    #[inline]
    pub fn levels(&self) -> u8 {
        self.chip.levels()
    }

    /// The last of them.
    #[inline]
    pub(super) fn last_level(&self) -> Level {
        Level::last_of(self.levels())
    }

    /// When the first page of a block was programmed since its erase, on the cells' clock; none if
    /// it holds nothing. What a controller knows too that stamps its blocks.
    pub fn stamp(&self, block: BlockId) -> Option<CellTime> {
        self.facts.blocks.get(block.index()).and_then(Past::born)
    }

    /// Asks for what happened to a page that will be read soon, and to its block.
    #[inline]
    pub fn expect(&self, page: Ppn, block: BlockId) {
        ahead::fetch(&self.facts.blocks, block.index());
        ahead::fetch(&self.facts.program_mode, page.index());
    }

    /// Whether how a page reads depends on what happened to it.
    #[inline]
    pub fn remember(&self) -> bool {
        !self.chip.is_flat()
    }

    /// What happened to a block; nothing under flat physics.
    #[inline]
    fn past(&self, block: BlockId) -> Past {
        self.facts.blocks.get(block.index()).copied().unwrap_or(Past::NEW)
    }

    /// Mean time between a block's erases, in nanoseconds of the cells' clock.
    pub fn dwell(&self, block: BlockId) -> u64 {
        self.past(block).dwell
    }

    /// Page reads of a block since its erase.
    pub fn reads(&self, block: BlockId) -> u32 {
        self.past(block).reads
    }

    /// Days at the reference temperature in a nanosecond of the cells' clock.
    pub fn days_in_a_nano(&self) -> f64 {
        self.chip.days_in_a_nano()
    }

    /// Means over the reads whose errors were counted: raw bit errors of a codeword as the
    /// controller counts them, and the true raw bit error rate. `None` before the first.
    pub fn errors(&self) -> Option<(f64, f64)> {
        let counted = self.probe.div_ceil(COUNTED) as f64;
        (self.probe > 0).then(|| (self.errors as f64 / counted, self.rber / counted))
    }

    /// How old the data was of the reads whose errors were counted, in milliseconds of the cells'
    /// clock; a controller's own reads count as well.
    pub fn ages(&self) -> &Histogram<u64> {
        &self.ages
    }

    /// Where the voltages of a block's pages are; nowhere if there is but one class.
    fn pages_of(&self, block: usize) -> Range<usize> {
        let pages = if self.facts.program_mode.is_empty() { 0 } else { self.pages_per_block };
        block * pages..(block + 1) * pages
    }

    /// Since the counts were last reset: pages that were programmed and pages that were read for
    /// the host, by their voltages; and erases, each counted by the wear of the voltages with which
    /// its block's pages had been programmed.
    pub fn wearing(&self) -> (&[u64], &[u64], f64) {
        let classes = self.chip.program_modes().len();
        (&self.programmed[..classes], &self.read[..classes], self.worn)
    }

    /// Counts a page that was read for the host.
    #[inline]
    pub(super) fn count_read(&mut self, txn: &Txn) {
        self.read[txn.program_mode.index()] += 1;
    }

    /// Forgets the errors counted so far.
    pub(super) fn reset_counts(&mut self) {
        (self.probe, self.errors, self.rber) = (0, 0, 0.0);
        self.ages.reset();
        self.apart = self.apart.map(|_| Apart::NONE);
        (self.programmed, self.read, self.worn) =
            ([0; PROGRAM_MODES_MAX], [0; PROGRAM_MODES_MAX], 0.0);
    }

    /// Gives a block the wear, the mean time between its erases and, if it holds data, the data's
    /// age with which the drive starts.
    pub fn set_start(&mut self, block: BlockId, wear: u32, dwell: Nanos, age: Option<Nanos>) {
        if self.chip.is_flat() {
            return;
        }
        let past = &mut self.facts.blocks[block.index()];
        (past.wear, past.dwell) = (wear as f32, dwell.as_ns());
        if let Some(age) = age {
            self.set_age(block, age);
        }
    }

    /// Gives the data of a block the age with which the drive starts.
    pub fn set_age(&mut self, block: BlockId, age: Nanos) {
        self.facts.blocks[block.index()].born = CellTime::from_ns(-(age.as_ns() as i64));
        self.hold_normal(block.index());
    }

    /// The pages of a block of which nobody knows otherwise were programmed normally.
    fn hold_normal(&mut self, block: usize) {
        let pages = self.pages_of(block);
        let unknown = self.facts.program_mode[pages].iter_mut().filter(|class| **class == UNKNOWN);
        unknown.for_each(|class| *class = ProgramMode::NORMAL.0);
    }

    #[inline]
    fn page_type(&self, txn: &Txn, geometry: &Geometry) -> PageType {
        self.order.page_type(geometry.page_in_block(txn.ppn))
    }

    /// Sets the type of a dispatched operation's page, and the voltages with which the page is
    /// programmed or, if it is read, was.
    #[inline]
    pub(super) fn begin(&mut self, txn: &mut Txn, geometry: &Geometry) {
        txn.page_type = self.page_type(txn, geometry);
        txn.program_mode = match txn.kind {
            OpKind::Program => txn.hint.program_mode.unwrap_or_default(),
            // What was written before the start, and no table holds.
            _ if txn.age.is_some() => txn.laid_with,
            _ => self.program_mode_of(txn.ppn),
        };
    }

    /// The voltages with which a page was programmed last.
    #[inline]
    fn program_mode_of(&self, page: Ppn) -> ProgramMode {
        let known = self.facts.program_mode.get(page.index()).filter(|class| **class != UNKNOWN);
        known.map_or(ProgramMode::NORMAL, |&class| ProgramMode(class))
    }

    /// Time since the first page of a block was programmed after its last erase, or, of a page that
    /// was written before the start and that no table holds, since it was. What a controller knows
    /// too that stamps its blocks. Zero under flat physics.
    #[inline]
    pub fn age(&self, txn: &Txn, block: BlockId, now: u64) -> Nanos {
        let now = self.time(now);
        match (txn.age, self.past(block).born()) {
            (Some(age), _) => age + now.saturating_since(CellTime::START),
            (None, Some(born)) => now.saturating_since(born),
            (None, None) => Nanos::ZERO,
        }
    }

    /// What holds for a page as it is read.
    #[inline]
    fn conditions(&self, txn: &Txn, block: BlockId, geometry: &Geometry, now: u64) -> Conditions {
        let past = self.past(block);
        Conditions {
            page: geometry.page_in_block(txn.ppn),
            page_type: txn.page_type,
            program_mode: txn.program_mode,
            pe_cycles: past.wear,
            retention: self.age(txn, block, now),
            reads: past.reads,
            dwell: Nanos::from_ns(past.dwell),
        }
    }

    /// Raw bit errors of a codeword of a page that was read, as a controller counts them.
    pub fn errors_of(&self, txn: &Txn, geometry: &Geometry, now: u64) -> u32 {
        let block = geometry.block_of(txn.ppn);
        self.chip.errors(block, &self.conditions(txn, block, geometry, now))
    }

    /// Raw bit errors of a codeword that the last level decodes.
    pub fn most_errors(&self) -> u32 {
        self.chip.most_errors()
    }

    /// The level at which a read that is sensed now decodes; counts the read.
    #[inline]
    pub(super) fn level_needed(&mut self, txn: &Txn, geometry: &Geometry, now: u64) -> Level {
        if self.chip.is_flat() { Level::FIRST } else { self.level_by_errors(txn, geometry, now) }
    }

    #[inline(never)]
    fn level_by_errors(&mut self, txn: &Txn, geometry: &Geometry, now: u64) -> Level {
        let block = geometry.block_of(txn.ppn);
        let conditions = self.conditions(txn, block, geometry, now);
        self.facts.blocks[block.index()].reads += 1;
        if self.probe.is_multiple_of(COUNTED) {
            self.errors += u64::from(self.chip.errors(block, &conditions));
            self.rber += self.chip.rber(block, &conditions);
            self.ages.saturating_record(conditions.retention.as_ns() / 1_000_000);
            let compares = self.apart.is_some() && txn.cause == Cause::Host;
            if compares && self.probe.is_multiple_of(COMPARED) {
                self.compare_pages(block, geometry, conditions);
            }
        }
        self.probe += 1;
        self.chip.level_needed(block, &conditions).unwrap_or(Level::BEYOND)
    }

    /// Where a read starts: as far before the level that it needs as it would have been beyond it,
    /// where that fails as well.
    #[inline]
    pub(super) fn as_far(&self, txn: &Txn) -> Level {
        if self.chip.fails_beyond() && txn.level > txn.level_needed {
            txn.level.mirrored(txn.level_needed)
        } else {
            txn.level
        }
    }

    #[inline]
    pub(super) fn sense_time(&self, txn: &Txn) -> Nanos {
        self.chip.sense_time(txn.page_type, txn.program_mode, txn.level, txn.failed > 0)
    }

    /// Time to sense the next attempt of a read while the one before is given out.
    pub(super) fn sense_time_ahead(&self, txn: &Txn) -> Nanos {
        self.chip.sense_time(txn.page_type, txn.program_mode, txn.level_ahead, true)
    }

    #[inline]
    pub(super) fn read_transfer(&self, txn: &Txn, moves: &[Moved]) -> Nanos {
        let Moved { bytes, time } = moves[txn.sectors as usize];
        self.chip.transfer_time(txn.program_mode, txn.level, bytes, time)
    }

    #[inline]
    pub(super) fn decode_time(&self, txn: &Txn) -> Nanos {
        self.chip.decode_time(txn.level)
    }

    /// Whether no attempt to read is over as soon as it begins.
    pub(super) fn attempts_take_time(&self) -> bool {
        self.chip.attempts_take_time()
    }

    #[inline]
    pub(super) fn program_time(&self, txn: &Txn) -> Nanos {
        self.chip.program_time(txn.page_type, txn.program_mode)
    }

    /// Time to program a page with these voltages, the mean over the types of pages.
    pub(super) fn nominal_program(&self, program_mode: ProgramMode, types: u8) -> Nanos {
        let each = (0..types).map(|t| self.chip.program_time(PageType(t), program_mode));
        Nanos::from_ns(each.sum::<Nanos>().as_ns() / u64::from(types))
    }

    pub(super) fn erase_time(&self, block: BlockId) -> Nanos {
        self.chip.erase_time(block, self.past(block).wear)
    }

    /// A page has been programmed with these voltages.
    #[inline]
    pub(super) fn keep_voltage(&mut self, page: Ppn, program_mode: ProgramMode) {
        self.programmed[program_mode.index()] += 1;
        self.set_program_mode(page, program_mode);
    }

    /// A page was programmed with these voltages before the run.
    #[inline]
    pub fn set_program_mode(&mut self, page: Ppn, program_mode: ProgramMode) {
        if let Some(class) = self.facts.program_mode.get_mut(page.index()) {
            *class = program_mode.0;
        }
    }

    /// Nothing is known of the voltages of any page.
    pub fn forget_voltages(&mut self) {
        self.facts.program_mode.fill(UNKNOWN);
    }

    /// The voltages with which a page was programmed last.
    pub fn program_mode(&self, page: Ppn) -> ProgramMode {
        self.program_mode_of(page)
    }

    /// The wear of an erase of a block as its pages were programmed: the mean over those of them
    /// that were. Source: HIRE, section 2.1 (wearing is in proportion to the voltages).
    fn wear_of_erase(&self, block: usize) -> f64 {
        let known =
            self.facts.program_mode[self.pages_of(block)].iter().filter(|class| **class != UNKNOWN);
        let (sum, pages) = known.fold((0.0, 0u32), |(sum, pages), &class| {
            (sum + self.chip.wear_weight(ProgramMode(class)), pages + 1)
        });
        if pages == 0 { 1.0 } else { sum / f64::from(pages) }
    }

    /// A page of the block has been programmed.
    #[inline]
    pub(super) fn programmed(&mut self, block: BlockId, now: u64) {
        let now = self.time(now);
        if let Some(past) = self.facts.blocks.get_mut(block.index())
            && past.born == UNBORN
        {
            past.born = now;
        }
    }

    /// The block has been erased, which counts for so many P/E cycles.
    pub(super) fn erased(&mut self, block: BlockId, now: u64, counts_for: u32) {
        let at = block.index();
        let wear = f64::from(counts_for) * self.wear_of_erase(at);
        self.worn += wear;
        let pages = self.pages_of(at);
        self.facts.program_mode[pages].fill(UNKNOWN);
        if self.chip.is_flat() {
            return;
        }
        let now = self.time(now);
        let past = &mut self.facts.blocks[at];
        let cycles = u64::from(past.wear as u32);
        let span = u128::from(now.saturating_since(past.erased).as_ns());
        // The mean over all cycles so far, the new ones included. Thousands of cycles of months
        // each are more nanoseconds than a word holds.
        let sum = u128::from(past.dwell) * u128::from(cycles) + span;
        let dwell = (sum / u128::from(cycles + u64::from(counts_for))) as u64;
        let wear = past.wear + wear as f32;
        *past = Past { born: UNBORN, erased: now, dwell, wear, reads: 0 };
    }
}

#[cfg(test)]
mod tests;
