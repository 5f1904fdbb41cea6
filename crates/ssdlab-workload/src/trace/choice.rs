//! How a trace is read: what the user says, and the reader that follows from it.

use crate::formats::columns::Clock;
use crate::formats::mapping::Mapping;
use crate::formats::options::TraceOptions;
use crate::formats::{Format, Reader, Setup};

/// What the user says of how a trace is read.
pub(crate) struct Choice<'a> {
    pub(crate) options: &'a TraceOptions,
    pub(crate) mapping: Option<&'a Mapping>,
}

/// The unit of stamps in a format, unless the user says another.
pub(crate) fn clock(format: Format, options: &TraceOptions) -> Clock {
    let about = format.about();
    Clock::new(about.tick, about.fractions, options.tick)
}

/// A reader of `format` under these options.
pub(crate) fn reader(format: Format, choice: &Choice<'_>) -> Box<dyn Reader> {
    let clock = clock(format, choice.options);
    (format.about().reader)(&Setup { clock, mapping: choice.mapping })
}
