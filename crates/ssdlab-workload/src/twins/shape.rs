//! How a twin's requests come and where they go: what statistics of whole traces do not say.

use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::{Bytes, Fault, units::SECTOR_BYTES};

use super::direction::REGULARS;
use super::quantiles::Quantiles;

/// The shape of a workload: arrivals, order of reads and writes, locality, sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Where its values come from: "assumed", or what they were fitted on.
    pub source: String,
    /// Times between requests, in microseconds. Gaps longer than the mean are stretched until
    /// the span is met; the shorter ones, within bursts, are left as they are.
    pub gaps_us: Quantiles,
    /// How many short gaps come in a row, between one long gap and the next. Only their spread
    /// counts: how many there are in all follows from the gaps.
    pub bursts: Quantiles,
    /// Probability that a short gap is in the same eighth of them as the short gap before it,
    /// without a draw: the tightest bursts lie within bursts.
    #[serde(default)]
    pub gap_run: Share,
    /// Share of the other short gaps that are in the eighth that prevails for the time being.
    #[serde(default)]
    pub gap_phase: Share,
    /// Probability that it goes on to prevail after a short gap, without a draw.
    #[serde(default)]
    pub gap_phase_run: Share,
    /// Probability that a request is of the kind of the one before it, read or write, without a
    /// draw.
    pub op_run: Share,
    /// Share of the other requests that are of the kind that prevails for the time being.
    #[serde(default)]
    pub op_phase: Share,
    /// Probability that it goes on to prevail after a request, without a draw.
    #[serde(default)]
    pub op_phase_run: Share,
    /// How many requests of its kind ago the place was last asked for that a request returns to.
    pub lags: Quantiles,
    /// Of the ends of earlier requests of its kind behind which known places lie, the how manieth
    /// it is that a request goes on from, the last being 1: see [`Habits::along`].
    #[serde(default = "last")]
    pub along_lags: Quantiles,
    /// What addresses are multiples of.
    pub align: Bytes,
    /// Runs of addresses that stay together are shuffled over the footprint; this is the least of
    /// them, a power of two, and the largest request.
    pub extent: Bytes,
    /// Requests of this size or more go through the footprint in order, again and again, as the
    /// compaction of a log-structured store does; none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_order: Option<Bytes>,
    /// Whether hot places begin at any sector, each at one of its own, instead of where slots of
    /// the mean size do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hot_anywhere: bool,
    /// Whether each write of up to 8 KiB lies within a page of 8 KiB.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub small_in_page: bool,
    /// Share of the smaller of the two hot sets that belongs to both.
    pub shared: Share,
    /// The footprint over all bytes that are moved, where no source gives a footprint.
    pub new: Share,
    /// Of what is read, the share that is written, too, where writes have no `reach` of their own.
    #[serde(default)]
    pub overlap: Overlap,
    /// Reads.
    pub read: Habits,
    /// Writes.
    pub write: Habits,
}

/// Of the pages that are read, the share that is written at some time, too.
///
/// The default is the median of 106 virtual machines' weeks (CloudPhysics, statistics of whole
/// traces), of the 53 that mostly write and of the 53 that mostly read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlap {
    /// Where most requests are writes.
    pub written: Share,
    /// Where most are reads.
    pub read: Share,
}

impl Default for Overlap {
    fn default() -> Overlap {
        Overlap { written: Share::new(0.40), read: Share::new(0.15) }
    }
}

/// The request before.
fn last() -> Quantiles {
    Quantiles { steps: vec![1.0, 1.0], tail: Vec::new() }
}

