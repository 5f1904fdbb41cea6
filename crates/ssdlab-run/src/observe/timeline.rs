//! The timeline of a drive's parts, in the format that the Perfetto viewer and Chrome open.

use std::io::{BufWriter, Write};

use serde_json::{Value, json};
use ssdlab_base::Fault;
use ssdlab_core::Drive;
use ssdlab_core::account::Cause;
use ssdlab_core::flash::Span;

use crate::files::NewFile;

/// Writes what the drive recorded; times count from `began`.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(
    to: NewFile,
    drive: &Drive,
    began: u64,
    about: &[(&str, String)],
) -> Result<(), Fault> {
    let written = || -> std::io::Result<()> {
        let mut out = BufWriter::new(to.file());
        let about: Value = about.iter().map(|(key, value)| (*key, json!(value))).collect();
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[")?;
        let parts = parts(drive);
        let mut separator = "\n";
        for event in names(&parts) {
            write!(out, "{separator}{event}")?;
            separator = ",\n";
        }
        for span in drive.flash().timeline(drive.now().as_ns()) {
            write!(out, "{separator}{}", event(&span, &parts[span.part as usize], began))?;
            separator = ",\n";
        }
        writeln!(out, "\n]}}")?;
        out.flush()
    };
    written().map_err(|error| to.unwritable(error))?;
    to.persist()
}

/// A part of the back end: its channel, its track in that, its name.
struct Part {
    channel: u16,
    track: u32,
    name: String,
}

/// Every part in the order of their numbers: array units, buses, engines.
fn parts(drive: &Drive) -> Vec<Part> {
    let geometry = drive.resolved().geometry();
    let mut of_channel = vec![0; geometry.channels as usize];
    let units = drive.flash().planes_of_units().map(|(first, planes, channel)| {
        let nth = &mut of_channel[channel as usize];
        *nth += 1;
        let die = geometry.die_of(first).0;
        let name = match planes {
            1 => format!("die {die}, plane {}", first.0),
            _ if planes == geometry.planes => format!("die {die}"),
            _ => format!("chip {}", die / geometry.dies),
        };
        Part { channel, track: *nth + 1, name }
    });
    let mut parts: Vec<Part> = units.collect();
    let channels = || 0..geometry.channels as u16;
    parts.extend(channels().map(|channel| Part { channel, track: 0, name: "bus".into() }));
    parts.extend(channels().map(|channel| Part { channel, track: 1, name: "ECC engine".into() }));
    parts
}

/// What tells the viewer the names and the order of channels and parts.
fn names(parts: &[Part]) -> impl Iterator<Item = Value> + '_ {
    parts.iter().flat_map(|part| {
        let Part { channel, track, name } = part;
        [
            json!({"ph": "M", "name": "process_name", "pid": channel,
                   "args": {"name": format!("channel {channel}")}}),
            json!({"ph": "M", "name": "thread_name", "pid": channel, "tid": track,
                   "args": {"name": name}}),
            json!({"ph": "M", "name": "thread_sort_index", "pid": channel, "tid": track,
                   "args": {"sort_index": track}}),
        ]
    })
}

fn event(span: &Span, part: &Part, began: u64) -> Value {
    let micros = |ns: u64| ns as f64 / 1e3;
    json!({
        "ph": "X",
        "name": span.act.name(),
        "cat": Cause::NAMES[span.cause as usize],
        "pid": part.channel,
        "tid": part.track,
        "ts": micros(span.start - began),
        "dur": micros(span.end - span.start),
        "args": {"cause": Cause::NAMES[span.cause as usize], "lpn": span.lpn},
    })
}
