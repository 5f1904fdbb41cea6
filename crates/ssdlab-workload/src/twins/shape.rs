//! The shape of a twin: the properties of arrivals and addresses that statistics of whole traces do
//! not give.

use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::{Bytes, Fault, units::SECTOR_BYTES};

use super::arrivals::Arrivals;
use super::direction::REGULARS;
use super::quantiles::Quantiles;

/// The shape of a workload: arrivals, order of reads and writes, locality, sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The source of its values: "assumed", or the trace on which they were fitted.
    pub source: String,
    /// How requests cluster in time, and reads and writes apart: their dispersions by window. A
    /// file names an entry of `arrivals.toml`.
    pub arrivals: Arrivals,
    /// Growth of the dispersion in windows longer than all of `arrivals`: it grows as the length of
    /// the window to this power.
    pub growth: Share,
    /// Lags of returns: the number of requests of the same kind since the place was last used.
    pub lags: Quantiles,
    /// Lags of continuations. They count the ends of earlier requests of the same kind that border
    /// on known places; the last end is 1. See [`Habits::along`].
    #[serde(default = "last")]
    pub along_lags: Quantiles,
    /// The alignment of addresses.
    pub align: Bytes,
    /// Bytes from the start of a page of 4 KiB to the addresses that are multiples of `align`, on a
    /// volume whose partition begins within a page.
    #[serde(default, skip_serializing_if = "is_none")]
    pub shift: Bytes,
    /// The least size of an extent, a power of two, and the largest request. Extents are runs of
    /// addresses that stay together when they are shuffled over the footprint.
    pub extent: Bytes,
    /// Requests of at least this size go through the footprint in order, again and again, like the
    /// compaction of a log-structured store. Absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_order: Option<Bytes>,
    /// Whether each hot place begins at its own arbitrary sector, instead of the start of a slot of
    /// the mean size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hot_anywhere: bool,
    /// Whether each write of up to 8 KiB lies within a page of 8 KiB.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub small_in_page: bool,
    /// Share of the smaller of the two hot sets that belongs to both.
    pub shared: Share,
    /// The footprint divided by all bytes moved, if no source gives a footprint.
    pub new: Share,
    /// The share of the read pages that are also written, if writes have no `reach`.
    #[serde(default)]
    pub overlap: Overlap,
    /// The habits of reads.
    pub read: Habits,
    /// The habits of writes.
    pub write: Habits,
}

/// The share of the read pages that are also written at some time.
///
/// The defaults are medians over one week of 106 virtual machines (CloudPhysics, statistics of
/// whole traces): of the 53 that mostly write, and of the 53 that mostly read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overlap {
    /// The share in workloads that mostly write.
    pub written: Share,
    /// The share in workloads that mostly read.
    pub read: Share,
}

impl Default for Overlap {
    fn default() -> Overlap {
        Overlap { written: Share::new(0.40), read: Share::new(0.15) }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(shift: &Bytes) -> bool {
    shift.get() == 0
}

/// Returns the default of `along_lags`: the last end.
fn last() -> Quantiles {
    Quantiles { steps: vec![1.0, 1.0], tail: Vec::new() }
}

/// The addresses of one kind of requests.
///
/// A request continues the one before it of its kind, or a draw decides. A draw has four outcomes:
/// - the request uses new places, as often as the footprint needs,
/// - it continues behind an earlier request through known places,
/// - it returns to a recent place,
/// - it goes to the hot set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Habits {
    /// Probability that a request for new places begins where the one before it ended.
    pub run: Share,
    /// Probability that a request returns as many requests back as the one before it. Sequences of
    /// requests are then repeated as sequences.
    pub follow: Share,
    /// Probability that a request uses new places without a draw, if the one before it did and the
    /// request does not continue it. Scans and returns then stay together.
    #[serde(default)]
    pub new_run: Share,
    /// The same as `new_run`, for known places.
    #[serde(default)]
    pub known_run: Share,
    /// Of the requests for known places, the share that begins where an earlier request ended.
    #[serde(default)]
    pub along: Share,
    /// Of the other requests for known places, the share that returns to a recent place. The others
    /// go to the hot set.
    pub again: Share,
    /// Of the returns, the share that goes to places of the other kind of requests.
    pub across: Share,
    /// Of the returns, the shares to places with 0, 1, 2 to 3, 4 to 7 and so on earlier returns. In
    /// traces, few places are used many times, and many places once more. If empty, returns ignore
    /// the number of earlier returns.
    #[serde(default)]
    pub regulars: Vec<f64>,
    /// The hot set's share of the footprint.
    pub hot: Share,
    /// The exponent of Zipf's law within the hot set.
    pub theta: f64,
    /// The share of the bytes at known addresses that cycles through the hot set in order. A cache
    /// that holds less than the hot set misses all of it.
    #[serde(default)]
    pub rounds: Share,
    /// Of the same, the share that scans the rest of their pages again in order, from the
    /// beginning.
    #[serde(default)]
    pub scans: Share,
    /// Share of the rest of the footprint that these requests cover. Only writes may omit it.
    /// [`Shape::overlap`] then gives their share, and returns to places of the other kind stay
    /// within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Share>,
    /// Probability that a request has the same size as the one before it, without a draw.
    #[serde(default)]
    pub size_run: Share,
    /// Sizes of requests and their weights. The generator tilts the weights until the mean size is
    /// met.
    pub sizes: Vec<(Bytes, f64)>,
}

impl Shape {
    /// Refuses a shape that no workload can have.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        self.arrivals.check()?;
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
        if self.shift.get() >= 4096 || !self.shift.get().is_multiple_of(SECTOR_BYTES) {
            let fault = Fault::new("", "shift").got(self.shift);
            return Err(fault.expected("a multiple of 512 B below 4KiB"));
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

/// Refuses an exponent of Zipf's law outside 0 to 10.
pub(super) fn check_theta(theta: f64) -> Result<(), Fault> {
    if (0.0..=10.0).contains(&theta) {
        Ok(())
    } else {
        Err(Fault::new("", "theta").got(theta).expected("from 0 to 10"))
    }
}

impl Habits {
    /// Returns how often a draw must choose a return, so that returns with their followers are
    /// `again`.
    pub(super) fn again_drawn(&self) -> f64 {
        let drawn = self.again.get() * (1.0 - self.follow.get());
        drawn / (drawn + 1.0 - self.again.get()).max(1e-9)
    }

    /// Returns how often a draw must choose a continuation, so that `along` of the requests for
    /// known places are continuations.
    pub(super) fn along_drawn(&self) -> f64 {
        let again = self.again_drawn();
        let others = again / (1.0 - self.follow.get()).max(1e-3) + 1.0 - again;
        let along = self.along.get() * others;
        along / (along + 1.0 - self.along.get()).max(1e-9)
    }

    fn check(&self, extent: Bytes) -> Result<(), Fault> {
        check_theta(self.theta)?;
        if self.rounds.get() + self.scans.get() > 1.0 {
            let fault = Fault::new("", "rounds and scans together");
            return Err(fault.got(self.rounds.get() + self.scans.get()).expected("at most 1"));
        }
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
