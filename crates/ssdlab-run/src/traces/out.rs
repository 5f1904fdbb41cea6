//! The output file of a trace.

use std::path::{Path, PathBuf};

use ssdlab_base::Fault;
use ssdlab_workload::{
    Format, Packed, Packing, Source, WRITABLE, Written, parse_spec, write_trace,
};

use crate::files::{NamedFile, NewFile, check_distinct};

/// The output file of a trace, with its format and compression.
pub(super) struct Out {
    /// The path, as messages show it.
    shown: String,
    pub(super) format: Format,
    packing: Packing,
    file: NewFile,
}

impl Out {
    /// Parses `OUT` or `OUT:FORMAT`. Checks that the file can be written and is not one of the
    /// inputs.
    pub(super) fn new(spec: &str, inputs: &[PathBuf]) -> Result<Out, Fault> {
        let (path, named) = parse_spec(spec)?;
        let shown = path.display().to_string();
        let (packing, bare) = Packing::of(&path);
        let format = match named {
            Some(format) => format,
            None => by_name(&shown, bare)?,
        };
        let names = WRITABLE.map(Format::name).join(", ");
        if !WRITABLE.contains(&format) {
            let fault = Fault::new(&shown, "a format that is not written").got(format);
            let fault = fault.expected(format!("one of {names}"));
            let is_csv = format == Format::Csv;
            return Err(if is_csv { fault.hint("our own CSV is called ssdlab") } else { fault });
        }
        if format == Format::Parquet && packing != Packing::Plain {
            return Err(Fault::new(&shown, "Parquet in a compressed file")
                .expected("a name that ends in .parquet: its pages are compressed"));
        }
        let read: Vec<NamedFile> = inputs.iter().map(|input| NamedFile::new("IN", input)).collect();
        check_distinct(&read, [&NamedFile::new("OUT", &path)])?;
        Ok(Out { shown, format, packing, file: NewFile::new("OUT", &path)? })
    }

    /// Writes all of a source. Afterwards `keep` decides whether the file appears under its name.
    pub(super) fn write(
        self,
        source: &mut dyn Source,
        keep: impl FnOnce(&Written) -> Result<bool, Fault>,
    ) -> Result<Option<Written>, Fault> {
        let failed = |error: std::io::Error| self.file.unwritable(error);
        let mut packed = Packed::new(self.packing, self.file.writer()).map_err(failed)?;
        let written = write_trace(source, self.format, &self.shown, &mut packed);
        let written = written.map_err(|fault| self.file.cause_of(fault))?;
        packed.finish().map_err(failed)?;
        if !keep(&written)? {
            return Ok(None);
        }
        self.file.persist()?;
        Ok(Some(written))
    }
}

/// Returns the format that the ending of a file's name selects.
fn by_name(shown: &str, bare: &Path) -> Result<Format, Fault> {
    match bare.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(Format::Ssdlab),
        Some("parquet") => Ok(Format::Parquet),
        ending => {
            let names = WRITABLE.map(Format::name).join(", ");
            let got = ending.map_or("no extension".into(), |ending| format!(".{ending}"));
            Err(Fault::new(shown, "no format is named, and the file name has no known extension")
                .got(got)
                .expected(format!(".csv, .parquet or FILE:FORMAT with one of {names}")))
        }
    }
}
