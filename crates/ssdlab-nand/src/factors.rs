//! Helpers of the physics models: factors of page types and program modes, and codeword sizes.

use ssdlab_base::Bytes;

use crate::conditions::Conditions;
use crate::each::Each;
use crate::geometry::Geometry;
use crate::page_order::PageType;
use crate::program_mode::ProgramModes;
use crate::refusal::{Refusal, positive};

/// Returns the index of the factor for a page's type and program mode.
pub(crate) fn factor_index(c: &Conditions) -> usize {
    c.program_mode.index() * PageType::MAX_COUNT + c.page_type.index()
}

/// Returns the factors on the base term, by program mode and page type.
pub(crate) fn factors(
    page_types: &Each<f64>,
    key: &str,
    geometry: &Geometry,
    program_modes: &ProgramModes,
) -> Result<Vec<f64>, Refusal> {
    page_types.check(
        key,
        geometry.cell.bits() as usize,
        &format!("page type of {}", geometry.cell),
    )?;
    for &factor in page_types.declared() {
        positive(key, factor)?;
    }
    let per_class = |&class: &f64| (0..PageType::MAX_COUNT).map(move |t| class * page_types.of(t));
    Ok(program_modes.base_factor.iter().flat_map(per_class).collect())
}

/// Returns the bits of a codeword of 64 B to 1 MiB.
pub(crate) fn bits(codeword: Bytes, key: &str) -> Result<f64, Refusal> {
    if (64..=1 << 20).contains(&codeword.get()) {
        Ok((codeword.get() * 8) as f64)
    } else {
        Err(Refusal::new(key, codeword, "64B to 1MiB"))
    }
}