/// Where requests of one kind go.
///
/// A request goes on as the one before it of its kind, or a draw decides: it asks for new places
/// (as often as the footprint needs), goes on behind an earlier one through places known before,
/// returns to a recent place, or goes to the hot set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Habits {
    /// Probability that a request for new places goes on where the one before it ended.
    pub run: Share,
    /// Probability that a request returns as many requests back as the one before it did: what
    /// was asked for in a row is asked for in a row again.
    pub follow: Share,
    /// Probability that one that does not go on after one for new places asks for new places
    /// without a draw, and the same for known places: scans and returns stay together.
    #[serde(default)]
    pub new_run: Share,
    /// See `new_run`.
    #[serde(default)]
    pub known_run: Share,
    /// Of the requests for places known before, the share that begins where an earlier one ended.
    #[serde(default)]
    pub along: Share,
    /// Of the other requests for places known before, the share that returns to a recent place;
    /// the rest goes to the hot set.
    pub again: Share,
    /// Of the returns, the share that goes to places of the other kind of requests.
    pub across: Share,
    /// Of the returns, the shares that go to places returned to never before, once, 2 or 3 times, 4
    /// to 7 and so on: few places are asked for again and again, many once more. Empty: to
    /// whichever place lies there.
    #[serde(default)]
    pub regulars: Vec<f64>,
    /// The hot set's share of the footprint.
    pub hot: Share,
    /// The exponent of Zipf's law within the hot set.
    pub theta: f64,
    /// Share of the rest of the footprint that these requests cover. If absent, which only that of
    /// writes may be, [`Shape::overlap`] says so, and returns across stay within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Share>,
    /// Probability that a request is of the size of the one before it, without a draw.
    #[serde(default)]
    pub size_run: Share,
    /// Sizes of requests and their weights, which are tilted until the mean size is met.
    pub sizes: Vec<(Bytes, f64)>,
}

impl Shape {
    /// Refuses what no workload can be made of.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        self.gaps_us.check("gaps_us")?;
        self.bursts.check("bursts")?;
        self.lags.check("lags")?;
        self.along_lags.check("along_lags")?;
        let (align, extent) = (self.align.get(), self.extent.get());
        if ![512, 4096].contains(&align) {
            return Err(Fault::new("", "align").got(self.align).expected("512B or 4KiB"));
        }
        if self.hot_anywhere && align > SECTOR_BYTES {
            let fault = Fault::new("", "hot_anywhere").got(true);
            return Err(
                fault.expected(format!("false, since addresses are multiples of {}", self.align))
            );
        }
        if !extent.is_power_of_two() || extent < 4096 {
            let fault = Fault::new("", "extent").got(self.extent);
            return Err(fault.expected("a power of two from 4KiB"));
        }
        if self.read.reach.is_none() {
            return Err(Fault::new("", "read.reach").got("none").expected("a share from 0 to 1"));
        }
        for (habits, what) in [(&self.read, "read"), (&self.write, "write")] {
            habits
                .check(self.extent)
                .map_err(|fault| Fault { what: format!("{what}.{}", fault.what), ..fault })?;
        }
        Ok(())
    }
}

/// Refuses exponents of Zipf's law that no hot set has.
pub(super) fn check_theta(theta: f64) -> Result<(), Fault> {
    if (0.0..=10.0).contains(&theta) {
        Ok(())
    } else {
        Err(Fault::new("", "theta").got(theta).expected("from 0 to 10"))
    }
}

impl Habits {
    /// How often a draw says to return, so that with those that follow it is `again`.
    pub(super) fn again_drawn(&self) -> f64 {
        let drawn = self.again.get() * (1.0 - self.follow.get());
        drawn / (drawn + 1.0 - self.again.get()).max(1e-9)
    }

    /// How often a draw says to go on behind an earlier request, so that in the end `along` of
    /// those for known places do.
    pub(super) fn along_drawn(&self) -> f64 {
        let again = self.again_drawn();
        let others = again / (1.0 - self.follow.get()).max(1e-3) + 1.0 - again;
        let along = self.along.get() * others;
        along / (along + 1.0 - self.along.get()).max(1e-9)
    }

    fn check(&self, extent: Bytes) -> Result<(), Fault> {
        check_theta(self.theta)?;
        let unit = |share: &f64| (0.0..=1.0).contains(share);
        if self.regulars.len() > REGULARS || !self.regulars.iter().all(unit) {
            let fault = Fault::new("", "regulars").got(format!("{:?}", self.regulars));
            return Err(fault.expected(format!("at most {REGULARS} shares from 0 to 1")));
        }
        let wrong = |(size, weight): &&(Bytes, f64)| {
            let bytes = size.get();
            bytes == 0 || !bytes.is_multiple_of(512) || *size > extent || *weight <= 0.0
        };
        match self.sizes.iter().find(wrong) {
            None if !self.sizes.is_empty() => Ok(()),
            None => Err(Fault::new("", "sizes").got("none").expected("at least one size")),
            Some((size, _)) => Err(Fault::new("", "sizes")
                .got(size)
                .expected("multiples of 512 B up to the extent, with weights above 0")),
        }
    }
}
