//! The user's choice of how to read a trace, and the reader that follows from it.

use crate::formats::columns::Clock;
use crate::formats::mapping::Mapping;
use crate::formats::options::TraceOptions;
use crate::formats::{Format, Reader, Setup};

/// The options and the column mapping that the user sets for a trace.
pub(crate) struct Choice<'a> {
    pub(crate) options: &'a TraceOptions,
    pub(crate) mapping: Option<&'a Mapping>,
}

/// Returns the time unit of a format, unless the user sets another.
pub(crate) fn clock(format: Format, options: &TraceOptions) -> Clock {
    let about = format.about();
    Clock::new(about.tick, about.fractions, options.tick)
}

/// Returns a reader of `format` with these options.
pub(crate) fn reader(format: Format, choice: &Choice<'_>) -> Box<dyn Reader> {
    let clock = clock(format, choice.options);
    (format.about().reader)(&Setup { clock, mapping: choice.mapping })
}
