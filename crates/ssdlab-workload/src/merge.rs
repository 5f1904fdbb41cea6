//! Several sources as one: applications that share a drive.

use std::collections::BTreeMap;

use ssdlab_base::{Fault, Nanos, units::SECTOR_BYTES};

use crate::formats::device::twin_in;
use crate::record::{Op, Record, Source};

/// An application: requests, and where and when they are put.
pub struct App {
    /// Its name, which [`Source::device`] tells of its requests.
    pub name: String,
    /// Its requests.
    pub source: Box<dyn Source>,
    /// Where and when they are put.
    pub placing: Placing,
}

/// Where and when the requests of an application are put.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placing {
    /// The submission queue of all its requests; absent for what they say themselves.
    pub queue: Option<u8>,
    /// Factor on the times between its requests.
    pub scale: f64,
    /// When its first request comes.
    pub start: Nanos,
    /// Sectors that its addresses are moved by.
    pub shift: i64,
}

impl Placing {
    /// As the requests say themselves.
    pub const AS_IS: Placing = Placing { queue: None, scale: 1.0, start: Nanos::ZERO, shift: 0 };

    fn time(&self, at: Nanos) -> u64 {
        let ns = if self.scale == 1.0 {
            at.as_ns()
        } else {
            (at.as_ns() as f64 * self.scale).round() as u64
        };
        ns.saturating_add(self.start.as_ns())
    }

    /// The address of a request, if it is one that a drive can have.
    fn address(&self, record: &Record) -> Option<u64> {
        let lba = record.lba.checked_add_signed(self.shift)?;
        (lba.checked_add(u64::from(record.sectors))? <= MOST_SECTORS).then_some(lba)
    }
}

/// Sectors whose byte addresses fit 64 bits.
const MOST_SECTORS: u64 = 1 << 55;
/// Requests read of an application at a time.
const BATCH: usize = 4096;

/// Applications merged by the times of their requests; of equal times the application listed first
/// comes first. A fault of one of them ends all.
pub struct Merge {
    name: String,
    lanes: Vec<Lane>,
    first: Option<Nanos>,
    fault: Option<Fault>,
    /// The lane of each record of the last batch, and its place in the lane's batch.
    origins: Vec<(usize, usize)>,
}

struct Lane {
    app: App,
    batch: Vec<Record>,
    next: usize,
    ended: bool,
    /// What requests of its devices that are twins are of.
    twins: BTreeMap<String, String>,
    /// What is wrong behind the records held.
    fault: Option<Fault>,
}

impl Lane {
    /// Reads on if nothing is held.
    fn refill(&mut self) -> Result<(), Fault> {
        if self.next < self.batch.len() || self.ended {
            return Ok(());
        }
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.batch.clear();
        self.next = 0;
        self.ended = self.app.source.fill(&mut self.batch, BATCH)? == 0;
        (0..self.batch.len()).for_each(|index| self.names(index));
        let app = &self.app;
        for (index, record) in self.batch.iter_mut().enumerate() {
            record.at = Nanos::from_ns(app.placing.time(record.at));
            record.queue = app.placing.queue.unwrap_or(record.queue);
            if record.op == Op::Flush {
                continue;
            }
            let Some(lba) = app.placing.address(record) else {
                let fault = app.source.fault(index, "an address that cannot be moved");
                let got = format!("sector {} moved by {}", record.lba, app.placing.shift);
                self.fault = Some(fault.got(got).expected("a sector from 0 to 2^55"));
                self.batch.truncate(index);
                break;
            };
            record.lba = lba;
        }
        match &self.fault {
            Some(fault) if self.batch.is_empty() => Err(fault.clone()),
            _ => Ok(()),
        }
    }

    /// What a request of this device of the application is of: a twin is named.
    fn names(&mut self, index: usize) {
        let Some(device) = self.app.source.device(index) else { return };
        if let Some(twin) = twin_in(device)
            && !self.twins.contains_key(device)
        {
            self.twins.insert(device.to_owned(), format!("{} ({twin})", self.app.name));
        }
    }

    fn due(&self) -> Option<Nanos> {
        self.batch.get(self.next).map(|record| record.at)
    }
}

