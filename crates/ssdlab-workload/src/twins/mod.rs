//! Twins: seeded synthetic workloads that replace traces which cannot be shipped.
//!
//! A twin meets the published statistics of a trace by construction. These are its *targets*, each
//! with its source: the counts of reads and writes, their mean sizes, the number of pages, and the
//! span. Its *shape* decides the other properties of arrivals and addresses. A shape is fitted on
//! an excerpt of the real trace if there is one, and assumed otherwise. A twin never carries the
//! name of its trace: its title is "twin of hm_0 (DLV)".
//!
//! A new twin is an entry in a `.toml` file beside this one. A reading order:
//! - `dlv.toml`: the entries,
//! - `catalog.rs`: the reader of the entries,
//! - `figures.rs`: the statistics that follow from them,
//! - `layout.rs`: the division of a footprint,
//! - `direction.rs`: the addresses of requests,
//! - `arrivals.rs`: the dispersions of requests over time, which `meter.rs` measures,
//! - `clock.rs`: the arrival times,
//! - `generator.rs`: the complete generator,
//! - `hits.rs`: hit ratios of caches, published and achieved,
//! - `locality.rs`: the part of a shape that these decide.
//!
//! `docs/concepts/twins.md` has the targets, the achieved values and the fits.

pub mod arrivals;
mod catalog;
mod clock;
mod compare;
mod direction;
pub mod figures;
pub mod fit;
mod generator;
pub mod hits;
mod layout;
pub mod locality;
pub mod meter;
pub mod quantiles;
pub mod shape;
mod sweep;
mod tilt;

use ssdlab_base::quantity::Share;
use ssdlab_base::{Fault, units::SECTOR_BYTES};

use crate::draw::Draw;
use crate::generate::hints::Hints;
use crate::record::{Described, Record, Source};
pub use catalog::{arrivals, catalog, find, layer_over, parse};
pub use compare::Compared;
use figures::{Figures, Targets};
use generator::Requests;
use shape::{Overlap, Shape, check_theta};

/// The largest factor on the bursts of a twin.
const MAX_BURSTINESS: f64 = 100.0;

/// A synthetic workload that replaces a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// The full name: the family's and its own, `dlv/hm0`.
    pub name: String,
    /// The family of the twin, whose list of workloads contains it.
    pub family: String,
    /// The title in results: "twin of hm_0 (DLV)".
    pub title: String,
    parts: Parts,
}

/// A single twin, or a mix of several.
#[derive(Clone, Debug, PartialEq)]
enum Parts {
    Alone(Box<Alone>),
    Mix(Vec<Twin>),
}

/// A twin that is not a mix.
#[derive(Clone, Debug, PartialEq)]
struct Alone {
    targets: Targets,
    figures: Figures,
    shape_name: String,
    shape: Shape,
}

impl Twin {
    /// Returns a twin with these targets and this shape, which is in no catalog.
    ///
    /// # Errors
    /// Fails if targets and shape contradict each other, or if something is missing.
    pub fn new(name: &str, targets: Targets, shape: Shape) -> Result<Twin, Fault> {
        shape.check()?;
        let figures = Figures::new(&targets, &shape)?;
        let shape_name = "its own".to_owned();
        let parts = Parts::Alone(Box::new(Alone { targets, figures, shape_name, shape }));
        let title = format!("twin of {name}");
        let twin = Twin { name: name.to_owned(), family: String::new(), title, parts };
        twin.source(0)?;
        Ok(twin)
    }

    /// Returns the twins of a mix, one per queue; empty if this is not a mix.
    pub fn members(&self) -> &[Twin] {
        match &self.parts {
            Parts::Alone(_) => &[],
            Parts::Mix(members) => members,
        }
    }

    /// Returns the targets of the twin, or `None` for a mix, whose members have their own.
    pub fn targets(&self) -> Option<&Targets> {
        match &self.parts {
            Parts::Alone(alone) => Some(&alone.targets),
            Parts::Mix(_) => None,
        }
    }

