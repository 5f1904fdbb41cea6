//! The true properties of a device's blocks, computed by the physics without a drive or a workload.
//!
//! Suggested reading order: this file defines the figures, [`sample`] evaluates blocks, and
//! [`anchors`] compares them with papers.

mod anchors;
mod sample;
#[cfg(test)]
mod tests;

use serde::Serialize;
use ssdlab_base::Fault;
use ssdlab_core::ProgramMode;
use ssdlab_core::config::StartConfig;
use ssdlab_core::policy::allocation::BlockClass;
use ssdlab_core::{DriveConfig, Resolved};

pub use anchors::Anchor;
use sample::{Sample, Sampler};

use crate::plan::Plan;
use crate::prepare::Prepared;

/// The properties of a device's blocks. Every rate is that of a block's worst page. Every time is
/// that of a whole page of the lowest type, on an idle drive.
#[derive(Clone, Debug, Serialize)]
pub struct Physics {
    /// The name of the preset.
    pub device: String,
    /// The name of the scheme.
    pub scheme: String,
    /// The seed, which decides the properties of each block.
    pub seed: u64,
    /// The hash of the config.
    pub config_hash: String,
    /// `levels` or `retries`.
    pub model: &'static str,
    /// Blocks of the device.
    pub blocks: u32,
    /// P/E cycles at the start. The lines over age hold for this wear.
    pub pe_cycles: u32,
    /// Whether reads get worse with the age of the data.
    pub heeds_age: bool,
    /// Whether reads get worse with P/E cycles.
    pub heeds_wear: bool,
    /// The levels that a read climbs, for pages programmed in the normal mode.
    pub levels: Vec<Level>,
    /// The program modes, the normal one first.
    pub programs: Vec<Program>,
    /// Classes of blocks; quantiles of all blocks if there is only one class.
    pub groups: Vec<Group>,
    /// Distribution of the blocks' base error rates.
    pub base: Base,
    /// Figures of papers on this device's blocks, with those of the model; empty if the config
    /// changes the physics or the times of the preset.
    pub anchors: Vec<Anchor>,
}

/// A sensing level, or a step of a read-retry ladder.
#[derive(Clone, Debug, Serialize)]
pub struct Level {
    /// The number of this level from 1, or of this retry from 0.
    pub needed: u32,
    /// The highest raw bit error rate that it decodes.
    pub capability: f64,
    /// Time to sense in one attempt at this level, in microseconds.
    pub sense_us: f64,
    /// Time to transfer in one attempt, in microseconds.
    pub transfer_us: f64,
    /// Time to decode in one attempt, in microseconds.
    pub decode_us: f64,
    /// Time of a read that begins at this level and decodes, in microseconds.
    pub direct_us: f64,
    /// Time of a read that begins at the first level and climbs to this one, in microseconds.
    pub climb_us: f64,
}

/// A program mode.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// The name of the mode.
    pub name: String,
    /// Time to program a page, in microseconds: the mean over page types.
    pub program_us: f64,
    /// Factor on the base error rate.
    pub base_factor: f64,
    /// Wear of a block, relative to the normal mode.
    pub wear: f64,
}

/// Blocks that a report draws as one line.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// `strong` and `normal`, `class 1` and on, or `10 %`, `median`, `90 %`.
    pub name: String,
    /// The quantile of the drawn block, among the group's blocks in the order of their rates.
    pub quantile: f64,
    /// The number of blocks in the group.
    pub blocks: u32,
    /// The mode in which its pages are programmed.
    pub program_mode: String,
    /// Base error rate of the block at the quantile.
    pub base_rber: f64,
    /// Lowest base error rate of its blocks.
    pub base_least: f64,
    /// Highest base error rate of its blocks.
    pub base_most: f64,
    /// Points over the age of data, in days.
    pub over_age: Vec<Point>,
    /// Lines over P/E cycles, for a few ages; empty if blocks do not wear.
    pub over_cycles: Vec<OverCycles>,
}

/// A line over P/E cycles.
#[derive(Clone, Debug, Serialize)]
pub struct OverCycles {
    /// Age of the data in days.
    pub age_days: f64,
    /// Points over P/E cycles.
    pub points: Vec<Point>,
}

/// The reads of a group's pages under one condition.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The condition: days, or P/E cycles.
    pub at: f64,
    /// Raw bit error rate.
    pub rber: f64,
    /// The sensing level or the number of retries at which it decodes; absent if it does not.
    pub needed: Option<u32>,
    /// Time of a read that begins at the needed level, in microseconds; absent if it does not
    /// decode.
    pub direct_us: Option<f64>,
    /// Time of a read that climbs from the first level, in microseconds. If the page does not
    /// decode, this is the time of all levels.
    pub climb_us: f64,
    /// Share of the group's blocks whose worst page does not decode.
    pub lost: f64,
}

