//! Files without a name, which can get one later (Linux).

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Opens a file without a name on the file system of this folder, with the permissions of any new
/// file.
///
/// # Errors
/// When the file system does not support such files, or `/proc` is not available.
pub(super) fn open(folder: &Path) -> io::Result<File> {
    let mut options = File::options();
    let file = options.read(true).write(true).custom_flags(libc::O_TMPFILE).open(folder)?;
    proc_path(&file).symlink_metadata().map(|_| file)
}

/// Gives the file this name, and replaces a file that already has it.
///
/// # Errors
/// When the file cannot get the name.
pub(super) fn put(file: &File, target: &Path) -> io::Result<()> {
    match link(file, target) {
        // A link cannot replace a file. The file first gets a temporary name, and is then renamed.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let folder = super::folder_of(target);
            let (_, beside) =
                super::beside().make_in(folder, |path| link(file, path))?.into_parts();
            // Dropping `beside` removes the file. Keep it after a successful rename.
            fs::rename(&beside, target).map(|()| std::mem::forget(beside))
        }
        linked => linked,
    }
}

/// Gives the file a new name.
fn link(file: &File, path: &Path) -> io::Result<()> {
    let c_string = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (from, to) = (c_string(&proc_path(file))?, c_string(path)?);
    // SAFETY: both are strings that end in a NUL and live until the call is over.
    let done = unsafe {
        let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the name in `/proc` of an open file.
fn proc_path(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}
