//! Density evolution of the implemented decoder (`decode.rs`): normalized min-sum on small
//! integers. Messages have so few values that the evolution is exact. Chen, Fossorier, "Density
//! evolution for two improved BP-based decoding algorithms of LDPC codes", 2002.

use crate::channel::Symmetric;
use crate::ensemble::{Ensemble, WON, wins};

/// Steps of a channel's ratio in one nat. Assumed: of 2, 3, 4, 5, 6 and 8 this value has the best
/// thresholds at one level and at seven. Only 5 is better, by at most 0.3 %.
const STEPS: f64 = 4.0;
/// Largest magnitude of a channel's ratio, in steps: six bits with the sign.
const MAX_CHANNEL_VALUE: i8 = 31;
/// Limit of the input magnitudes of a check. Four messages of three quarters of it plus the largest
/// channel ratio are 127. The sum of a bit therefore always fits eight bits.
const MAX_INPUT: u8 = 32;
/// Largest magnitude of a sum.
const MAX_SUM: i32 = 127;

/// Returns a channel's ratio as the decoder receives it.
pub(crate) fn quantized(ratio: f64) -> i8 {
    let most = f64::from(MAX_CHANNEL_VALUE);
    (ratio * STEPS).round().clamp(-most, most) as i8
}

/// Returns the magnitude of a check's message: three quarters of its least input, rounded up. Of
/// 1/2, 3/4 and 7/8, this factor has the best thresholds.
pub const fn normalized(least: u8) -> u8 {
    let least = if least < MAX_INPUT { least } else { MAX_INPUT };
    least - (least >> 2)
}

/// Returns whether long codes of the ensemble decode the channel, in any number of iterations.
pub fn decodes(ensemble: Ensemble, channel: &Symmetric) -> bool {
    let mut bits = Bits::new(ensemble, channel);
    wins(|| bits.next())
}

/// Returns whether long codes of the ensemble decode the channel within `iterations` iterations.
pub fn decodes_within(ensemble: Ensemble, channel: &Symmetric, iterations: u32) -> bool {
    let mut bits = Bits::new(ensemble, channel);
    (0..iterations).any(|_| bits.next() < WON)
}

/// The distribution of messages from bits to checks, iteration by iteration.
struct Bits {
    ensemble: Ensemble,
    sent: Vec<f64>,
    messages: Vec<f64>,
}

impl Bits {
    fn new(ensemble: Ensemble, channel: &Symmetric) -> Bits {
        let mut sent = vec![0.0; 2 * MAX_SUM as usize + 1];
        for point in channel.points() {
            sent[(i32::from(quantized(point.ratio)) + MAX_SUM) as usize] += point.probability;
        }
        Bits { ensemble, messages: sent.clone(), sent }
    }

    /// Runs one iteration. Returns the share of bits that are wrong after it.
    fn next(&mut self) -> f64 {
        let checks = checked(&self.messages, self.ensemble.check - 1);
        let mut sum = self.sent.clone();
        for _ in 1..self.ensemble.bit {
            sum = convolved(&sum, &checks);
        }
        self.messages = clipped(&sum);
        wrong(&self.messages)
    }
}

/// Returns the distribution of a check's message after `count` bits: the least magnitude, with the
/// product of all signs.
fn checked(bits: &[f64], count: u32) -> Vec<f64> {
    let middle = MAX_SUM as usize;
    let mut messages = vec![0.0; bits.len()];
    let (mut sum, mut lead) = (0.0, 0.0);
    // Probability that all magnitudes are at least this, and the lead of the right sign.
    let (mut all, mut all_lead) = (0.0, 0.0);
    for magnitude in (0..=middle).rev() {
        let (right, wrong) = (bits[middle + magnitude], bits[middle - magnitude]);
        sum += if magnitude == 0 { right } else { right + wrong };
        lead += if magnitude == 0 { 0.0 } else { right - wrong };
        let (now, now_lead) = (power(sum, count), power(lead, count));
        let (here, here_lead) = (now - all, now_lead - all_lead);
        let message = usize::from(normalized(magnitude as u8));
        messages[middle + message] += (here + here_lead) / 2.0;
        messages[middle - message] += (here - here_lead) / 2.0;
        (all, all_lead) = (now, now_lead);
    }
    messages
}

fn power(base: f64, exponent: u32) -> f64 {
    base.powi(exponent as i32)
}

/// Returns the distribution of the sum of two numbers, from −a to a and from −b to b.
fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (at, &p) in a.iter().enumerate() {
        if p > 0.0 {
            for (to, &q) in sum[at..].iter_mut().zip(b) {
                *to += p * q;
            }
        }
    }
    sum
}

fn clipped(sum: &[f64]) -> Vec<f64> {
    let (middle, most) = (sum.len() as i64 / 2, i64::from(MAX_SUM));
    let mut clamped = vec![0.0; 2 * MAX_SUM as usize + 1];
    for (at, p) in sum.iter().enumerate() {
        clamped[((at as i64 - middle).clamp(-most, most) + most) as usize] += p;
    }
    // Without this division, rounding errors would grow a hundredfold in each iteration.
    let whole: f64 = clamped.iter().sum();
    clamped.iter_mut().for_each(|p| *p /= whole);
    clamped
}

/// Returns the share of wrong numbers plus half of those that are 0.
fn wrong(bits: &[f64]) -> f64 {
    let middle = MAX_SUM as usize;
    bits[..middle].iter().sum::<f64>() + bits[middle] / 2.0
}
