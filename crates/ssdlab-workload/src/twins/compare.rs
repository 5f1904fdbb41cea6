//! Compares a twin's targets, or an excerpt of the real trace, with the achieved values.

use serde::Serialize;
use ssdlab_base::Nanos;

use super::Twin;
use super::arrivals::Arrivals;
use super::figures::Targets;
use crate::measure::{Burstiness, MIN_WINDOWS, Measured, RunLengths};

/// One statistic of a twin: its target and its measured value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The name of the statistic.
    pub what: &'static str,
    /// Its unit; empty for a count or a share.
    pub unit: &'static str,
    /// The target.
    pub target: f64,
    /// The measured value.
    pub achieved: f64,
    /// The source of the target; "derived" if it follows from other targets.
    pub source: String,
}

impl Compared {
    /// Returns the deviation of the measured value: a difference for shares, else relative to the
    /// target.
    pub fn off(&self) -> f64 {
        if self.is_share() || self.target == 0.0 {
            self.achieved - self.target
        } else {
            self.achieved / self.target - 1.0
        }
    }

    /// Returns whether the statistic is a share.
    pub fn is_share(&self) -> bool {
        matches!(self.what, "read_ratio" | "read_hot" | "read_cold" | "large_writes")
    }
}

impl Twin {
    /// Compares the burstiness measured on its requests with that of the excerpts whose arrivals
    /// its shape has. Empty for a mix.
    pub fn compare_bursts(&self, measured: &Burstiness) -> Vec<Compared> {
        let Some((_, shape)) = self.shape() else { return Vec::new() };
        let reads = self.figures().read_ratio();
        Bursts { excerpts: &shape.arrivals, reads }.compare(measured)
    }

    /// Returns a remark if this twin, `whole` scaled down, is too short for some bursts of `whole`.
    pub fn remark_on_bursts(&self, whole: &Twin) -> Option<String> {
        let lacking = self.lacking_windows(whole);
        let [first, last] = [lacking.iter().min()?, lacking.iter().max()?];
        let windows = if first == last { first.to_string() } else { format!("{first} to {last}") };
        Some(format!(
            "scaled down: its span holds fewer than {MIN_WINDOWS} windows of {windows}, so it has few \
             or none of their bursts"
        ))
    }

    /// Returns the windows of the shapes that have too few repetitions in this twin's span, and
    /// enough in the span of `whole`.
    fn lacking_windows(&self, whole: &Twin) -> Vec<Nanos> {
        let members = self.members().iter().zip(whole.members());
        let mut all: Vec<Nanos> =
            members.flat_map(|(member, whole)| member.lacking_windows(whole)).collect();
        let [own, whole] = [self, whole].map(|twin| twin.figures().span);
        let windows = self.shape().into_iter().flat_map(|(_, shape)| &shape.arrivals.windows_us);
        let windows = windows.map(|window| window * 1e3);
        let fits = |window: f64, span: f64| window * MIN_WINDOWS as f64 <= span;
        let lacking = windows.filter(|window| !fits(*window, own) && fits(*window, whole));
        all.extend(lacking.map(|window| Nanos::from_ns(window as u64)));
        all
    }

