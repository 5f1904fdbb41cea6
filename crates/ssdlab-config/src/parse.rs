//! Parses TOML text into a [`Node`], and keeps the position of every key and value.

use std::ops::Range;

use ssdlab_base::Fault;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::tree::{Entry, MAX_DEPTH, Node, Origin, Sources, Step, Table, Value, dotted, one_line};

/// Parses `text`, which is layer `layer` of `sources`.
///
/// # Errors
/// Fails on text that is not TOML, a date, or more than 32 levels of nesting. Fails also on a
/// number that is not finite or needs more than 64 bits.
pub(crate) fn document(text: &str, layer: u32, sources: &Sources) -> Result<Node, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let place = Place::Text { lines: Lines::new(text), layer };
    let mut reader = Reader { place, sources, path: Vec::new() };
    if let Some(offset) = too_deep(text) {
        return Err(sources.fault(reader.origin(&(offset..offset)), TOO_DEEP));
    }
    let table = DeTable::parse(text).map_err(|error| reader.syntax(text, &error))?;
    let value = reader.table(table.get_ref())?;
    Ok(Node::new(value, Origin::layer(layer)))
}

/// Parses one value, typed as an argument for the key `path`. Text that is no TOML value is a bare
/// word.
///
/// # Errors
/// Fails on a number that is not finite or needs more than 64 bits.
pub(crate) fn argument(
    text: &str,
    path: &[Step],
    origin: Origin,
    sources: &Sources,
) -> Result<Node, Fault> {
    let word = || Ok(Node::new(Value::String(text.to_owned()), origin));
    // Parse a whole document, so that no comment or second key after the value goes unnoticed.
    let line = format!("value = {text}");
    if too_deep(&line).is_some() {
        return word();
    }
    let document = DeTable::parse(&line).ok();
    let only = document.as_ref().filter(|document| document.get_ref().len() == 1);
    match only.and_then(|document| document.get_ref().get("value")) {
        None => word(),
        Some(value) if is_word(value.get_ref()) => word(),
        Some(value) => {
            Reader { place: Place::Argument(origin), sources, path: path.to_vec() }.node(value)
        }
    }
}

const TOO_DEEP: &str = "nested too deep: got more than 32 levels";

/// Returns the position of a key with too many parts. The TOML parser would build and drop such a
/// key by equally deep recursion.
fn too_deep(text: &str) -> Option<usize> {
    let mut parts = 1;
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => parts += 1,
            TokenKind::Atom
            | TokenKind::Whitespace
            | TokenKind::BasicString
            | TokenKind::LiteralString => {}
            _ => parts = 1,
        }
        if parts > MAX_DEPTH {
            return Some(token.span().start());
        }
    }
    None
}

const NO_DATE: &str = "a number, a text in quotes, a list or a table";

/// A value that no key accepts.
struct Unfit {
    got: String,
    expected: &'static str,
}

/// Returns whether an argument is a bare word that TOML takes for a date, or nearly for a number.
fn is_word(value: &DeValue<'_>) -> bool {
    let almost = |unfit: Unfit| unfit.expected == BARE;
    match value {
        DeValue::Array(_) | DeValue::Table(_) => false,
        DeValue::Datetime(_) => true,
        other => scalar(other).is_err_and(almost),
    }
}

/// Converts a scalar.
fn scalar(value: &DeValue<'_>) -> Result<Value, Unfit> {
    let unfit = |got: &dyn ToString, expected| Unfit { got: got.to_string(), expected };
    Ok(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Integer(number) => {
            let (digits, radix) = (number.as_str(), number.radix());
            // The TOML parser also passes on `5_000us` as a number.
            if !digits.trim_start_matches(['+', '-']).chars().all(|c| c.is_digit(radix)) {
                return Err(unfit(number, BARE));
            }
            let value = i64::from_str_radix(digits, radix);
            Value::Integer(value.map_err(|_| unfit(number, "a whole number from -2^63 to 2^63-1"))?)
        }
        DeValue::Float(number) => {
            let value = number.as_str().parse::<f64>().map_err(|_| unfit(number, BARE))?;
            if value.is_finite() {
                Value::Float(value)
            } else {
                return Err(unfit(number, "a finite number"));
            }
        }
        DeValue::Datetime(date) => return Err(unfit(date, NO_DATE)),
        DeValue::Array(_) => return Err(unfit(&"a list", "a scalar")),
        DeValue::Table(_) => return Err(unfit(&"a table", "a scalar")),
    })
}

