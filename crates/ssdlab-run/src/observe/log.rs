//! The request log: one row for every request.

use ssdlab_base::SimTime;
use ssdlab_core::account::Part;
use ssdlab_core::stats::Ended;

use super::table::{Cell, Kind};

/// Returns the columns: the request, its arrival, end and latency, and the parts of its latency.
pub(super) fn columns() -> Vec<(String, Kind)> {
    let whole = |name: &str| (name.to_owned(), Kind::Whole);
    let names = ["number", "arrival_ns", "end_ns", "latency_ns", "queue", "lba", "sectors"];
    let mut columns: Vec<_> = names.into_iter().map(whole).collect();
    columns.insert(4, ("op".to_owned(), Kind::Text));
    columns.extend(Part::NAMES.iter().map(|part| (format!("{part}_ns"), Kind::Whole)));
    columns
}

/// Returns the row of one request. Times count from the beginning of the run.
pub(super) fn row(ended: &Ended, began: SimTime) -> impl Iterator<Item = Cell> {
    let request = &ended.request;
    let since_began = |time: SimTime| Cell::Whole((time - began).as_ns() as i64);
    let head = [
        Cell::Whole(request.tag as i64),
        since_began(request.arrival),
        since_began(ended.end),
        Cell::Whole((ended.end - request.arrival).as_ns() as i64),
        Cell::Text(request.op.name()),
        Cell::Whole(request.queue.into()),
        Cell::Whole(request.lba as i64),
        Cell::Whole(request.sectors.into()),
    ];
    head.into_iter().chain(ended.blame.map(|ns| Cell::Whole(ns as i64)))
}
