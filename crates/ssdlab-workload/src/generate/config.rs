//! The table `[workload]` of a config.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::ser::{Serialize, Serializer};
use ssdlab_base::quantity::Share;
use ssdlab_base::{Bytes, Fault, Nanos, units::SECTOR_BYTES};

use super::Kind;
use crate::cascade::biases;
use crate::formats::options::TraceOptions;

/// A workload from a distribution.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadConfig {
    /// Which addresses requests go to, and whether they come in bursts: a name, or a table with
    /// the name and its settings, as in `kind = { zipf = { theta = 0.9 } }`. Default: `"random"`.
    pub kind: Kind,
    /// Size of the part of the drive that requests touch, from address 0 up. Default: 16 GiB.
    /// Assumed.
    pub footprint: Bytes,
    /// Share of the requests that are reads; the others are writes. Default: 0.5. Assumed.
    pub read_share: Share,
    /// Sizes of requests, multiples of 512 B. All are equally likely unless they have weights, as
    /// in `["4KiB", { size = "64KiB", weight = 3 }]`. Default: 4, 8, 16, 32 and 64 KiB. Assumed.
    pub sizes: Vec<SizeChoice>,
    /// How times between requests are distributed around `interarrival`. Default: `"poisson"`.
    pub arrivals: Arrivals,
    /// Mean time from one request to the next; `"0ns"` issues all at once. Default: 200 us.
    /// Assumed.
    pub interarrival: Nanos,
    /// Number of requests. Default: 1,000,000. Assumed.
    pub requests: u64,
    /// The submission queue that requests are issued to, 0 to 255. Default: 0. Assumed.
    pub queue: u8,
    /// Latency hints of requests: 0 none, 1 short, 2 medium, 3 long. Each request draws one from
    /// this list with equal probability. Also applies to a twin. Default: `[0]`. Assumed.
    #[schemars(inner(range(max = 3)))]
    pub hints: Vec<u8>,
    /// Factor on how far a twin's indices of dispersion exceed 1, in windows of any length: 0 for
    /// independent arrivals, 1 for the bursts of its shape. Only for a twin. Default: 1. Assumed.
    #[schemars(range(min = 0, max = 100))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burstiness: Option<f64>,
    /// Share of the pages read by a twin that it also writes. Its footprint and the bytes that it
    /// moves limit the share. Only for a twin. Default: from its shape (documentation: "Twins").
    /// Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<Share>,
    /// Exponent of Zipf's law for a twin's reads of its hot set, from 0 (all places equally likely)
    /// to 10. Only for a twin. Default: from its shape (documentation: "Twins"). Assumed.
    #[schemars(range(min = 0, max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_theta: Option<f64>,
    /// Whether each write of a twin of up to 8 KiB lies within one page of 8 KiB. If true, PA-SSD's
    /// share of large writes is the share that covers more than one page. If false, it is the share
    /// larger than a page, and smaller writes begin at any address. Only for a twin. Default:
    /// false. Source: PA-SSD, Table 2, as ruled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_in_page: Option<bool>,
    /// How to read a trace file. Replaces all keys above, and applies only to a trace. Default: as
    /// its format says.
    pub trace: TraceOptions,
}

impl Default for WorkloadConfig {
    fn default() -> WorkloadConfig {
        WorkloadConfig {
            kind: Kind::default(),
            footprint: Bytes::from_gib(16),
            read_share: Share::new(0.5),
            sizes: [4, 8, 16, 32, 64].map(|kib| SizeChoice::new(Bytes::from_kib(kib), 1)).into(),
            arrivals: Arrivals::default(),
            interarrival: Nanos::from_us(200),
            requests: 1_000_000,
            queue: 0,
            hints: vec![0],
            burstiness: None,
            overlap: None,
            read_theta: None,
            small_in_page: None,
            trace: TraceOptions::default(),
        }
    }
}

impl WorkloadConfig {
    /// Returns the number of whole sectors in the footprint.
    pub(crate) fn sectors(&self) -> u64 {
        self.footprint.get() / SECTOR_BYTES
    }

    /// Refuses values that no kind accepts. Faults of a single key are found where it is used.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        match self.requests {
            0 => Err(Fault::new("", "workload.requests").got(0).expected("at least one")),
            _ => Ok(()),
        }
    }
}

ssdlab_base::choice! {
    /// How times between requests are distributed.
    pub enum Arrivals {
        /// Independent of one another: exponential.
        poisson => Poisson(PoissonConfig),
        /// Always the mean.
        fixed => Fixed(FixedConfig),
        /// In bursts within bursts, from hours down to microseconds. Reads and writes come in
        /// phases. `interarrival` times `requests` is the span.
        self_similar => SelfSimilar(SelfSimilarConfig),
    } default poisson
}

