//! Evaluates the physics for a sample of each class's blocks, evenly from the best to the worst.

use ssdlab_base::Nanos;
use ssdlab_core::Resolved;
use ssdlab_core::config::PhysicsConfig;
use ssdlab_core::metadata::block_class::BlockClassChoice;
use ssdlab_core::{At, ChipInspector, Level as SensingLevel, ProgramMode};

use super::{Level, Point};

/// The most blocks of a class in a sample.
const SAMPLED: usize = 1024;

/// The most blocks whose pages are all evaluated.
const PAGED: usize = 128;

/// Some blocks of a class, and the mode in which their pages are programmed.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    blocks: Vec<u32>,
    pub(super) program_mode: ProgramMode,
}

impl Sample {
    /// Samples evenly from blocks in the order of their rates.
    pub(super) fn of(blocks: &[u32], program_mode: ProgramMode) -> Sample {
        let count = blocks.len().min(SAMPLED);
        let at = |index: usize| blocks[(2 * index + 1) * blocks.len() / (2 * count)];
        Sample { blocks: (0..count).map(at).collect(), program_mode }
    }
}

/// Evaluates the physics of a device.
pub(super) struct Sampler<'a> {
    resolved: &'a Resolved,
    inspector: ChipInspector<'a>,
    dwell: Nanos,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(resolved: &'a Resolved) -> Sampler<'a> {
        Sampler {
            inspector: ChipInspector::new(&resolved.chip, &resolved.page_order, &resolved.flash),
            resolved,
            dwell: resolved.config.start.dwell,
        }
    }

    /// Returns `levels` or `retries`.
    pub(super) fn model(&self) -> &'static str {
        if self.counts_from() == 1 { "levels" } else { "retries" }
    }

    /// Returns the first number: 1 for levels, 0 for retries.
    fn counts_from(&self) -> u32 {
        u32::from(matches!(self.resolved.config.physics, PhysicsConfig::Levels(_)))
    }

    pub(super) fn heeds_age(&self) -> bool {
        self.resolved.chip.heeds_age()
    }

    pub(super) fn heeds_wear(&self) -> bool {
        self.resolved.chip.heeds_wear()
    }

    /// Returns the base error rate of a block.
    pub(super) fn base(&self, block: u32) -> f64 {
        self.inspector.base(block)
    }

    pub(super) fn voltage_name(&self, program_mode: ProgramMode) -> String {
        let mut names = self.resolved.chip.program_mode_names();
        names.nth(program_mode.index()).unwrap_or_default().to_owned()
    }

    /// Returns the wear of a block by a program in this mode.
    pub(super) fn wear(&self, program_mode: ProgramMode) -> f64 {
        self.inspector.wear(program_mode)
    }

    pub(super) fn program_us(&self, program_mode: ProgramMode) -> f64 {
        let types = self.resolved.geometry().cell.bits() as u8;
        self.inspector.program(program_mode, types).as_us()
    }

    /// Returns the blocks of each class, in the order of their rates.
    pub(super) fn classes(&self, block_class: &BlockClassChoice) -> Vec<Vec<u32>> {
        let blocks = self.resolved.geometry().block_count();
        let rates: Vec<f64> = (0..blocks).map(|block| self.base(block)).collect();
        let block_classes = block_class.of(|| rates.clone());
        let class =
            |block: u32| block_classes.classes.get(block as usize).map_or(0, |class| class.index());
        let mut ranked: Vec<u32> = (0..blocks).collect();
        ranked.sort_by(|&a, &b| rates[a as usize].total_cmp(&rates[b as usize]));
        let mut classes = vec![Vec::new(); block_class.layout(self.resolved.geometry()).count];
        for block in ranked {
            classes[class(block)].push(block);
        }
        // A class without blocks gets no line.
        classes.retain(|blocks| !blocks.is_empty());
        classes
    }

    fn at(&self, program_mode: ProgramMode, pe_cycles: f64, days: f64) -> At {
        let age = Nanos::from_ns((days * 86_400e9).round() as u64);
        At { program_mode, pe_cycles, age, dwell: self.dwell, reads: 0 }
    }

    /// Evaluates the block at this quantile, after these cycles and at this age in days.
    pub(super) fn point(
        &self,
        sample: &Sample,
        quantile: f64,
        at: f64,
        (cycles, days): (f64, f64),
    ) -> Point {
        let conditions = self.at(sample.program_mode, cycles, days);
        let mut reads: Vec<_> =
            sample.blocks.iter().map(|&block| self.inspector.read(block, conditions)).collect();
        reads.sort_by(|a, b| a.rber.total_cmp(&b.rber));
        let lost = reads.iter().filter(|read| read.level.is_none()).count();
        let read = reads[((reads.len() - 1) as f64 * quantile).round() as usize];
        let last = SensingLevel::last_of(self.resolved.chip.levels());
        Point {
            at,
            rber: read.rber,
            needed: read.level.map(|level| u32::from(level.0) + self.counts_from()),
            direct_us: read.level.map(|level| self.direct(sample.program_mode, level)),
            climb_us: self.climb(sample.program_mode, read.level.unwrap_or(last)),
            lost: lost as f64 / reads.len() as f64,
        }
    }

    /// Returns the raw bit error rate of the median block.
    pub(super) fn median(&self, sample: &Sample, cycles: f64, days: f64) -> f64 {
        self.point(sample, 0.5, days, (cycles, days)).rber
    }

    /// Returns the retries of the best and of the worst block; `None` if reads climb levels.
    pub(super) fn retries(&self, sample: &Sample, cycles: f64, days: f64) -> Option<(f64, f64)> {
        let at = self.at(sample.program_mode, cycles, days);
        let needed = |block: &u32| {
            self.inspector.level(*block, self.inspector.worst_page(*block), at).retries()
        };
        let needed = || sample.blocks.iter().map(needed);
        let ends = (f64::from(needed().min()?), f64::from(needed().max()?));
        (self.counts_from() == 0).then_some(ends)
    }

    /// Returns the largest difference in retries between two pages of a block, over a few blocks;
    /// `None` if reads climb levels.
    pub(super) fn page_spread(&self, sample: &Sample, cycles: f64, days: f64) -> Option<f64> {
        let at = self.at(sample.program_mode, cycles, days);
        let pages = self.resolved.geometry().pages as u16;
        let distance = |&block: &u32| {
            let best = self.inspector.best_page(block, pages, at);
            let retries = |page| self.inspector.level(block, page, at).retries();
            f64::from(retries(self.inspector.worst_page(block)) - retries(best))
        };
        let few = sample.blocks.iter().step_by(sample.blocks.len().div_ceil(PAGED));
        few.map(distance).max_by(f64::total_cmp).filter(|_| self.counts_from() == 0)
    }

    /// Returns the microseconds of a read that begins at the level at which it decodes.
    fn direct(&self, program_mode: ProgramMode, level: SensingLevel) -> f64 {
        let one = self.inspector.attempt(program_mode, level);
        (one.sense + one.transfer + one.decode).as_us()
    }

    /// Returns the microseconds of a read that climbs from the first level to this one.
    fn climb(&self, program_mode: ProgramMode, level: SensingLevel) -> f64 {
        let of = |level| {
            let one = self.inspector.attempt(program_mode, level);
            let sense = if level == SensingLevel::FIRST { one.sense } else { one.sense_on };
            sense + one.transfer + one.decode
        };
        (0..=level.0).map(SensingLevel).map(of).sum::<Nanos>().as_us()
    }

    /// Returns the ladder of levels, for pages programmed in this mode.
    pub(super) fn levels(&self, program_mode: ProgramMode) -> Vec<Level> {
        let limits = self.resolved.chip.capability();
        let levels = limits.into_iter().zip((0..).map(SensingLevel));
        levels
            .map(|(capability, level)| {
                let one = self.inspector.attempt(program_mode, level);
                Level {
                    needed: u32::from(level.0) + self.counts_from(),
                    capability,
                    sense_us: one.sense.as_us(),
                    transfer_us: one.transfer.as_us(),
                    decode_us: one.decode.as_us(),
                    direct_us: self.direct(program_mode, level),
                    climb_us: self.climb(program_mode, level),
                }
            })
            .collect()
    }
}
