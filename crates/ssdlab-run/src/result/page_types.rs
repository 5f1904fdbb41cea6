//! Page types: which held writes up, and how often one that was requested was granted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_core::Drive;

use super::share;

/// What page types are called in results, the lowest first, by the bits of a cell.
const NAMES: [&[&str]; 4] =
    [&["lsb"], &["lsb", "msb"], &["lsb", "csb", "msb"], &["lsb", "2nd", "3rd", "msb"]];

/// What came of page types; nothing where a cell has but one.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Typed {
    /// Writes by the type of their slowest page: `lsb`, `csb` and `msb` (of two bits `lsb` and
    /// `msb`, of four `lsb`, `2nd`, `3rd` and `msb`); those that a buffer took have none. Only
    /// where a cell has several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub slowest_page_type: BTreeMap<&'static str, u64>,
    /// The share of the pages programmed for the host for which a type was requested that got one
    /// of it; only if any was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_success: Option<f64>,
    /// Pages by their type; only where a cell has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_types: Option<PageTypesResult>,
}

/// Pages by their type, the lowest (LSB) first.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct PageTypesResult {
    /// Pages programmed for the host for which this type was requested.
    pub requested: Vec<u64>,
    /// Those of them that got a page of this type.
    pub granted: Vec<u64>,
    /// Free pages on the drive at the end.
    pub free: Vec<u64>,
}

impl Typed {
    pub(super) fn of(drive: &Drive) -> Typed {
        let types = drive.resolved().geometry().cell.bits() as usize;
        if types == 1 {
            return Typed::default();
        }
        let counts = &drive.stats().page_types;
        let [requested, granted] =
            [&counts.requested, &counts.granted].map(|by_type| &by_type[..types]);
        let [all, got] = [requested, granted].map(|by_type| by_type.iter().sum());
        Typed {
            slowest_page_type: NAMES[types - 1]
                .iter()
                .copied()
                .zip(counts.slowest_page_type)
                .collect(),
            allocation_success: (all > 0).then(|| share((all, got))),
            page_types: Some(PageTypesResult {
                requested: requested.to_vec(),
                granted: granted.to_vec(),
                free: drive.ftl().free_by_type(),
            }),
        }
    }
}
