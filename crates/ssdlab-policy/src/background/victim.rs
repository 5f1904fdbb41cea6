//! The block that garbage collection takes.

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::rng::Stream as Random;

use crate::blocks::Pool;

/// How garbage collection chooses its victim. Each rule considers full blocks with at least one
/// invalid page. In the relaxed order it also considers blocks programmed in part.
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

impl Victim {
    /// Returns the index in the pool of the block to collect. `cursor` is where the last search
    /// ended.
    pub fn choose(
        self,
        pool: &Pool,
        choices: u32,
        cursor: usize,
        random: &mut Random,
    ) -> Option<usize> {
        match self {
            Victim::Greedy => least(pool, cursor, loss),
            Victim::Fifo => least(pool, cursor, |pool, at| u64::from(pool.closed[at])),
            Victim::CostBenefit => least(pool, cursor, cost),
            Victim::Random => draw(pool, random).or_else(|| least(pool, cursor, loss)),
            Victim::DChoices => {
                let drawn = (0..choices).filter_map(|_| draw(pool, random));
                let best = drawn.min_by_key(|&at| loss(pool, at));
                best.or_else(|| least(pool, cursor, loss))
            }
        }
    }
}

/// Returns a cost that falls as the collection frees more pages.
fn loss(pool: &Pool, at: usize) -> u64 {
    u64::from(pool.pages_per_block - pool.invalid(at))
}

/// Returns the reclaimable block of least cost; among equals, the first after `cursor`.
fn least(pool: &Pool, cursor: usize, cost: impl Fn(&Pool, usize) -> u64) -> Option<usize> {
    let order = (cursor..pool.len()).chain(0..cursor);
    order.filter(|&at| pool.reclaimable(at)).min_by_key(|&at| cost(pool, at))
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

fn draw(pool: &Pool, random: &mut Random) -> Option<usize> {
    (0..MAX_DRAWS)
        .map(|_| random.random_range(0..pool.len() as u32) as usize)
        .find(|&at| pool.reclaimable(at))
}
