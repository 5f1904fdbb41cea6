//! The derivation of the ledger.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::bch;
use crate::channel::{Cell, Outputs, Symmetric, Voltages};
use crate::code::BITS;
use crate::ensemble::{FLASH, threshold};
use crate::finite::{FAILURE, shifted};
use crate::gallager::{Weights, decodes_a, decodes_b, decodes_e};
use crate::ledger::{Bch, Curve, Decoded, Drawn, Hard, Hurried, Ledger, Level, Order, Page};
use crate::min_sum;
use crate::monte_carlo::{Budget, Hooks, Measured, Plan, each, measure};
use crate::placement::offsets;
use crate::sum_product::SumProduct;
use crate::waterfall::carried_on;

/// Largest number of levels. Source: PV-read.
pub const LEVELS: usize = 7;
/// Rates that PV-read, Table III, prints: for one level and for seven, and for BCH.
const PUBLISHED: [(usize, f64); 2] = [(1, 0.0044), (LEVELS, 0.0132)];
const PUBLISHED_BCH: f64 = 0.0041;
/// Numbers of levels whose frame error rates are measured.
const MEASURED: [usize; 4] = [1, 2, 3, 7];
/// Frame error rates of the measured points, by the normal approximation.
const AIMED: [f64; 9] = [0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];
/// Limits of iterations for a min-sum decoder that stops early.
const HURRIED: [u32; 7] = [8, 10, 12, 15, 20, 30, 50];
/// Lower end of the search: no threshold of the ensemble is below it.
const MIN_RBER: f64 = 5e-4;
/// Upper end of the search: no code of rate 8/9 decodes at this rate.
const WORST: f64 = 0.06;

/// A page whose voltages follow from its raw bit error rate.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    cell: Cell,
    page: usize,
    shift: f64,
}

impl Read {
    /// Returns a page of a cell. `shift` is the voltage that its highest state has lost.
    pub fn new(cell: Cell, page: usize, shift: f64) -> Read {
        Read { cell, page, shift }
    }

    /// Returns the page with the most boundaries.
    fn of_last_page(order: &Order) -> Read {
        Read::new(order.cell, order.cell.bits() - 1, order.shift)
    }

    /// Returns the page's voltages at a raw bit error rate.
    pub fn voltages(self, rber: f64) -> Voltages {
        let Read { cell, page, shift } = self;
        Voltages { cell, page, sigma: 0.1, shift }.with_rber(rber)
    }

    fn outputs(self, levels: usize, rber: f64) -> Outputs {
        let voltages = self.voltages(rber);
        voltages.outputs(&offsets(&voltages, levels))
    }

    /// Returns the channel that decoders see.
    pub fn channel(self, levels: usize, rber: f64) -> Symmetric {
        self.outputs(levels, rber).symmetric()
    }

    /// Returns the rates up to which long codes and ours decode at these levels.
    fn decoded(self, levels: usize, decodes: impl Fn(&Symmetric) -> bool) -> Decoded {
        let channel = |rber: f64| self.channel(levels, rber);
        let threshold = threshold(MIN_RBER, WORST, |rber| decodes(&channel(rber)));
        Decoded { threshold, corrected: shifted(threshold, FAILURE, channel) }
    }

    /// Returns the rates up to which the implemented decoder decodes.
    pub fn min_sum(self, levels: usize) -> Decoded {
        self.decoded(levels, |channel| min_sum::decodes(FLASH, channel))
    }
}

fn relative(value: f64, published: f64) -> f64 {
    value / published - 1.0
}

/// The steps of a derivation, several in parallel, and their progress.
struct Steps<'a> {
    jobs: usize,
    hooks: &'a Hooks<'a>,
    done: AtomicUsize,
    all: usize,
}

impl Steps<'_> {
    /// Returns one result for each thing, or `None` if the derivation was stopped before all were
    /// there.
    fn each<T: Sync, R: Send>(&self, things: &[T], of: impl Fn(&T) -> R + Sync) -> Option<Vec<R>> {
        let found = each(things, self.jobs, |thing| {
            let found = (!self.hooks.stop.load(Ordering::Relaxed)).then(|| of(thing));
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.hooks.note)(done as f64 / self.all as f64, 0);
            found
        });
        found.into_iter().collect()
    }
}

/// Derives the ledger of `order`. Returns `None` if it was stopped before the table was complete.
pub fn derive(order: &Order, hooks: &Hooks<'_>) -> Option<Ledger> {
    let read = Read::of_last_page(order);
    let evolution = SumProduct::new();
    let levels: Vec<usize> = (1..=LEVELS).collect();
    let pages: Vec<usize> = (0..order.cell.bits()).collect();
    let all = levels.len() + pages.len() + HURRIED.len();
    let steps = Steps { jobs: order.jobs, hooks, done: AtomicUsize::new(0), all };
    let levels = steps.each(&levels, |&levels| level(read, levels, &evolution))?;
    let pages = steps.each(&pages, |&page| page_thresholds(order, page))?;
    let hurried = steps.each(&HURRIED, |&most| hurried(read, most))?;
    let (measured, partial) = measured(order, read, &levels, hooks);
    let last = &levels[LEVELS - 1];
    let voltages = read.voltages(last.min_sum.corrected);
    let rber = bch::capability(FAILURE);
    Some(Ledger {
        cell: order.cell,
        page: read.page,
        shift: order.shift,
        bits: BITS,
        rate: FLASH.rate(),
        failure: FAILURE,
        voltages: drawn(&voltages, last),
        hard: hard(&levels[0]),
        hurried,
        pages,
        bch: Bch {
            corrects: bch::CORRECTS,
            rber,
            published: PUBLISHED_BCH,
            difference: relative(rber, PUBLISHED_BCH),
        },
        levels,
        seed: order.seed,
        measured,
        partial,
    })
}

