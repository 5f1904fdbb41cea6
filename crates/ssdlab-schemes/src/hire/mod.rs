//! HIRE: the buffer learns the hotness of pages, which decides the voltages of their programs (J.
//! Cui et al., "Exploiting Cross-Layer Hotness Identification to Improve Flash Memory System
//! Performance", NPC 2016).

pub(crate) mod fixed_mode;
pub(crate) mod hotness_placement;
pub(crate) mod per_hotness;

use ssdlab_nand::refusal::Refusal;
use ssdlab_policy::PolicyContext;

/// Refuses a policy that needs the hotness of pages on a drive that does not learn it.
fn needs_hotness(context: &PolicyContext, slot: &str, name: &str) -> Result<(), Refusal> {
    if context.has("page_hotness") && context.buffer_pages > 0 {
        Ok(())
    } else {
        let expected =
            "a buffer that tells what pages are used for (metadata.page_hotness = \"buffer\")";
        Err(Refusal::new(slot, name, expected))
    }
}
