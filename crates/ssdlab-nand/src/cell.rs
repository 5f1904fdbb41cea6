//! Cell types by bits per cell.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of bits that a cell stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cell {
    /// One bit: every page is alike.
    Slc,
    /// Two bits: lower and upper page.
    Mlc,
    /// Three bits: lower, center and upper page.
    Tlc,
    /// Four bits.
    Qlc,
}

impl Cell {
    /// Returns the bits in a cell. This is also the number of pages that share a wordline.
    pub const fn bits(self) -> u32 {
        match self {
            Cell::Slc => 1,
            Cell::Mlc => 2,
            Cell::Tlc => 3,
            Cell::Qlc => 4,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cell::Slc => "slc",
            Cell::Mlc => "mlc",
            Cell::Tlc => "tlc",
            Cell::Qlc => "qlc",
        })
    }
}
