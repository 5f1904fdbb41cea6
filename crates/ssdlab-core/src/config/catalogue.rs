//! The presets and the schemes that ssdlab ships, by name.

/// A named piece of config.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Its text, in TOML.
    pub toml: &'static str,
}

macro_rules! presets {
    ($($name:literal: $summary:literal),+ $(,)?) => {
        &[$(Entry {
            name: $name,
            summary: $summary,
            toml: include_str!(concat!("presets/", $name, ".toml")),
        }),+]
    };
}

/// The drives.
pub const PRESETS: &[Entry] = presets![
    "generic-mlc-512g": "conventional MLC drive, fixed times: for comparisons and speed",
    "generic-tlc-2t": "conventional TLC drive of 2 TB, fixed times",
    "dlv-mlc-128g": "the MLC drive of the DLV paper, fixed times",
];

/// The schemes.
pub const SCHEMES: &[Entry] =
    &[Entry { name: "conventional", summary: "every slot as the device declares it", toml: "" }];
