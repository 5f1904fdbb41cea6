//! Turns the statistics that sources give into the numbers that a generator needs.

use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::{Bytes, Fault, Nanos};

use super::shape::Shape;

/// Bytes in a page of 4 KiB.
const PAGE: f64 = 4096.0;

/// A value and its source, which is "assumed" if no source gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure<T>(pub T, pub String);

macro_rules! targets {
    ($($(#[doc = $doc:literal])* $name:ident: $type:ty,)*) => {
        /// The statistics of a whole trace from its sources. A statistic that no source gives is
        /// absent.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Targets {
            $($(#[doc = $doc])* pub $name: Option<Figure<$type>>,)*
        }

        impl Targets {
            /// Returns every statistic that is present: its name, its value as written, its source.
            pub fn list(&self) -> Vec<(&'static str, String, &str)> {
                let mut list = Vec::new();
                $(if let Some(Figure(value, source)) = &self.$name {
                    list.push((stringify!($name), value.to_string(), source.as_str()));
                })*
                list
            }

            /// Completes these targets with those of `base`.
            pub(super) fn over(self, base: &Targets) -> Targets {
                Targets { $($name: self.$name.or_else(|| base.$name.clone()),)* }
            }

            /// Replaces the keys of the sources by their full names.
            pub(super) fn name_sources(
                &mut self,
                name: impl Fn(&str) -> Option<String>,
            ) -> Result<(), Fault> {
                $(if let Some(Figure(_, source)) = &mut self.$name {
                    *source = name(source).ok_or_else(|| {
                        let fault = Fault::new("", concat!(stringify!($name), ": its source"));
                        fault.got(&*source).expected("assumed, or a key of [sources]")
                    })?;
                })*
                Ok(())
            }
        }
    };
}

targets! {
    /// Requests.
    requests: u64,
    /// Share of the requests that are reads.
    read_ratio: Share,
    /// Bytes read.
    read_volume: Bytes,
    /// Bytes written.
    write_volume: Bytes,
    /// Mean size of all requests.
    mean_size: Bytes,
    /// Mean size of reads over that of writes.
    size_ratio: f64,
    /// Mean size of reads.
    mean_read: Bytes,
    /// Mean size of writes.
    mean_write: Bytes,
    /// Pages of 4 KiB that reads touch. Each read counts each of its pages.
    page_reads: u64,
    /// Pages of 4 KiB that writes touch. Each write counts each of its pages.
    page_writes: u64,
    /// Bytes moved over the bytes of the pages that requests touch.
    fill: Share,
    /// Share of the writes that are larger than a page of 8 KiB.
    large_writes: Share,
    /// Bytes of all pages of 4 KiB that are asked for.
    footprint: Bytes,
    /// Bytes of all pages of 4 KiB that are read.
    read_set: Bytes,
    /// Bytes of all pages of 4 KiB that are written. Pages read and written follow from both sets
    /// and the footprint.
    write_set: Bytes,
    /// Pages that are read three times or more, over the footprint.
    read_hot: Share,
    /// Of the page reads, the share of pages that are read once or twice.
    read_cold: Share,
    /// Time from the first request to the last.
    span: Nanos,
}

/// The complete statistics of a twin: given, derived or assumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The number of requests.
    pub requests: u64,
    /// The number of reads among them.
    pub reads: u64,
    /// Mean size of reads, in bytes.
    pub mean_read: f64,
    /// Mean size of writes, in bytes.
    pub mean_write: f64,
    /// Bytes of all pages that are read or written.
    pub footprint: f64,
    /// Bytes of all pages that are read, if a source gives it.
    pub read_set: Option<f64>,
    /// Bytes of all pages that are written, if a source gives it.
    pub write_set: Option<f64>,
    /// Pages that are read three times or more, divided by the footprint, if a source gives it.
    pub read_hot: Option<f64>,
    /// Of the page reads, the share of pages that are read once or twice, if a source gives it.
    pub read_cold: Option<f64>,
    /// Pages of 4 KiB that a read and a write touch in the mean, if a source gives it.
    pub touched: [Option<f64>; 2],
    /// Share of the writes that are larger than a page of 8 KiB, if a source gives it.
    pub large_writes: Option<f64>,
    /// Time from the first request to the last, in nanoseconds.
    pub span: f64,
}

impl Figures {
    /// Returns the statistics of `targets` and those that follow from them.
    pub(super) fn new(targets: &Targets, shape: &Shape) -> Result<Figures, Fault> {
        let bytes = |figure: &Option<Figure<Bytes>>| {
            figure.as_ref().map(|Figure(bytes, _)| bytes.get() as f64)
        };
        let share =
            |figure: &Option<Figure<Share>>| figure.as_ref().map(|Figure(share, _)| share.get());
        let missing = |what: &str| Fault::new("", what.to_owned()).got("none");
        let (mean_read, mean_write) = (bytes(&targets.mean_read), bytes(&targets.mean_write));
        let (read, write) = (bytes(&targets.read_volume), bytes(&targets.write_volume));
        let counts = match (&targets.requests, share(&targets.read_ratio)) {
            (Some(Figure(requests, _)), Some(ratio)) => Some((*requests as f64, ratio)),
            _ => None,
        };
        let touched = counts.map_or([None; 2], |(n, r)| touched(targets, n, r));
        let (requests, ratio, mean_read, mean_write) = match (counts, read, write) {
            (Some((n, r)), Some(read), Some(write)) => {
                (n, r, read / (n * r), write / (n * (1.0 - r)))
            }
            (Some((n, r)), ..) => {
                let by_pages = by_pages(targets, touched, shape);
                let (read, write) = means(targets, r, (mean_read, mean_write), by_pages)
                    .ok_or_else(|| missing("mean_size, or mean_read and mean_write"))?;
                (n, r, read, write)
            }
            (None, Some(read), Some(write)) => {
                let (mean_read, mean_write) = mean_read
                    .zip(mean_write)
                    .ok_or_else(|| missing("mean_read and mean_write beside volumes"))?;
                let (reads, writes) = (read / mean_read, write / mean_write);
                (reads + writes, reads / (reads + writes), mean_read, mean_write)
            }
            _ => return Err(missing("requests and read_ratio, or both volumes")),
        };
        let reads = (requests * ratio).round();
        let moved = reads * mean_read + (requests - reads) * mean_write;
        let span = targets.span.as_ref().ok_or_else(|| missing("span"))?;
        Ok(Figures {
            requests: requests.round() as u64,
            reads: reads as u64,
            mean_read,
            mean_write,
            footprint: bytes(&targets.footprint).unwrap_or(shape.new.get() * moved),
            read_set: bytes(&targets.read_set),
            write_set: bytes(&targets.write_set),
            read_hot: share(&targets.read_hot),
            read_cold: share(&targets.read_cold),
            touched,
            large_writes: share(&targets.large_writes),
            span: span.0.as_ns() as f64,
        })
    }

    /// Scales to `requests` requests: span, footprint and sets of pages in proportion.
    pub(super) fn scaled(self, requests: u64) -> Figures {
        let part = requests as f64 / self.requests as f64;
        Figures {
            requests,
            reads: (self.reads as f64 * part).round() as u64,
            footprint: self.footprint * part,
            read_set: self.read_set.map(|bytes| bytes * part),
            write_set: self.write_set.map(|bytes| bytes * part),
            span: self.span * part,
            ..self
        }
    }

    /// Returns the statistics of several workloads that run at once.
    pub(super) fn together(all: impl Iterator<Item = Figures>) -> Figures {
        let none = Figures {
            requests: 0,
            reads: 0,
            mean_read: 0.0,
            mean_write: 0.0,
            footprint: 0.0,
            read_set: None,
            write_set: None,
            read_hot: None,
            read_cold: None,
            touched: [None; 2],
            large_writes: None,
            span: 0.0,
        };
        let mean = |one: f64, ones: u64, other: f64, others: u64| {
            (one * ones as f64 + other * others as f64) / (ones + others).max(1) as f64
        };
        all.fold(none, |sum, one| Figures {
            requests: sum.requests + one.requests,
            reads: sum.reads + one.reads,
            mean_read: mean(sum.mean_read, sum.reads, one.mean_read, one.reads),
            mean_write: mean(sum.mean_write, sum.writes(), one.mean_write, one.writes()),
            footprint: sum.footprint + one.footprint,
            span: sum.span.max(one.span),
            ..none
        })
    }

    /// Returns the bytes of all pages that are both read and written, if sources give it.
    pub(super) fn both(&self) -> Option<f64> {
        let [read, write] = [self.read_set?, self.write_set?];
        Some((read + write - self.footprint).max(0.0))
    }

    /// Returns the number of writes.
    pub fn writes(&self) -> u64 {
        self.requests - self.reads
    }

    /// Returns the share of the requests that are reads.
    pub fn read_ratio(&self) -> f64 {
        self.reads as f64 / self.requests as f64
    }
}

/// Returns the mean pages that a read and a write touch, of `requests` requests with this share of
/// reads.
fn touched(targets: &Targets, requests: f64, ratio: f64) -> [Option<f64>; 2] {
    let each = |pages: &Option<Figure<u64>>, count: f64| {
        pages.as_ref().filter(|_| count >= 1.0).map(|Figure(pages, _)| *pages as f64 / count)
    };
    let reads = (requests * ratio).round();
    [each(&targets.page_reads, reads), each(&targets.page_writes, requests - reads)]
}

/// Returns the mean sizes of reads and writes that touch so many pages, up to a common factor
/// unless the targets have `fill`.
fn by_pages(targets: &Targets, touched: [Option<f64>; 2], shape: &Shape) -> Option<(f64, f64)> {
    let fill = targets.fill.as_ref().map_or(1.0, |Figure(fill, _)| fill.get());
    // A request that begins within a page ends within one more page.
    let more = if shape.shift.get() == 0 { 0.0 } else { 1.0 };
    let bytes = |pages: f64| fill * (pages - more) * PAGE;
    let [read, write] = touched.map(|pages| pages.map(bytes));
    read.zip(write)
}

/// Returns the mean sizes of reads and writes. A missing mean follows from the mean of all requests
/// and the other mean. If both are missing, the pages that requests touch give their ratio, or
/// else `size_ratio`, which is 1 by default. Without any mean, `by_pages` gives the sizes.
fn means(
    targets: &Targets,
    ratio: f64,
    (read, write): (Option<f64>, Option<f64>),
    by_pages: Option<(f64, f64)>,
) -> Option<(f64, f64)> {
    let all = targets.mean_size.as_ref().map(|Figure(bytes, _)| bytes.get() as f64);
    let rest = |all: f64, one: f64, share: f64| (all - share * one) / (1.0 - share);
    match (read, write, all) {
        (Some(read), Some(write), _) => Some((read, write)),
        (Some(read), None, Some(all)) => Some((read, rest(all, read, ratio))),
        (None, Some(write), Some(all)) => Some((rest(all, write, 1.0 - ratio), write)),
        (None, None, Some(all)) => {
            let ratio_or_one = targets.size_ratio.as_ref().map_or(1.0, |Figure(factor, _)| *factor);
            let factor = by_pages.map_or(ratio_or_one, |(read, write)| read / write);
            let write = all / (ratio * factor + 1.0 - ratio);
            Some((factor * write, write))
        }
        (None, None, None) => by_pages.filter(|_| targets.fill.is_some()),
        _ => None,
    }
}
