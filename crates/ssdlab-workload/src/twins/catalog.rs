//! The catalog of twins, read from the tables beside this file.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use ssdlab_base::Fault;

use super::arrivals::Arrivals;
use super::figures::Targets;
use super::shape::Shape;
use super::{Alone, Parts, Twin, locality};

/// The addition to a shape's source if hit ratios are published.
const BY_VOLUME: &str =
    " Instead, hot sets, returns and scans are fitted on hit ratios of the whole trace.";

/// The shapes, the arrivals of excerpts, the parts that `make twins-fit` fitted on excerpts, and
/// one file per family of twins.
const SHAPES: &str = include_str!("shapes.toml");
const ARRIVALS: &str = include_str!("arrivals.toml");
const FITTED: &[(&str, &str)] = &[
    ("hm0", include_str!("fitted/hm0.toml")),
    ("fin1", include_str!("fitted/fin1.toml")),
    ("fin2", include_str!("fitted/fin2.toml")),
    ("dtr", include_str!("fitted/dtr.toml")),
    ("web0", include_str!("fitted/web0.toml")),
    ("web2", include_str!("fitted/web2.toml")),
    ("mds0", include_str!("fitted/mds0.toml")),
    ("proj0", include_str!("fitted/proj0.toml")),
    ("rsrch2", include_str!("fitted/rsrch2.toml")),
    ("websearch", include_str!("fitted/websearch.toml")),
];
const FAMILIES: &[(&str, &str)] = &[
    ("dlv.toml", include_str!("dlv.toml")),
    ("pa_ssd.toml", include_str!("pa_ssd.toml")),
    ("pv_read.toml", include_str!("pv_read.toml")),
    ("readguard.toml", include_str!("readguard.toml")),
    ("hire.toml", include_str!("hire.toml")),
    ("ycsb.toml", include_str!("ycsb.toml")),
];

/// A file of the catalog.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    /// The first part of the twins' names.
    family: String,
    /// The family's name in messages.
    title: String,
    /// The full names of the sources, by key.
    #[serde(default)]
    sources: BTreeMap<String, String>,
    twin: Vec<Entry>,
}

/// A twin as a file of the catalog describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// The trace that it imitates.
    of: String,
    /// The name of its shape; if absent, the shape of `like`.
    shape: Option<String>,
    /// A twin of an earlier file or line. Its targets apply where this twin has none.
    like: Option<String>,
    /// Twins of this family that run at once, one per queue, in place of targets.
    mix: Option<Vec<String>>,
    #[serde(default)]
    targets: Targets,
}

/// Returns the arrivals that excerpts have, by name.
pub fn arrivals() -> &'static BTreeMap<String, Arrivals> {
    static ALL: OnceLock<BTreeMap<String, Arrivals>> = OnceLock::new();
    ALL.get_or_init(|| {
        read("arrivals.toml", ARRIVALS)
            .unwrap_or_else(|fault| panic!("the arrivals of twins: {fault}"))
    })
}

/// Returns every twin, in the order of the families.
pub fn catalog() -> &'static [Twin] {
    static CATALOG: OnceLock<Vec<Twin>> = OnceLock::new();
    CATALOG.get_or_init(|| {
        parse(SHAPES, ARRIVALS, FITTED, FAMILIES)
            .unwrap_or_else(|fault| panic!("the catalog of twins: {fault}"))
    })
}

/// Returns the twin called `name`: `dlv/hm0`, or `hm0` if only one family has it, or if `family`
/// has it.
///
/// # Errors
/// Fails if no twin has this name, or if several have it.
pub fn find(name: &str, family: Option<&str>) -> Result<&'static Twin, Fault> {
    let own = family.map(|family| format!("{family}/{name}"));
    let named = |full: &str| catalog().iter().find(|twin| twin.name == full);
    if let Some(twin) = named(name).or_else(|| own.and_then(|own| named(&own))) {
        return Ok(twin);
    }
    let bare: Vec<&Twin> =
        catalog().iter().filter(|twin| twin.name.rsplit('/').next() == Some(name)).collect();
    match bare[..] {
        [twin] => Ok(twin),
        [] => Err(Fault::new("", "not a twin")
            .got(format!("{name:?}"))
            .suggest(name, catalog().iter().map(|twin| twin.name.as_str()))),
        _ => {
            let names: Vec<&str> = bare.iter().map(|twin| twin.name.as_str()).collect();
            let fault = Fault::new("", "a name that several twins have").got(format!("{name:?}"));
            Err(fault.expected(format!("one of {}", names.join(", "))))
        }
    }
}

