//! What the blocks of a device really are: asked of the physics alone, no drive, no workload.
//!
//! A reading order: this file says what is told, [`sample`] how blocks are asked, [`anchors`] what
//! papers say of the same.

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

/// What the blocks of a device are. Every rate is that of a block's worst page, every time that of
/// a whole page of the lowest type, on an idle drive.
#[derive(Clone, Debug, Serialize)]
pub struct Physics {
    /// The preset.
    pub device: String,
    /// The scheme.
    pub scheme: String,
    /// The seed that decides what each block is.
    pub seed: u64,
    /// The config's hash.
    pub config_hash: String,
    /// `levels` or `retries`.
    pub model: &'static str,
    /// Blocks of the device.
    pub blocks: u32,
    /// P/E cycles at the start, with which lines over age are drawn.
    pub pe_cycles: u32,
    /// Whether reads get worse with the age of the data.
    pub heeds_age: bool,
    /// Whether reads get worse with P/E cycles.
    pub heeds_wear: bool,
    /// The levels that a read climbs, of normally programmed pages.
    pub levels: Vec<Level>,
    /// The ways to program, the normal one first.
    pub programs: Vec<Program>,
    /// Classes of blocks, or quantiles where all are of one class.
    pub groups: Vec<Group>,
    /// How the rates with which blocks were made are distributed.
    pub base: Base,
    /// What papers say of this device's blocks, beside the model; empty if the config changes its
    /// physics.
    pub anchors: Vec<Anchor>,
}

/// A sensing level, or a step of a ladder of read retries.
#[derive(Clone, Debug, Serialize)]
pub struct Level {
    /// Sensing levels from 1, or retries from 0.
    pub needed: u32,
    /// Raw bit error rate that it decodes.
    pub capability: f64,
    /// Sensing, transfer and decoding of an attempt at this level.
    pub sense_us: f64,
    /// See `sense_us`.
    pub transfer_us: f64,
    /// See `sense_us`.
    pub decode_us: f64,
    /// A read that begins at this level and decodes.
    pub direct_us: f64,
    /// A read that begins at the first level and climbs to this one.
    pub climb_us: f64,
}

/// A way to program.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// The voltage class.
    pub name: String,
    /// Time to program a page, the mean over page types.
    pub program_us: f64,
    /// Factor on the base rate.
    pub base_factor: f64,
    /// How much it wears a block, in parts of the normal way.
    pub wear: f64,
}

/// Blocks that are drawn as one line.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// `strong` and `normal`, `class 1` and on, or `10 %`, `median`, `90 %`.
    pub name: String,
    /// Of the group's blocks in the order of their rates, the one that is drawn.
    pub quantile: f64,
    /// Blocks of the group.
    pub blocks: u32,
    /// The voltage class with which its pages are programmed.
    pub program_mode: String,
    /// Median, lowest and highest rate with which its blocks were made.
    pub base_rber: f64,
    /// See `base_rber`.
    pub base_least: f64,
    /// See `base_rber`.
    pub base_most: f64,
    /// By the age of data, in days.
    pub over_age: Vec<Point>,
    /// By P/E cycles, for a few ages; none if nothing wears.
    pub over_cycles: Vec<OverCycles>,
}

/// A line over P/E cycles.
#[derive(Clone, Debug, Serialize)]
pub struct OverCycles {
    /// Age of the data.
    pub age_days: f64,
    /// By P/E cycles.
    pub points: Vec<Point>,
}

/// How a group's pages read under one condition.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Days, or P/E cycles.
    pub at: f64,
    /// Raw bit error rate.
    pub rber: f64,
    /// Sensing levels or retries after which it decodes; absent if it does not.
    pub needed: Option<u32>,
    /// Time of a read from the level needed; absent if it does not decode.
    pub direct_us: Option<f64>,
    /// Time of a read that climbs from the first level, in vain if it does not decode.
    pub climb_us: f64,
    /// Share of the group's blocks whose page does not decode.
    pub lost: f64,
}

/// How rates are distributed over blocks.
#[derive(Clone, Debug, Serialize)]
pub struct Base {
    /// The classes, best first; `all` if there is but one.
    pub classes: Vec<String>,
    /// Highest rate of each class but the last.
    pub boundaries: Vec<f64>,
    /// Intervals of rates.
    pub bins: Vec<Bin>,
}

/// Blocks made with a rate in an interval.
#[derive(Clone, Debug, Serialize)]
pub struct Bin {
    /// The interval.
    pub least: f64,
    /// See `least`.
    pub most: f64,
    /// Blocks of each class.
    pub blocks: Vec<u32>,
}

/// The blocks of a plan's device.
///
/// # Errors
/// The first thing that is wrong with the plan; flat physics, of which there is nothing to tell.
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
                let name = name.unwrap_or_else(|| class_name(class, samples.len()));
                group(&sampler, &axes, (&classes[class], &samples[class]), name, quantile)
            })
            .collect(),
        base: base(&sampler, &classes),
        anchors: anchors_of(&prepared, &sampler, &classes)?,
    })
}

/// The lines that are drawn: class, name if it is not the class's, quantile.
fn lines(classes: usize) -> impl Iterator<Item = (usize, Option<String>, f64)> {
    let quantiles = [("10 %", 0.1), ("median", 0.5), ("90 %", 0.9)];
    let of_class = (0..classes).map(|class| (class, None, 0.5));
    let of_one = quantiles.into_iter().map(|(name, at)| (0, Some(name.to_owned()), at));
    let (classes, quantiles) = if classes == 1 { (0, 3) } else { (classes, 0) };
    of_class.take(classes).chain(of_one.take(quantiles))
}

fn class_name(class: usize, classes: usize) -> String {
    match (classes, class) {
        (1, _) => "all".into(),
        (2, 0) => "strong".into(),
        (2, _) => "normal".into(),
        _ => format!("class {}", class + 1),
    }
}

/// Where lines are sampled.
struct Axes {
    pe_cycles: f64,
    days: Vec<f64>,
    cycles: Vec<f64>,
    ages: Vec<f64>,
}

/// Points of a line over age, and over P/E cycles.
const AGES: u32 = 240;
const CYCLES: u32 = 50;

impl Axes {
    /// To a multiple of 120 days that is beyond the oldest data at the start by a fifth, and to
    /// twice the cycles at the start or 5000.
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

/// Bars of the distribution.
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
        classes: (0..classes.len()).map(|class| class_name(class, classes.len())).collect(),
        boundaries: spans[..spans.len() - 1].iter().map(|span| span.1).collect(),
        bins: bins
            .map(|(at, blocks)| Bin { least: edge(at), most: edge(at + 1), blocks })
            .collect(),
    }
}

/// What papers say, if the config leaves the physics and the times as the preset has them.
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