    /// Returns the complete statistics of the twin, or for a mix those of all members together.
    pub fn figures(&self) -> Figures {
        match &self.parts {
            Parts::Alone(alone) => alone.figures,
            Parts::Mix(members) => Figures::together(members.iter().map(Twin::figures)),
        }
    }

    /// Returns the name of the shape and the shape, or `None` for a mix.
    pub fn shape(&self) -> Option<(&str, &Shape)> {
        match &self.parts {
            Parts::Alone(alone) => Some((&alone.shape_name, &alone.shape)),
            Parts::Mix(_) => None,
        }
    }

    /// Returns the total number of requests.
    pub fn requests(&self) -> u64 {
        match &self.parts {
            Parts::Alone(alone) => alone.figures.requests,
            Parts::Mix(members) => members.iter().map(Twin::requests).sum(),
        }
    }

    /// Returns the number of sectors in its address range, from 0 up.
    pub fn sectors(&self) -> u64 {
        match &self.parts {
            Parts::Alone(alone) => Requests::sectors(&alone.figures, &alone.shape),
            Parts::Mix(members) => members.iter().map(Twin::sectors).sum(),
        }
    }

    /// Returns its footprint in bytes.
    pub fn bytes(&self) -> u64 {
        self.sectors() * SECTOR_BYTES
    }

    /// Returns the same workload, in which writes cover this share of the read pages. The footprint
    /// and the moved bytes limit the share.
    pub fn overlapping(&self, overlap: Share) -> Twin {
        self.changed(&|alone| {
            alone.shape.overlap = Overlap { written: overlap, read: overlap };
            alone.shape.write.reach = None;
            alone.figures.write_set = None;
        })
    }

    /// Returns the same workload, whose reads choose among hot places by Zipf's law with this
    /// exponent.
    ///
    /// # Errors
    /// Fails if the exponent is not from 0 to 10.
    pub fn reading_by(&self, theta: f64) -> Result<Twin, Fault> {
        check_theta(theta)
            .map_err(|fault| Fault { what: "workload.read_theta".into(), ..fault })?;
        Ok(self.changed(&|alone| alone.shape.read.theta = theta))
    }

    /// Returns the same workload with `factor` times the excess of its dispersions over 1.
    ///
    /// # Errors
    /// Fails if the factor is not from 0 to 100.
    pub fn bursting(&self, factor: f64) -> Result<Twin, Fault> {
        if !(0.0..=MAX_BURSTINESS).contains(&factor) {
            let fault = Fault::new("", "workload.burstiness").got(factor);
            return Err(fault.expected(format!("a number from 0 to {MAX_BURSTINESS}")));
        }
        Ok(self.changed(&|alone| alone.shape.arrivals = alone.shape.arrivals.scaled(factor)))
    }

    /// Returns the same workload, with each write of up to 8 KiB within a page of 8 KiB, or not.
    pub fn small_in_page(&self, within: bool) -> Twin {
        self.changed(&|alone| alone.shape.small_in_page = within)
    }

    fn changed(&self, change: &impl Fn(&mut Alone)) -> Twin {
        let parts = match &self.parts {
            Parts::Alone(alone) => {
                let mut alone = alone.clone();
                change(&mut alone);
                Parts::Alone(alone)
            }
            Parts::Mix(members) => {
                Parts::Mix(members.iter().map(|twin| twin.changed(change)).collect())
            }
        };
        Twin { parts, ..self.clone() }
    }

