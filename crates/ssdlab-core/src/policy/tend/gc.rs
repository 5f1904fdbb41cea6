//! Garbage collection: makes free blocks out of invalid pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::rng;

use super::{Job, TendPolicy, TendView, Trigger, Victim};
use crate::account::Cause;
use crate::ftl::Stream;
use crate::policy::{Answer, Setup};

/// When collection works against the host's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Its operations wait for the host's until free blocks fall below the hard limit.
    #[default]
    Background,
    /// Its operations always go before the host's.
    Foreground,
}

/// Settings of garbage collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GcConfig {
    /// Collection starts when the free blocks of a plane fall below this share of its blocks.
    /// Source: MQSim's `GC_Exec_Threshold`.
    pub threshold: Share,
    /// Below this share of free blocks collection goes before the host; never less than two
    /// blocks. Source: MQSim's `GC_Hard_Threshold`.
    pub hard: Share,
    /// `background` or `foreground`. Assumed.
    pub mode: Mode,
    /// `greedy`, `random`, `d_choices`, `cost_benefit` or `fifo`. Assumed.
    pub victim: Victim,
    /// The blocks that `d_choices` draws; only with it. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<u32>,
}

impl Default for GcConfig {
    fn default() -> GcConfig {
        GcConfig {
            threshold: Share::new(0.05),
            hard: Share::new(0.005),
            mode: Mode::default(),
            victim: Victim::default(),
            choices: None,
        }
    }
}

impl GcConfig {
    /// The free blocks of a plane of `blocks` blocks below which collection starts, and below
    /// which it goes before the host.
    pub fn limits(&self, blocks: u32) -> (u32, u32) {
        let of = |share: Share| (share.get() * f64::from(blocks)).ceil() as u32;
        let hard = of(self.hard).max(HARD_LEAST);
        (of(self.threshold).max(hard), hard)
    }
}

/// What `d_choices` draws if `choices` is not set.
const CHOICES_DEFAULT: u32 = 10;

/// Free blocks below which the host must wait: one is kept for the collector itself.
const HARD_LEAST: u32 = 2;

/// What is remembered of each plane.
#[derive(Clone, Copy, Debug, Default)]
struct Plane {
    /// Where the last search for a victim ended.
    cursor: u32,
    /// Blocks collected in this pass.
    collected: u32,
    /// Free pages when this pass began.
    free_at_start: u64,
    /// Nothing to gain until a page is written or becomes invalid.
    asleep: bool,
}

/// The collector.
#[derive(Clone, Debug)]
pub struct Gc {
    victim: Victim,
    choices: u32,
    start_below: u32,
    urgent_below: u32,
    planes: Box<[Plane]>,
    random: rng::Stream,
}

impl Answer for Gc {
    type Config = GcConfig;

    fn build(config: &GcConfig, setup: &Setup) -> Gc {
        let (start_below, hard) = config.limits(setup.geometry.blocks);
        Gc {
            victim: config.victim,
            choices: config.choices.unwrap_or(CHOICES_DEFAULT),
            start_below,
            urgent_below: if config.mode == Mode::Foreground { u32::MAX } else { hard },
            planes: vec![Plane::default(); setup.geometry.plane_count() as usize]
                .into_boxed_slice(),
            random: rng::stream(setup.seed, "gc.victim"),
        }
    }
}

impl TendPolicy for Gc {
    #[inline]
    fn content_with(&self) -> u32 {
        self.start_below
    }

    fn urgent_below(&self) -> u32 {
        self.urgent_below
    }

    fn job(&mut self, trigger: Trigger, view: &TendView) -> Option<Job> {
        let plane = &mut self.planes[view.plane as usize];
        if trigger == Trigger::Changed {
            plane.asleep = false;
        }
        if plane.asleep || view.free_blocks >= self.start_below {
            return None;
        }
        let pages = u64::from(view.pool.pages_per_block);
        let free = u64::from(view.free_blocks) * pages + u64::from(view.open_pages);
        if trigger == Trigger::Changed || plane.collected == 0 {
            (plane.collected, plane.free_at_start) = (0, free);
        } else if plane.collected as usize >= view.pool.len() {
            plane.collected = 0;
            plane.asleep = free <= plane.free_at_start;
            if plane.asleep {
                return None;
            }
        }
        let cursor = plane.cursor as usize;
        let Some(at) = self.victim.choose(&view.pool, self.choices, cursor, &mut self.random)
        else {
            plane.asleep = true;
            return None;
        };
        plane.cursor = (at as u32 + 1) % view.pool.len() as u32;
        plane.collected += 1;
        Some(Job { block: view.pool.block(at), cause: Cause::Gc, to: Stream::Gc })
    }
}
