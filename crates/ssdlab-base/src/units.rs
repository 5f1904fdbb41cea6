//! Points in time, durations and sizes.
//!
//! A time plus or minus a duration is a time, and a time minus a time is a duration. Other sums and
//! differences of the two do not compile.

use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A point in simulated time, in nanoseconds since the run began. Serialized as that number.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct SimTime(u64);

impl SimTime {
    /// The time at which a run begins.
    pub const START: SimTime = SimTime(0);
    /// A time that never comes: the time of a timer that is not set.
    pub const NEVER: SimTime = SimTime(u64::MAX);

    /// Returns the time `ns` nanoseconds after the start of the run.
    pub const fn from_ns(ns: u64) -> SimTime {
        SimTime(ns)
    }

    /// Returns the nanoseconds since the start of the run.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Returns the duration since `earlier`, or zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: SimTime) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Nanos> for SimTime {
    type Output = SimTime;
    #[inline]
    fn add(self, span: Nanos) -> SimTime {
        SimTime(self.0 + span.0)
    }
}

impl AddAssign<Nanos> for SimTime {
    fn add_assign(&mut self, span: Nanos) {
        self.0 += span.0;
    }
}

impl Sub<Nanos> for SimTime {
    type Output = SimTime;
    fn sub(self, span: Nanos) -> SimTime {
        SimTime(self.0 - span.0)
    }
}

impl Sub for SimTime {
    type Output = Nanos;
    #[inline]
    fn sub(self, earlier: SimTime) -> Nanos {
        debug_assert!(self.0 >= earlier.0, "time went back: {} before {}", self.0, earlier.0);
        Nanos(self.0 - earlier.0)
    }
}

/// A time on the clock of the cells, which may run faster than simulated time. In nanoseconds since
/// the run began, and negative before it. Serialized as that number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellTime(i64);

impl CellTime {
    /// The time at which a run begins.
    pub const START: CellTime = CellTime(0);

    /// The latest time that the clock shows: more than a century. Sums and differences of two
    /// times up to it do not overflow.
    pub const LATEST: CellTime = CellTime(i64::MAX / 2);
    /// The earliest time before the run.
    pub const EARLIEST: CellTime = CellTime(-CellTime::LATEST.0);

    /// Returns the present time of a clock that runs `time_scale` times as fast as simulated time.
    pub fn at(now: SimTime, time_scale: u32) -> CellTime {
        let ns = now.as_ns().saturating_mul(time_scale.into());
        CellTime(ns.min(CellTime::LATEST.0 as u64) as i64)
    }

    /// Returns the time `ns` nanoseconds after the start of the run.
    pub const fn from_ns(ns: i64) -> CellTime {
        CellTime(ns)
    }

    /// Returns the nanoseconds since the start of the run.
    pub const fn as_ns(self) -> i64 {
        self.0
    }

    /// Returns the duration since `earlier`, or zero if `earlier` is later.
    #[inline]
    pub const fn saturating_since(self, earlier: CellTime) -> Nanos {
        let span = self.0.saturating_sub(earlier.0);
        Nanos(if span > 0 { span as u64 } else { 0 })
    }
}

/// A duration in nanoseconds. A config writes it with a unit: `"45us"`, `"3.5ms"`, `"90d"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Nanos(u64);

impl Nanos {
    /// The duration zero.
    pub const ZERO: Nanos = Nanos(0);
    /// The longest duration: a limit that limits nothing.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// Returns a duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Nanos {
        Nanos(ns)
    }

    /// Returns a duration of `us` microseconds.
    pub const fn from_us(us: u64) -> Nanos {
        Nanos(us * 1_000)
    }

    /// Returns a duration of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    /// Returns the duration in nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Returns the duration in microseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Returns the duration in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the duration in days.
    pub fn as_days(self) -> f64 {
        self.0 as f64 / 86_400e9
    }

    /// Returns the number of whole days in the duration.
    #[inline]
    pub const fn as_whole_days(self) -> u64 {
        self.0 / 86_400_000_000_000
    }

    /// Returns this duration minus `other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl SubAssign for Nanos {
    fn sub_assign(&mut self, other: Nanos) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Nanos {
    type Output = Nanos;
    fn mul(self, times: u64) -> Nanos {
        Nanos(self.0 * times)
    }
}

/// The quotient, rounded down to whole nanoseconds.
impl Div<u64> for Nanos {
    type Output = Nanos;
    fn div(self, parts: u64) -> Nanos {
        Nanos(self.0 / parts)
    }
}

impl std::iter::Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(spans: I) -> Nanos {
        spans.fold(Nanos::ZERO, Add::add)
    }
}

/// A number of bytes. A config writes it with a unit: `"16KiB"`, `"128GiB"`, `"50MB"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// Returns a size of `bytes` bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// Returns a size of `kib` times 1024 bytes.
    pub const fn from_kib(kib: u64) -> Bytes {
        Bytes(kib << 10)
    }

    /// Returns a size of `gib` times 1024³ bytes.
    pub const fn from_gib(gib: u64) -> Bytes {
        Bytes(gib << 30)
    }

    /// Returns the size in bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// A transfer rate in bytes per second. A config writes it with a unit: `"333MB/s"`, `"1.6GB/s"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BytesPerSecond(u64);

impl BytesPerSecond {
    /// Returns a rate of `rate` bytes per second, at least 1.
    pub const fn new(rate: u64) -> BytesPerSecond {
        BytesPerSecond(if rate == 0 { 1 } else { rate })
    }

    /// Returns the rate in bytes per second.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the time that `size` takes at this rate, rounded to the nearest nanosecond.
    pub fn time_for(self, size: Bytes) -> Nanos {
        let exact = u128::from(size.0) * 1_000_000_000;
        let rate = u128::from(self.0);
        Nanos(((exact + rate / 2) / rate) as u64)
    }
}

/// Bytes in a sector, the unit in which hosts address a drive.
pub const SECTOR_BYTES: u64 = 512;