impl Merge {
    /// Merges applications.
    pub fn new(apps: Vec<App>) -> Merge {
        let names: Vec<&str> = apps.iter().map(|app| app.name.as_str()).collect();
        let name = names.join(" + ");
        let lane = |app| Lane {
            app,
            batch: Vec::with_capacity(BATCH),
            next: 0,
            ended: false,
            twins: BTreeMap::new(),
            fault: None,
        };
        let lanes = apps.into_iter().map(lane).collect();
        Merge { name, lanes, first: None, fault: None, origins: Vec::new() }
    }
}

impl Source for Merge {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        self.origins.clear();
        if self.fault.is_none() {
            self.fault = self.lanes.iter_mut().find_map(|lane| lane.refill().err());
        }
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        while self.origins.len() < most {
            let due =
                self.lanes.iter().enumerate().filter_map(|(lane, of)| Some((of.due()?, lane)));
            let Some((at, lane)) = due.min() else { break };
            let first = *self.first.get_or_insert(at);
            let of = &mut self.lanes[lane];
            batch.push(Record { at: at - first, ..of.batch[of.next] });
            self.origins.push((lane, of.next));
            of.next += 1;
            // What comes next may be of this application: it is read on first, by the next call,
            // so that the lines and devices of this batch stay known.
            if of.next == of.batch.len() {
                break;
            }
        }
        Ok(self.origins.len())
    }

    fn expected(&self) -> Option<u64> {
        self.lanes.iter().map(|lane| lane.app.source.expected()).sum()
    }

    fn progress(&self) -> Option<f64> {
        let shares: Option<Vec<f64>> =
            self.lanes.iter().map(|lane| lane.app.source.progress()).collect();
        shares.filter(|shares| !shares.is_empty()).map(|s| s.iter().sum::<f64>() / s.len() as f64)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn line(&self, index: usize) -> Option<u64> {
        let (lane, index) = *self.origins.get(index)?;
        self.lanes[lane].app.source.line(index)
    }

    fn device(&self, index: usize) -> Option<&str> {
        let (lane, index) = *self.origins.get(index)?;
        let Lane { app, twins, .. } = &self.lanes[lane];
        let twin = app.source.device(index).and_then(|device| twins.get(device));
        Some(twin.unwrap_or(&app.name))
    }

    fn members(&self) -> Vec<&dyn Source> {
        self.lanes.iter().map(|lane| lane.app.source.as_ref()).collect()
    }

    fn fault(&self, index: usize, what: &str) -> Fault {
        match self.origins.get(index) {
            Some((lane, index)) => self.lanes[*lane].app.source.fault(*index, what),
            None => Fault::new(&self.name, what),
        }
    }
}

/// The addresses that requests lie between, in sectors.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reach {
    /// The first sector.
    pub first: u64,
    /// One more than the last; 0 if there is none.
    pub end: u64,
}

impl Reach {
    /// Stretches to hold these requests, too.
    pub fn take(&mut self, records: &[Record]) {
        for record in records.iter().filter(|record| record.op != Op::Flush) {
            self.first = if self.end == 0 { record.lba } else { self.first.min(record.lba) };
            self.end = self.end.max(record.lba + u64::from(record.sectors));
        }
    }
}

/// Where the addresses of an application are put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offset {
    /// Behind those of the applications before it, from its first address on; moved by whole
    /// mebibytes, so that what was aligned stays aligned.
    Behind,
    /// Moved up by so many sectors.
    By(u64),
}

/// The sectors by which the addresses of each application are moved.
pub fn lay_out(apps: &[(Reach, Offset)]) -> Vec<i64> {
    const MEBI: u64 = (1 << 20) / SECTOR_BYTES;
    let mut used = 0u64;
    let place = |(reach, offset): &(Reach, Offset)| {
        let shift = match offset {
            Offset::By(sectors) => *sectors as i64,
            Offset::Behind => used as i64 - (reach.first / MEBI * MEBI) as i64,
        };
        let end = reach.end.saturating_add_signed(shift);
        used = used.max(end.next_multiple_of(MEBI));
        shift
    };
    apps.iter().map(place).collect()
}
