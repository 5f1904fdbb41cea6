//! A distribution as a table of quantiles, which a fit stores and a generator draws from.

use serde::{Deserialize, Serialize};
use ssdlab_base::Fault;

/// A distribution by its quantiles in equal steps of probability. Values within a step are equally
/// likely. Equal neighbors mean a value that occurs often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// The quantiles, from the least value to the largest, in steps of equal probability.
    pub steps: Vec<f64>,
    /// The last step, again in steps of equal probability; empty if it is not divided.
    #[serde(default)]
    pub tail: Vec<f64>,
}

/// The number of steps that a fit makes, and of steps within the last one.
const STEPS: usize = 40;
const TAIL_STEPS: usize = 20;

impl Quantiles {
    /// Refuses a table that is not a distribution of values from 0 up.
    pub(crate) fn check(&self, what: &str) -> Result<(), Fault> {
        let rising = |list: &[f64]| list.is_sorted() && list.iter().all(|value| value.is_finite());
        let fits = self.tail.is_empty()
            || self.tail.len() > 1 && self.steps.ends_with(&[self.tail[self.tail.len() - 1]]);
        if self.steps.len() > 1
            && self.steps[0] >= 0.0
            && rising(&self.steps)
            && rising(&self.tail)
            && fits
        {
            Ok(())
        } else {
            Err(Fault::new("", what)
                .expected("rising quantiles from 0 up, the tail ending where the steps end"))
        }
    }

    /// Returns the quantiles of a sample in any order; those of the value 0 if it is empty.
    pub fn of(sample: &mut [f64]) -> Quantiles {
        sample.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| match sample.len() {
            0 => 0.0,
            length => {
                let place = share * (length - 1) as f64;
                let (low, part) = (place.floor() as usize, place.fract());
                let high = sample[(low + 1).min(length - 1)];
                sample[low] + part * (high - sample[low])
            }
        };
        let steps = (0..=STEPS).map(|step| at(step as f64 / STEPS as f64)).collect();
        let tail = |step: usize| 1.0 - (1.0 - step as f64 / TAIL_STEPS as f64) / STEPS as f64;
        Quantiles { steps, tail: (0..=TAIL_STEPS).map(|step| at(tail(step))).collect() }
    }

    /// Returns the quantile of `share`, from 0 to below 1.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let last = self.steps.len() - 2;
        let place = share * (last + 1) as f64;
        let step = (place as usize).min(last);
        let part = place - step as f64;
        if step == last && !self.tail.is_empty() {
            return between(&self.tail, part);
        }
        self.steps[step] + part * (self.steps[step + 1] - self.steps[step])
    }
}

/// Returns the value at a fraction of a table with equal steps.
fn between(list: &[f64], part: f64) -> f64 {
    let place = part * (list.len() - 1) as f64;
    let step = (place as usize).min(list.len() - 2);
    list[step] + (place - step as f64) * (list[step + 1] - list[step])
}
