//! Measures chips of a device's type as a laboratory does: it cycles, programs, bakes and reads
//! them.

use std::sync::atomic::Ordering;

use serde::Deserialize;
use ssdlab_base::{Fault, Nanos};
use ssdlab_core::config::{PhysicsConfig, RetriesConfig, acceleration};
use ssdlab_core::{At, ChipInspector, ProgramMode};

use crate::chips::{NUMBERS, Samples};
use crate::control::Control;
use crate::plan::Plan;
use crate::prepare::Prepared;

/// The reference temperature of times between erases, in degrees Celsius. Source: ReadGuard,
/// section 4.1.
const BASE_CELSIUS: f64 = 30.0;

/// The measurements to make.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The number of chips. All are of the device's type, and none is a chip of the drive itself.
    pub chips: u32,
    /// The number of blocks of each chip, evenly from its first to its last.
    pub blocks: u32,
    /// P/E cycles at which each block is measured.
    pub cycles: Vec<f64>,
    /// Conditions between program and read: hours, temperature in °C, and page reads.
    pub conditions: Vec<(f64, f64, u32)>,
    /// Hours between erases at 30 °C. The blocks use these values in turn.
    pub dwell_h: Vec<f64>,
}

/// The most rows. Memory must hold them.
pub const MAX_ROWS: u64 = 20_000_000;

/// Measures chips of a plan's device. Returns the samples and the hash of the config that generated
/// them; `None` if stopped.
///
/// # Errors
/// The first fault of the plan; physics other than `retries`; more chips or blocks than block
/// numbers can distinguish; more rows than [`MAX_ROWS`].
pub fn measure(
    plan: &Plan,
    order: &Order,
    control: &Control,
) -> Result<Option<(Samples, String)>, Fault> {
    let prepared = plan.prepare()?;
    let config = &prepared.resolved.config;
    let PhysicsConfig::Retries(retries) = &config.physics else {
        let fault = prepared.effective.fault_at("physics");
        return Err(
            fault.expected("retries (--set physics=retries, or the device readguard-tlc-2t)")
        );
    };
    let geometry = &config.geometry;
    let of_chip = geometry.dies * geometry.planes * geometry.blocks;
    let own = geometry.channels * geometry.chips;
    if order.blocks > of_chip {
        let expected = format!("at most {of_chip}, which a chip of this device has");
        return Err(Fault::new("--blocks", "too many").got(order.blocks).expected(expected));
    }
    let max_chips = u32::MAX / of_chip - own;
    if order.chips > max_chips {
        let expected = format!("at most {max_chips} of this device");
        return Err(Fault::new("--chips", "too many").got(order.chips).expected(expected));
    }
    let each = order.cycles.len() * order.conditions.len();
    let rows = u64::from(order.chips) * u64::from(order.blocks) * each as u64;
    if rows > MAX_ROWS {
        let expected = format!("at most {MAX_ROWS} in all");
        return Err(Fault::new("--chips", "too many rows").got(rows).expected(expected));
    }
    let bench = Bench::new(&prepared, retries);
    let mut samples = Samples::default();
    for chip in 0..order.chips {
        if control.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        samples.chips.push(format!("{}", chip + 1));
        for nth in 0..order.blocks {
            let block =
                (2 * u64::from(nth) + 1) * u64::from(of_chip) / (2 * u64::from(order.blocks));
            samples.blocks.push(block.to_string());
            let nth_dwell = (chip + nth) as usize % order.dwell_h.len();
            let number = (own + chip) * of_chip + block as u32;
            bench.block(order, number, order.dwell_h[nth_dwell], &mut samples);
        }
    }
    Ok(Some((samples, prepared.effective.hash().to_owned())))
}

/// The physics under which blocks are measured.
struct Bench<'a> {
    inspector: ChipInspector<'a>,
    pages: u16,
    /// The drive's temperature in degrees Celsius, the reference of the physics. `activation_ev` is
    /// the activation energy in electronvolts that converts other temperatures.
    celsius: f64,
    activation_ev: f64,
}

impl<'a> Bench<'a> {
    fn new(prepared: &'a Prepared, retries: &RetriesConfig) -> Bench<'a> {
        let resolved = &*prepared.resolved;
        Bench {
            inspector: ChipInspector::new(&resolved.chip, &resolved.page_order, &resolved.flash),
            pages: resolved.geometry().pages as u16,
            celsius: retries.temperature.celsius,
            activation_ev: retries.temperature.activation_ev,
        }
    }

    /// Converts hours at a temperature to a time at the drive's temperature.
    fn time(&self, hours: f64, celsius: f64) -> Nanos {
        let faster = acceleration(celsius, self.celsius, self.activation_ev);
        Nanos::from_ns((hours * 3600e9 * faster).round() as u64)
    }

    /// Adds the rows of block number `block`. It is the last block of the last chip in `samples`.
    fn block(&self, order: &Order, block: u32, dwell_h: f64, samples: &mut Samples) {
        let (chip, place) = (samples.chips.len() as u32 - 1, samples.blocks.len() as u32 - 1);
        let dwell = self.time(dwell_h, BASE_CELSIUS);
        let at = |pe_cycles, age, reads| At {
            program_mode: ProgramMode::NORMAL,
            pe_cycles,
            age,
            dwell,
            reads,
        };
        let worst = self.inspector.worst_page(block);
        let hardest = order.conditions.last().map(|&(h, c, reads)| (self.time(h, c), reads));
        let (age, reads) = hardest.unwrap_or((Nanos::ZERO, 0));
        let most = order.cycles.last().copied().unwrap_or(0.0);
        let best = self.inspector.best_page(block, self.pages, at(most, age, reads));
        for &cycles in &order.cycles {
            let erase_us = self.inspector.erase(block, cycles).as_us();
            let e0 = self.inspector.errors(block, 0, at(cycles, Nanos::ZERO, 0));
            for &(hours, celsius, reads) in &order.conditions {
                let at = at(cycles, self.time(hours, celsius), reads);
                let row: [f64; NUMBERS.len()] = [
                    cycles,
                    hours,
                    celsius,
                    f64::from(reads),
                    erase_us,
                    f64::from(e0),
                    f64::from(self.inspector.errors(block, worst, at)),
                    self.inspector.level(block, worst, at).retries().into(),
                    dwell_h,
                    self.inspector.level(block, best, at).retries().into(),
                ];
                samples.chip.push(chip);
                samples.block.push(place);
                samples.numbers.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            }
        }
    }
}
