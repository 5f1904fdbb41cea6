//! Finds arguments that contradict each other.
//!
//! A later layer may choose another variant than the layers below it. It then drops their settings,
//! and so a file overrides a preset. Two arguments of one command line are both meant to apply.

use crate::merge::chosen;
use crate::schema::View;
use crate::tree::{Node, Origin, Value};

/// Returns an argument in `lower` that `upper` contradicts, and the choice that it made.
/// The two contradict if they choose different variants, and at least one sets a key within its
/// choice. Two bare names do not contradict: the later one wins.
pub(crate) fn contradiction<'a>(
    lower: &'a Node,
    upper: &Node,
    schema: View<'_>,
    is_argument: &impl Fn(Origin) -> bool,
) -> Option<(Origin, &'a str)> {
    if !schema.variants().is_empty()
        && let (Some(below), Some(above)) = (chosen(lower), chosen(upper))
        && below != above
    {
        let bare = |node: &Node| matches!(node.value, Value::String(_));
        let argument = argument_in(lower, is_argument)?;
        return (!bare(lower) || !bare(upper)).then_some((argument, below));
    }
    let (Value::Table(below), Value::Table(above)) = (&lower.value, &upper.value) else {
        return None;
    };
    above.iter().find_map(|(name, entry)| {
        let old = below.get(name)?;
        contradiction(&old.node, &entry.node, schema.below(name)?, is_argument)
    })
}

/// Returns the first argument that has set anything in `node`.
fn argument_in(node: &Node, is_argument: &impl Fn(Origin) -> bool) -> Option<Origin> {
    match &node.value {
        Value::Table(table) if !table.is_empty() => {
            table.values().find_map(|entry| argument_in(&entry.node, is_argument))
        }
        _ => is_argument(node.origin).then_some(node.origin),
    }
}