/// Times between requests are independent of one another. Has no settings.
#[derive(Clone, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonConfig {}

/// Times between requests are always the mean. Has no settings.
#[derive(Clone, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedConfig {}

/// Arrivals that are bursty in windows of every length (the b-model). The span is halved again and
/// again, and each half receives its share of the requests.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SelfSimilarConfig {
    /// Share of the requests in the busier of two halves, from 0.5 (independent arrivals) to
    /// below 1. Holds for every halving. With `hurst`, it only determines the variance in windows
    /// as long as `interarrival`. Default: 0.7. Assumed.
    #[schemars(range(min = 0.5, max = 1))]
    pub bias: f64,
    /// The Hurst parameter, above 0.5 and below 1. From `interarrival` on, the variance of the
    /// number of requests in a window grows as its length to the power of twice the parameter. The
    /// parameter and `requests` limit `bias`. Default: that of the bias in every halving, 0.89 for
    /// 0.7. Assumed.
    #[schemars(range(min = 0.5, max = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hurst: Option<f64>,
    /// Probability that reads and writes have the same busier half, from 0 to 1. At 0.5 the phases
    /// of reads and those of writes are independent. At 1 reads and writes come together, in any
    /// order. Default: 0.5. Assumed.
    pub together: Share,
}

impl Default for SelfSimilarConfig {
    fn default() -> SelfSimilarConfig {
        SelfSimilarConfig { bias: 0.7, hurst: None, together: Share::new(0.5) }
    }
}

impl SelfSimilarConfig {
    /// Refuses a bias or a Hurst parameter that no arrivals of so many requests have.
    pub(super) fn check(&self, requests: u64) -> Result<(), Fault> {
        let key = "workload.arrivals.self_similar";
        if !(0.5..1.0).contains(&self.bias) {
            let fault = Fault::new("", format!("{key}.bias")).got(self.bias);
            return Err(fault.expected("from 0.5 to below 1"));
        }
        let Some(hurst) = self.hurst else { return Ok(()) };
        if !(hurst > 0.5 && hurst < 1.0) {
            let fault = Fault::new("", format!("{key}.hurst")).got(hurst);
            return Err(fault.expected("above 0.5 and below 1"));
        }
        // Rounded into the range, so that the printed ends are accepted.
        let [least, most] = biases(hurst, requests);
        let [least, most] = [(least * 1e3).ceil() / 1e3, (most * 1e3).floor() / 1e3];
        if (least..=most).contains(&self.bias) {
            return Ok(());
        }
        // The parameter is never a default, so that the fault names the place of a user's value.
        let count = if requests == 1 { "1 request".into() } else { format!("{requests} requests") };
        let fault = Fault::new("", format!("{key}.hurst"))
            .got(format!("{hurst} with {count} and bias {}", self.bias));
        let fault = fault.expected(format!("a bias from {least} to {most}"));
        Err(fault.hint(format!("set {key}.bias, or change hurst or workload.requests")))
    }
}

/// A size of requests and how often it is drawn.
///
/// Written as the size alone, or as a table with the weight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeChoice {
    /// Size of a request, a multiple of 512 B.
    pub size: Bytes,
    /// How often it is drawn, relative to the weights of the other sizes; default 1.
    pub weight: u32,
}

impl SizeChoice {
    /// Returns requests of `size` with this weight.
    pub const fn new(size: Bytes, weight: u32) -> SizeChoice {
        SizeChoice { size, weight }
    }
}

/// The form with a weight.
#[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Weighted {
    size: Bytes,
    weight: u32,
}

impl Serialize for SizeChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            SizeChoice { size, weight: 1 } => size.serialize(serializer),
            SizeChoice { size, weight } => Weighted { size, weight }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SizeChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SizeChoice, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = SizeChoice;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"4KiB\", or { size = \"4KiB\", weight = 2 }")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SizeChoice, E> {
                text.parse().map(|size| SizeChoice::new(size, 1)).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SizeChoice, A::Error> {
                let Weighted { size, weight } =
                    Weighted::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SizeChoice::new(size, weight))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl JsonSchema for SizeChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SizeChoice".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let plain = generator.subschema_for::<Bytes>();
        let weighted = generator.subschema_for::<Weighted>();
        json_schema!({"anyOf": [plain, weighted]})
    }
}
