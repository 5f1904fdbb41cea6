//! Refusals of histories that no drive can have.

use ssdlab_base::{Bytes, Nanos};
use ssdlab_nand::refusal::Refusal;

use super::{DriveConfig, HistoryConfig, Resolved, SampleSize};

const KEY: &str = "start.history";
/// The longest history.
const MAX_SPAN: Nanos = Nanos::from_ms(10 * 365 * 86_400_000);

/// Refuses a history that this drive cannot have.
pub(super) fn check(resolved: &Resolved) -> Result<(), Refusal> {
    let Some(history) = resolved.history() else { return Ok(()) };
    let span = history.span;
    if span == Nanos::ZERO || span > MAX_SPAN {
        let expected = format!("more than 0ns, and at most {MAX_SPAN}");
        return Err(Refusal::new(format!("{KEY}.span"), span, expected));
    }
    let without = |what: &str| Err(Refusal::new(KEY, "on", format!("no history {what}")));
    if resolved.map_cache.is_some() {
        return without("of a drive that holds its map in part (ftl.map_cache)");
    }
    if resolved.classes.reserved_classes > 0 {
        return without("of a drive that sets blocks apart (metadata.block_class)");
    }
    check_tenants(&resolved.config, history, resolved.logical_pages)?;
    match resolved.sample(SampleSize::default()) {
        Ok(_) => Ok(()),
        Err(Refusal { key, expected, .. }) => {
            without(&format!("of a drive that cannot be scaled (in the sample, {key}: {expected})"))
        }
    }
}

/// Refuses tenants that do not fit.
fn check_tenants(
    config: &DriveConfig,
    history: &HistoryConfig,
    logical_pages: u32,
) -> Result<(), Refusal> {
    let page = config.geometry.page_size.get();
    let mut left = config.start.fill.of(logical_pages.into());
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
    }
    Ok(())
}
