//! SSDSim ASCII: five whole numbers per line, the format that MQSim adopted.
//!
//! Source: SSDSim (Hu et al., ICS '11), `get_requests` in `ssd.c`: `%lld %d %d %d %d` for time,
//! device, sector, sectors and operation. Time is nanoseconds. 1 is a read and 0 a write. SSDSim
//! ignores the device.
//!
//! Some converted traces have stamps in microseconds. No line shows that, so the option `tick` must
//! say it. Versions of SSDSim that deduplicate add a sixth column, which is not used: the MD5
//! hashes of the content, one per sector, without gaps.

use ssdlab_base::Nanos;

use super::About;
use super::mqsim::FiveNumbers;

pub(super) const ABOUT: About = About {
    columns: "Time Device LSN Sectors Op",
    tick: Nanos::from_ns(1),
    reader: |setup| Box::new(FiveNumbers { clock: setup.clock, hashes: true }),
    ..About::LINES
};
