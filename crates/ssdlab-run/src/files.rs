//! Files that appear whole, or not at all.

use std::fs::File;
use std::path::{Path, PathBuf};

use ssdlab_base::Fault;
use tempfile::NamedTempFile;

/// A file that is being written, beside where it will be.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl NewFile {
    /// A file that will be at `path`.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub(crate) fn new(path: &Path) -> Result<NewFile, Fault> {
        if path.metadata().is_ok_and(|about| !about.is_file()) {
            let what = if path.is_dir() { "a folder" } else { "a pipe or a device" };
            return Err(unwritable(path, what).expected("a file"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(
                unwritable(path, "a folder that is not there").expected("a file in one that is")
            );
        }
        // Opened here, so that it has the rights that any new file has, and so that a failure names
        // no file that the user does not know.
        let open = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
        let file = tempfile::Builder::new().make_in(folder.unwrap_or(Path::new(".")), open);
        let file = file.map_err(|error| unwritable(path, error))?;
        Ok(NewFile { path: path.to_owned(), file })
    }

    /// What is written to.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// The fault of a write that failed.
    pub(crate) fn unwritable(&self, error: impl std::fmt::Display) -> Fault {
        unwritable(&self.path, error)
    }

    /// Puts the file where it belongs.
    ///
    /// # Errors
    /// When it cannot be there.
    pub(crate) fn persist(self) -> Result<(), Fault> {
        let NewFile { path, file } = self;
        file.persist(&path).map(drop).map_err(|error| unwritable(&path, error.error))
    }
}

fn unwritable(path: &Path, error: impl std::fmt::Display) -> Fault {
    Fault::new(path.display().to_string(), "cannot be written").got(error)
}
