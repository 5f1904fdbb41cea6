//! Parses options that a plan holds as text.

use std::ffi::OsStr;
use std::path::Path;

use ssdlab_base::quantity::Share;
use ssdlab_base::{Fault, Nanos};
use ssdlab_core::Resolved;

use super::{OutputOptions, Warmup};
use crate::plan::Plan;

/// The most replays for a figure that does not settle, unless `--replays` says otherwise.
const REPLAYS_UNSETTLED: u32 = 100;
/// The most replays of a drive that does not wear out.
const MAX_REPLAYS: u32 = 10_000;

/// Longer than any run. The sum of two such times does not overflow.
const MAX_SPAN: Nanos = Nanos::from_ms(70 * 365 * 86_400_000);

/// File extensions of other formats.
const OTHER_FORMATS: [&str; 6] = ["csv", "tsv", "txt", "json", "jsonl", "xlsx"];

/// Checks that the name of a Parquet file does not have the extension of another format.
///
/// # Errors
/// If it has.
fn check_parquet_name(option: &str, file: Option<&Path>) -> Result<(), Fault> {
    let Some(file) = file else { return Ok(()) };
    let extension = file.extension().map(OsStr::to_ascii_lowercase);
    if OTHER_FORMATS.iter().any(|other| extension.as_deref() == Some(OsStr::new(other))) {
        let fault = Fault::new(option, "the file is in Parquet").got(format!("{file:?}"));
        return Err(fault.expected("a name that ends in .parquet"));
    }
    Ok(())
}

/// Refuses a time that is longer than any run.
fn within_a_run(option: &str, time: Nanos) -> Result<Nanos, Fault> {
    if time <= MAX_SPAN {
        Ok(time)
    } else {
        let fault = Fault::new(option, "longer than any run").got(time);
        Err(fault.expected(format!("at most {MAX_SPAN}")))
    }
}

impl Plan {
    pub(super) fn parse_warmup(&self) -> Result<Warmup, Fault> {
        let Some(text) = &self.warmup else { return Ok(Warmup::Requests(0)) };
        if let Ok(requests) = text.parse() {
            return Ok(Warmup::Requests(requests));
        }
        let time = text.parse().map_err(|_: String| {
            Fault::new("--warmup", "invalid value")
                .got(format!("{text:?}"))
                .expected("a number of requests, or a time with its unit such as \"10s\"")
        })?;
        within_a_run("--warmup", time).map(Warmup::Time)
    }

    pub(super) fn parse_replays(&self) -> Result<u32, Fault> {
        match (self.replays, &self.warmup) {
            (Some(0), _) => {
                Err(Fault::new("--replays", "invalid value").got(0).expected("at least 1"))
            }
            (Some(2..), Some(_)) => Err(Fault::new("--warmup", "a warm-up beside --replays")
                .expected("one or the other: the figures are those of the last replay alone")),
            _ if self.until_settled.is_some() && self.until_worn.is_some() => {
                let fault = Fault::new("--until-settled", "an end beside --until-worn");
                Err(fault.expected("one or the other"))
            }
            (None, Some(_)) if self.until_worn.is_some() => {
                Err(Fault::new("--warmup", "a warm-up beside --until-worn")
                    .expected("one or the other: the figures are those of the last replay alone"))
            }
            (None, None) if self.until_worn.is_some() => Ok(MAX_REPLAYS),
            (None, None) if self.until_settled.is_some() => Ok(REPLAYS_UNSETTLED),
            (replays, _) => Ok(replays.unwrap_or(1)),
        }
    }

    pub(super) fn parse_until_worn(&self, resolved: &Resolved) -> Result<Option<f64>, Fault> {
        const OPTION: &str = "--until-worn";
        let Some(text) = &self.until_worn else { return Ok(None) };
        let share = text.parse().map(Share::get).unwrap_or(0.0);
        let cycles = resolved.config.flash.cycles_per_erase;
        if share <= 0.0 {
            let fault = Fault::new(OPTION, "invalid value").got(format!("{text:?}"));
            return Err(fault.expected("a share of the blocks above 0 and up to 1, such as \"5%\""));
        }
        if !resolved.chip.heeds_wear() {
            let fault = Fault::new(OPTION, "a drive whose blocks never wear out");
            return Err(fault.expected(
                "physics with errors that grow with P/E cycles, such as physics.levels.wear",
            ));
        }
        if cycles == 1 {
            let fault = Fault::new(OPTION, "a drive without accelerated wear");
            let fault = fault.got("flash.cycles_per_erase = 1");
            return Err(fault.expected("more than 1, which accelerates wear"));
        }
        Ok(Some(share))
    }

    pub(super) fn parse_output(&self) -> Result<OutputOptions, Fault> {
        let time = |option: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => match text.parse() {
                Ok(time) if time > Nanos::ZERO => within_a_run(option, time).map(Some),
                _ => Err(Fault::new(option, "invalid value")
                    .got(format!("{text:?}"))
                    .expected("a time above 0 with its unit, such as \"10ms\"")),
            },
        };
        let idle = [
            (
                "--interval",
                self.interval.is_some() && self.series.is_none() && !self.detail,
                "--series or --report beside it",
            ),
            (
                "--timeline-span",
                self.timeline_span.is_some() && self.timeline.is_none(),
                "--timeline beside it",
            ),
        ];
        if let Some((option, _, expected)) = idle.iter().find(|(_, idle, _)| *idle) {
            return Err(Fault::new(*option, "an option without effect").expected(expected));
        }
        check_parquet_name("--log", self.log.as_deref())?;
        check_parquet_name("--series", self.series.as_deref())?;
        let span = time("--timeline-span", &self.timeline_span)?;
        Ok(OutputOptions {
            interval: time("--interval", &self.interval)?,
            timeline_span: span.unwrap_or(Nanos::from_ms(10)),
        })
    }

    pub(super) fn parse_time_scale(&self) -> Result<f64, Fault> {
        let scale = self.time_scale.unwrap_or(1.0);
        if self.closed.is_some() && self.time_scale.is_some() {
            return Err(Fault::new("--time-scale", "a time scale beside --closed")
                .expected("one or the other: a closed loop has no arrival times"));
        }
        if scale.is_finite() && scale > 0.0 {
            Ok(scale)
        } else {
            Err(Fault::new("--time-scale", "invalid value").got(scale).expected("a number above 0"))
        }
    }

    pub(super) fn parse_precondition(&self) -> Result<bool, Fault> {
        if self.closed == Some(0) {
            return Err(Fault::new("--closed", "invalid value").got(0).expected("at least 1"));
        }
        match self.precondition.as_deref() {
            None => Ok(false),
            Some("steady") => Ok(true),
            Some(other) => Err(Fault::new("--precondition", "unknown way to precondition")
                .got(format!("{other:?}"))
                .expected("steady")
                .suggest(other, ["steady"])),
        }
    }
}