/// Distribution of base error rates over the blocks.
#[derive(Clone, Debug, Serialize)]
pub struct Base {
    /// The classes, best first; `all` if there is only one.
    pub classes: Vec<String>,
    /// Highest rate of each class except the last.
    pub boundaries: Vec<f64>,
    /// Bars of the histogram, in the order of their rates.
    pub bins: Vec<Bin>,
}

/// The blocks with a base error rate in one interval.
#[derive(Clone, Debug, Serialize)]
pub struct Bin {
    /// Start of the interval.
    pub least: f64,
    /// End of the interval.
    pub most: f64,
    /// Blocks of each class.
    pub blocks: Vec<u32>,
}

/// Computes the properties of the blocks of a plan's device.
///
/// # Errors
/// The first fault of the plan; flat physics, which makes all blocks equal.
pub fn physics(plan: &Plan) -> Result<Physics, Fault> {
    let prepared = plan.prepare()?;
    let resolved = &*prepared.resolved;
    if resolved.chip.is_flat() {
        let expected = "levels or retries (--set physics=retries, or the device dlv-mlc-128g): \
                        under flat physics all blocks are alike";
        return Err(prepared.effective.fault_at("physics").expected(expected));
    }
    let sampler = Sampler::new(resolved);
    let classes = sampler.classes(&resolved.config.metadata.block_class);
    let program_mode = |class: usize| resolved.program_mode_of(BlockClass(class as u8));
    let samples: Vec<Sample> =
        (0..classes.len()).map(|class| Sample::of(&classes[class], program_mode(class))).collect();
    let axes = Axes::of(&resolved.config, sampler.heeds_wear());
    Ok(Physics {
        device: plan.device.clone(),
        scheme: plan.scheme_name().into(),
        seed: plan.seed,
        config_hash: prepared.effective.hash().into(),
        model: sampler.model(),
        blocks: resolved.geometry().block_count(),
        pe_cycles: resolved.config.start.pe_cycles,
        heeds_age: resolved.chip.heeds_age(),
        heeds_wear: !axes.cycles.is_empty(),
        levels: sampler.levels(ProgramMode::NORMAL),
        programs: programs(resolved, &sampler),
        groups: lines(samples.len())
            .map(|(class, name, quantile)| {
                let name =
                    name.unwrap_or_else(|| class_name(BlockClass(class as u8), samples.len()));
                group(&sampler, &axes, (&classes[class], &samples[class]), name, quantile)
            })
            .collect(),
        base: base(&sampler, &classes),
        anchors: anchors_of(&prepared, &sampler, &classes)?,
    })
}

/// Returns the lines of a report: class, name if it is not the class's, and quantile.
fn lines(classes: usize) -> impl Iterator<Item = (usize, Option<String>, f64)> {
    let quantiles = [("10 %", 0.1), ("median", 0.5), ("90 %", 0.9)];
    let of_class = (0..classes).map(|class| (class, None, 0.5));
    let of_one = quantiles.into_iter().map(|(name, at)| (0, Some(name.to_owned()), at));
    let (classes, quantiles) = if classes == 1 { (0, 3) } else { (classes, 0) };
    of_class.take(classes).chain(of_one.take(quantiles))
}

fn class_name(class: BlockClass, classes: usize) -> String {
    match (classes, class.0) {
        (1, _) => "all".into(),
        (2, 0) => "strong".into(),
        (2, _) => "normal".into(),
        _ => format!("class {}", class.0 + 1),
    }
}

/// The points at which lines are sampled.
struct Axes {
    pe_cycles: f64,
    days: Vec<f64>,
    cycles: Vec<f64>,
    ages: Vec<f64>,
}

/// Intervals of a line over age; [`CYCLES`] is the same for P/E cycles.
const AGES: u32 = 240;
const CYCLES: u32 = 50;

impl Axes {
    /// Chooses the axes. The age axis ends at a multiple of 120 days, at least 1.2 times the oldest
    /// data at the start. The cycle axis ends at twice the cycles at the start, and at least at
    /// 5000.
    fn of(config: &DriveConfig, heeds_wear: bool) -> Axes {
        let StartConfig { age_max, pe_cycles, .. } = config.start;
        let days = 120.0 * (age_max.as_days() * 1.2 / 120.0).ceil().max(1.0);
        let cycles = f64::from(pe_cycles.saturating_mul(2).max(5000));
        let spread = |count: u32, most: f64| -> Vec<f64> {
            (0..=count).map(|at| most * f64::from(at) / f64::from(count)).collect()
        };
        Axes {
            pe_cycles: f64::from(pe_cycles),
            days: spread(AGES, days),
            cycles: if heeds_wear { spread(CYCLES, cycles) } else { Vec::new() },
            ages: [0.0, 0.25, 0.75].map(|part| part * days).to_vec(),
        }
    }
}

