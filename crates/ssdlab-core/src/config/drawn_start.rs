//! Refusals of drawn starts for policies whose events the model plane of a start lacks.

use ssdlab_nand::refusal::Refusal;

use super::{DriveConfig, StartConfig};
use crate::policy::event::EventMask;
use crate::policy::{Learner, PolicyContext};
use ssdlab_schemes::{AnyBackground, AnyPlacement};

/// Refuses a drawn start that the placement chain, or a policy that collects garbage, cannot take
/// part in.
pub(super) fn check(config: &DriveConfig, setup: &PolicyContext) -> Result<(), Refusal> {
    if config.start.fill.get() == 0.0 {
        return Ok(());
    }
    let drawn = config.drawn_placement().iter().map(|link| DrawnLink {
        name: link.name(),
        events: AnyPlacement::build(link, setup).events(),
        component: AnyPlacement::components(link).first().copied(),
    });
    let collectors = AnyBackground::collectors(&config.background);
    let background = AnyBackground::build(&config.background, setup).into_iter();
    let collecting = background.filter(|policy| collectors.contains(&policy.name()));
    let collecting = collecting.map(|policy| DrawnLink {
        name: policy.name(),
        events: policy.events(),
        component: None,
    });
    check_drawn_start(&config.start, drawn.chain(collecting))
}

/// A policy that takes part in drawing a start.
struct DrawnLink<'a> {
    name: &'a str,
    events: EventMask,
    component: Option<&'static str>,
}

/// Refuses a drawn start if such a policy needs events that the model plane lacks. These are other
/// events in a steady state, and a metadata component, which knows the drive's blocks.
fn check_drawn_start<'a>(
    start: &StartConfig,
    links: impl Iterator<Item = DrawnLink<'a>>,
) -> Result<(), Refusal> {
    for DrawnLink { name, events, component } in links {
        if start.steady_state && !events.is_within(EventMask::DRAWN_START) {
            let expected = format!(
                "no drawn start: `{name}` learns by events that only requests cause (run: --precondition steady)"
            );
            return Err(Refusal::new("start.steady_state", true, expected));
        }
        if let Some(component) = component.filter(|_| events.has(EventMask::DRAWN_START)) {
            let expected = format!(
                "0, no drawn start: `{name}` learns by events and from `metadata.{component}`, which a drawn start lacks (run: --precondition steady)"
            );
            return Err(Refusal::new("start.fill", start.fill, expected));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ssdlab_base::quantity::Share;

    use super::*;

    #[test]
    fn a_start_is_not_drawn_for_what_learns_by_requests() {
        let blocks = EventMask::BLOCK_OPENED.and(EventMask::PAGE_INVALIDATED);
        let requests = blocks.and(EventMask::REQUEST_ARRIVED);
        let check = |steady_state, events, component| {
            let start =
                StartConfig { fill: Share::new(0.5), steady_state, ..StartConfig::default() };
            let link = DrawnLink { name: "mine", events, component };
            check_drawn_start(&start, [link].into_iter()).map_err(|refused| refused.to_string())
        };
        for steady in [false, true] {
            assert_eq!(check(steady, blocks, None), Ok(()));
            assert_eq!(check(steady, EventMask::NONE, Some("page_hotness")), Ok(()));
            let refused = check(steady, blocks, Some("page_hotness")).expect_err("a refusal");
            let reason = "`mine` learns by events and from `metadata.page_hotness`";
            assert!(refused.contains(reason), "{refused}");
        }
        assert_eq!(check(false, requests, None), Ok(()), "nothing is overwritten for long");
        let refused = check(true, requests, None).expect_err("a refusal");
        assert!(refused.contains("`mine` learns by events that only requests cause"), "{refused}");
    }
}
