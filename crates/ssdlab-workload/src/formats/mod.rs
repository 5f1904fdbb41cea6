//! The trace formats. A new one is a file in this folder and one line in the list below.

use std::fmt;
use std::str::FromStr;

use ssdlab_base::{Fault, Nanos};

pub(crate) mod columns;

use crate::record::Op;
use crate::trace::options::Unsorted;
use columns::{Clock, Extent, Wrong};

/// What a format's file says about it.
pub(crate) struct About {
    /// The columns of a line as its users know them, for messages.
    pub(crate) columns: &'static str,
    /// How long one unit of the time column lasts.
    pub(crate) tick: Nanos,
    /// Whether the time column has fractions.
    pub(crate) fractions: bool,
    /// What becomes of stamps that go back, unless the user says otherwise.
    pub(crate) unsorted: Unsorted,
    /// A reader at the start of a file.
    pub(crate) reader: fn(Clock) -> Box<dyn Reader>,
}

/// What a line says.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// Nanoseconds since whatever the file counts from.
    pub(crate) stamp: u64,
    pub(crate) extent: Extent,
    pub(crate) op: Op,
    /// Whether the request had to be widened to whole sectors.
    pub(crate) widened: bool,
}

/// Reads the lines of one file in one format; may remember what earlier lines said.
///
/// Lines that are blank or a comment (`#`) are never shown to it.
pub(crate) trait Reader: Send {
    /// The request in this line; `None` if the line holds none (a header).
    fn read(&mut self, line: &[u8]) -> Result<Option<Entry>, Box<Wrong>>;

    /// Writes the name of the line's device to `name`. Only called for lines that could be read.
    fn device(&self, line: &[u8], name: &mut Vec<u8>);

    /// Anything that the user should know about how the lines read so far are understood.
    fn remark(&self) -> Option<&'static str> {
        None
    }
}

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $module:ident;)*) => {
        $(mod $module;)*

        /// A format of trace files.
        ///
        /// Where content fits several formats, the one listed first is taken.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Format {
            $($(#[$doc])* $variant,)*
        }

        impl Format {
            /// Every format, in the order in which recognition prefers them.
            pub const ALL: &'static [Format] = &[$(Format::$variant,)*];

            /// The name by which users choose it, as in `FILE:msr`.
            pub const fn name(self) -> &'static str {
                match self { $(Format::$variant => stringify!($module),)* }
            }

            pub(crate) const fn about(self) -> &'static About {
                match self { $(Format::$variant => &$module::ABOUT,)* }
            }
        }
    };
}

formats! {
    /// MSR Cambridge block traces (SNIA IOTTA), comma-separated, stamps as Windows file times.
    Msr = msr;
    /// The SPC trace file format of the UMass trace repository, comma-separated, in seconds.
    Spc = spc;
    /// MQSim's ASCII traces: five whole numbers, in nanoseconds.
    Mqsim = mqsim;
    /// SSDSim's ASCII traces: the same five whole numbers as MQSim's.
    Ssdsim = ssdsim;
}

impl Format {
    /// The columns of a line, as the format's users know them.
    pub fn columns(self) -> &'static str {
        self.about().columns
    }

    /// The fault of a name that is no format's.
    pub(crate) fn unknown(name: &str) -> Fault {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        Fault::new("", "unknown trace format")
            .got(if name.is_empty() { "nothing" } else { name })
            .expected(format!("one of {}", names.join(", ")))
            .suggest(name, names)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Fault;
    fn from_str(name: &str) -> Result<Format, Fault> {
        let found = Format::ALL.iter().find(|format| format.name().eq_ignore_ascii_case(name));
        found.copied().ok_or_else(|| Format::unknown(name))
    }
}