/// Returns the twins of these tables: a file of shapes, a file of arrivals, fitted parts of shapes,
/// and files of families. Each fitted part and each family file comes with its name.
///
/// # Errors
/// Returns the first fault in one of them.
pub fn parse(
    shapes: &str,
    arrivals: &str,
    fitted: &[(&str, &str)],
    families: &[(&str, &str)],
) -> Result<Vec<Twin>, Fault> {
    let shapes = read_shapes(shapes, &read_arrivals(arrivals)?, fitted)?;
    let mut twins: Vec<Twin> = Vec::new();
    for (file, text) in families {
        let mut family: Family = read(file, text)?;
        for entry in std::mem::take(&mut family.twin) {
            let name = format!("{}/{}", family.family, entry.name);
            let placed = |fault: Fault| Fault {
                source: (*file).to_owned(),
                what: format!("{name}: {}", fault.what),
                ..fault
            };
            let Family { family, title, sources, .. } = &family;
            let head = Head { family, title, sources };
            let twin = build(&head, &name, entry, &shapes, &twins).map_err(placed)?;
            twins.push(twin);
        }
    }
    Ok(twins)
}

/// The properties that all entries of a file share.
struct Head<'a> {
    family: &'a str,
    title: &'a str,
    sources: &'a BTreeMap<String, String>,
}

/// Reads all arrivals, completed by those of their class.
fn read_arrivals(text: &str) -> Result<BTreeMap<String, Arrivals>, Fault> {
    let all: BTreeMap<String, Arrivals> = read("arrivals.toml", text)?;
    let placed = |name: &str, fault: Fault| Fault {
        source: "arrivals.toml".to_owned(),
        what: format!("{name}: {}", fault.what),
        ..fault
    };
    let mut complete = BTreeMap::new();
    for (name, own) in &all {
        own.check().map_err(|fault| placed(name, fault))?;
        let whole = match &own.class {
            None => own.clone(),
            Some(class) => {
                let known = || all.iter().filter(|(_, one)| one.class.is_none());
                let found = known().find(|(other, _)| *other == class);
                let (_, found) = found.ok_or_else(|| {
                    let fault = Fault::new("", "class: not arrivals without a class").got(class);
                    placed(name, fault.suggest(class, known().map(|(name, _)| name.as_str())))
                })?;
                own.over(found)
            }
        };
        complete.insert(name.clone(), whole);
    }
    Ok(complete)
}

/// Reads every shape, completed with the shape that it is based on, its fitted part and its
/// arrivals.
fn read_shapes(
    text: &str,
    arrivals: &BTreeMap<String, Arrivals>,
    fitted: &[(&str, &str)],
) -> Result<BTreeMap<String, Shape>, Fault> {
    let placed = |name: &str, fault: Fault| Fault {
        source: "shapes.toml".to_owned(),
        what: format!("{name}: {}", fault.what),
        ..fault
    };
    let tables: BTreeMap<String, toml::Table> = read("shapes.toml", text)?;
    let fitted = fitted.iter().map(|(name, text)| Ok((*name, read(name, text)?)));
    let fitted: BTreeMap<&str, toml::Table> = fitted.collect::<Result<_, Fault>>()?;
    let mut shapes = BTreeMap::new();
    for name in tables.keys() {
        let mut whole =
            whole_shape(&tables, &fitted, name, 0).map_err(|fault| placed(name, fault))?;
        let wrong = |message: &str| placed(name, Fault::new("", message.to_owned()));
        if let Some(toml::Value::String(own)) = whole.get("arrivals") {
            let found = arrivals.get(own).ok_or_else(|| {
                let fault = Fault::new("", "arrivals: nothing of this name").got(own);
                placed(name, fault.suggest(own, arrivals.keys().map(String::as_str)))
            })?;
            let found = toml::Value::try_from(found).map_err(|error| wrong(&error.to_string()))?;
            whole.insert("arrivals".to_owned(), found);
        }
        let shape: Shape =
            whole.try_into().map_err(|error: toml::de::Error| wrong(error.message()))?;
        shape.check().map_err(|fault| placed(name, fault))?;
        shapes.insert(name.clone(), shape);
    }
    Ok(shapes)
}