    /// Compares the twin's targets with statistics measured on its requests. For a scaled
    /// measurement, call it on the twin that [`Twin::scaled`] returned.
    pub fn compare(&self, measured: &Measured) -> Vec<Compared> {
        const PAGE: f64 = 4096.0;
        let figures = self.figures();
        let mut list = Vec::new();
        let mut add = |what, unit, target: Option<f64>, achieved| {
            let source = self.targets().map_or("of its members".into(), |all| source(all, what));
            list.extend(target.map(|target| Compared { what, unit, target, achieved, source }));
        };
        let pages = |pages: u64| pages as f64 * PAGE;
        add("requests", "", Some(figures.requests as f64), measured.requests as f64);
        add("read_ratio", "", Some(figures.read_ratio()), measured.read_ratio);
        add("mean_read", "B", Some(figures.mean_read), measured.mean_read);
        add("mean_write", "B", Some(figures.mean_write), measured.mean_write);
        add("footprint", "B", Some(figures.footprint), pages(measured.footprint_pages));
        add("read_set", "B", figures.read_set, pages(measured.read_pages));
        add("write_set", "B", figures.write_set, pages(measured.write_pages));
        let [read, write] = figures.touched;
        let mean = |pages: u64, count: u64| pages as f64 / count.max(1) as f64;
        add("page_reads", "pages", read, mean(measured.page_reads, measured.reads));
        add("page_writes", "pages", write, mean(measured.page_writes, measured.writes));
        let cold = measured.read_counts.iter().find(|[reads, ..]| *reads == 2.0);
        add("read_cold", "", figures.read_cold, cold.map_or(0.0, |[.., share]| *share));
        add("read_hot", "", figures.read_hot, measured.read_hot);
        add("large_writes", "", figures.large_writes, measured.large_writes);
        add("span", "s", Some(figures.span / 1e9), measured.span_s);
        list
    }
}

/// Names of the indexes of dispersion, by the length of their windows in seconds.
const DISPERSIONS: [(f64, &str); 5] = [
    (0.01, "dispersion_10ms"),
    (0.1, "dispersion_100ms"),
    (1.0, "dispersion_1s"),
    (10.0, "dispersion_10s"),
    (100.0, "dispersion_100s"),
];

/// Bursts and runs of an excerpt, for a workload with another share of reads.
struct Bursts<'a> {
    excerpts: &'a Arrivals,
    reads: f64,
}

impl Bursts<'_> {
    /// Compares them with those of a twin, for the windows that both have.
    fn compare(&self, measured: &Burstiness) -> Vec<Compared> {
        let source = self.excerpts.source.split_whitespace().collect::<Vec<_>>().join(" ");
        let row = |what, unit, target, achieved| {
            let source = source.clone();
            Some(Compared { what, unit, target: target?, achieved: achieved?, source })
        };
        let dispersions = DISPERSIONS.into_iter().map(|(length, what)| {
            let window = measured.windows.iter().find(|window| window.window_s == length);
            let target = self.excerpts.dispersion(length * 1e6, self.reads);
            row(what, "", target, window.map(|window| window.dispersion))
        });
        let [read, write] =
            self.excerpts.mean_runs(self.reads).map_or([None; 2], |runs| runs.map(Some));
        let mean = |runs: &Option<RunLengths>| runs.as_ref().map(|runs| runs.mean_requests);
        let runs = [
            row("read_run", "requests", read, mean(&measured.read_runs)),
            row("write_run", "requests", write, mean(&measured.write_runs)),
        ];
        dispersions.chain(runs).flatten().collect()
    }
}

/// Returns the source of a statistic's target.
fn source(targets: &Targets, what: &str) -> String {
    let list = targets.list();
    let figure = |name: &str| list.iter().find(|(figure, ..)| *figure == name);
    let assumed = |names: &[&str]| {
        names
            .iter()
            .any(|name| figure(name).is_some_and(|(.., source)| source.starts_with("assumed")))
    };
    if let Some((.., source)) = figure(what) {
        return (*source).to_owned();
    }
    let from: &[&str] = match what {
        "mean_read" => {
            &["read_volume", "mean_size", "size_ratio", "fill", "requests", "read_ratio"]
        }
        "mean_write" => &[
            "write_volume",
            "mean_size",
            "size_ratio",
            "fill",
            "mean_read",
            "requests",
            "read_ratio",
        ],
        "requests" | "read_ratio" => &["read_volume", "write_volume", "mean_read", "mean_write"],
        _ => return "assumed: a share of what is moved".to_owned(),
    };
    if assumed(from) {
        "derived, from what is partly assumed".to_owned()
    } else {
        "derived".to_owned()
    }
}
