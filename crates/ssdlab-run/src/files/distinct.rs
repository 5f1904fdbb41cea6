//! Checks that no file is both read and written, or written twice.

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use ssdlab_base::Fault;

use super::{folder_of, followed};

/// A file and the option that names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedFile {
    /// The option, such as `--trace`.
    pub option: String,
    /// The path of the file.
    pub path: PathBuf,
}

impl NamedFile {
    /// Creates the pair of an option and the file that it names.
    pub fn new(option: impl Into<String>, path: impl Into<PathBuf>) -> NamedFile {
        NamedFile { option: option.into(), path: path.into() }
    }
}

/// The identity of a file, the same for all its names. Hard links and symbolic links are resolved.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// Device and inode number of an existing file.
    There(u64, u64),
    /// The resolved path of a file that does not exist.
    Not(PathBuf),
}

/// Refuses a file that would be both read and written, or written twice.
///
/// # Errors
/// The first file of `written` that appears before. The fault names both options.
pub fn check_distinct<'a>(
    read: impl IntoIterator<Item = &'a NamedFile>,
    written: impl IntoIterator<Item = &'a NamedFile>,
) -> Result<(), Fault> {
    let mut known: BTreeMap<Identity, (&str, &str)> = BTreeMap::new();
    for file in read {
        // A command that reads a pipe and writes to it would wait for itself. A device may be both
        // read and written.
        if file.path.metadata().is_ok_and(|about| about.is_file() || about.file_type().is_fifo()) {
            known.insert(identity(&file.path), (&file.option, "reads"));
        }
    }
    for file in written {
        let Some((option, does)) = known.insert(identity(&file.path), (&file.option, "writes"))
        else {
            continue;
        };
        let whose = if option == file.option && does == "writes" {
            "another run".to_owned()
        } else {
            option.to_owned()
        };
        let fault = Fault::new(&file.option, format!("the file that {whose} {does}"));
        let got = format!("{:?}", file.path.display().to_string());
        return Err(fault.got(got).expected("another file"));
    }
    Ok(())
}

fn identity(path: &Path) -> Identity {
    if let Ok(about) = path.metadata() {
        return Identity::There(about.dev(), about.ino());
    }
    let path = followed(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder_of(&path).canonicalize().unwrap_or_else(|_| folder_of(&path).to_owned());
    Identity::Not(folder.join(path.file_name().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn refused(read: &[(&str, &Path)], written: &[(&str, &Path)]) -> Option<String> {
        let named = |files: &[(&str, &Path)]| -> Vec<NamedFile> {
            files.iter().map(|(option, path)| NamedFile::new(*option, *path)).collect()
        };
        let fault = check_distinct(&named(read), &named(written)).err()?;
        Some(fault.to_string().split(": got").next().unwrap().to_owned())
    }

    #[test]
    fn a_file_that_is_read_is_not_written_by_whichever_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("in"), "precious").unwrap();
        fs::write(at("other"), "").unwrap();
        fs::hard_link(at("in"), at("hard")).unwrap();
        symlink("in", at("soft")).unwrap();
        symlink(at("soft"), at("softer")).unwrap();
        fs::create_dir(at("sub")).unwrap();
        let message = Some("--json: the file that --trace reads".to_owned());
        for name in ["in", "hard", "soft", "softer", "sub/../in"] {
            assert_eq!(
                refused(&[("--trace", &at("in"))], &[("--json", &at(name))]),
                message,
                "{name}"
            );
            assert_eq!(
                refused(&[("--trace", &at(name))], &[("--json", &at("in"))]),
                message,
                "{name}"
            );
        }
        for name in ["other", "new", "sub/in"] {
            assert_eq!(
                refused(&[("--trace", &at("in"))], &[("--json", &at(name))]),
                None,
                "{name}"
            );
        }
    }

    #[test]
    fn no_file_is_written_twice() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("new", at("soft")).unwrap();
        let twice = |other| refused(&[], &[("--json", &at("new")), (other, &at("soft"))]).unwrap();
        assert_eq!(twice("--log"), "--log: the file that --json writes");
        assert_eq!(twice("--json"), "--json: the file that another run writes");
        assert_eq!(refused(&[], &[("--json", &at("new")), ("--log", &at("newer"))]), None);
    }

    #[test]
    fn a_pipe_is_not_both_read_and_written_but_a_device_may_be() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let both = refused(&[("--trace", &pipe)], &[("--json", &pipe)]);
        assert_eq!(both.unwrap(), "--json: the file that --trace reads");
        let null = Path::new("/dev/null");
        assert_eq!(refused(&[("--config", null)], &[("--json", null)]), None);
    }
}