/// Returns the complete table of a shape. Its own values override the fitted ones, and these
/// override the shape that it is based on.
fn whole_shape(
    tables: &BTreeMap<String, toml::Table>,
    fitted: &BTreeMap<&str, toml::Table>,
    name: &str,
    depth: usize,
) -> Result<toml::Table, Fault> {
    let unknown = || Fault::new("", "not a shape").got(name);
    let mut table = tables.get(name).ok_or_else(unknown)?.clone();
    let mut base = match table.remove("like") {
        None => toml::Table::new(),
        Some(like) => {
            let like = like.as_str().filter(|_| depth < tables.len()).ok_or_else(|| {
                Fault::new("", "like").expected("the name of a shape, without a cycle of `like`")
            })?;
            whole_shape(tables, fitted, like, depth + 1)?
        }
    };
    if let Some(name) = table.remove("fitted") {
        let found = name.as_str().and_then(|name| fitted.get(name));
        let found =
            found.ok_or_else(|| Fault::new("", "fitted: nothing of this name").got(name))?;
        layer_over(&mut base, found.clone());
    }
    layer_over(&mut base, table);
    Ok(base)
}

/// Overrides values in `under` with those in `over`, table by table.
pub fn layer_over(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => layer_over(under, over),
            (_, value) => drop(under.insert(key, value)),
        }
    }
}

fn read<T: for<'de> Deserialize<'de>>(file: &str, text: &str) -> Result<T, Fault> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start].lines().count().max(1) as u64);
        let fault = Fault::new(file, error.message().to_owned());
        line.map_or(fault.clone(), |line| fault.line(line))
    })
}

fn build(
    head: &Head<'_>,
    name: &str,
    entry: Entry,
    shapes: &BTreeMap<String, Shape>,
    known: &[Twin],
) -> Result<Twin, Fault> {
    if known.iter().any(|twin| twin.name == name) {
        return Err(Fault::new("", "a name that is taken"));
    }
    let earlier = |full: &str| {
        let twin = known.iter().find(|twin| twin.name == full);
        twin.ok_or_else(|| Fault::new("", "not an earlier twin").got(full))
    };
    let parts = match &entry.mix {
        Some(names) => {
            let member = |bare: &String| earlier(&format!("{}/{bare}", head.family)).cloned();
            Parts::Mix(names.iter().map(member).collect::<Result<_, _>>()?)
        }
        None => {
            let base = entry.like.as_deref().map(earlier).transpose()?;
            alone(head, name, &entry, base, shapes)?
        }
    };
    let title = format!("twin of {} ({})", entry.of, head.title);
    let twin = Twin { name: name.to_owned(), family: head.family.to_owned(), title, parts };
    // The construction of the source finds every fault of a twin.
    twin.source(0)?;
    Ok(twin)
}

fn alone(
    head: &Head<'_>,
    name: &str,
    entry: &Entry,
    base: Option<&Twin>,
    shapes: &BTreeMap<String, Shape>,
) -> Result<Parts, Fault> {
    let base = match base.map(|twin| &twin.parts) {
        Some(Parts::Alone(alone)) => Some((&alone.targets, &alone.shape_name)),
        Some(Parts::Mix(_)) => return Err(Fault::new("", "like").got("a mix")),
        None => None,
    };
    let shape_name = entry.shape.as_ref().or(base.map(|(_, shape)| shape));
    let shape_name = shape_name.ok_or_else(|| Fault::new("", "shape").got("none"))?.clone();
    let known = || shapes.keys().map(String::as_str);
    let shape = shapes.get(&shape_name).ok_or_else(|| {
        Fault::new("", "not a shape").got(&shape_name).suggest(&shape_name, known())
    })?;
    let mut targets = entry.targets.clone();
    targets.name_sources(|key| match key {
        "assumed" => Some(key.to_owned()),
        key => head.sources.get(key).cloned(),
    })?;
    let targets = base.map_or(targets.clone(), |(base, _)| targets.over(base));
    let mut shape = shape.clone();
    if let Some(locality) = locality::of(name) {
        locality.apply(&mut shape);
        shape.source.push_str(BY_VOLUME);
    }
    let figures = super::Figures::new(&targets, &shape)?;
    Ok(Parts::Alone(Box::new(Alone { targets, figures, shape_name, shape })))
}
