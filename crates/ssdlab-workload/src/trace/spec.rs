//! Parses a trace as a command line names it: `FILE` or `FILE:format`.

use std::path::{Path, PathBuf};

use ssdlab_base::Fault;

use super::input::shown;
use crate::formats::Format;

/// Splits `FILE[:format]`.
///
/// A path may contain colons: if the whole text is an existing file, it is the path. Otherwise the
/// text after the last colon is a format. Text with a slash, a backslash or a dot is part of the
/// path instead.
///
/// # Errors
/// Fails if the text after the colon is no format, or if no file is named.
pub fn parse_spec(spec: &str) -> Result<(PathBuf, Option<Format>), Fault> {
    let fault = |what: &str| Fault::new("", what).got(format!("{spec:?}"));
    if spec.is_empty() {
        return Err(fault("no trace is named").expected("FILE or FILE:format"));
    }
    if spec.contains('\0') {
        return Err(fault("a path cannot hold a NUL").expected("FILE or FILE:format"));
    }
    let whole = || Ok((PathBuf::from(spec), None));
    let Some((path, suffix)) = spec.rsplit_once(':') else {
        return whole();
    };
    if Path::new(spec).exists() || suffix.contains(['/', '\\', '.']) {
        return whole();
    }
    if path.is_empty() {
        return Err(fault("no trace is named").expected("FILE or FILE:format"));
    }
    match suffix.parse() {
        Ok(format) => Ok((PathBuf::from(path), Some(format))),
        Err(unknown) => Err(Fault { source: shown(Path::new(spec)), ..unknown }),
    }
}
