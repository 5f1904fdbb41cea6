//! Arguments that take each other back.
//!
//! A later layer may make another choice than those below it, and drop their settings with it: so
//! a file overrules a preset. Of two arguments of one command line none is meant to be dropped.

use crate::merge::chosen;
use crate::schema::View;
use crate::tree::{Node, Origin, Value};

/// Where `upper` makes another choice than an argument among the layers of `lower` and one of the
/// two sets something within its choice: the argument below, and what it chose. Two bare names are
/// no contradiction: the later one wins.
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

/// The first argument that has set anything in `node`.
fn argument_in(node: &Node, is_argument: &impl Fn(Origin) -> bool) -> Option<Origin> {
    match &node.value {
        Value::Table(table) if !table.is_empty() => {
            table.values().find_map(|entry| argument_in(&entry.node, is_argument))
        }
        _ => is_argument(node.origin).then_some(node.origin),
    }
}