fn level(read: Read, levels: usize, evolution: &SumProduct) -> Level {
    let min_sum = read.min_sum(levels);
    let published = PUBLISHED.iter().find(|(at, _)| *at == levels).map(|(_, rate)| *rate);
    let is_within = |channel: &Symmetric| channel.capacity_and_dispersion().0 > FLASH.rate();
    Level {
        levels,
        transfer_bits: usize::BITS - levels.leading_zeros(),
        offsets: offsets(&read.voltages(min_sum.corrected), levels),
        limit: read.decoded(levels, is_within),
        sum_product: read.decoded(levels, |channel| evolution.decodes(FLASH, channel)),
        min_sum,
        published,
        difference: published.map(|published| relative(min_sum.corrected, published)),
    }
}

fn page_thresholds(order: &Order, page: usize) -> Page {
    let read = Read::new(order.cell, page, order.shift);
    let corrected = (1..=LEVELS).map(|levels| read.min_sum(levels).corrected);
    let boundaries = read.voltages(0.01).boundaries().len();
    Page { page, boundaries, corrected: corrected.collect() }
}

fn drawn(voltages: &Voltages, level: &Level) -> Drawn {
    let states = voltages.cell.states();
    Drawn {
        rber: level.min_sum.corrected,
        sigma: voltages.sigma,
        means: (0..states).map(|state| voltages.mean(state)).collect(),
        bits: (0..states).map(|state| voltages.cell.bit(voltages.page, state).into()).collect(),
        references: voltages.references(&level.offsets),
    }
}

/// Returns the rates of decoders that use only hard decisions, the lowest first.
fn hard(level: &Level) -> Vec<Hard> {
    let (_, published) = PUBLISHED[0];
    let named = |decoder: String, decoded: Decoded| Hard {
        decoder,
        decoded,
        difference: relative(decoded.corrected, published),
    };
    let found = |decoder: String, decodes: &dyn Fn(f64) -> bool| {
        let threshold = threshold(MIN_RBER, level.limit.threshold, decodes);
        let corrected = shifted(threshold, FAILURE, Symmetric::binary);
        named(decoder, Decoded { threshold, corrected })
    };
    let mut all = vec![
        found("Gallager A".into(), &|p| decodes_a(FLASH, p)),
        found("Gallager B".into(), &|p| decodes_b(FLASH, p)),
        found("Gallager E".into(), &|p| Weights::all(FLASH).any(|w| decodes_e(FLASH, p, w))),
        named("min-sum".into(), level.min_sum),
        named("sum-product".into(), level.sum_product),
        named("any (limit)".into(), level.limit),
    ];
    all.sort_by(|a, b| a.decoded.corrected.total_cmp(&b.decoded.corrected));
    all
}

fn hurried(read: Read, iterations: u32) -> Hurried {
    let at = |levels: usize| {
        let within = |channel: &Symmetric| min_sum::decodes_within(FLASH, channel, iterations);
        read.decoded(levels, within).corrected
    };
    let [(one, hard_published), (seven, soft_published)] = PUBLISHED;
    let (hard, soft) = (at(one), at(seven));
    Hurried {
        iterations,
        hard,
        hard_difference: relative(hard, hard_published),
        soft,
        soft_difference: relative(soft, soft_published),
    }
}

/// Measures frame error rates, if `order` asks for them.
fn measured(order: &Order, read: Read, levels: &[Level], hooks: &Hooks<'_>) -> (Vec<Curve>, bool) {
    let budget = match (order.frames, order.seconds) {
        (Some(frames), _) => Budget::Frames(frames),
        (None, Some(seconds)) => Budget::Seconds(seconds),
        (None, None) => return (Vec::new(), false),
    };
    let rates = |at: usize| {
        let channel = |rber: f64| read.channel(at, rber);
        let threshold = levels[at - 1].min_sum.threshold;
        (at, AIMED.iter().map(|&aim| shifted(threshold, aim, channel)).collect())
    };
    let curves: Vec<(usize, Vec<f64>)> = MEASURED.into_iter().map(rates).collect();
    let channel = |at: usize, rber: f64| read.channel(at, rber);
    let plan =
        Plan { curves: &curves, channel: &channel, budget, seed: order.seed, jobs: order.jobs };
    let (found, partial) = measure(&plan, hooks);
    let curve = |(at, points): (usize, Vec<Measured>)| Curve {
        levels: at,
        predicted: AIMED[..points.len()].to_vec(),
        carried_on: carried_on(&points, FAILURE, |rber| read.channel(at, rber)),
        points,
    };
    (MEASURED.into_iter().zip(found).map(curve).collect(), partial)
}
