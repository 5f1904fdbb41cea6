//! Options for reading a trace where its format leaves a choice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Fault, Nanos, Stop};

use crate::formats::mapping::Mapping;
use crate::record::{MAX_REQUEST, MAX_TRIM, Op};

/// The widest window for sorting time stamps, in requests.
pub const MAX_UNSORTED: u32 = 1 << 20;

/// The range of the largest request in bytes; the upper bound is the largest that a record can
/// hold.
const REQUESTS: std::ops::RangeInclusive<u64> = SECTOR_BYTES..=SECTOR_BYTES << 32;

/// The treatment of a request whose time stamp is earlier than that of the line before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unsorted {
    /// Refuses the trace, naming the line.
    Refuse,
    /// Moves the request to its place in time, at most this many requests earlier (1 to 1,048,576).
    /// Refuses a stamp that is further out of order. Equal stamps keep the order of the file.
    Sort(u32),
}

/// Options for reading a trace where its format leaves a choice.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TraceOptions {
    /// Read only the requests of this device (documentation: "Traces"): `host_disk` in MSR traces
    /// (such as `"hm_0"`), the ASU in SPC traces. In others it is the number or the name of the
    /// device, disk, volume or file. Default: the requests of all devices, at the addresses that
    /// the trace says, as if they were one device (as in MQSim and SSDSim). Assumed for the other
    /// formats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// How long one unit of the time column lasts. Default: the format's (100 ns in MSR traces, 1 s
    /// in SPC traces, 1 ns in MQSim and SSDSim traces; `ssdlab trace formats` lists the others).
    /// Source: each format's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Nanos>,
    /// Treatment of time stamps that go back. Default: sorted within 1,024 requests in MSR traces
    /// and others that several queues or servers wrote, refused in those that are sorted by
    /// definition (documentation: "Traces"). Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsorted: Option<Unsorted>,
    /// The columns of a table, for the formats `csv` and `parquet`:
    /// `"time:0:us,op:2,offset:3:sectors,size:4:sectors"`, with columns counted from 0 or named
    /// (documentation: "Traces"). Default: none for `csv`, which then cannot be read, and our own
    /// CSV's names for `parquet`. Source: the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// The largest request, from 512 B to 2 TiB: a larger one is refused as a broken line. Default:
    /// 256 MiB for reads and writes, 4 GiB for trims. Source: NVMe (65,536 blocks of 4 KiB), and
    /// Linux's block layer for trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_request: Option<Bytes>,
    /// Ends the trace early once it is set.
    #[serde(skip)]
    pub stop: Stop,
}

impl TraceOptions {
    /// Returns the largest request of this kind.
    pub(crate) fn most(&self, op: Op) -> Bytes {
        self.max_request.unwrap_or(if op == Op::Trim { MAX_TRIM } else { MAX_REQUEST })
    }

    /// Refuses values with which no trace can be read.
    ///
    /// # Errors
    /// The first such value, by its key.
    pub fn check(&self) -> Result<(), Fault> {
        self.mapping().map(drop)
    }

    /// Returns the column mapping, if there is one. Refuses values with which no trace can be read.
    pub(crate) fn mapping(&self) -> Result<Option<Mapping>, Fault> {
        if self.tick == Some(Nanos::ZERO) {
            return Err(Fault::new("", "workload.trace.tick")
                .got("0ns")
                .expected("a time above zero"));
        }
        if let Some(most) = self.max_request.filter(|most| !REQUESTS.contains(&most.get())) {
            let fault = Fault::new("", "workload.trace.max_request").got(most);
            return Err(fault.expected("from 512B to 2TiB"));
        }
        match self.unsorted {
            Some(Unsorted::Sort(window)) if !(1..=MAX_UNSORTED).contains(&window) => {
                let expected = format!("from 1 to {MAX_UNSORTED} requests");
                Err(Fault::new("", "workload.trace.unsorted.sort").got(window).expected(expected))
            }
            _ => self.columns.as_deref().map(Mapping::parse).transpose(),
        }
    }
}
