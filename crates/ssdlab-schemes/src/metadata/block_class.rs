//! Classes of blocks, 0 the best. Each class is a separate pool in every plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::choice;
use ssdlab_base::quantity::Share;
use ssdlab_nand::Geometry;
use ssdlab_nand::refusal::{IdleKey, Refusal, positive};

use super::group_config::{Boundaries, GroupsConfig, Scope};
use ssdlab_policy::ClassFacts;
use ssdlab_policy::allocation::{BlockClass, ClassLayout, FreeBlockPolicy};
use ssdlab_policy::blocks::BlockClasses;
use ssdlab_policy::component::{ComponentConfig, ComponentFacts};

choice! {
    /// How blocks are sorted into classes.
    pub enum BlockClassChoice {
        /// All blocks are in one class.
        none => None(NoClassesConfig),
        /// By the raw bit error rate of each new block, as a factory test measures it.
        factory => Factory(FactoryConfig),
        /// Into groups by the level at which each block was last read. A part of each group is set
        /// apart for pages that are read often.
        measured => Measured(GroupsConfig),
        /// By priority: each block in use belongs to one queue. The free blocks of the drive,
        /// ordered by expected retries, are divided into a subpool for each priority, the best for
        /// the highest (ReadGuard).
        predicted => Predicted(SubpoolsConfig),
    } default none
}

/// `none` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoClassesConfig {}

/// Settings of `factory`. DLV assumes this oracle: a bitmap of strong blocks (section III-D).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FactoryConfig {
    /// Shares of all blocks in each class but the last, from the class with the lowest error rates
    /// up; the last class has the rest. Default: a third, in two classes. Source: DLV (ruled).
    pub shares: Vec<Share>,
    /// A block joins a better class than the last only if its error rate times this factor is at
    /// most the highest rate of all blocks. So a larger program step leaves no block worse than
    /// others. Default: 1, no condition. Source: DLV, Table I (0.0104/0.0076 in its schemes).
    #[schemars(range(min = 1))]
    pub headroom: f64,
}

impl Default for FactoryConfig {
    fn default() -> FactoryConfig {
        FactoryConfig { shares: vec![Share::new(1.0 / 3.0)], headroom: 1.0 }
    }
}

/// Settings of `predicted`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SubpoolsConfig {
    /// Number of priorities with a separate subpool; further queues share the last one. Default: 3.
    /// Source: ReadGuard, section 5.2 (algorithm 2).
    #[schemars(range(min = 2, max = BlockClass::MAX_COUNT))]
    pub priorities: u8,
}

impl Default for SubpoolsConfig {
    fn default() -> SubpoolsConfig {
        SubpoolsConfig { priorities: 3 }
    }
}

impl BlockClassChoice {
    /// Returns the number of classes.
    fn count(&self) -> usize {
        match self {
            BlockClassChoice::None(_) => 1,
            BlockClassChoice::Factory(config) => config.shares.len() + 1,
            BlockClassChoice::Measured(config) => config.groups(),
            BlockClassChoice::Predicted(config) => config.priorities.into(),
        }
    }

    /// Returns the classes of a drive of this shape.
    pub fn layout(&self, geometry: &Geometry) -> ClassLayout {
        let alike = ClassLayout {
            count: self.count(),
            reserved_classes: 0,
            by_priority: false,
            is_learned: false,
            // Each class has blocks on every plane.
            move_span: 1,
        };
        match self {
            BlockClassChoice::None(_) | BlockClassChoice::Factory(_) => alike,
            BlockClassChoice::Measured(config) => ClassLayout {
                reserved_classes: config.groups() - 1,
                is_learned: true,
                move_span: config.scope.planes(geometry),
                ..alike
            },
            BlockClassChoice::Predicted(_) => {
                ClassLayout { by_priority: true, is_learned: true, ..alike }
            }
        }
    }