/// The place of a value: in a text, or an argument.
enum Place<'a> {
    Text { lines: Lines<'a>, layer: u32 },
    Argument(Origin),
}

struct Reader<'a> {
    place: Place<'a>,
    sources: &'a Sources,
    path: Vec<Step>,
}

impl Reader<'_> {
    fn origin(&self, span: &Range<usize>) -> Origin {
        match &self.place {
            Place::Argument(origin) => *origin,
            Place::Text { lines, layer } => {
                let (line, column) = lines.position(span.start);
                Origin { layer: *layer, line, column }
            }
        }
    }

    fn node(&mut self, spanned: &Spanned<DeValue<'_>>) -> Result<Node, Fault> {
        let origin = self.origin(&spanned.span());
        if self.path.len() > MAX_DEPTH {
            return Err(self.sources.fault(origin, TOO_DEEP));
        }
        let value = match spanned.get_ref() {
            DeValue::Table(table) => self.table(table)?,
            DeValue::Array(list) => self.list(list)?,
            other => scalar(other).map_err(|unfit| {
                let fault = self.sources.fault(origin, dotted(&self.path));
                fault.got(unfit.got).expected(unfit.expected)
            })?,
        };
        Ok(Node::new(value, origin))
    }

    fn table(&mut self, table: &DeTable<'_>) -> Result<Value, Fault> {
        let mut entries = Table::new();
        for (key, value) in table {
            let name = key.get_ref().to_string();
            self.path.push(Step::Key(name.clone()));
            let node = self.node(value)?;
            self.path.pop();
            entries.insert(name, Entry { key: self.origin(&key.span()), node });
        }
        Ok(Value::Table(entries))
    }

    fn list(&mut self, list: &DeArray<'_>) -> Result<Value, Fault> {
        let mut nodes = Vec::new();
        for (index, value) in list.iter().enumerate() {
            self.path.push(Step::Index(index));
            nodes.push(self.node(value)?);
            self.path.pop();
        }
        Ok(Value::List(nodes))
    }

    fn syntax(&self, text: &str, error: &toml::de::Error) -> Fault {
        let span = error.span().unwrap_or(text.len()..text.len());
        let origin = self.origin(&span);
        let message = one_line(error.message());
        if message == "duplicate key" {
            let key = one_line(text.get(span).unwrap_or_default());
            return self.sources.fault(origin, format!("{key}: given twice"));
        }
        if UNQUOTED.iter().any(|start| message.starts_with(start)) {
            let rest = text.get(span.start..).unwrap_or_default();
            let word = rest.split(['\n', ',', ']', '}', '#']).next().unwrap_or_default().trim();
            let fault = self.sources.fault(origin, "not TOML").expected(BARE);
            return match word {
                "" => fault.got("no value"),
                _ if word.contains(['"', '\\']) => fault.got(word),
                _ => fault.got(word).hint(one_line(&format!("did you mean {word:?}?"))),
            };
        }
        let (what, expected) = match message.split_once(", expected ") {
            Some((what, "nothing")) => (what, None),
            Some((what, expected)) => (what, Some(expected)),
            None => (message.as_str(), None),
        };
        let fault = self.sources.fault(origin, format!("not TOML: {what}"));
        match expected {
            Some(expected) => fault.expected(expected),
            None => fault,
        }
    }
}

/// How the messages of the TOML parser begin if a value is a word without quotes.
const UNQUOTED: [&str; 2] = ["string values must be quoted", "invalid boolean"];
const BARE: &str = "a text in quotes, a number, true or false";

/// The lines of a text, for line and column numbers.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines { text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// Returns line and column, both counted from 1, the column in characters.
    fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        (count(line), count(before.chars().count() + 1))
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
