//! Files without a name, which can be given one (Linux).

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Opens a file without a name on the disk of this folder, with the rights that any new file has.
///
/// # Errors
/// When the file system knows none, or the process has no way back to one.
pub(super) fn open(folder: &Path) -> io::Result<File> {
    let mut options = File::options();
    let file = options.read(true).write(true).custom_flags(libc::O_TMPFILE).open(folder)?;
    way_to(&file).symlink_metadata().map(|_| file)
}

/// Gives the file this name, in place of a file that has it.
///
/// # Errors
/// When it cannot have it.
pub(super) fn put(file: &File, target: &Path) -> io::Result<()> {
    match link(file, target) {
        // A link replaces nothing: the file needs a name from which it can be renamed.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let folder = super::folder_of(target);
            let (_, beside) =
                super::beside().make_in(folder, |path| link(file, path))?.into_parts();
            // It is removed if it cannot be renamed.
            fs::rename(&beside, target).map(|()| std::mem::forget(beside))
        }
        linked => linked,
    }
}

/// Gives the file a name that nothing has.
fn link(file: &File, path: &Path) -> io::Result<()> {
    let c_string = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (from, to) = (c_string(&way_to(file))?, c_string(path)?);
    // SAFETY: both are strings that end in a NUL and live until the call is over.
    let done = unsafe {
        let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The name that leads back to an open file.
fn way_to(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}
