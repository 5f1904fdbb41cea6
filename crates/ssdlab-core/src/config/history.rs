//! Refusals of histories that no drive can have.

use ssdlab_base::{Bytes, Nanos};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{Level, PageType, ProgramMode};

use super::{HistoryConfig, Resolved, SampleSize};

const KEY: &str = "start.history";
/// The longest history.
const MAX_SPAN: Nanos = Nanos::from_ms(10 * 365 * 86_400_000);

/// Page accesses in a day of the cells' clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Pages written.
    pub writes: f64,
    /// Pages read.
    pub reads: f64,
}

/// Refuses a history that this drive cannot have.
pub(super) fn check(resolved: &Resolved) -> Result<(), Refusal> {
    let Some(history) = resolved.history() else { return Ok(()) };
    let span = history.span;
    if span == Nanos::ZERO || span > MAX_SPAN {
        let expected = format!("more than 0ns, and at most {MAX_SPAN}");
        return Err(Refusal::new(format!("{KEY}.span"), span, expected));
    }
    let without = |what: &str, how: &str| {
        Err(Refusal::new(KEY, format!("a history of a drive {what}"), how.to_owned()))
    };
    if resolved.map_cache.is_some() {
        return without("that holds its map in part", "a drive without ftl.map_cache");
    }
    if resolved.classes.reserved_classes > 0 {
        return without("that reserves blocks", "a drive without metadata.block_class.measured");
    }
    check_tenants(resolved, history)?;
    match resolved.sample(SampleSize::default()) {
        Ok(_) => Ok(()),
        Err(Refusal { key, got, expected }) => {
            let sample = format!("that cannot be scaled: its sample has {key} = {got}");
            without(&sample, &format!("{key}: {expected}"))
        }
    }
}

/// Refuses tenants that do not fit, and rates beyond those of the flash.
fn check_tenants(resolved: &Resolved, history: &HistoryConfig) -> Result<(), Refusal> {
    let config = &resolved.config;
    let page = config.geometry.page_size.get();
    let mut left = config.start.fill.of(resolved.logical_pages.into());
    for (at, tenant) in history.tenants.iter().enumerate() {
        let key = |name: &str| format!("{KEY}.tenants[{at}].{name}");
        if tenant.queue >= config.host.queues {
            let expected = format!("a queue below host.queues, {}", config.host.queues);
            return Err(Refusal::new(key("queue"), tenant.queue, expected));
        }
        let pages = tenant.footprint.get().div_ceil(page);
        if pages == 0 || pages > left {
            let most = Bytes::new(left * page);
            let expected =
                format!("at least 1B, and at most the {most} of start.fill that are left");
            return Err(Refusal::new(key("footprint"), tenant.footprint, expected));
        }
        left -= pages;
        let own = tenant.footprint;
        if let Some(size) = tenant.write_size.filter(|size| size.get() == 0 || *size > own) {
            let expected = format!("at least 1B, and at most the footprint of {own}");
            return Err(Refusal::new(key("write_size"), size, expected));
        }
    }
    let pages = history.tenants.iter().map(|tenant| tenant.footprint.get().div_ceil(page)).sum();
    let most = resolved.max_rate(pages);
    let (mut writes, mut reads) = (0.0, 0.0);
    for (at, tenant) in history.tenants.iter().enumerate() {
        writes += tenant.writes_per_day.get() as f64 / page as f64;
        reads += tenant.reads_per_day.get() as f64 / page as f64;
        for (all, most, name, own, op) in [
            (writes, most.writes, "writes_per_day", tenant.writes_per_day, "program"),
            (reads, most.reads, "reads_per_day", tenant.reads_per_day, "read"),
        ] {
            if all > most {
                let most = Bytes::new((most * page as f64) as u64);
                let expected =
                    format!("at most {most} a day for all tenants: all planes {op} no more");
                return Err(Refusal::new(format!("{KEY}.tenants[{at}].{name}"), own, expected));
            }
        }
    }
    Ok(())
}

impl Resolved {
    /// Returns the rates, in pages in a day of the cells' clock, at which all planes are busy all
    /// the time with tenants of this many pages. The flash does not see the hits of the buffer.
    pub fn max_rate(&self, pages: u64) -> Rate {
        const DAY_NS: f64 = 86_400e9;
        let buffered = self.config.buffer.size.get() / self.config.geometry.page_size.get();
        let missed = 1.0 - buffered as f64 / pages.max(1) as f64;
        let busy = |least: Nanos| {
            let planes = f64::from(self.geometry().plane_count());
            let each = least.as_ns() as f64 * f64::from(self.config.flash.time_scale);
            if missed > 0.0 { planes * DAY_NS / each / missed } else { f64::INFINITY }
        };
        let modes = 0..self.chip.program_modes().len() as u8;
        let kinds = || {
            let types = (0..self.geometry().cell.bits() as u8).map(PageType);
            types.flat_map(|page| modes.clone().map(move |mode| (page, ProgramMode(mode))))
        };
        let program = kinds().map(|(page, mode)| self.chip.program_time(page, mode)).min();
        let sense = |(page, mode)| self.chip.sense_time(page, mode, Level::FIRST, false);
        let sense = kinds().map(sense).min();
        let rate = |least: Option<Nanos>| busy(least.expect("a chip has types of pages"));
        Rate { writes: rate(program), reads: rate(sense) }
    }
}