fn group(
    sampler: &Sampler<'_>,
    axes: &Axes,
    (blocks, sample): (&[u32], &Sample),
    name: String,
    quantile: f64,
) -> Group {
    let point = |at, cycles, days| sampler.point(sample, quantile, at, (cycles, days));
    let ages: &[f64] = if sampler.heeds_age() { &axes.ages } else { &axes.ages[..1] };
    let ages = if axes.cycles.is_empty() { &[] } else { ages };
    let base = |part: f64| sampler.base(blocks[((blocks.len() - 1) as f64 * part) as usize]);
    Group {
        name,
        quantile,
        blocks: blocks.len() as u32,
        program_mode: sampler.voltage_name(sample.program_mode),
        base_rber: base(quantile),
        base_least: base(0.0),
        base_most: base(1.0),
        over_age: axes.days.iter().map(|&days| point(days, axes.pe_cycles, days)).collect(),
        over_cycles: ages
            .iter()
            .map(|&age_days| {
                let points = axes.cycles.iter().map(|&at| point(at, at, age_days)).collect();
                OverCycles { age_days, points }
            })
            .collect(),
    }
}

fn programs(resolved: &Resolved, sampler: &Sampler<'_>) -> Vec<Program> {
    let declared = &resolved.config.timing.program_modes;
    let factor = |mode: ProgramMode| declared.get(mode.index()).and_then(|one| one.base_factor);
    let modes = resolved.chip.program_modes();
    modes
        .map(|mode| Program {
            name: sampler.voltage_name(mode),
            program_us: sampler.program_us(mode),
            base_factor: factor(mode).unwrap_or(1.0),
            wear: sampler.wear(mode),
        })
        .collect()
}

/// Bars of the histogram.
const BINS: usize = 48;

fn base(sampler: &Sampler<'_>, classes: &[Vec<u32>]) -> Base {
    let rates: Vec<Vec<f64>> =
        classes.iter().map(|blocks| blocks.iter().map(|&b| sampler.base(b)).collect()).collect();
    let ends = |of: &[f64]| Some((*of.first()?, *of.last()?));
    let spans: Vec<(f64, f64)> = rates.iter().filter_map(|own| ends(own)).collect();
    let least = spans.iter().map(|span| span.0).fold(f64::INFINITY, f64::min);
    let most = spans.iter().map(|span| span.1).fold(0.0, f64::max);
    let step = (most - least).max(most * 1e-6) / BINS as f64;
    let mut counts = vec![vec![0; classes.len()]; BINS];
    for (class, own) in rates.iter().enumerate() {
        for rate in own {
            counts[(((rate - least) / step) as usize).min(BINS - 1)][class] += 1;
        }
    }
    let edge = |at: usize| least + step * at as f64;
    let bins = counts.into_iter().enumerate();
    Base {
        classes: BlockClass::numbered(0..classes.len())
            .map(|class| class_name(class, classes.len()))
            .collect(),
        boundaries: spans[..spans.len() - 1].iter().map(|span| span.1).collect(),
        bins: bins
            .map(|(at, blocks)| Bin { least: edge(at), most: edge(at + 1), blocks })
            .collect(),
    }
}

/// Compares with papers, if the config keeps the physics and the times of the preset.
fn anchors_of(
    prepared: &Prepared,
    sampler: &Sampler<'_>,
    classes: &[Vec<u32>],
) -> Result<Vec<Anchor>, Fault> {
    let Some((device, published)) = anchors::of(&prepared.plan.device) else {
        return Ok(Vec::new());
    };
    let preset = Plan { device: device.to_owned(), ..Plan::default() }.prepare()?;
    let (own, as_shipped) = (&prepared.resolved.config, &preset.resolved.config);
    let times = |config: &DriveConfig| {
        let timing = &config.timing;
        (timing.read.clone(), timing.program.clone(), timing.decode.clone())
    };
    if own.physics != as_shipped.physics || times(own) != times(as_shipped) {
        return Ok(Vec::new());
    }
    let start = f64::from(own.start.pe_cycles);
    let programs = programs(&prepared.resolved, sampler);
    let program_mode = |class: usize| prepared.resolved.program_mode_of(BlockClass(class as u8));
    let beside = anchors::Model::new(sampler, start, classes, program_mode, programs);
    Ok(published.iter().flat_map(|each| beside.compare(each)).collect())
}
