//! The timeline of the drive's parts, in the format that Perfetto and Chrome open.
//!
//! The viewer shows a channel as a process and a part of the channel as a thread. Perfetto does not
//! distinguish thread 0 of a process from the thread with the process's own number. All numbers
//! therefore begin at 1, and no two are equal.

use std::io::{BufWriter, Write};

use serde_json::{Value, json};
use ssdlab_base::{Fault, SimTime};
use ssdlab_core::Drive;
use ssdlab_core::Span;
use ssdlab_core::account::Cause;

use crate::files::NewFile;

/// Writes the recorded spans. Times count from `began`.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(
    to: NewFile,
    drive: &Drive,
    began: SimTime,
    about: &[(&str, String)],
) -> Result<(), Fault> {
    let written = || -> std::io::Result<()> {
        let mut out = BufWriter::new(to.writer());
        let about: Value = about.iter().map(|(key, value)| (*key, json!(value))).collect();
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[")?;
        let parts = parts(drive);
        let mut separator = "\n";
        for event in names(&parts) {
            write!(out, "{separator}{event}")?;
            separator = ",\n";
        }
        for span in drive.flash().timeline.spans(drive.now()) {
            write!(out, "{separator}{}", event(&span, &parts[span.part as usize], began))?;
            separator = ",\n";
        }
        writeln!(out, "\n]}}")?;
        out.flush()
    };
    written().map_err(|error| to.unwritable(error))?;
    to.persist()
}

/// A part of the back end: its channel, its position in the channel, its name, and its number in
/// the viewer.
struct Part {
    channel: u16,
    track: u32,
    name: String,
    number: u32,
}

impl Part {
    /// Returns the number of its channel in the viewer.
    fn process(&self) -> u32 {
        u32::from(self.channel) + 1
    }
}

/// Returns every part in the order of the flash: array units, buses, ECC engines.
fn parts(drive: &Drive) -> Vec<Part> {
    let geometry = drive.resolved().geometry();
    let mut of_channel = vec![0; geometry.channels as usize];
    let units = drive.flash().units.layout().map(|(first, planes, channel)| {
        let nth = &mut of_channel[channel as usize];
        *nth += 1;
        let die = geometry.die_of(first).0;
        let name = match planes {
            1 => format!("die {die}, plane {}", first.0),
            _ if planes == geometry.planes => format!("die {die}"),
            _ => format!("chip {}", die / geometry.dies),
        };
        Part { channel, track: *nth + 1, name, number: 0 }
    });
    let mut parts: Vec<Part> = units.collect();
    for (track, name) in [(0, "bus"), (1, "ECC engine")] {
        let of = |channel| Part { channel, track, name: name.into(), number: 0 };
        parts.extend((0..geometry.channels as u16).map(of));
    }
    let mut in_order: Vec<&mut Part> = parts.iter_mut().collect();
    in_order.sort_unstable_by_key(|part| (part.channel, part.track));
    for (number, part) in (geometry.channels + 1..).zip(in_order) {
        part.number = number;
    }
    parts
}

/// Returns the events that define the names and the order of channels and parts for the viewer.
fn names(parts: &[Part]) -> impl Iterator<Item = Value> + '_ {
    parts.iter().flat_map(|part| {
        let (pid, tid) = (part.process(), part.number);
        [
            json!({"ph": "M", "name": "process_name", "pid": pid,
                   "args": {"name": format!("channel {}", part.channel)}}),
            json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid,
                   "args": {"name": part.name}}),
            json!({"ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid,
                   "args": {"sort_index": part.track}}),
        ]
    })
}

fn event(span: &Span, part: &Part, began: SimTime) -> Value {
    json!({
        "ph": "X",
        "name": span.act.name(),
        "cat": Cause::NAMES[span.cause as usize],
        "pid": part.process(),
        "tid": part.number,
        "ts": (span.start - began).as_us(),
        "dur": (span.end - span.start).as_us(),
        "args": {"cause": Cause::NAMES[span.cause as usize], "lpn": span.lpn},
    })
}
