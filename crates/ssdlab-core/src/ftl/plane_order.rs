//! The plane of each written page: the next in a fixed order, or the plane with the least work.

use ssdlab_nand::{Geometry, Lpn, PlaneId};
use ssdlab_policy::columns::{Column, Per};

/// The order in which static allocation assigns logical pages to channels, chips (ways), dies and
/// planes. The part of the first letter changes fastest.
#[derive(Clone, Debug)]
pub struct PlaneOrder {
    /// The plane of each position in the order.
    planes: Box<[PlaneId]>,
}

impl PlaneOrder {
    /// Creates the order spelled by four letters, one each of `CWDP`.
    pub fn new(letters: &str, geometry: &Geometry) -> PlaneOrder {
        let count = |letter| match letter {
            'C' => geometry.channels,
            'W' => geometry.chips,
            'D' => geometry.dies,
            _ => geometry.planes,
        };
        let planes = (0..geometry.plane_count()).map(|position| {
            let mut rest = position;
            let (mut channel, mut chip, mut die, mut plane) = (0, 0, 0, 0);
            for letter in letters.chars() {
                let digit = rest % count(letter);
                rest /= count(letter);
                match letter {
                    'C' => channel = digit,
                    'W' => chip = digit,
                    'D' => die = digit,
                    _ => plane = digit,
                }
            }
            geometry.plane_at(channel, chip, die, plane)
        });
        PlaneOrder { planes: planes.collect() }
    }

    /// Returns the plane of a logical page under static allocation.
    #[inline]
    pub fn plane_of(&self, lpn: Lpn) -> PlaneId {
        self.planes[(lpn.0 % self.planes.len() as u32) as usize]
    }

    /// Returns the planes in this order.
    pub fn planes(&self) -> &[PlaneId] {
        &self.planes
    }
}

/// Selects the planes on which the host's pages are written.
#[derive(Clone, Debug)]
pub(crate) struct WritePlanes {
    order: PlaneOrder,
    dynamic: bool,
    /// Position at which dynamic allocation starts its search.
    cursor: u32,
}

impl WritePlanes {
    /// Creates the selection, static or dynamic, with this order of planes.
    pub(crate) fn new(order: PlaneOrder, dynamic: bool) -> WritePlanes {
        WritePlanes { order, dynamic, cursor: 0 }
    }

    /// Returns whether a page may be written on any plane.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// Returns the column that a state file carries.
    pub(crate) fn column(&mut self) -> Column<'_> {
        let last = self.order.planes.len() as u64 - 1;
        Column::new("write_plane", Per::Drive, &mut self.cursor).up_to(last)
    }

    /// Returns the order of static allocation.
    pub(crate) fn order(&self) -> &PlaneOrder {
        &self.order
    }

    /// Returns the plane of a logical page under static allocation.
    pub(crate) fn home(&self, lpn: Lpn) -> PlaneId {
        self.order.plane_of(lpn)
    }

    /// Returns the plane with the least work; of equals the next in the order. Full planes, which
    /// wait for an erase, come last.
    pub(crate) fn least_loaded(
        &mut self,
        load: impl Fn(PlaneId) -> u32,
        is_full: impl Fn(PlaneId) -> bool,
    ) -> PlaneId {
        let planes = self.order.planes();
        let mut best: Option<(u32, usize)> = None;
        for step in 0..planes.len() {
            let at = (self.cursor as usize + step) % planes.len();
            let load = load(planes[at]);
            if best.is_some_and(|(least, _)| load >= least) {
                continue;
            }
            let load = load + if is_full(planes[at]) { u32::MAX / 2 } else { 0 };
            if best.is_none_or(|(least, _)| load < least) {
                best = Some((load, at));
            }
            if load == 0 {
                break;
            }
        }
        let (_, at) = best.expect("a drive has planes");
        self.cursor = ((at + 1) % planes.len()) as u32;
        planes[at]
    }
}