    /// Returns the facts about the classes that policies get when they are built.
    pub fn facts(&self) -> ClassFacts {
        let facts = ClassFacts { count: self.count() as u8, ..ClassFacts::default() };
        match self {
            BlockClassChoice::None(_) => facts,
            BlockClassChoice::Factory(factory) => ClassFacts {
                shares: factory.shares.iter().map(|share| share.get()).collect(),
                ..facts
            },
            BlockClassChoice::Measured(config) => {
                ClassFacts { groups: Some(config.groups() as u8), ..facts }
            }
            BlockClassChoice::Predicted(config) => {
                ClassFacts { priorities: config.priorities, ..facts }
            }
        }
    }

    /// Returns the initial class of each block; empty without classes. `factory` sorts blocks by
    /// `rates`, their error rates when new; equal rates are ordered by block number. Measured
    /// blocks all start in the last class: blocks to set apart are later chosen among the free
    /// ones.
    pub fn of(&self, rates: impl Fn() -> Vec<f64>) -> BlockClasses {
        let config = match self {
            BlockClassChoice::None(_) => return BlockClasses::default(),
            BlockClassChoice::Measured(config) => {
                let last = config.groups() as u8 - 1;
                return BlockClasses {
                    classes: vec![BlockClass(last); rates().len()],
                    reserved_classes: last,
                };
            }
            // The owner of a block is decided when its data is laid down.
            BlockClassChoice::Predicted(_) => {
                return BlockClasses {
                    classes: vec![BlockClass::BEST; rates().len()],
                    reserved_classes: 0,
                };
            }
            BlockClassChoice::Factory(config) => config,
        };
        let rates = rates();
        let mut ranked: Vec<u32> = (0..rates.len() as u32).collect();
        let key = |&block: &u32| (rates[block as usize].to_bits(), block);
        ranked.sort_unstable_by_key(key);
        let worst = rates.iter().copied().fold(0.0, f64::max);
        let mut classes = vec![BlockClass(config.shares.len() as u8); rates.len()];
        let (mut rest, mut summed) = (&ranked[..], 0.0);
        for (class, share) in (0..).map(BlockClass).zip(&config.shares) {
            let before = ranked.len() - rest.len();
            summed += share.get();
            let upto = (summed * ranked.len() as f64).round() as usize;
            let (these, others) = rest.split_at((upto - before).min(rest.len()));
            let fits = |block: &&u32| rates[**block as usize] * config.headroom <= worst;
            these.iter().filter(fits).for_each(|&block| classes[block as usize] = class);
            rest = others;
        }
        BlockClasses { classes, reserved_classes: 0 }
    }
}

impl ComponentConfig for BlockClassChoice {
    /// Other choices need no state besides the class of each block.
    fn is_present(&self, _: bool) -> bool {
        matches!(self, BlockClassChoice::Measured(_))
    }

    fn check(&self, levels: u8) -> Result<(), Refusal> {
        match self {
            BlockClassChoice::None(_) => Ok(()),
            BlockClassChoice::Measured(config) => check_groups(config, levels),
            BlockClassChoice::Predicted(config) => {
                if (2..=BlockClass::MAX_COUNT as u8).contains(&config.priorities) {
                    return Ok(());
                }
                let key = "metadata.block_class.predicted.priorities";
                let expected = format!("2 to {}", BlockClass::MAX_COUNT);
                Err(Refusal::new(key, config.priorities, expected))
            }
            BlockClassChoice::Factory(config) => {
                const KEY: &str = "metadata.block_class.factory.shares";
                if !(2..=BlockClass::MAX_COUNT).contains(&self.count()) {
                    let most = BlockClass::MAX_COUNT - 1;
                    let expected = format!("1 to {most} shares: the last class has the rest");
                    let got = format!("a list of {}", config.shares.len());
                    return Err(Refusal::new(KEY, got, expected));
                }
                if !(config.headroom >= 1.0 && config.headroom.is_finite()) {
                    let key = "metadata.block_class.factory.headroom";
                    return Err(Refusal::new(key, config.headroom, "a factor of at least 1"));
                }
                shares_fit(KEY, &config.shares)
            }
        }
    }

