//! The sequence of further attempts of a read that failed to decode.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::{Nanos, choice};

/// Settings of `serial`: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SerialConfig {}

/// Settings of `pipelined`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PipelinedConfig {
    /// Whether the unit senses the first retry, too, before the first attempt is known to fail.
    /// Default: false. Assumed: a read that decodes at once gains nothing from that sensing.
    pub first: bool,
    /// Share by which the sensing of a retry is shorter. Shorter sensing uses up error margin of
    /// the code; the code still decodes the same reads. Default: 0. Source: J. Park et al.,
    /// "Reducing Solid-State Drive Read Latency by Optimizing Read-Retry", ASPLOS 2021.
    pub shorter: Share,
    /// The retries that are shorter: `last` (the one that decodes, which has margin to spare) or
    /// `every`. A chip that cannot foresee the last retry must shorten every one. Default: `last`.
    /// Source: ReadGuard, section 7.
    pub shorter_on: ShorterOn,
    /// Time from the end of a read until its array unit has aborted a sensing that it began ahead.
    /// Default: `5us`. Assumed.
    pub reset_time: Nanos,
}

impl Default for PipelinedConfig {
    fn default() -> PipelinedConfig {
        PipelinedConfig {
            first: false,
            shorter: Share::new(0.0),
            shorter_on: ShorterOn::default(),
            reset_time: Nanos::from_us(5),
        }
    }
}

/// The retries whose sensing is shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShorterOn {
    /// The retry that decodes.
    #[default]
    Last,
    /// All retries.
    Every,
}

choice! {
    /// The sequence of further attempts of a read that failed to decode.
    pub enum RetriesChoice {
        /// The unit senses the next attempt after one has failed to decode.
        serial => Serial(SerialConfig),
        /// The unit senses the next attempt while one is transferred and decoded.
        pipelined => Pipelined(PipelinedConfig),
    } default serial
}
