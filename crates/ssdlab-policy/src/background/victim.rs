//! The block that garbage collection takes.

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::rng::Stream as Random;

use crate::blocks::Pool;

/// How garbage collection chooses its victim. Each rule considers full blocks with at least one
/// invalid page. In the relaxed order it also considers blocks programmed in part, unless
/// `partly_programmed` is false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// The block with the most invalid pages; among full blocks, the one with the fewest valid
    /// pages.
    #[default]
    Greedy,
    /// A block drawn at random.
    Random,
    /// Of `d` blocks drawn at random, the one with the most invalid pages.
    DChoices,
    /// The block with the best (1 − u) · age / 2u, where u is its share of valid pages.
    CostBenefit,
    /// The block that was closed first.
    Fifo,
}

/// Number of draws after which a random rule examines every block instead. Where collection runs at
/// all, few blocks lack an invalid page.
const MAX_DRAWS: u32 = 64;

/// The blocks among which a victim is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// The blocks of the plane.
    pub pool: &'a Pool<'a>,
    /// Whether blocks that still offer pages are among them.
    pub partial: bool,
    /// Where the last search ended.
    pub cursor: usize,
}

impl Candidates<'_> {
    fn has(&self, at: usize) -> bool {
        self.pool.reclaimable(at) && (self.partial || !self.pool.is_partial(at))
    }

    /// Returns the candidate of least cost; among equals, the first after the cursor.
    fn least(&self, cost: impl Fn(&Pool, usize) -> u64) -> Option<usize> {
        let order = (self.cursor..self.pool.len()).chain(0..self.cursor);
        order.filter(|&at| self.has(at)).min_by_key(|&at| cost(self.pool, at))
    }

    fn draw(&self, random: &mut Random) -> Option<usize> {
        (0..MAX_DRAWS)
            .map(|_| random.random_range(0..self.pool.len() as u32) as usize)
            .find(|&at| self.has(at))
    }
}

impl Victim {
    /// Returns the index in the pool of the block to collect. `choices` is the number of draws of
    /// [`Victim::DChoices`].
    pub fn choose(self, of: &Candidates, choices: u32, random: &mut Random) -> Option<usize> {
        match self {
            Victim::Greedy => of.least(loss),
            Victim::Fifo => of.least(|pool, at| u64::from(pool.closed[at])),
            Victim::CostBenefit => of.least(cost),
            Victim::Random => of.draw(random).or_else(|| of.least(loss)),
            Victim::DChoices => {
                let drawn = (0..choices).filter_map(|_| of.draw(random));
                let best = drawn.min_by_key(|&at| loss(of.pool, at));
                best.or_else(|| of.least(loss))
            }
        }
    }
}

/// Returns a cost that falls as the collection frees more pages.
fn loss(pool: &Pool, at: usize) -> u64 {
    u64::from(pool.pages_per_block - pool.invalid(at))
}

/// Returns a cost that falls as (1 − u) · age / 2u rises (Rosenblum and Ousterhout's rule, as flash
/// simulators use it).
fn cost(pool: &Pool, at: usize) -> u64 {
    let valid = u64::from(pool.valid[at]);
    let invalid = u64::from(pool.invalid(at));
    let age = u64::from(pool.clock - pool.closed[at]) + 1;
    if valid == 0 {
        return 0;
    }
    // Benefit in fixed point; its complement is the cost.
    u64::MAX - (((invalid * age) << 24) / (2 * valid))
}
