//! PA-SSD: all pages of a write go to pages of one type, so that no request waits for its slowest
//! page.
//!
//! Source: W. Zhang et al., "PA-SSD: A Page-Type Aware TLC SSD for Improved Write/Read Performance
//! and Storage Efficiency", ICS 2018, section 4.2. The allocator finds a page of the requested type
//! (`ftl/relaxed.rs`, section 4.3).
//!
//! The schemes are links of the `placement` chain. Each chooses the type of some writes and leaves
//! the others to the next link. `sbs+us` is `placement = ["sbs", "us", "ubs"]`: the last link
//! chooses the types of pages that garbage collection moves.
//!
//! - [`us`]: each type in turn;
//! - [`hgs`]: as the host hints;
//! - [`lfs`]: always the lowest;
//! - [`sbs`]: the lowest for small writes;
//! - [`qds`]: the lowest while the queue is long;
//! - [`wbs`]: the lowest while the write buffer is full;
//! - [`ubs`]: at random, in proportion to the free pages of each type; also for pages that move.

pub(crate) mod hgs;
pub(crate) mod lfs;
pub(crate) mod qds;
pub(crate) mod sbs;
pub(crate) mod ubs;
pub(crate) mod us;
pub(crate) mod wbs;

use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{Cell, PageType};

use ssdlab_policy::account::Cause;
use ssdlab_policy::placement::PlacementView;
use ssdlab_policy::{PlacementHint, PolicyContext};

/// The lowest page of a wordline, which is the fastest to program.
const LSB: PageType = PageType(0);

/// Checks that page types can be chosen on the drive.
fn needs_types(name: &str, context: &PolicyContext) -> Result<(), Refusal> {
    let refused = |expected: &str| Err(Refusal::new("placement", name, expected));
    match (context.geometry.cell, context.typed_pages) {
        (Cell::Slc, _) => {
            refused("no link that chooses a page type: cells of one bit have one type")
        }
        (_, true) => Ok(()),
        (_, false) => refused(
            "page types to choose from: a `pa-ssd/…` scheme, which sets ftl.page_order = \"relaxed\" \
             and what it costs",
        ),
    }
}

/// Returns whether a host write has no page type yet.
fn is_open(view: &PlacementView, hint: &PlacementHint) -> bool {
    view.cause == Cause::Host && hint.page_type.is_none()
}

#[cfg(test)]
mod tests {
    use ssdlab_base::Bytes;
    use ssdlab_nand::{Cell, Geometry};

    use super::*;
    use ssdlab_policy::Policy;
    use ssdlab_policy::placement::PlacementPolicy;
    use ssdlab_policy::testing::SMALL;

    fn context(cell: Cell) -> PolicyContext {
        let geometry = Geometry { pages: 12, page_size: Bytes::from_kib(8), cell, ..SMALL };
        PolicyContext { typed_pages: true, ..PolicyContext::plain(geometry, 1) }
    }

    fn build<P: Policy>(config: P::Config) -> P {
        P::build(&config, &context(Cell::Tlc))
    }

    /// Returns the type that a link asks for if no link before it has.
    fn requested(link: &mut impl PlacementPolicy, view: PlacementView) -> Option<u8> {
        let mut hint = PlacementHint::default();
        link.fill(&view, &mut hint);
        hint.page_type.map(|page_type| page_type.0)
    }

