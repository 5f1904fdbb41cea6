//! Saves the drive of a plan to a state file, and restores it.

use std::path::Path;

use serde_json::Value;
use ssdlab_base::Fault;
use ssdlab_core::Drive;
use ssdlab_core::drive::Misfit;

use crate::begin::Begins;
use crate::control::Control;
use crate::files::NewFile;
use crate::precondition::PreconditionResult;
use crate::prepare::Prepared;
use crate::state::{self, Header, START_KEY_OF_RUN, StateFile};

/// Sections of the config that the contents depend on.
const BINDING: [&str; 2] = ["geometry", "physics"];

/// Saves the contents of a plan's idle drive to a new file. Returns the header of the file.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn save(
    prepared: &Prepared,
    drive: Drive,
    steady: Option<PreconditionResult>,
    to: NewFile,
) -> Result<Header, Fault> {
    let known = Header {
        device: prepared.plan.device.clone(),
        scheme: prepared.plan.scheme_name().into(),
        seed: prepared.plan.seed,
        config: prepared.effective.json(),
        config_hash: prepared.effective.hash().into(),
        logical_pages: prepared.resolved.logical_pages.into(),
        steady,
        ..Header::default()
    };
    state::save(drive, known, to)
}

/// Restores the drive of a plan from a state file; `None` if stopped. Also returns whether another
/// plan read the file already.
///
/// # Errors
/// When the file is damaged or belongs to another drive.
pub(crate) fn drive_from(
    prepared: &Prepared,
    path: &Path,
    control: &Control,
) -> Result<Option<(Drive, bool)>, Fault> {
    let name = path.display().to_string();
    // Check the header before the contents, so that a state of another drive is not read.
    let load = || {
        let state = StateFile::open(path, control)?;
        check_fits(prepared, &name, &state.header)?;
        let header = state.header.clone();
        Ok(state.contents()?.map(|media| (header, media)))
    };
    let loaded = match &prepared.shared.begins {
        Some(Begins::Saved(common)) => common.get(load)?,
        _ => load()?.map(|loaded| (loaded, false)),
    };
    let Some(((header, media), copied)) = loaded else { return Ok(None) };
    check_fits(prepared, &name, &header)?;
    let drive = Drive::with_media(prepared.resolved.clone(), media);
    match drive {
        Ok(drive) => Ok(Some((drive, copied))),
        Err(Misfit::OtherShape) => Err(other_drive(prepared, &name, &header)),
        Err(Misfit::Inconsistent(what)) => {
            Err(Fault::new(name, format!("is inconsistent: {what}")))
        }
    }
}

/// Returns the fault for a state whose drive has another number of pages.
fn other_drive(prepared: &Prepared, name: &str, header: &Header) -> Fault {
    Fault::new(name, "the state of another drive")
        .got(format!("{} with {} logical pages", header.device, header.logical_pages))
        .expected(format!("{} logical pages", prepared.resolved.logical_pages))
}

/// Refuses a state that does not belong to the drive of a plan.
fn check_fits(prepared: &Prepared, name: &str, header: &Header) -> Result<(), Fault> {
    if header.seed != prepared.plan.seed {
        return Err(Fault::new(name, "the seed of the state")
            .got(header.seed)
            .expected(format!("the seed of the run, {}", prepared.plan.seed))
            .hint(format!("--seed {}", header.seed)));
    }
    let config = prepared.effective.json();
    for section in BINDING {
        let first_difference =
            first_difference(section.into(), &header.config[section], &config[section]);
        if let Some((key, saved, own)) = first_difference {
            return Err(Fault::new(name, format!("the state of a drive with another {key}"))
                .got(saved)
                .expected(own));
        }
    }
    // Compare the program modes. A state with a single mode fits every drive.
    let modes = |config: &Value| config["timing"]["program_modes"].clone();
    if !modes(&header.config).is_null() && modes(&header.config) != modes(&config) {
        return Err(Fault::new(name, "the state of a drive with other timing.program_modes")
            .got(modes(&header.config))
            .expected(modes(&config))
            .hint("a state saved under the scheme conventional fits every scheme"));
    }
    // A drive written in strict page order may continue in relaxed order, but not the reverse.
    let order = |config: &Value| config["ftl"]["page_order"].clone();
    if order(&header.config) != order(&config) && order(&config) == "strict" {
        return Err(Fault::new(name, "the state of a drive whose pages go in another order")
            .got(order(&header.config))
            .expected(format!("ftl.page_order = {}, as of this scheme", order(&config)))
            .hint("a state saved under the scheme conventional fits every scheme"));
    }
    for leaf in prepared.effective.leaves() {
        let Some(key) = leaf.path.strip_prefix("start.") else { continue };
        let at = format!("/start/{}", key.replace('.', "/"));
        let [saved, own] = [&header.config, &config].map(|config| config.pointer(&at));
        if key != START_KEY_OF_RUN && saved != own {
            return Err(prepared.effective.fault_at(&leaf.path).expected(format!(
                "{} as in {name}, or no setting: the state file decides this key",
                saved.unwrap_or(&Value::Null)
            )));
        }
    }
    if header.logical_pages != u64::from(prepared.resolved.logical_pages) {
        return Err(other_drive(prepared, name, header));
    }
    Ok(())
}

/// Returns the first key below `key` in which two configs differ, with both values.
fn first_difference<'a>(
    key: String,
    a: &'a Value,
    b: &'a Value,
) -> Option<(String, &'a Value, &'a Value)> {
    let (Some(of_a), Some(of_b)) = (a.as_object(), b.as_object()) else {
        return (a != b).then_some((key, a, b));
    };
    let mut names = of_a.keys().chain(of_b.keys());
    names.find_map(|name| first_difference(format!("{key}.{name}"), &a[name], &b[name]))
}
