//! Page types: the slowest type of each write, and how often a requested type was granted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_core::Drive;

use super::share;

/// Names of page types in results, the lowest first, by the number of bits of a cell.
const NAMES: [&[&str]; 4] =
    [&["lsb"], &["lsb", "msb"], &["lsb", "csb", "msb"], &["lsb", "2nd", "3rd", "msb"]];

/// Counts by page type; empty where a cell has only one type.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Typed {
    /// Writes by the type of their slowest page: `lsb`, `csb` and `msb` (with two bits in a cell
    /// `lsb` and `msb`; with four `lsb`, `2nd`, `3rd` and `msb`). Writes that a buffer absorbed
    /// have no type. Only where a cell has several types.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub slowest_page_type: BTreeMap<&'static str, u64>,
    /// Share of the pages programmed for the host with a requested type that got that type; only if
    /// any type was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_success: Option<f64>,
    /// Pages by type; only where a cell has several types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_types: Option<PageTypesResult>,
}

/// Pages by their type, the lowest (LSB) first.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct PageTypesResult {
    /// Pages programmed for the host with a request for this type.
    pub requested: Vec<u64>,
    /// The requested pages that got this type.
    pub granted: Vec<u64>,
    /// Free pages of this type at the end of the run.
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
