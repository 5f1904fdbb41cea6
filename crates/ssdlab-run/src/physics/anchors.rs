//! Compares figures that papers report for a preset's blocks with those of the model.

use serde::{Deserialize, Serialize};
use ssdlab_core::ProgramMode;
use ssdlab_core::config::catalog::{ANCHORS, PRESETS};
use ssdlab_core::metadata::block_class::{BlockClassChoice, FactoryConfig};

use super::Program;
use super::sample::{Sample, Sampler};

/// The compared quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Raw bit error rate of the median block, by days.
    RberAtAge,
    /// Days after which the median block of a class needs a level.
    LevelStart,
    /// The highest raw bit error rate that a level decodes.
    Capability,
    /// Time in microseconds of a read from the needed level, by raw bit error rate.
    ReadTime,
    /// Program time divided by the normal mode's, by raw bit error rate divided by the normal
    /// mode's.
    ProgramTime,
    /// Retries of the worst block divided by those of the best, by days.
    RetriesRatio,
    /// Retries of the best block, by days.
    #[serde(rename = "retries_least")]
    MinRetries,
    /// Retries of the worst block, by days.
    #[serde(rename = "retries_most")]
    MaxRetries,
    /// Retries of the worst block, minus those of the best block with fresh data, by days.
    #[serde(rename = "blocks_apart")]
    BlockSpread,
    /// The largest difference in retries between two pages of a block, by days.
    #[serde(rename = "pages_apart")]
    PageSpread,
}

/// A figure of a paper, with that of the model.
#[derive(Clone, Debug, Serialize)]
pub struct Anchor {
    /// The compared quantity.
    pub what: What,
    /// The class of blocks, if the figure has one.
    pub group: Option<String>,
    /// P/E cycles, if they differ from those at the start.
    pub cycles: Option<f64>,
    /// The condition: days, a level or a rate.
    pub at: f64,
    /// The figure of the paper.
    pub paper: f64,
    /// The figure of the model; absent if the config has nothing comparable.
    pub model: Option<f64>,
    /// The model's figure minus the paper's.
    pub difference: Option<f64>,
    /// The place in the paper.
    pub source: String,
}

/// Figures of a paper, as the file of anchors stores them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    what: What,
    class: Option<String>,
    normal: Option<f64>,
    cycles: Option<f64>,
    at: Vec<f64>,
    values: Vec<f64>,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    anchors: Vec<Published>,
}

/// Returns the figures that papers report for a device, or for the device it derives from, and the
/// name of that device.
pub(super) fn of(device: &str) -> Option<(&'static str, Vec<Published>)> {
    let sister = PRESETS.iter().find(|preset| preset.name == device).and_then(|own| own.over);
    let of_name = |wanted: &str| ANCHORS.iter().find(|(name, _)| *name == wanted);
    let (device, text) = of_name(device).or_else(|| of_name(sister?.0))?;
    let file: File = toml::from_str(text).unwrap_or_else(|e| panic!("anchors of {device}: {e}"));
    Some((device, file.anchors))
}

/// The model that is compared with the papers.
pub(super) struct Model<'a> {
    sampler: &'a Sampler<'a>,
    cycles: f64,
    all: Sample,
    /// Strong blocks. They and the normal blocks are the config's two classes, if it has two.
    /// Otherwise they are the classes of DLV.
    strong: Sample,
    normal: Sample,
    programs: Vec<Program>,
}

/// The age of the oldest data considered, in days.
const OLDEST: f64 = 3650.0;

