//! How the requests of a twin cluster in time: dispersions by window, of reads and of writes.
//!
//! The *index of dispersion* is the variance over the mean of the number of requests in windows of
//! one length. `arrivals.toml` holds that of excerpts of real traces, at windows from a microsecond
//! on. A twin's cascade meets these figures (`clock.rs`).

use serde::{Deserialize, Serialize};
use ssdlab_base::{Fault, math};

/// The dispersions of a workload by window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Arrivals {
    /// The excerpts on which the figures were measured.
    pub source: String,
    /// The twin to compare with these figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// Whether no twin is fitted to them: they check one, or else their class.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
    /// The arrivals that complete this excerpt: a kind of requests, or shorter or longer windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The class that is the median of these and other excerpts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_class: Option<String>,
    /// The share of reads, and the mean lengths of runs of reads and of writes; empty if a kind is
    /// missing, and for fewer than 20 runs. A run is a sequence of requests of one kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<f64>,
    /// Lengths of the windows, in microseconds, rising.
    pub windows_us: Vec<f64>,
    /// Dispersions of all requests; empty, or 0 for a window, if they follow from the kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<f64>,
    /// Dispersions of the reads; empty if there are too few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<f64>,
    /// Dispersions of the writes; empty if there are too few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<f64>,
    /// Correlations of the numbers of reads and of writes in a window, from -1 to 1; empty if a
    /// kind is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<f64>,
}

/// The least excess of a dispersion over 1 that differs from none.
const MIN_EXCESS: f64 = 1e-9;
/// The most by which the excesses of reads and writes change for the dispersion of all requests.
const MAX_CHANGE: f64 = 2.0;

/// A column of arrivals, such as the dispersions of reads.
pub type Column = fn(&Arrivals) -> &Vec<f64>;

impl Arrivals {
    /// Fills in missing parts: kinds, and windows that are shorter or longer than all of its own,
    /// from `class`.
    ///
    /// Shorter windows have the dispersions of the class in proportion to the first own ones.
    /// Longer ones have those of the class. Its slow changes of the rate are also in the own
    /// windows, but the excerpt was too short to show them: there, their excess is proportional to
    /// the window.
    pub fn over(&self, class: &Arrivals) -> Arrivals {
        let [Some(&first), Some(&last)] = [self.windows_us.first(), self.windows_us.last()] else {
            return class.clone();
        };
        let of_class = class.windows_us.iter().copied();
        let longer: Vec<f64> = of_class.clone().filter(|window| *window > last).collect();
        let shorter: Vec<f64> = of_class.filter(|window| *window < first).collect();
        let windows: Vec<f64> =
            shorter.iter().chain(&self.windows_us).chain(&longer).copied().collect();
        let column = |own: &[f64], from: &[f64], is_dispersion: bool| -> Vec<f64> {
            let place = |window: f64| self.windows_us.iter().position(|own| *own == window);
            let of_class = |window: f64| at(&class.windows_us, from, window);
            let factor = match own.first() {
                Some(own) if is_dispersion => {
                    ((own - 1.0) / (of_class(first) - 1.0)).clamp(0.0, 1e6)
                }
                _ => 1.0,
            };
            // The part of the slow changes in a window shorter than the first longer one.
            let slow = |window: f64| match longer.first() {
                Some(from) if is_dispersion => (of_class(*from) - 1.0) * (window / from),
                _ => 0.0,
            };
            let each = windows.iter().map(|window| match place(*window) {
                Some(place) if !own.is_empty() => own[place] + slow(*window),
                None if *window > last => of_class(*window),
                _ => 1.0 + (of_class(*window) - 1.0) * factor,
            });
            each.collect()
        };
        // Where the class has the windows, the dispersion of all requests follows from the kinds.
        let all = if longer.is_empty() && !self.all.is_empty() {
            [vec![0.0; shorter.len()], self.all.clone()].concat()
        } else {
            vec![0.0; windows.len()]
        };
        Arrivals {
            source: format!("{}; what it lacks: {}", self.source, class.source),
            class: None,
            in_class: self.in_class.clone(),
            twin: self.twin.clone(),
            unseen: self.unseen,
            runs: self.runs.clone(),
            all,
            reads: column(&self.reads, &class.reads, true),
            writes: column(&self.writes, &class.writes, true),
            together: column(&self.together, &class.together, false),
            windows_us: windows,
        }
    }

