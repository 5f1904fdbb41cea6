//! The figures that can end a run, by their names in a result.

use std::fmt;
use std::str::FromStr;

use ssdlab_core::{Completion, Op};

use super::Window;

/// The fewest requests of a window.
const MIN_REQUESTS: u64 = 256;
/// The requests of a window that lie beyond a percentile.
const BEYOND: f64 = 10.0;

/// A figure of a run, by its name in a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    name: String,
    pub(super) of: Of,
}

/// The source of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Of {
    /// Write amplification.
    Waf,
    /// The latency of requests of a kind, of one queue or of all: the mean, or a percentile.
    Latency { queue: Option<u8>, op: Option<Op>, quantile: Option<f64> },
}

/// The names of statistics of latencies, and their quantiles. The mean has none.
const STATISTICS: [(&str, Option<f64>); 5] = [
    ("mean", None),
    ("p50", Some(0.5)),
    ("p90", Some(0.9)),
    ("p99", Some(0.99)),
    ("p999", Some(0.999)),
];
/// The kinds of requests, as results name them.
const KINDS: [(&str, Option<Op>); 3] =
    [("all", None), ("read", Some(Op::Read)), ("write", Some(Op::Write))];
/// The queues with a name, if there are three.
const PRIORITIES: [&str; 3] = ["high", "mid", "low"];

impl Figure {
    /// Returns the names of all figures of a drive with this many queues.
    pub(super) fn names(queues: u8) -> Vec<String> {
        let mut names = vec!["waf".to_owned()];
        let whose = (0..queues).filter(|_| queues > 1).map(|queue| match PRIORITIES {
            _ if queues != 3 => format!("queues[{queue}]."),
            names => format!("priority.{}.", names[usize::from(queue)]),
        });
        for whose in std::iter::once(String::new()).chain(whose) {
            // A queue has figures of its reads and of its writes alone.
            let kinds = KINDS.iter().filter(|(_, op)| whose.is_empty() || op.is_some());
            for (kind, _) in kinds {
                let of = |(statistic, _)| format!("{whose}{kind}.latency_us.{statistic}");
                names.extend(STATISTICS.map(of));
            }
        }
        names
    }

    /// Returns whether a request belongs to the figure.
    pub(super) fn counts(&self, ended: &Completion) -> bool {
        let Of::Latency { queue, op, .. } = self.of else { return is_data(ended.op) };
        queue.is_none_or(|queue| queue == ended.queue)
            && op.map_or(is_data(ended.op), |op| op == ended.op)
    }

    /// Returns whether the figure has a value only if requests like this one are in the load. Write
    /// amplification counts all requests, but needs writes.
    pub(super) fn needs(&self, ended: &Completion) -> bool {
        self.counts(ended) && (self.of != Of::Waf || ended.op == Op::Write)
    }

    /// Returns the requests of the first windows.
    pub(super) fn first_window(&self) -> u64 {
        let Of::Latency { quantile: Some(quantile), .. } = self.of else { return MIN_REQUESTS };
        MIN_REQUESTS.max((BEYOND / (1.0 - quantile)).round() as u64)
    }

    /// Returns the figure of a window; `None` if it has none.
    pub(super) fn of_window(&self, window: &Window) -> Option<f64> {
        match self.of {
            Of::Waf => {
                let [host, all] = window.pages;
                (host > 0).then(|| all as f64 / host as f64)
            }
            Of::Latency { quantile: None, .. } => {
                Some(window.sum_ns as f64 / window.requests.max(1) as f64 / 1e3)
            }
            Of::Latency { quantile: Some(quantile), .. } => {
                Some(window.latencies.as_ref()?.value_at_quantile(quantile) as f64 / 1e3)
            }
        }
    }
}

fn is_data(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write)
}

impl FromStr for Figure {
    type Err = ();

    fn from_str(name: &str) -> Result<Figure, ()> {
        let figure = |of| Ok(Figure { name: name.to_owned(), of });
        if name == "waf" {
            return figure(Of::Waf);
        }
        let (queue, rest) = if let Some(rest) = name.strip_prefix("priority.") {
            let (priority, rest) = rest.split_once('.').ok_or(())?;
            let at = PRIORITIES.iter().position(|&known| known == priority).ok_or(())?;
            (Some(at as u8), rest)
        } else if let Some(rest) = name.strip_prefix("queues[") {
            let (queue, rest) = rest.split_once("].").ok_or(())?;
            (Some(queue.parse().map_err(|_| ())?), rest)
        } else {
            (None, name)
        };
        let (kind, statistic) = rest.split_once(".latency_us.").ok_or(())?;
        let (_, op) = KINDS.iter().find(|(known, _)| *known == kind).ok_or(())?;
        let (_, quantile) = STATISTICS.iter().find(|(known, _)| *known == statistic).ok_or(())?;
        figure(Of::Latency { queue, op: *op, quantile: *quantile })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
