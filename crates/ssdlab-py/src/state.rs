//! Stands in for saved states until the runner has them.

use std::path::Path;

use ssdlab_base::Fault;
use ssdlab_run::{Control, Plan};

fn planned(path: &Path) -> Fault {
    Fault::new(path.display().to_string(), "saved states are planned, not built yet")
}

pub fn save_state(_: &Plan, path: &Path, _: &Control) -> Result<(), Fault> {
    Err(planned(path))
}

pub fn describe_state(path: &Path) -> Result<serde_json::Value, Fault> {
    Err(planned(path))
}
