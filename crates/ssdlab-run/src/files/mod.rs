//! Output files that appear only when complete, and checks that files are distinct.
//!
//! A new file has no name until it is complete, so that an interrupted process leaves nothing
//! behind. On a file system without such files, it has a temporary name beside its target.
//! [`remove_unfinished`] removes files with such names.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{Access, access};
use ssdlab_base::{Fault, reason};
use tempfile::{Builder, NamedTempFile};
use writer::FirstRefusal;

mod distinct;
#[cfg(target_os = "linux")]
mod unnamed;
mod writer;

pub use distinct::{NamedFile, check_distinct};
pub use writer::Writer;

/// The most symbolic links followed in a row, as in Linux.
const MAX_LINKS: usize = 40;

/// Incomplete files that have a name.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes incomplete files. A process calls it when it ends without waiting for the threads that
/// write.
pub fn remove_unfinished() {
    for path in unfinished().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct NewFile {
    /// The option that names the file. Messages begin with it; may be empty.
    option: String,
    /// The path as the user gave it.
    path: PathBuf,
    /// The final path, with all symbolic links resolved. The links remain.
    target: PathBuf,
    part: Part,
    refused: FirstRefusal,
}

/// A file that is not complete yet.
#[derive(Debug)]
enum Part {
    /// The system removes it when its last descriptor closes.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// Removed when dropped.
    Named(NamedTempFile),
}

impl NewFile {
    /// Begins a file that will be at `path`. Messages begin with `option` and name the path.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn new(option: &str, path: &Path) -> Result<NewFile, Fault> {
        let begun = followed(path).and_then(|target| {
            check_writable(&target)?;
            Ok((Part::new(folder_of(&target))?, target))
        });
        let (part, target) = begun.map_err(|error| unwritable(option, path, error))?;
        Ok(NewFile {
            option: option.into(),
            path: path.into(),
            target,
            part,
            refused: FirstRefusal::default(),
        })
    }

    /// Returns a writer to the file.
    pub fn writer(&self) -> Writer<&File> {
        Writer::new(self.file(), &self.refused)
    }

    /// Returns a writer that owns its descriptor, for libraries that keep the writer.
    ///
    /// # Errors
    /// When the process has no free descriptor.
    pub(crate) fn owned_writer(&self) -> Result<Writer<File>, Fault> {
        let file = self.file().try_clone().map_err(|error| self.unwritable(error))?;
        Ok(Writer::new(file, &self.refused))
    }

    fn file(&self) -> &File {
        match &self.part {
            #[cfg(target_os = "linux")]
            Part::Unnamed(file) => file,
            Part::Named(file) => file.as_file(),
        }
    }

    /// Appends these bytes.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Fault> {
        self.writer().write_all(bytes).map_err(|error| self.unwritable(error))
    }

    /// Returns the fault of a failed write. It prefers the system's reason, if the system refused a
    /// write.
    pub fn unwritable(&self, error: impl std::fmt::Display) -> Fault {
        match self.refused.get() {
            Some(reason) => unwritable(&self.option, &self.path, reason),
            None => unwritable(&self.option, &self.path, error),
        }
    }

    /// Replaces a fault by the system's refusal of a write that caused it, if there was one.
    pub(crate) fn cause_of(&self, fault: Fault) -> Fault {
        if self.refused.get().is_some() { self.unwritable(&fault) } else { fault }
    }

    /// Puts the file in place of its target. The data reaches the disk before the name does.
    ///
    /// # Errors
    /// When the file cannot be put there.
    pub fn persist(self) -> Result<(), Fault> {
        if let Ok(before) = self.target.metadata() {
            // Keep the permissions as far as possible: those of another user's file cannot be kept.
            let _ = self.file().set_permissions(before.permissions());
        }
        self.file().sync_all().map_err(|error| self.unwritable(error))?;
        let NewFile { option, path, target, part, .. } = self;
        part.put(&target).map_err(|error| unwritable(&option, &path, error))?;
        // If the folder cannot be synchronized, it holds the file nevertheless.
        let _ = File::open(folder_of(&target)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Part {
    /// Creates an empty file on the file system of this folder.
    fn new(folder: &Path) -> io::Result<Part> {
        #[cfg(target_os = "linux")]
        if let Ok(file) = unnamed::open(folder) {
            return Ok(Part::Unnamed(file));
        }
        named(folder).map(Part::Named)
    }

    fn put(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Part::Unnamed(file) => unnamed::put(&file, target),
            Part::Named(file) => {
                let beside = file.path().to_owned();
                file.persist(target).map_err(|error| error.error)?;
                unfinished().retain(|path| *path != beside);
                Ok(())
            }
        }
    }
}

/// Returns a builder of temporary names beside other files. They are short, because file names have
/// a maximum length.
fn beside() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".ssdlab-").suffix(".part").rand_bytes(12);
    builder
}

/// Creates a file with a temporary name in this folder, with the permissions of any new file.
fn named(folder: &Path) -> io::Result<NamedTempFile> {
    let open = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    let file = beside().make_in(folder, open)?;
    let mut unfinished = unfinished();
    unfinished.retain(|path| path.exists());
    unfinished.push(file.path().to_owned());
    drop(unfinished);
    Ok(file)
}

/// Resolves all symbolic links at the end of a path. The final path need not exist.
///
/// # Errors
/// When the links form a loop, or lead to an open file of a process. A file put in its place would
/// lack the old contents and everything still written to them.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..=MAX_LINKS {
        let Ok(next) = path.read_link() else { return Ok(path) };
        #[cfg(target_os = "linux")]
        if is_of_a_process(&path) && path.metadata().is_ok_and(|about| about.is_file()) {
            return Err(io::Error::other("names an open file, expected a path to the file"));
        }
        path = folder_of(&path).join(next);
    }
    Err(rustix::io::Errno::LOOP.into())
}

