//! Parses a column mapping of a table: `time:0:us,op:2,offset:3:sectors,size:4:sectors`.

use ssdlab_base::{Fault, Nanos};

use super::columns::Clock;
use crate::record::Op;

/// The config key of a mapping, for messages.
pub(crate) const KEY: &str = "workload.trace.columns";
const FORM: &str = "COLUMN:PLACE[:UNIT],... such as time:0:us,op:2,offset:3,size:4";
const PARTS: [&str; 7] = ["time", "op", "offset", "size", "device", "queue", "hint"];

/// The place of a column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// The index, counted from 0.
    Index(usize),
    /// The name in the header.
    Name(String),
}

/// The unit of an offset or a size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Bytes,
    Sectors,
}

impl Unit {
    /// Returns the bytes in one unit.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Unit::Bytes => 1,
            Unit::Sectors => super::extent::SECTOR,
        }
    }
}

/// How a file spells the operations, if it does not use the common words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Spelling {
    read: String,
    write: String,
}

impl Spelling {
    /// Returns the operation that this text spells, if any.
    pub(crate) fn op(&self, text: &[u8]) -> Option<Op> {
        let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
        match () {
            () if is(&self.read) => Some(Op::Read),
            () if is(&self.write) => Some(Op::Write),
            () => None,
        }
    }

    /// Returns the accepted spellings, for messages.
    pub(crate) fn expected(&self) -> String {
        format!("{} (read) or {} (write)", self.read, self.write)
    }
}

/// The mapping of a table's columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mapping {
    pub(crate) time: Place,
    /// How long a unit of time lasts, if the mapping says so.
    pub(crate) tick: Option<Nanos>,
    pub(crate) op: Place,
    pub(crate) spelling: Option<Spelling>,
    pub(crate) offset: Place,
    pub(crate) offset_unit: Unit,
    pub(crate) size: Place,
    pub(crate) size_unit: Unit,
    pub(crate) device: Option<Place>,
    pub(crate) queue: Option<Place>,
    pub(crate) hint: Option<Place>,
}

impl Mapping {
    /// Parses a mapping as the user writes it.
    ///
    /// # Errors
    /// Fails if the form is wrong, or if a column is missing or named twice.
    pub(crate) fn parse(text: &str) -> Result<Mapping, Fault> {
        let mut parts: [Option<(Place, Option<&str>)>; PARTS.len()] = [const { None }; PARTS.len()];
        for item in text.split(',') {
            let (part, place, unit) = split(item)?;
            let Some(index) = PARTS.iter().position(|name| *name == part) else {
                let expected = format!("one of {}", PARTS.join(", "));
                return Err(fault(part).expected(expected).suggest(part, PARTS));
            };
            if parts[index].replace((place, unit)).is_some() {
                return Err(fault(item).expected(format!("{part} once")));
            }
        }
        let [time, op, offset, size, device, queue, hint] = parts;
        let missing = |name: &str| {
            fault(text).expected(format!("also {name}")).hint(format!("the form is {FORM}"))
        };
        let (time, time_unit) = time.ok_or_else(|| missing("time"))?;
        let (op, op_unit) = op.ok_or_else(|| missing("op"))?;
        let (offset, offset_unit) = offset.ok_or_else(|| missing("offset"))?;
        let (size, size_unit) = size.ok_or_else(|| missing("size"))?;
        let unitless = |part: Option<(Place, Option<&str>)>, name: &str| match part {
            Some((_, Some(unit))) => Err(fault(unit).expected(format!("no unit of the {name}"))),
            part => Ok(part.map(|(place, _)| place)),
        };
        Ok(Mapping {
            tick: time_unit.map(tick).transpose()?,
            spelling: op_unit.map(spelling).transpose()?,
            offset_unit: length_unit(offset_unit)?,
            size_unit: length_unit(size_unit)?,
            device: unitless(device, "device")?,
            queue: unitless(queue, "queue")?,
            hint: unitless(hint, "hint")?,
            time,
            op,
            offset,
            size,
        })
    }

    /// Returns how to read time stamps: in the unit of the option `tick`, of the mapping, or else
    /// of `clock`.
    pub(crate) fn clock(&self, clock: Clock) -> Clock {
        let tick = self.tick.map_or(clock.tick, Nanos::as_ns);
        if clock.is_set { clock } else { Clock { tick, is_set: self.tick.is_some(), ..clock } }
    }
}

fn fault(got: &str) -> Fault {
    Fault::new("", KEY).got(if got.is_empty() { "nothing" } else { got })
}

/// Splits an item into the column, its place and its unit.
fn split(item: &str) -> Result<(&str, Place, Option<&str>), Fault> {
    let mut pieces = item.trim().splitn(3, ':').map(str::trim);
    let part = pieces.next().unwrap_or_default();
    let place = match pieces.next() {
        None | Some("") => return Err(fault(item.trim()).expected(FORM)),
        Some(place) => match place.parse() {
            Ok(index) => Place::Index(index),
            Err(_) => Place::Name(place.into()),
        },
    };
    Ok((part, place, pieces.next()))
}

fn tick(unit: &str) -> Result<Nanos, Fault> {
    const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", SECOND)];
    const SECOND: u64 = 1_000_000_000;
    let found = UNITS.iter().find(|(name, _)| *name == unit);
    found.map(|(_, ns)| Nanos::from_ns(*ns)).ok_or_else(|| {
        fault(unit).expected("ns, us, ms or s (workload.trace.tick takes any other)")
    })
}

fn length_unit(unit: Option<&str>) -> Result<Unit, Fault> {
    match unit {
        None | Some("bytes") => Ok(Unit::Bytes),
        Some("sectors") => Ok(Unit::Sectors),
        Some(other) => {
            let names = ["bytes", "sectors"];
            Err(fault(other).expected("bytes or sectors").suggest(other, names))
        }
    }
}

fn spelling(unit: &str) -> Result<Spelling, Fault> {
    match unit.split_once('/') {
        Some((read, write)) if !read.is_empty() && !write.is_empty() && read != write => {
            Ok(Spelling { read: read.into(), write: write.into() })
        }
        _ => Err(fault(unit).expected("how reads and writes are spelled, such as 0/1")),
    }
}
