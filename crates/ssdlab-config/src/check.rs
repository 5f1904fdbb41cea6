//! Checks the limits that only the schema states: ranges, lengths, one name per choice.

use serde_json::Value as Json;

use crate::schema::View;
use crate::tree::{Node, Origin, Step, Table, Value};

/// The first value that the schema refuses.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) path: Vec<Step>,
    pub(crate) origin: Origin,
    pub(crate) got: String,
    pub(crate) expected: String,
}

/// Checks every value of the tree against the schema.
///
/// # Errors
/// Returns the first value that the schema refuses: out of range, a list too long or too short, or
/// a choice that does not name exactly one variant.
pub(crate) fn check(node: &Node, schema: View<'_>) -> Result<(), Refused> {
    walk(node, schema, &mut Vec::new())
}

fn walk(node: &Node, schema: View<'_>, path: &mut Vec<Step>) -> Result<(), Refused> {
    let refused = |got: String, origin: Origin| {
        let expected = schema.expected().unwrap_or_default();
        Err(Refused { path: path.clone(), origin, got, expected })
    };
    match &node.value {
        Value::Integer(number) if !in_range(*number as f64, schema) => {
            refused(number.to_string(), node.origin)
        }
        Value::Float(number) if !in_range(*number, schema) => {
            refused(format!("{number:?}"), node.origin)
        }
        Value::List(list) if !fits(list.len(), schema) => {
            refused(format!("a list of {}", list.len()), node.origin)
        }
        Value::List(list) => below_list(list, schema, path),
        Value::Table(table) if table.len() != 1 && !schema.variants().is_empty() => {
            let names: Vec<&str> = table.keys().map(String::as_str).collect();
            let got = if names.is_empty() { "none".to_owned() } else { names.join(" and ") };
            // The last name written is the superfluous one.
            let last = table.values().map(|entry| entry.key).max();
            refused(got, last.unwrap_or(node.origin))
        }
        Value::Table(table) => below_table(table, schema, path),
        _ => Ok(()),
    }
}

fn below_list(list: &[Node], schema: View<'_>, path: &mut Vec<Step>) -> Result<(), Refused> {
    let Some(items) = schema.items() else { return Ok(()) };
    for (index, node) in list.iter().enumerate() {
        path.push(Step::Index(index));
        walk(node, items, path)?;
        path.pop();
    }
    Ok(())
}

fn below_table(table: &Table, schema: View<'_>, path: &mut Vec<Step>) -> Result<(), Refused> {
    for (name, entry) in table {
        if let Some(below) = schema.below(name) {
            path.push(Step::Key(name.clone()));
            walk(&entry.node, below, path)?;
            path.pop();
        }
    }
    Ok(())
}

fn in_range(number: f64, schema: View<'_>) -> bool {
    let bound = |key| schema.keyword(key).and_then(Json::as_f64);
    bound("minimum").is_none_or(|bound| number >= bound)
        && bound("maximum").is_none_or(|bound| number <= bound)
        && bound("exclusiveMinimum").is_none_or(|bound| number > bound)
        && bound("exclusiveMaximum").is_none_or(|bound| number < bound)
}

fn fits(length: usize, schema: View<'_>) -> bool {
    let bound = |key| schema.keyword(key).and_then(Json::as_u64);
    let length = length as u64;
    bound("minItems").is_none_or(|bound| length >= bound)
        && bound("maxItems").is_none_or(|bound| length <= bound)
}