    fn idle_keys(&self, facts: &ComponentFacts) -> Vec<IdleKey> {
        let sorted = (self.count() > 1).then(|| self.name().to_owned());
        let mut keys = vec![("metadata.block_class", sorted, facts.is_flat, "under flat physics")];
        if let BlockClassChoice::Measured(groups) = self {
            let scope = (groups.scope != Scope::default())
                .then(|| format!("{:?}", groups.scope).to_lowercase());
            keys.extend([
                (
                    "metadata.block_class.measured.scope",
                    scope,
                    !facts.migrates,
                    "without a background policy that moves what is read, such as read_hot_migration",
                ),
                (
                    "metadata.block_class.measured.growth",
                    groups.growth.map(|growth| growth.to_string()),
                    facts.free_block_policy != FreeBlockPolicy::Healthiest,
                    "without ftl.free_block_policy = \"healthiest\"",
                ),
            ]);
        }
        keys
    }
}

fn shares_fit(key: &str, shares: &[Share]) -> Result<(), Refusal> {
    let sum: f64 = shares.iter().map(|share| share.get()).sum();
    if sum > 1.0 {
        Err(Refusal::new(key, format!("a sum of {sum}"), "shares that add up to 1 at most"))
    } else {
        Ok(())
    }
}

/// Checks that the boundaries of groups are in range and in order.
fn check_groups(config: &GroupsConfig, levels: u8) -> Result<(), Refusal> {
    const KEY: &str = "metadata.block_class.measured.boundaries";
    let growth = config.growth.unwrap_or(1.0);
    positive("metadata.block_class.measured.growth", growth)?;
    if config.groups() > BlockClass::MAX_COUNT {
        let expected =
            format!("at most {}: the last group has the rest", BlockClass::MAX_COUNT - 1);
        return Err(Refusal::new(KEY, format!("a list of {}", config.groups() - 1), expected));
    }
    match &config.boundaries {
        Boundaries::Levels(upto) => {
            let rising = upto.windows(2).all(|pair| pair[0] < pair[1]);
            if rising && upto.iter().all(|level| (1..levels.max(2)).contains(level)) {
                return Ok(());
            }
            let expected = match levels {
                1 => "no level above 1: reads of this drive have a single level (physics.levels.code)".into(),
                _ => format!("rising levels, 1 to {} of this drive's {levels}", levels - 1),
            };
            Err(Refusal::new(format!("{KEY}.levels"), format!("{upto:?}"), expected))
        }
        Boundaries::Shares(shares) => shares_fit(&format!("{KEY}.shares"), shares),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(shares: &[f64], headroom: f64, rates: Vec<f64>) -> Vec<u8> {
        let shares = shares.iter().map(|&share| Share::new(share)).collect();
        let found =
            BlockClassChoice::Factory(FactoryConfig { shares, headroom }).of(|| rates.clone());
        found.classes.iter().map(|class| class.0).collect()
    }

    #[test]
    fn no_block_is_strong_if_a_larger_step_makes_it_worse_than_others() {
        assert_eq!(classes(&[0.5], 1.4, vec![5.0, 1.0, 4.0, 3.6]), [1, 0, 1, 1]);
        assert_eq!(classes(&[0.5], 1.4, vec![2.0; 4]), [1; 4]);
        assert_eq!(classes(&[0.5], 1.0, vec![2.0; 4]), [0, 0, 1, 1]);
    }

    #[test]
    fn the_best_blocks_are_of_the_first_class() {
        let rates = || vec![5.0, 1.0, 4.0, 2.0, 3.0, 2.0];
        let estimates = |shares: &[f64]| classes(shares, 1.0, rates());
        assert_eq!(estimates(&[1.0 / 3.0]), [1, 0, 1, 0, 1, 1]);
        assert_eq!(estimates(&[1.0 / 6.0, 1.0 / 3.0]), [2, 0, 2, 1, 2, 1]);
        assert_eq!(estimates(&[0.0, 1.0]), [1; 6]);
        assert!(BlockClassChoice::default().of(rates).classes.is_empty());
    }
}