    /// Returns these arrivals with `factor` times the excess of each dispersion over 1.
    pub(super) fn scaled(&self, factor: f64) -> Arrivals {
        let scaled = |column: &Vec<f64>| {
            let each = column.iter().map(|one| 1.0 + (one - 1.0) * factor);
            each.map(|one| one.max(0.0)).collect()
        };
        // A dispersion of 0 of all requests stands for one that follows from the kinds.
        let all = self.all.iter().zip(scaled(&self.all));
        let all = all.map(|(own, scaled)| if *own > 0.0 { scaled } else { 0.0 }).collect();
        Arrivals { all, reads: scaled(&self.reads), writes: scaled(&self.writes), ..self.clone() }
    }

    /// Returns the median of these arrivals, window by window, of each kind by itself: the
    /// geometric mean of the two middle dispersions, if there are two. The dispersion of all
    /// requests follows from the kinds. If fewer than `least` arrivals have a kind in some window,
    /// the median ends before this window.
    pub fn median(all: &[Arrivals], least: usize, source: &str) -> Arrivals {
        let mut windows_us: Vec<f64> =
            all.iter().flat_map(|one| one.windows_us.iter().copied()).collect();
        windows_us.sort_unstable_by(f64::total_cmp);
        windows_us.dedup();
        let column = |of: Column, middle: fn(f64, f64) -> f64| -> Vec<f64> {
            let found = windows_us.iter().map_while(|window| {
                let mut list: Vec<f64> =
                    all.iter().filter_map(|one| one.value(of, *window)).collect();
                list.sort_unstable_by(f64::total_cmp);
                let [low, high] = [(list.len().max(1) - 1) / 2, list.len() / 2];
                (list.len() >= least.max(1)).then(|| middle(list[low], list[high]))
            });
            found.collect()
        };
        let reads = column(|one| &one.reads, |low, high| (low * high).sqrt());
        let writes = column(|one| &one.writes, |low, high| (low * high).sqrt());
        let together = column(|one| &one.together, |low, high| 0.5 * (low + high));
        let shared = reads.len().min(writes.len()).min(together.len());
        let cut = |column: Vec<f64>| column[..shared].to_vec();
        Arrivals {
            source: source.to_owned(),
            windows_us: windows_us[..shared].to_vec(),
            reads: cut(reads),
            writes: cut(writes),
            together: cut(together),
            ..Arrivals::default()
        }
    }

    /// Returns the value of a column in windows of this length, if the excerpt has it.
    pub fn value(&self, column: Column, window_us: f64) -> Option<f64> {
        let place = self.windows_us.iter().position(|own| *own == window_us)?;
        column(self).get(place).copied()
    }

    /// Returns the dispersion of all requests in windows of this length, for a workload with this
    /// share of reads; `None` without such windows. If the excerpt does not have it, it follows
    /// from those of reads and of writes.
    pub fn dispersion(&self, window_us: f64, reads: f64) -> Option<f64> {
        let place = self.windows_us.iter().position(|own| *own == window_us)?;
        let own = self.all.get(place).copied().filter(|all| *all > 0.0);
        Some(own.unwrap_or_else(|| 1.0 + self.rows(reads)[place].of_all(reads)))
    }

    /// Returns the mean lengths of runs of reads and of writes, for a workload with this share of
    /// reads: as many times those of independent requests as in the excerpt. `None` if the excerpt
    /// or the workload lacks a kind.
    pub fn mean_runs(&self, reads: f64) -> Option<[f64; 2]> {
        let [share, read, _] = self.runs[..] else { return None };
        let stay = read * (1.0 - share);
        let has_both = reads > 0.0 && reads < 1.0;
        has_both.then(|| [1.0 - reads, reads].map(|others| (stay / others).max(1.0)))
    }

