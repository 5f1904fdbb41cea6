//! `placement`: which kind of block and page takes a write?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Bytes, SimTime};
use ssdlab_nand::{BlockId, Lpn, PageType};

use crate::Hotness;
use crate::account::{Cause, Priority};
use crate::allocation::Streams;
use crate::component::Components;
use crate::{PlacementHint, Policy, PolicyContext};

/// The view of a placement policy. The drive asks once for each request, and all its pages get the
/// same hint. It also asks once for each page that leaves the buffer or moves. For a page that
/// leaves the buffer, the request is the write that waits for its slot. If no write waits, it is
/// the last request that wrote the page.
#[derive(Clone, Copy, Debug)]
pub struct PlacementView<'a> {
    /// Why the page is written.
    pub cause: Cause,
    /// The current time.
    pub now: SimTime,
    /// The first logical page of the request, or the page that leaves the buffer or is moved.
    pub lpn: Lpn,
    /// The priority of the submission queue.
    pub priority: Priority,
    /// The latency hint of the host: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
    /// Pages of the request; 1 for a page that moves.
    pub pages: u32,
    /// Bytes of the request; the page size for a page that moves.
    pub bytes: u64,
    /// Requests that the drive has accepted and not finished, including this one.
    pub unfinished: u32,
    /// Whether the buffer was full when the page left it; true without a buffer.
    pub buffer_full: bool,
    /// The hotness of a page that leaves the buffer or moves, if the drive knows it.
    pub hotness: Option<Hotness>,
    /// Free pages of each type on the drive. The drive counts them only in the relaxed order.
    pub free: [u64; PageType::MAX_COUNT],
    /// The metadata components that the drive keeps, if a link needs one.
    pub components: Components<'a>,
}

/// The writes for which a link of the chain chooses a page type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Typed {
    /// No writes.
    #[default]
    Nothing,
    /// Some host writes.
    Some,
    /// All host writes.
    Host,
    /// All writes, including pages that move.
    All,
}

impl Typed {
    /// Returns whether a link behind this one would choose page types but finds all of them chosen.
    pub fn leaves_nothing_to(self, behind: Typed) -> bool {
        behind != Typed::Nothing && self >= behind.max(Typed::Host)
    }
}

/// The needs of a link of the placement chain besides its views.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlacementNeeds {
    /// The writes for which the link chooses a page type.
    pub types: Typed,
    /// Whether the drive also asks the link for each page ([`PlacementPolicy::fill_page`]).
    pub pages: bool,
    /// Whether the link heeds the latency hints of the host.
    pub hints: bool,
}

/// The view of a page that is about to be written, for a link of the placement chain.
#[derive(Clone, Copy, Debug)]
pub struct PageView<'a> {
    /// The logical page.
    pub lpn: Lpn,
    /// Why the page is written.
    pub cause: Cause,
    /// The current time.
    pub now: SimTime,
    /// The priority of the request's submission queue.
    pub priority: Priority,
    /// Bytes of the request; the page size for a page that moves.
    pub bytes: u64,
    /// The block that holds the page now: the version that the write replaces, or the source of the
    /// move.
    pub from: Option<BlockId>,
    /// The metadata components that the drive keeps, if a link needs one.
    pub components: Components<'a>,
}

/// A link of the placement chain.
pub trait PlacementPolicy: Policy {
    /// Returns the streams among which the link chooses. Each writer has an open block for each
    /// stream, in every plane and class.
    fn streams(_: &Self::Config) -> Streams {
        Streams::ONE
    }

    /// Fills the fields of the hint that are still open.
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint);

    /// Returns the link's needs with these settings.
    fn needs(_: &Self::Config) -> PlacementNeeds {
        PlacementNeeds::default()
    }

    /// Fills the open fields of the hint of one page, after [`fill`](PlacementPolicy::fill).
    fn fill_page(&mut self, _: &PageView, _: &mut PlacementHint) {}
}

impl PlacementView<'_> {
    /// Returns a write of one page of this size, alone on a drive about which nothing else is
    /// known.
    pub fn of_a_page(cause: Cause, page_size: Bytes) -> PlacementView<'static> {
        PlacementView {
            cause,
            now: SimTime::START,
            lpn: Lpn(0),
            priority: Priority::HIGHEST,
            hint: 0,
            pages: 1,
            bytes: page_size.get(),
            unfinished: 1,
            buffer_full: true,
            hotness: None,
            free: [0; PageType::MAX_COUNT],
            components: Components::NONE,
        }
    }

    /// Returns a host write of one page, alone on a drive with free pages of every type.
    pub fn plain() -> PlacementView<'static> {
        let of_a_page = PlacementView::of_a_page(Cause::Host, Bytes::from_kib(4));
        PlacementView { buffer_full: false, free: [100; PageType::MAX_COUNT], ..of_a_page }
    }
}

impl PageView<'_> {
    /// Returns the view of one page of a write about which nothing else is known.
    pub fn of_write(lpn: Lpn, write: &PlacementView) -> PageView<'static> {
        let PlacementView { cause, now, priority, bytes, .. } = *write;
        let components = Components::NONE;
        PageView { lpn, cause, now, priority, bytes, from: None, components }
    }
}

/// `next_page` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextPageConfig {}

/// Asks for nothing: the write takes the next page of the plane's open block.
#[derive(Clone, Debug)]
pub struct NextPage;

impl Policy for NextPage {
    type Config = NextPageConfig;

    fn build(_: &Self::Config, _: &PolicyContext) -> NextPage {
        NextPage
    }
}

impl PlacementPolicy for NextPage {
    fn fill(&mut self, _: &PlacementView, _: &mut PlacementHint) {}
}