/// Returns whether a link is the kernel's name for an open file of a process, such as the target of
/// `/dev/stdout`.
#[cfg(target_os = "linux")]
fn is_of_a_process(link: &Path) -> bool {
    rustix::fs::statfs(folder_of(link))
        .is_ok_and(|about| about.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

/// Returns the folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses a target that no file can replace.
fn check_writable(target: &Path) -> io::Result<()> {
    if target.as_os_str().is_empty() {
        return Err(rustix::io::Errno::NOENT.into());
    }
    match target.metadata() {
        Ok(about) => match no_file(&about) {
            Some(what) => Err(io::Error::other(what)),
            None => Ok(access(target, Access::WRITE_OK)?),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns a description of anything that is not a regular file.
pub(crate) fn no_file(about: &Metadata) -> Option<&'static str> {
    if about.is_file() {
        None
    } else if about.is_dir() {
        Some("is a folder")
    } else {
        Some("is a pipe or a device")
    }
}

fn unwritable(option: &str, path: &Path, error: impl std::fmt::Display) -> Fault {
    let path = path.display().to_string();
    Fault::new(option, format!("cannot write {path:?}: {}", reason(error)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Begins a new file at this path, with or without a temporary name.
    fn begun(path: &Path, is_named: bool) -> NewFile {
        let file = NewFile::new("", path).unwrap();
        if is_named {
            let part = Part::Named(named(folder_of(&file.target)).unwrap());
            NewFile { part, ..file }
        } else {
            file
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_in_place_of_one_that_is_there_or_not() {
        for is_named in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("f");
            for text in ["one", "two"] {
                let file = begun(&path, is_named);
                file.write(text.as_bytes()).unwrap();
                file.write(b" more").unwrap();
                assert_ne!(
                    fs::read(&path).unwrap_or_default(),
                    format!("{text} more").into_bytes()
                );
                file.persist().unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), format!("{text} more"));
                assert_eq!(names(folder.path()), ["f"]);
            }
        }
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for is_named in [false, true] {
            fs::write(&path, "before").unwrap();
            let file = begun(&path, is_named);
            file.write(b"half").unwrap();
            assert_eq!(names(folder.path()).len(), 1 + usize::from(is_named));
            drop(file);
            assert_eq!(names(folder.path()), ["f"]);
            assert_eq!(fs::read(&path).unwrap(), b"before");
        }
    }

    #[test]
    fn unfinished_files_are_removed_at_exit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        // A thread without a join never drops its file.
        std::mem::forget(begun(&path, true));
        begun(&path, true).persist().unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        // Other tests write their own files at the same time.
        let ours = |path: &PathBuf| path.starts_with(folder.path());
        let (left, others) = unfinished().drain(..).partition(ours);
        *unfinished() = left;
        remove_unfinished();
        unfinished().extend::<Vec<PathBuf>>(others);
        assert_eq!(names(folder.path()), ["f"]);
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("real", at("link")).unwrap();
        for text in ["new", "again"] {
            let file = begun(&at("link"), false);
            file.write(text.as_bytes()).unwrap();
            file.persist().unwrap();
            assert_eq!(at("link").read_link().unwrap(), Path::new("real"));
            assert_eq!(fs::read_to_string(at("real")).unwrap(), text);
        }
    }

    #[test]
    fn rights_are_those_of_a_new_file_or_of_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, path) = (folder.path().join("plain"), folder.path().join("f"));
        let rights = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        File::create(&plain).unwrap();
        for is_named in [false, true] {
            let _ = fs::remove_file(&path);
            begun(&path, is_named).persist().unwrap();
            assert_eq!(rights(&path), rights(&plain));
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            begun(&path, is_named).persist().unwrap();
            assert_eq!(rights(&path), 0o640);
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused_in_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("loop", at("loop")).unwrap();
        fs::write(at("file"), "").unwrap();
        let refused = |path: &Path| {
            let line = NewFile::new("--json", path).unwrap_err().to_string();
            line.rsplit(": ").next().unwrap().to_owned()
        };
        assert_eq!(refused(folder.path()), "is a folder");
        assert_eq!(refused(Path::new("/dev/null")), "is a pipe or a device");
        assert_eq!(refused(&at("no/such")), "No such file or directory");
        assert_eq!(refused(&at("file/in")), "Not a directory");
        assert_eq!(refused(&at("loop")), "Too many levels of symbolic links");
        assert_eq!(refused(&at(&"x".repeat(256))), "File name too long");
        assert_eq!(
            NewFile::new("", &at("no/f")).unwrap_err().to_string(),
            format!("cannot write {:?}: No such file or directory", at("no/f"))
        );
        assert_eq!(names(folder.path()), ["file", "loop"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_open_file_is_not_replaced() {
        use std::os::fd::AsRawFd;

        let folder = tempfile::tempdir().unwrap();
        let file = File::create_new(folder.path().join("all")).unwrap();
        let number = file.as_raw_fd();
        symlink(format!("/dev/fd/{number}"), folder.path().join("soft")).unwrap();
        let names =
            ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"].map(|at| format!("{at}/{number}"));
        let soft = folder.path().join("soft");
        for path in names.iter().map(Path::new).chain([soft.as_path()]) {
            let line = NewFile::new("--log", path).unwrap_err().to_string();
            let expected = "names an open file, expected a path to the file";
            assert_eq!(line, format!("--log: cannot write {path:?}: {expected}"));
        }
    }

    #[test]
    fn the_longest_name_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x".repeat(255));
        for is_named in [false, true, false] {
            begun(&path, is_named).persist().unwrap();
        }
    }
}
