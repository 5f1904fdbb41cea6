//! The arrival times of requests.

use rand::Rng;
use ssdlab_base::rng::{Stream, unit};
use ssdlab_base::{Fault, Nanos, math};

use super::config::{Arrivals, WorkloadConfig};
use crate::cascade::Cascade;

/// Bursts of requests with pauses between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    /// Requests in a burst.
    pub(crate) length: u64,
    /// Mean time from the last request of a burst to the first of the next.
    pub(crate) pause: Nanos,
}

/// Draws the times of requests.
#[derive(Debug)]
pub(crate) enum Clock {
    /// From one request to the next.
    Gaps(Gaps),
    /// For reads and writes, over the whole span.
    SelfSimilar(Cascade),
}

/// Times between requests, each drawn by itself.
#[derive(Debug)]
pub(crate) struct Gaps {
    /// The time of the next request.
    now: Nanos,
    /// Whether the times are always the mean.
    fixed: bool,
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
        match &config.arrivals {
            Arrivals::SelfSimilar(_) if bursts.is_some() => {
                let fault = Fault::new("", "workload.arrivals").got("self_similar");
                Err(fault.expected("poisson or fixed, since this kind has bursts of its own"))
            }
            Arrivals::SelfSimilar(arrivals) => {
                arrivals.check(config.requests)?;
                let span = config.requests as f64 * mean.as_ns() as f64;
                let reads = config.read_share.of(config.requests);
                let counts = [reads, config.requests - reads];
                let form = (arrivals.bias, arrivals.hurst, arrivals.together.get());
                Ok(Clock::SelfSimilar(Cascade::self_similar(counts, span, form, stream)))
            }
            Arrivals::Poisson(_) | Arrivals::Fixed(_) => {
                let left = bursts.map_or(0, |bursts| bursts.length);
                let fixed = matches!(config.arrivals, Arrivals::Fixed(_));
                Ok(Clock::Gaps(Gaps { now: Nanos::ZERO, fixed, mean, bursts, left, stream }))
            }
        }
    }
}

impl Gaps {
    /// Returns the time of a request.
    pub(crate) fn next(&mut self) -> Nanos {
        let at = self.now;
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
        self.now += if self.fixed { mean } else { exponential(mean, self.stream.next_u64()) };
        at
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
