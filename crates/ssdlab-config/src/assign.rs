//! The argument `KEY=VALUE`.

use ssdlab_base::Fault;

use crate::parse::argument;
use crate::schema::View;
use crate::tree::{Entry, MAX_DEPTH, Node, Origin, Sources, Step, Table, Value, one_line};

/// An assignment as it was typed.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    path: Vec<Step>,
    value: String,
    /// The name of the argument in error messages.
    pub(crate) name: String,
}

impl Assignment {
    /// Splits `KEY=VALUE`.
    ///
    /// # Errors
    /// Fails on a missing `=`, an empty key or part of a key, or a key of more than 32 parts.
    pub(crate) fn new(argument: &str) -> Result<Assignment, Fault> {
        let name = format!("--set {}", one_line(argument));
        let wrong = |what: &str| {
            Fault::new(name.as_str(), what)
                .expected("KEY=VALUE, such as background.gc.threshold=5%")
        };
        let Some((key, value)) = argument.split_once('=') else {
            return Err(wrong("no value"));
        };
        let unquoted = |part: &str| part.trim().trim_matches(['"', '\'']).to_owned();
        let key: Vec<String> = key.split('.').map(unquoted).collect();
        if key.iter().any(String::is_empty) {
            return Err(wrong("an empty key"));
        }
        if key.len() > MAX_DEPTH {
            return Err(wrong(&format!("a key with more than {MAX_DEPTH} parts")));
        }
        let path = key.into_iter().map(Step::Key).collect();
        Ok(Assignment { path, value: value.trim().to_owned(), name })
    }

    /// Returns this assignment as a layer; `schema` tells which kind of value the key takes.
    /// - For a list, a single value is a list of one, and `4KiB,8KiB` is a list of two.
    /// - For one value or a list, text with a comma is a list.
    /// - For a text, `5` is a text.
    ///
    /// # Errors
    /// Fails on a number that is not finite or needs more than 64 bits.
    pub(crate) fn layer(
        &self,
        origin: Origin,
        sources: &Sources,
        schema: View<'_>,
    ) -> Result<Node, Fault> {
        let wanted = schema.at(&self.path);
        let items = wanted.and_then(|view| view.items());
        let listed = wanted.and_then(|view| view.items_of_a_list());
        let read = |text: &str, wanted: Option<View<'_>>| {
            let quoted = text.starts_with(['"', '\'']);
            if wanted.is_some_and(|view| view.is_text()) && !quoted {
                Ok(Node::new(Value::String(text.to_owned()), origin))
            } else {
                argument(text, &self.path, origin, sources)
            }
        };
        let whole = read(&self.value, wanted)?;
        let innermost = match &whole.value {
            // Accepts `4KiB,8KiB`, and `[4KiB,8KiB]` without the quotes that TOML requires.
            Value::String(text) if items.is_some() || (listed.is_some() && text.contains(',')) => {
                let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                let words = bare.unwrap_or(text).split(',').map(str::trim);
                let words = words.filter(|word| !word.is_empty());
                let nodes =
                    words.map(|word| read(word, items.or(listed))).collect::<Result<_, Fault>>()?;
                Node::new(Value::List(nodes), origin)
            }
            Value::List(_) => whole,
            _ if items.is_some() => Node::new(Value::List(vec![whole]), origin),
            _ => whole,
        };
        Ok(self.path.iter().rev().fold(innermost, |node, step| {
            let Step::Key(key) = step else { return node };
            let entry = Entry { key: origin, node };
            Node::new(Value::Table(Table::from([(key.clone(), entry)])), origin)
        }))
    }
}
