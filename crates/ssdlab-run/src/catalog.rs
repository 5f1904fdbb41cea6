//! Finds devices and schemes by name, and defines the config of a run.

use ssdlab_base::Fault;
use ssdlab_config::Layers;
use ssdlab_core::DriveConfig;
use ssdlab_core::config::RENAMED;
use ssdlab_core::config::catalog::{Entry, PRESETS, SCHEMES};
use ssdlab_workload::WorkloadConfig;
use ssdlab_workload::twins::layer_over;

/// The config of a drive and its closed-form workload.
pub type RunConfig = DriveConfig<WorkloadConfig>;

/// Returns the config layers of a device.
///
/// # Errors
/// When no device has this name.
pub(crate) fn device(name: &str) -> Result<Layers, Fault> {
    let preset = find(PRESETS, "--device", "a device", name)?;
    let layers = RENAMED.into_iter().fold(Layers::new(), Layers::renamed);
    Ok(with_layer(layers, "preset", preset))
}

/// Returns the config layers of a device and of a scheme on it.
///
/// # Errors
/// When no device or no scheme has this name.
pub(crate) fn device_and_scheme(name: &str, scheme: &str) -> Result<Layers, Fault> {
    let below = device(name)?;
    Ok(with_layer(below, "scheme", find_scheme("--scheme", scheme, name)?))
}

fn with_layer(below: Layers, what: &'static str, entry: &'static Entry) -> Layers {
    entry.layers(what).into_iter().fold(below, |below, (name, toml)| below.text(name, toml))
}

fn find(
    entries: &'static [Entry],
    option: &str,
    what: &str,
    name: &str,
) -> Result<&'static Entry, Fault> {
    let names = || entries.iter().map(|entry| entry.name);
    entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let family = format!("{name}/");
        let own: Vec<_> = names().filter(|of| of.starts_with(&family)).collect();
        let fault = Fault::new(option, format!("not {what}")).got(format!("{name:?}"));
        if own.is_empty() {
            fault.expected(names().collect::<Vec<_>>().join(", ")).suggest(name, names())
        } else {
            fault.expected(format!("one of its family: {}", own.join(", ")))
        }
    })
}

/// Returns the first device of a scheme's family.
pub(crate) fn device_for(scheme: &str) -> Option<&'static str> {
    // The last device is that of all five systems.
    let family = scheme.split('/').next().filter(|family| *family != "all-five");
    let family = format!("{}-", family.unwrap_or("five"));
    PRESETS.iter().map(|entry| entry.name).find(|name| name.starts_with(&family))
}

/// Returns the schemes with this name, of all families.
fn namesakes(name: &str) -> impl Iterator<Item = &'static Entry> {
    SCHEMES
        .iter()
        .filter(move |entry| entry.name.split_once('/').is_some_and(|(_, own)| own == name))
}

/// Returns the scheme of this name. A bare name selects a scheme of the device's family.
fn find_scheme(option: &str, name: &str, device: &str) -> Result<&'static Entry, Fault> {
    let family = |entry: &Entry| entry.name.split('/').next().unwrap_or_default().to_owned();
    let other = namesakes(name).next();
    let own = namesakes(name).find(|entry| device.starts_with(&format!("{}-", family(entry))));
    let found = own.map_or_else(|| find(SCHEMES, option, "a scheme", name), Ok);
    found.map_err(|fault| match other {
        Some(other) => fault.suggest(other.name, [other.name]),
        None => fault,
    })
}

/// Returns the text of a preset.
///
/// # Errors
/// When no such preset exists.
pub fn preset_text(name: &str) -> Result<String, Fault> {
    let entry = find(PRESETS, "preset", "a device", name)?;
    Ok(match entry.over {
        None => entry.toml.to_owned(),
        Some((base, toml)) => {
            let table = |toml: &str| toml.parse::<toml::Table>().expect("a preset is TOML");
            let mut whole = table(toml);
            layer_over(&mut whole, table(entry.toml));
            let text = toml::to_string(&whole).expect("a table can be written");
            let differs: String = entry.toml.lines().map(|line| format!("#   {line}\n")).collect();
            format!("# {base}, where it differs:\n{differs}\n{text}")
        }
    })
}

/// Returns the text of a scheme. The family may be omitted if only one family has a scheme of this
/// name.
///
/// # Errors
/// When no such scheme exists, or several do.
pub fn scheme_text(name: &str) -> Result<&'static str, Fault> {
    let namesakes: Vec<&Entry> = namesakes(name).collect();
    match namesakes[..] {
        [one] => Ok(one.toml),
        [] => find(SCHEMES, "scheme", "a scheme", name).map(|entry| entry.toml),
        _ => {
            let names: Vec<&str> = namesakes.iter().map(|entry| entry.name).collect();
            let fault = Fault::new("scheme", "of several families").got(format!("{name:?}"));
            Err(fault.expected(names.join(" or ")))
        }
    }
}

/// Returns the JSON Schema of a config.
pub fn schema() -> serde_json::Value {
    ssdlab_config::json_schema::<RunConfig>()
}

/// Returns every key of a config, as a table in Markdown.
pub fn keys_markdown() -> String {
    ssdlab_config::markdown::<RunConfig>()
}