    /// Returns the same workload with `requests` requests: span, footprint and read set in
    /// proportion. It ends like the whole workload, whereas the first requests of the whole are
    /// only its beginning.
    pub fn scaled(&self, requests: u64) -> Twin {
        let part = requests as f64 / self.requests() as f64;
        let parts = match &self.parts {
            Parts::Alone(alone) => {
                let figures = alone.figures.scaled(requests);
                Parts::Alone(Box::new(Alone { figures, ..(**alone).clone() }))
            }
            Parts::Mix(members) => {
                // Rounds the cumulative sums, so that the members have `requests` requests
                // together.
                let (mut whole, mut shared) = (0, 0);
                let share = |twin: &Twin| {
                    whole += twin.requests();
                    let upto = (whole as f64 * part).round() as u64;
                    twin.scaled(upto - std::mem::replace(&mut shared, upto))
                };
                Parts::Mix(members.iter().map(share).collect())
            }
        };
        Twin { parts, ..self.clone() }
    }

    /// Returns its requests. Equal draws give equal requests on every machine. A seed alone is its
    /// draw 0.
    ///
    /// # Errors
    /// Fails if its statistics contradict each other, which no twin of the catalog does.
    pub fn source(&self, draw: impl Into<Draw>) -> Result<TwinSource, Fault> {
        let draw = draw.into();
        let mut streams = Vec::new();
        let mut first = 0;
        let members =
            if self.members().is_empty() { std::slice::from_ref(self) } else { self.members() };
        for (queue, member) in members.iter().enumerate() {
            let Parts::Alone(alone) = &member.parts else {
                return Err(Fault::new("", "a mix").got("a mix in a mix"));
            };
            let mut requests = Requests::new(&alone.figures, &alone.shape, &member.name, draw)?;
            (requests.first, requests.queue) = (first, queue as u8);
            first += member.sectors();
            streams.push(Merged { head: None, rest: requests });
        }
        let title = self.title.clone();
        Ok(TwinSource { title, requests: self.requests(), done: 0, streams, hints: None })
    }
}

/// The requests of a twin.
pub struct TwinSource {
    title: String,
    requests: u64,
    done: u64,
    streams: Vec<Merged>,
    hints: Option<Hints>,
}

/// One twin of a mix, with its next request.
struct Merged {
    head: Option<Record>,
    rest: Requests,
}

impl TwinSource {
    /// Returns the same requests with latency hints, drawn from `hints`.
    ///
    /// # Errors
    /// Fails if `hints` is not a valid list of hints.
    pub fn with_hints(self, hints: &[u8], draw: impl Into<Draw>) -> Result<TwinSource, Fault> {
        let hints = Some(Hints::new(hints, &format!("twin/{}", self.title), draw.into())?);
        Ok(TwinSource { hints, ..self })
    }

    /// Returns the next request of a mix: the earliest one, or at equal times that of the first
    /// queue.
    fn earliest(&mut self) -> Option<Record> {
        for stream in &mut self.streams {
            if stream.head.is_none() && stream.rest.left() > 0 {
                stream.head = Some(stream.rest.next());
            }
        }
        let heads = self.streams.iter_mut().filter(|stream| stream.head.is_some());
        heads.min_by_key(|stream| stream.head.map(|record| record.at))?.head.take()
    }
}

impl Described for TwinSource {
    fn name(&self) -> &str {
        &self.title
    }
}

impl Source for TwinSource {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        let left = self.requests - self.done;
        let count = usize::try_from(left).map_or(most, |left| left.min(most));
        let first = batch.len();
        match &mut self.streams[..] {
            [only] => batch.extend((0..count).map(|_| only.rest.next())),
            _ => batch.extend((0..count).map_while(|_| self.earliest())),
        }
        if let Some(hints) = &mut self.hints {
            batch[first..].iter_mut().for_each(|record| record.hint = hints.draw());
        }
        self.done += count as u64;
        Ok(count)
    }

    fn expected(&self) -> Option<u64> {
        Some(self.requests)
    }

    fn progress(&self) -> Option<f64> {
        Some(self.done as f64 / self.requests as f64)
    }

    fn line(&self, _: usize) -> Option<u64> {
        None
    }
}
