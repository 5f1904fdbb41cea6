//! Merges several sources into one: applications that share a drive.

use std::collections::BTreeMap;

use ssdlab_base::{Fault, Nanos, units::SECTOR_BYTES};

use crate::formats::device::twin_in;
use crate::record::{Described, Op, Record, Source};

/// An application: its requests, and their placing in addresses and time.
pub struct App {
    /// The application's name, which [`Source::device`] returns for its requests.
    pub name: String,
    /// Its requests.
    pub source: Box<dyn Source>,
    /// Where and when the requests go.
    pub placing: Placing,
}

/// The queue, the times and the addresses for the requests of an application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Placing {
    /// The submission queue of all its requests; `None` keeps the queue of each request.
    pub queue: Option<u8>,
    /// The factor on the times between its requests.
    pub scale: f64,
    /// The time of its first request.
    pub start: Nanos,
    /// The sectors by which its addresses are moved.
    pub shift: i64,
}

impl Placing {
    /// Leaves the requests unchanged.
    pub const AS_IS: Placing = Placing { queue: None, scale: 1.0, start: Nanos::ZERO, shift: 0 };

    fn time(&self, at: Nanos) -> Nanos {
        let ns = if self.scale == 1.0 {
            at.as_ns()
        } else {
            (at.as_ns() as f64 * self.scale).round() as u64
        };
        Nanos::from_ns(ns.saturating_add(self.start.as_ns()))
    }

    /// Returns the moved address of a request, or `None` if no drive can have it.
    fn address(&self, record: &Record) -> Option<u64> {
        let lba = record.lba.checked_add_signed(self.shift)?;
        (lba.checked_add(u64::from(record.sectors))? <= MAX_SECTORS).then_some(lba)
    }
}

/// The number of sectors whose byte addresses fit in 64 bits.
const MAX_SECTORS: u64 = 1 << 55;
/// Requests read from an application at a time.
const BATCH: usize = 4096;

/// Applications merged by the times of their requests. At equal times, the application listed first
/// comes first. A fault of one application ends the whole merge.
pub struct Merge {
    name: String,
    inputs: Vec<Input>,
    first: Option<Nanos>,
    fault: Option<Fault>,
    /// The input of each record of the last batch, and its index in the input's batch.
    origins: Vec<(usize, usize)>,
}

struct Input {
    app: App,
    batch: Vec<Record>,
    next: usize,
    ended: bool,
    /// The merged names of the application's devices that are twins.
    twins: BTreeMap<String, String>,
    /// The fault behind the buffered records.
    fault: Option<Fault>,
}

impl Input {
    /// Reads the next batch if the buffer is empty.
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
            record.at = app.placing.time(record.at);
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

    /// Stores the merged name of a request's device, if the device is a twin.
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
    /// Returns the merge of these applications.
    pub fn new(apps: Vec<App>) -> Merge {
        let names: Vec<&str> = apps.iter().map(|app| app.name.as_str()).collect();
        let name = names.join(" + ");
        let input = |app| Input {
            app,
            batch: Vec::with_capacity(BATCH),
            next: 0,
            ended: false,
            twins: BTreeMap::new(),
            fault: None,
        };
        let inputs = apps.into_iter().map(input).collect();
        Merge { name, inputs, first: None, fault: None, origins: Vec::new() }
    }
}

impl Described for Merge {
    fn name(&self) -> &str {
        &self.name
    }

    fn members(&self) -> Vec<&dyn Source> {
        self.inputs.iter().map(|input| input.app.source.as_ref()).collect()
    }
}

impl Source for Merge {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        self.origins.clear();
        if self.fault.is_none() {
            self.fault = self.inputs.iter_mut().find_map(|input| input.refill().err());
        }
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        while self.origins.len() < most {
            let due =
                self.inputs.iter().enumerate().filter_map(|(input, of)| Some((of.due()?, input)));
            let Some((at, input)) = due.min() else { break };
            let first = *self.first.get_or_insert(at);
            let of = &mut self.inputs[input];
            batch.push(Record { at: at - first, ..of.batch[of.next] });
            self.origins.push((input, of.next));
            of.next += 1;
            // The next request may belong to this application. The next call reads it first, so
            // that the lines and devices of this batch stay known.
            if of.next == of.batch.len() {
                break;
            }
        }
        Ok(self.origins.len())
    }

    fn expected(&self) -> Option<u64> {
        self.inputs.iter().map(|input| input.app.source.expected()).sum()
    }

    fn progress(&self) -> Option<f64> {
        let shares: Option<Vec<f64>> =
            self.inputs.iter().map(|input| input.app.source.progress()).collect();
        shares.filter(|shares| !shares.is_empty()).map(|s| s.iter().sum::<f64>() / s.len() as f64)
    }

    fn line(&self, index: usize) -> Option<u64> {
        let (input, index) = *self.origins.get(index)?;
        self.inputs[input].app.source.line(index)
    }

    fn device(&self, index: usize) -> Option<&str> {
        let (input, index) = *self.origins.get(index)?;
        let Input { app, twins, .. } = &self.inputs[input];
        let twin = app.source.device(index).and_then(|device| twins.get(device));
        Some(twin.unwrap_or(&app.name))
    }

    fn fault(&self, index: usize, what: &str) -> Fault {
        match self.origins.get(index) {
            Some((input, index)) => self.inputs[*input].app.source.fault(*index, what),
            None => Fault::new(&self.name, what),
        }
    }
}

/// The range of addresses of requests, in sectors.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reach {
    /// The first sector.
    pub first: u64,
    /// One more than the last sector; 0 if there is none.
    pub end: u64,
}

impl Reach {
    /// Extends the range to cover these requests.
    pub fn take(&mut self, records: &[Record]) {
        for record in records.iter().filter(|record| record.op != Op::Flush) {
            self.first = if self.end == 0 { record.lba } else { self.first.min(record.lba) };
            self.end = self.end.max(record.lba + u64::from(record.sectors));
        }
    }
}

/// Where to put the addresses of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offset {
    /// Behind the applications before it, beginning with its own first address. The shift is a
    /// whole number of mebibytes, so alignment is kept.
    Behind,
    /// Moved up by this many sectors.
    By(u64),
}

/// Returns the shift of each application's addresses, in sectors.
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