    /// Refuses figures that no requests have.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let windows = &self.windows_us;
        let rising = windows.windows(2).all(|pair| pair[0] < pair[1]);
        if windows.is_empty() || !rising || !windows.iter().all(|window| *window > 0.0) {
            let fault = Fault::new("", "arrivals.windows_us").got(format!("{windows:?}"));
            return Err(fault.expected("rising lengths in microseconds"));
        }
        let dispersion = |value: &f64| value.is_finite() && *value >= 0.0;
        let correlation = |value: &f64| (-1.0..=1.0).contains(value);
        for (name, column) in [
            ("all", &self.all),
            ("reads", &self.reads),
            ("writes", &self.writes),
            ("together", &self.together),
        ] {
            let complete = column.is_empty() || column.len() == windows.len();
            let (fits, what) = match name {
                "together" => (column.iter().all(correlation), "correlations from -1 to 1"),
                _ => (column.iter().all(dispersion), "dispersions from 0 up"),
            };
            if !complete || !fits {
                let fault = Fault::new("", format!("arrivals.{name}")).got(format!("{column:?}"));
                return Err(fault.expected(format!("{what}, one for each of windows_us")));
            }
        }
        Ok(())
    }

    /// Returns the rows for a workload with this share of reads.
    pub(super) fn rows(&self, reads: f64) -> Vec<Row> {
        let of = |column: &Vec<f64>, place: usize, none| column.get(place).copied().unwrap_or(none);
        let row = |(place, window_us): (usize, &f64)| {
            let [read, write] = [&self.reads, &self.writes].map(|kind| of(kind, place, 1.0) - 1.0);
            let together = of(&self.together, place, 0.0);
            let row = Row { window_ns: window_us * 1e3, excess: [read, write], together };
            row.balanced(reads, of(&self.all, place, 0.0) - 1.0)
        };
        self.windows_us.iter().enumerate().map(row).collect()
    }
}

/// The arrivals in windows of one length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) window_ns: f64,
    /// How far the dispersions of reads and of writes exceed 1.
    pub(super) excess: [f64; 2],
    /// The correlation of their numbers.
    pub(super) together: f64,
}

impl Row {
    /// Changes the excesses so that they and that of all requests, `all`, are equally far from the
    /// excerpt's. A twin has not the excerpt's share of reads, so it cannot meet all three.
    fn balanced(self, reads: f64, all: f64) -> Row {
        let follows = self.of_all(reads);
        if all <= MIN_EXCESS || follows <= MIN_EXCESS {
            return self;
        }
        let change = (all / follows).sqrt().clamp(1.0 / MAX_CHANGE, MAX_CHANGE);
        Row { excess: self.excess.map(|excess| excess * change), ..self }
    }

    /// Returns how far the dispersion of all requests exceeds 1, at this share of reads.
    fn of_all(&self, reads: f64) -> f64 {
        let [read, write] = self.excess.map(|excess| excess.max(0.0));
        let both = (reads * (1.0 - reads) * (read + 1.0) * (write + 1.0)).sqrt();
        reads * read + (1.0 - reads) * write + 2.0 * self.together * both
    }
}

/// Returns the row of windows of this length.
///
/// Between two rows, the excess grows as a power of the length. In shorter windows, the power is
/// that between the first two rows; in longer ones, it is `growth`.
pub(super) fn row_at(rows: &[Row], growth: f64, window_ns: f64) -> Row {
    let last = rows.len() - 1;
    let above = rows.iter().position(|row| row.window_ns > window_ns).unwrap_or(last + 1);
    let scaled = |row: &Row, power: [f64; 2]| {
        let grown = |kind: usize| {
            let factor = math::pow(window_ns / row.window_ns, power[kind]);
            row.excess[kind].max(MIN_EXCESS) * factor
        };
        Row { window_ns, excess: [0, 1].map(grown), together: row.together }
    };
    let slope = |one: &Row, other: &Row| {
        let octaves = math::log2(other.window_ns / one.window_ns);
        [0, 1].map(|kind| {
            let [one, other] = [one, other].map(|row| row.excess[kind].max(MIN_EXCESS));
            math::log2(other / one) / octaves
        })
    };
    match above {
        0 if last == 0 => scaled(&rows[0], [0.0; 2]),
        0 => scaled(&rows[0], slope(&rows[0], &rows[1]).map(|slope| slope.clamp(0.0, 1.0))),
        above if above > last => scaled(&rows[last], [growth; 2]),
        above => {
            let [one, other] = [&rows[above - 1], &rows[above]];
            let part =
                math::log2(window_ns / one.window_ns) / math::log2(other.window_ns / one.window_ns);
            let together = one.together + part * (other.together - one.together);
            Row { together, ..scaled(one, slope(one, other)) }
        }
    }
}

/// Returns the dispersion in a column at a window, or at the nearest window that has one; 1 if
/// there is none.
fn at(windows: &[f64], column: &[f64], window: f64) -> f64 {
    let upto = windows.iter().take_while(|own| **own <= window).count();
    let place = upto.saturating_sub(1).min(column.len().saturating_sub(1));
    column.get(place).copied().unwrap_or(1.0)
}
