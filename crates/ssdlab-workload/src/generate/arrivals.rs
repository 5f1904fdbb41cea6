//! The arrival times of requests.

use rand::Rng;
use ssdlab_base::rng::{Stream, unit};
use ssdlab_base::{Fault, Nanos, math};

use super::config::{Arrivals, WorkloadConfig};

/// Bursts of requests with pauses between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    /// Requests in a burst.
    pub(crate) length: u64,
    /// Mean time from the last request of a burst to the first of the next.
    pub(crate) pause: Nanos,
}

/// Draws the times between requests.
#[derive(Debug)]
pub(crate) struct Clock {
    arrivals: Arrivals,
    mean: Nanos,
    bursts: Option<Bursts>,
    /// Requests left in the burst.
    left: u64,
    stream: Stream,
}

/// The longest exponential draw from 53 bits, in means, rounded up: -ln(2^-53) = 36.7.
const LONGEST_DRAW: u64 = 37;

impl Clock {
    pub(crate) fn new(
        config: &WorkloadConfig,
        bursts: Option<Bursts>,
        stream: Stream,
    ) -> Result<Clock, Fault> {
        let mean = config.interarrival;
        let pause = bursts.map_or(Nanos::ZERO, |bursts| bursts.pause);
        // Check the longest run once here: no sum of gaps can then overflow.
        let longest = mean.as_ns().max(pause.as_ns()).checked_mul(LONGEST_DRAW);
        if longest.and_then(|gap| gap.checked_mul(config.requests)).is_none() {
            let long_gaps = config.interarrival > WorkloadConfig::default().interarrival;
            let key = if long_gaps { "workload.interarrival" } else { "workload.requests" };
            return Err(Fault::new("", key)
                .got(format!("{} requests {} apart", config.requests, mean.max(pause)))
                .expected("a workload shorter than 15 years"));
        }
        let left = bursts.map_or(0, |bursts| bursts.length);
        Ok(Clock { arrivals: config.arrivals, mean, bursts, left, stream })
    }

    /// Returns the time from this request to the next.
    pub(crate) fn next_gap(&mut self) -> Nanos {
        let mean = match self.bursts {
            None => self.mean,
            Some(bursts) => {
                self.left -= 1;
                if self.left > 0 {
                    self.mean
                } else {
                    self.left = bursts.length;
                    bursts.pause
                }
            }
        };
        match self.arrivals {
            Arrivals::Fixed => mean,
            Arrivals::Poisson => exponential(mean, self.stream.next_u64()),
        }
    }
}

/// Draws an exponential duration by inversion, rounded to the nearest nanosecond.
///
/// rand_distr would not do: its bits depend on whether any crate of the build enables the standard
/// library's mathematics in num-traits.
fn exponential(mean: Nanos, word: u64) -> Nanos {
    let means = -math::ln_1p(-unit(word));
    Nanos::from_ns((means * mean.as_ns() as f64 + 0.5) as u64)
}
