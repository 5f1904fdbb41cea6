//! Merges one layer over another, and the result over the declared defaults.

use serde_json::Value as Json;

use crate::schema::View;
use crate::tree::{Entry, Node, Origin, Table, Value};

/// Merges `upper` over `lower`. Tables merge key by key; any other value replaces the lower one.
/// The settings of a choice merge only if both layers name the same variant.
pub(crate) fn merge(lower: Node, upper: Node, schema: Option<View<'_>>) -> Node {
    // A value that replaced the layers between also replaces the layers below them. The order in
    // which layers are merged then makes no difference.
    if upper.fresh {
        return upper;
    }
    let choice = schema.is_some_and(|view| !view.variants().is_empty());
    let named = chosen(&lower);
    let same = !choice || (named.is_some() && named == chosen(&upper));
    let (fresh, origin) = (lower.fresh, upper.origin);
    match (same, lower.value, upper.value) {
        (true, Value::Table(below), Value::Table(above)) => {
            Node { value: Value::Table(merge_tables(below, above, schema)), origin, fresh }
        }
        // The bare name of the current choice keeps its settings.
        (true, below @ Value::Table(_), Value::String(_)) if choice => {
            Node { value: below, origin: lower.origin, fresh }
        }
        (true, _, value) if choice => Node { value, origin, fresh },
        (_, _, value) => Node { value, origin, fresh: true },
    }
}

fn merge_tables(mut below: Table, above: Table, schema: Option<View<'_>>) -> Table {
    for (name, entry) in above {
        let entry = match below.remove(&name) {
            None => entry,
            Some(old) => {
                let schema = schema.and_then(|view| view.below(&name));
                Entry { key: entry.key, node: merge(old.node, entry.node, schema) }
            }
        };
        below.insert(name, entry);
    }
    below
}

/// Returns the choice that `node` names: its text, or the only key of its table.
pub(crate) fn chosen(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(name) => Some(name),
        Value::Table(table) if table.len() == 1 => table.keys().next().map(String::as_str),
        _ => None,
    }
}

/// Adds the defaults that the schema declares. Turns the bare name of a choice with settings into a
/// table, so that every value has its own place in the tree.
pub(crate) fn complete(node: &mut Node, schema: View<'_>) {
    let variant = chosen(node).and_then(|name| schema.variant(name));
    if let Some((name, settings)) = variant.and_then(|v| Some((v.name, v.settings?))) {
        if let Value::String(_) = node.value {
            let empty = Node::new(Value::Table(Table::new()), node.origin);
            let entry = Entry { key: node.origin, node: empty };
            node.value = Value::Table(Table::from([(name.to_owned(), entry)]));
        }
        if let Value::Table(table) = &mut node.value {
            table.values_mut().for_each(|entry| complete(&mut entry.node, settings));
        }
        return;
    }
    match &mut node.value {
        Value::Table(table) => complete_table(table, schema),
        Value::List(list) => {
            if let Some(items) = schema.items() {
                list.iter_mut().for_each(|node| complete(node, items));
            }
        }
        _ => {}
    }
}

fn complete_table(table: &mut Table, schema: View<'_>) {
    for (name, property) in schema.properties() {
        let Some(default) = property.default().and_then(declared) else { continue };
        let entry = match table.remove(name) {
            None => Entry { key: Origin::DEFAULT, node: default },
            Some(own) => Entry { key: own.key, node: merge(default, own.node, Some(property)) },
        };
        table.insert(name.to_owned(), entry);
    }
    for (name, entry) in table {
        if let Some(property) = schema.property(name) {
            complete(&mut entry.node, property);
        }
    }
}

/// Returns a declared default, or `None` for `null`, which a config leaves out.
fn declared(json: &Json) -> Option<Node> {
    from_json(json, Origin::DEFAULT).ok()
}

/// Converts a JSON value into a config value, and leaves out keys whose value is `null`.
///
/// # Errors
/// Fails on values that a config cannot hold: `null` itself, and a whole number beyond signed 64
/// bits.
pub(crate) fn from_json(json: &Json, origin: Origin) -> Result<Node, String> {
    let value = match json {
        Json::Null => return Err("null".to_owned()),
        Json::Bool(value) => Value::Boolean(*value),
        Json::String(value) => Value::String(value.clone()),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => Value::Integer(value),
            (None, Some(value)) if number.is_f64() => Value::Float(value),
            _ => return Err(number.to_string()),
        },
        Json::Array(list) => {
            let nodes = list.iter().map(|json| from_json(json, origin));
            Value::List(nodes.collect::<Result<_, String>>()?)
        }
        Json::Object(object) => {
            let mut table = Table::new();
            for (name, json) in object.iter().filter(|(_, json)| !json.is_null()) {
                let node = from_json(json, origin)?;
                table.insert(name.clone(), Entry { key: origin, node });
            }
            Value::Table(table)
        }
    };
    Ok(Node::new(value, origin))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::schema::Schema;

    /// Nested tables and choices, in both orders.
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Nest {
        a: Option<Box<Nest>>,
        choice: Option<Choice>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Choice {
        Bare,
        One(Box<Nest>),
        Two(Box<Nest>),
    }

    /// Generates any tree over the names of the schema, whether or not it fits the schema.
    fn tree(layer: u32) -> impl Strategy<Value = Node> {
        let names = || select(vec!["a", "choice", "bare", "one", "two"]);
        let origin = Origin::layer(layer);
        let leaf = prop_oneof![
            names().prop_map(|name| Value::String(name.to_owned())),
            any::<bool>().prop_map(Value::Boolean),
        ];
        let leaf = leaf.prop_map(move |value| Node::new(value, origin));
        leaf.prop_recursive(4, 24, 2, move |below| {
            let entry = move |node| Entry { key: origin, node };
            let entries = proptest::collection::btree_map(names(), below.prop_map(entry), 0..3);
            entries.prop_map(move |entries| {
                let named = entries.into_iter().map(|(name, entry)| (name.to_owned(), entry));
                Node::new(Value::Table(named.collect()), origin)
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn it_makes_no_difference_which_layers_are_merged_first(
            low in tree(1),
            middle in tree(2),
            high in tree(3),
        ) {
            let schema = Schema::of::<Nest>();
            let view = Some(schema.view());
            let from_below = merge(merge(low.clone(), middle.clone(), view), high.clone(), view);
            let from_above = merge(low, merge(middle, high, view), view);
            prop_assert_eq!(from_below, from_above);
        }

        #[test]
        fn a_layer_over_itself_changes_nothing(one in tree(1)) {
            let schema = Schema::of::<Nest>();
            let twice = merge(one.clone(), one.clone(), Some(schema.view()));
            prop_assert_eq!(plain(&twice), plain(&one));
        }
    }

    /// Returns the values without their origins.
    fn plain(node: &Node) -> Json {
        match &node.value {
            Value::Table(table) => {
                table.iter().map(|(name, entry)| (name.clone(), plain(&entry.node))).collect()
            }
            other => Json::from(format!("{other:?}")),
        }
    }
}