impl<'a> Model<'a> {
    pub(super) fn new(
        sampler: &'a Sampler<'a>,
        cycles: f64,
        classes: &[Vec<u32>],
        program_mode: impl Fn(usize) -> ProgramMode,
        programs: Vec<Program>,
    ) -> Model<'a> {
        let all =
            Sample::of(&sampler.classes(&BlockClassChoice::default())[0], ProgramMode::NORMAL);
        let (strong, normal) = match classes {
            [strong, normal] => {
                (Sample::of(strong, program_mode(0)), Sample::of(normal, program_mode(1)))
            }
            _ => {
                let thirds = sampler.classes(&BlockClassChoice::Factory(FactoryConfig::default()));
                (
                    Sample::of(&thirds[0], ProgramMode::NORMAL),
                    Sample::of(&thirds[1], ProgramMode::NORMAL),
                )
            }
        };
        Model { sampler, cycles, all, strong, normal, programs }
    }

    /// Returns the figures of a paper, each with that of the model.
    pub(super) fn compare(&self, published: &Published) -> Vec<Anchor> {
        let pairs = published.at.iter().zip(&published.values);
        let row = |(&at, &value): (&f64, &f64)| {
            let (at, paper) = self.scaled(published, at, value);
            let model = self.model(published, at);
            Anchor {
                what: published.what,
                group: published.class.clone(),
                cycles: published.cycles,
                at,
                paper,
                model,
                difference: model.map(|model| model - paper),
                source: published.source.clone(),
            }
        };
        pairs.map(row).collect()
    }

    /// Scales a figure for comparison. Program times become ratios to the normal mode; all others
    /// stay.
    fn scaled(&self, published: &Published, at: f64, value: f64) -> (f64, f64) {
        let normal =
            published.normal.and_then(|rate| published.at.iter().position(|&at| at == rate));
        normal.map_or((at, value), |index| {
            (at / published.at[index], value / published.values[index])
        })
    }

    fn model(&self, published: &Published, at: f64) -> Option<f64> {
        let levels = self.sampler.levels(ProgramMode::NORMAL);
        match published.what {
            What::RberAtAge => Some(self.sampler.median(&self.all, self.cycles, at)),
            What::LevelStart => {
                let strong = published.class.as_deref() == Some("strong");
                let sample = if strong { &self.strong } else { &self.normal };
                let below = levels.iter().find(|level| f64::from(level.needed + 1) == at)?;
                self.age_of(sample, below.capability)
            }
            What::Capability => {
                let level = levels.iter().find(|level| f64::from(level.needed) == at)?;
                Some(level.capability)
            }
            What::ReadTime => {
                let level = levels.iter().find(|level| level.capability >= at)?;
                Some(level.direct_us)
            }
            What::ProgramTime => {
                let near = |program: &&Program| (program.base_factor / at - 1.0).abs() < 1e-3;
                let program = self.programs.iter().find(near)?;
                Some(program.program_us / self.programs[0].program_us)
            }
            What::RetriesRatio => self.ends(published, at).map(|(least, most)| most / least),
            What::MinRetries => self.ends(published, at).map(|(least, _)| least),
            What::MaxRetries => self.ends(published, at).map(|(_, most)| most),
            What::BlockSpread => Some(self.ends(published, at)?.1 - self.ends(published, 0.0)?.0),
            What::PageSpread => {
                self.sampler.page_spread(&self.all, published.cycles.unwrap_or(self.cycles), at)
            }
        }
    }

    /// Returns the retries of the best and of the worst block at an age in days.
    fn ends(&self, published: &Published, days: f64) -> Option<(f64, f64)> {
        self.sampler.retries(&self.all, published.cycles.unwrap_or(self.cycles), days)
    }

    /// Returns the days after which the median block exceeds this rate.
    fn age_of(&self, sample: &Sample, rate: f64) -> Option<f64> {
        let worse = |days| self.sampler.median(sample, self.cycles, days) > rate;
        let (mut young, mut old) = (0.0, OLDEST);
        if worse(young) || !worse(old) {
            return None;
        }
        while old - young > 1e-3 {
            let middle = (young + old) / 2.0;
            if worse(middle) {
                old = middle;
            } else {
                young = middle;
            }
        }
        Some(old)
    }
}
