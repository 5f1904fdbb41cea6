//! SSDSim ASCII: the five whole numbers of MQSim's traces, which took them over from here.
//!
//! Source: SSDSim (Hu et al., ICS '11), `get_requests` in `ssd.c`: `%lld %d %d %d %d` for time,
//! device, sector, sectors and operation; time in nanoseconds, 1 is a read and 0 a write, the
//! device is not looked at. Traces converted by others exist with stamps in microseconds, which no
//! line can tell: the option `tick` says so. Its descendants that deduplicate put the content's MD5
//! hashes, one a sector without a gap, into a sixth column, which is not used.

use ssdlab_base::Nanos;

use super::About;
use super::mqsim::FiveNumbers;

pub(super) const ABOUT: About = About {
    columns: "Time Device LSN Sectors Op",
    tick: Nanos::from_ns(1),
    reader: |setup| Box::new(FiveNumbers { clock: setup.clock, hashes: true }),
    ..About::LINES
};
