//! `placement`: what kind of block and page does this write want?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{Bytes, SimTime};
use ssdlab_nand::{BlockId, Lpn, PageType};

use crate::Hotness;
use crate::account::{Cause, Priority};
use crate::allocation::Streams;
use crate::component::Components;
use crate::{PlacementHint, Policy, PolicyContext};

/// What a placement may look at. It is asked once for a request, whose pages all have its hint;
/// and once for each page that leaves the buffer or is moved. For a page that leaves the buffer the
/// request is the write that waits for its place or, if none does, the one that wrote it last.
#[derive(Clone, Copy, Debug)]
pub struct PlacementView<'a> {
    /// What the page is written for.
    pub cause: Cause,
    /// The present moment.
    pub now: SimTime,
    /// The first logical page of the request, or the page that leaves the buffer or is moved.
    pub lpn: Lpn,
    /// The submission queue's priority.
    pub priority: Priority,
    /// The latency that the host hints at: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
    /// Pages of the request; 1 of what is moved.
    pub pages: u32,
    /// Bytes of the request; a page's of what is moved.
    pub bytes: u64,
    /// Requests that the drive has accepted and not ended, this one among them.
    pub unfinished: u32,
    /// Whether nothing more fitted into the buffer when the page left it; true without a buffer.
    pub buffer_full: bool,
    /// What the page is mostly used for, of one that leaves the buffer or is moved where that is
    /// known.
    pub hotness: Option<Hotness>,
    /// Free pages of each type on the drive; counted in the relaxed order alone.
    pub free: [u64; PageType::MOST],
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

/// For which writes a link chooses a page type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Typed {
    /// For none.
    #[default]
    Nothing,
    /// For some of the host's.
    Some,
    /// For every one of the host's.
    Host,
    /// For every one, what is moved among them.
    All,
}

impl Typed {
    /// Whether a link behind one of these has nothing left to type, though it would.
    pub fn leaves_nothing_to(self, behind: Typed) -> bool {
        behind != Typed::Nothing && self >= behind.max(Typed::Host)
    }
}

/// What a link of the placement chain needs of the drive, besides what it is told of each write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlacementNeeds {
    /// The writes for which it chooses a page type.
    pub types: Typed,
    /// Whether it is asked for each page as well ([`PlacementPolicy::fill_page`]).
    pub pages: bool,
    /// Whether it heeds the host's latency hints.
    pub hints: bool,
}

/// A page that is about to be written, as a link of the placement chain sees it.
#[derive(Clone, Copy, Debug)]
pub struct PageView<'a> {
    /// The logical page.
    pub lpn: Lpn,
    /// What it is written for.
    pub cause: Cause,
    /// The present moment.
    pub now: SimTime,
    /// The priority of its request's submission queue.
    pub priority: Priority,
    /// Bytes of its request; a page's of what is moved.
    pub bytes: u64,
    /// The block that holds it now: the version that is overwritten, or that from which it is
    /// moved.
    pub from: Option<BlockId>,
    /// The metadata components that the drive keeps.
    pub components: Components<'a>,
}

/// A link of the placement chain.
pub trait PlacementPolicy: Policy {
    /// The streams among which it chooses: a writer has a block open for each, in every plane and
    /// class.
    fn streams(_: &Self::Config) -> Streams {
        Streams::ONE
    }

    /// Fills what is still open in the hint.
    fn fill(&mut self, view: &PlacementView, hint: &mut PlacementHint);

    /// What it needs of the drive.
    fn needs(&self) -> PlacementNeeds {
        PlacementNeeds::default()
    }

    /// Fills what is still open in the hint of one page, after [`fill`](PlacementPolicy::fill).
    fn fill_page(&mut self, _: &PageView, _: &mut PlacementHint) {}
}

impl PlacementView<'_> {
    /// Returns a write of one page of this size, alone on a drive of which nothing else is known.
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
            free: [0; PageType::MOST],
            components: Components::NONE,
        }
    }

    /// A write of one page by the host, alone on a drive with free pages of every type.
    pub fn plain() -> PlacementView<'static> {
        let of_a_page = PlacementView::of_a_page(Cause::Host, Bytes::from_kib(4));
        PlacementView { buffer_full: false, free: [100; PageType::MOST], ..of_a_page }
    }
}

impl PageView<'_> {
    /// Returns the view of one page of a write, of which nothing but that is known.
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

/// Asks for nothing: the next page of the plane's open block will do.
#[derive(Clone, Debug)]
pub struct NextPage;

impl Policy for NextPage {
    type Config = NextPageConfig;

    fn build(_: &Self::Config, _: &PolicyContext) -> NextPage {
        NextPage
    }
}

impl PlacementPolicy for NextPage {
    #[inline]
    fn fill(&mut self, _: &PlacementView, _: &mut PlacementHint) {}
}
