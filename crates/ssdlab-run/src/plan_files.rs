//! The files that plans read and write.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ssdlab_base::Fault;

use crate::chips::simulated;
use crate::files::NamedFile;
use crate::plan::Plan;
use crate::traces::{file_of, twin_of};
use crate::twin::family;

/// Returns the files that runs of these plans read, each once, and the files that they write.
///
/// # Errors
/// The first name that is not valid.
pub fn files_of(plans: &[Plan]) -> Result<(Vec<NamedFile>, Vec<NamedFile>), Fault> {
    let mut read = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for plan in plans {
        // Most plans of a sweep read the same files.
        let of_chips = plan.set.iter().filter(|set| set.contains("physics"));
        let chips: Vec<&String> = of_chips.collect();
        let traces: Vec<&String> = plan.mix.iter().map(|app| &app.trace).collect();
        if seen.insert((&plan.device, &plan.trace, traces, &plan.config, &plan.state, chips)) {
            read.extend(plan.reads()?);
        }
    }
    Ok((read.into_iter().collect(), plans.iter().flat_map(Plan::writes).collect()))
}

impl Plan {
    /// Returns the files that a run of this plan reads.
    ///
    /// # Errors
    /// When a name is not valid.
    fn reads(&self) -> Result<Vec<NamedFile>, Fault> {
        let mut files = Vec::new();
        if let Some(trace) = &self.trace {
            files.push(NamedFile::new("--trace", file_of(trace)?));
        }
        for app in &self.mix {
            if matches!(twin_of(&app.trace, family(&self.device)), Ok(None)) {
                files.push(NamedFile::new("--mix", file_of(&app.trace)?));
            }
        }
        files.extend(self.config.iter().map(|file| NamedFile::new("--config", file)));
        files.extend(self.state.iter().map(|file| NamedFile::new("--state", file)));
        files.extend(self.chips().map(|file| NamedFile::new("physics.measured.file", file)));
        Ok(files)
    }

    /// Returns the file of chip measurements that its config names. An invalid config names none;
    /// the run then reports its fault.
    fn chips(&self) -> Option<PathBuf> {
        if self.config.is_empty() && !self.set.iter().any(|set| set.contains("physics")) {
            return None;
        }
        // A pipe can be read only once, and the run needs its text. Use a pipe only if the plan
        // already holds its text.
        let is_known = |file: &&PathBuf| file.is_file() || self.piped.contains_key(*file);
        let config: Vec<PathBuf> = self.config.iter().filter(is_known).cloned().collect();
        let layers = Plan { config, ..self.clone() }.layers().ok()?;
        simulated::file_named_in(&layers, &self.config)
    }

    /// Returns the files that a run of this plan writes.
    fn writes(&self) -> impl Iterator<Item = NamedFile> + '_ {
        let files =
            [("--log", &self.log), ("--series", &self.series), ("--timeline", &self.timeline)];
        let named = |(option, path): (&str, &Option<PathBuf>)| {
            path.as_ref().map(|path| NamedFile::new(option, path))
        };
        files.into_iter().filter_map(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_chips_is_seen_beside_a_config_that_comes_through_a_pipe() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = folder.path().join("names.toml");
        std::fs::write(&names, "physics.measured.file = \"chips.csv\"").expect("a file");
        let config = vec![names, "/dev/null".into()];
        let plan = Plan { device: "readguard-tlc-2t".into(), config, ..Plan::default() };
        let (read, _) = files_of(&[plan]).expect("files");
        let chips = NamedFile::new("physics.measured.file", folder.path().join("chips.csv"));
        assert!(read.contains(&chips), "{read:?}");
    }

    #[test]
    fn the_file_of_chips_is_seen_in_the_text_of_a_pipe() {
        let folder = tempfile::tempdir().expect("a folder");
        let (pipe, chips) = (PathBuf::from("/dev/null"), folder.path().join("chips.csv"));
        let text = format!("physics.measured.file = {:?}", chips.display().to_string());
        let wire = serde_json::json!({
            "device": "readguard-tlc-2t", "config": [&pipe], "piped": {"/dev/null": text},
        });
        let plan: Plan = serde_json::from_value(wire).expect("a plan");
        let (read, _) = files_of(&[plan]).expect("files");
        let chips = NamedFile::new("physics.measured.file", chips);
        assert!(read.contains(&chips), "{read:?}");
    }
}