    const VIEW: fn() -> PlacementView<'static> = PlacementView::plain;
    fn moved() -> PlacementView<'static> {
        PlacementView { cause: Cause::Gc, ..VIEW() }
    }

    #[test]
    fn us_rotates_among_the_types_that_are_left_to_it() {
        let mut us: us::Us = build(us::UsConfig {});
        assert_eq!(
            [0; 4].map(|_| requested(&mut us, VIEW())),
            [Some(0), Some(1), Some(2), Some(0)]
        );
        let mut typed = PlacementHint { page_type: Some(PageType(2)), ..PlacementHint::default() };
        us.fill(&VIEW(), &mut typed);
        assert_eq!(typed.page_type, Some(PageType(2)));
        assert_eq!([moved(), VIEW()].map(|view| requested(&mut us, view)), [None, Some(1)]);
    }

    #[test]
    fn hgs_gives_a_short_latency_the_lowest_type() {
        let hinted = |cell, hint| {
            let mut hgs = hgs::Hgs::build(&hgs::HgsConfig {}, &context(cell));
            assert!(hgs::Hgs::needs(&hgs::HgsConfig {}).hints);
            requested(&mut hgs, PlacementView { hint, ..VIEW() })
        };
        let of = |cell| [0, 1, 2, 3].map(|hint| hinted(cell, hint));
        assert_eq!(of(Cell::Tlc), [None, Some(0), Some(1), Some(2)]);
        assert_eq!(of(Cell::Mlc), [None, Some(0), Some(0), Some(1)]);
        assert_eq!(of(Cell::Qlc), [None, Some(0), Some(1), Some(3)]);
    }

    #[test]
    fn lfs_gives_every_write_of_the_host_the_lowest_type() {
        let mut lfs: lfs::Lfs = build(lfs::LfsConfig {});
        assert_eq!([VIEW(), moved()].map(|view| requested(&mut lfs, view)), [Some(0), None]);
    }

    #[test]
    fn sbs_gives_small_writes_the_lowest_type() {
        let mut by_pages: sbs::Sbs = build(sbs::SbsConfig::default());
        let mut by_bytes: sbs::Sbs = build(sbs::SbsConfig { below: Some(Bytes::from_kib(16)) });
        let of = |pages, kib: u64| PlacementView { pages, bytes: kib << 10, ..VIEW() };
        for (pages, kib, one, below) in
            [(1, 8, true, true), (2, 12, false, true), (2, 16, false, false)]
        {
            assert_eq!(requested(&mut by_pages, of(pages, kib)).is_some(), one);
            assert_eq!(requested(&mut by_bytes, of(pages, kib)).is_some(), below);
        }
    }

    #[test]
    fn qds_gives_the_lowest_type_beyond_its_threshold() {
        let mut qds: qds::Qds = build(qds::QdsConfig::default());
        let mut always: qds::Qds = build(qds::QdsConfig { threshold: 0 });
        for (unfinished, long) in [(1, false), (10, false), (11, true)] {
            let view = PlacementView { unfinished, ..VIEW() };
            assert_eq!(requested(&mut qds, view), long.then_some(0));
            assert_eq!(requested(&mut always, view), Some(0), "as lfs");
        }
    }

    #[test]
    fn wbs_gives_the_lowest_type_while_the_buffer_is_full() {
        let mut wbs: wbs::Wbs = build(wbs::WbsConfig {});
        for (buffer_full, expected) in [(false, None), (true, Some(0))] {
            assert_eq!(requested(&mut wbs, PlacementView { buffer_full, ..VIEW() }), expected);
        }
    }

    #[test]
    fn ubs_draws_in_proportion_to_what_is_free() {
        let mut ubs: ubs::Ubs = build(ubs::UbsConfig {});
        let mut drawn = [0u32; 3];
        for _ in 0..6000 {
            let view = PlacementView { free: [100, 200, 300, 0], ..moved() };
            drawn[usize::from(requested(&mut ubs, view).unwrap())] += 1;
        }
        // Six standard deviations.
        for (count, expected) in drawn.into_iter().zip([1000u32, 2000, 3000]) {
            assert!(count.abs_diff(expected) < 230, "{drawn:?}");
        }
        let none_left = PlacementView { free: [0, 0, 7, 0], ..VIEW() };
        assert_eq!(requested(&mut ubs, none_left), Some(2));
        assert_eq!(requested(&mut ubs, PlacementView { free: [0; 4], ..VIEW() }), None);
    }

    #[test]
    fn without_types_to_choose_from_they_are_refused() {
        let strict = PolicyContext { typed_pages: false, ..context(Cell::Tlc) };
        let refused = us::Us::check(&us::UsConfig {}, &strict).unwrap_err();
        assert!(refused.to_string().contains("relaxed"), "{refused}");
        assert!(us::Us::check(&us::UsConfig {}, &context(Cell::Tlc)).is_ok());
    }
}
