//! The plane on which a logical page is written: dealt out in a fixed order, or the one with the
//! least to do.

use ssdlab_nand::{Geometry, Lpn, PlaneId};

/// The order in which static allocation deals logical pages to channels, chips (ways), dies and
/// planes: the first letter's part changes fastest.
#[derive(Clone, Debug)]
pub struct PlaneOrder {
    /// The plane of each position of the round.
    planes: Box<[PlaneId]>,
}

impl PlaneOrder {
    /// The order spelled by four letters, one each of `CWDP`.
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

    /// The plane of a logical page under static allocation.
    #[inline]
    pub fn plane_of(&self, lpn: Lpn) -> PlaneId {
        self.planes[(lpn.0 % self.planes.len() as u32) as usize]
    }

    /// The planes in the order of the round.
    pub fn planes(&self) -> &[PlaneId] {
        &self.planes
    }
}

/// The planes on which the host's pages are written.
#[derive(Clone, Debug)]
pub struct WritePlanes {
    order: PlaneOrder,
    dynamic: bool,
    /// Where dynamic allocation looks first.
    cursor: usize,
}

impl WritePlanes {
    /// Planes that are dealt out in this order or, under dynamic allocation, asked in it.
    pub fn new(order: PlaneOrder, dynamic: bool) -> WritePlanes {
        WritePlanes { order, dynamic, cursor: 0 }
    }

    /// Whether a page may be written on any plane.
    #[inline]
    pub fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// The order in which static allocation deals them out.
    pub fn order(&self) -> &PlaneOrder {
        &self.order
    }

    /// The plane of a logical page under static allocation.
    #[inline]
    pub fn home(&self, lpn: Lpn) -> PlaneId {
        self.order.plane_of(lpn)
    }

    /// The plane with the least to do. One that is full, and so waits for an erase, takes no more
    /// while another can. Among equals the next in turn.
    pub fn least_loaded(
        &mut self,
        load: impl Fn(PlaneId) -> u32,
        is_full: impl Fn(PlaneId) -> bool,
    ) -> PlaneId {
        let planes = self.order.planes();
        let mut best: Option<(u32, usize)> = None;
        for step in 0..planes.len() {
            let at = (self.cursor + step) % planes.len();
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
        self.cursor = (at + 1) % planes.len();
        planes[at]
    }
}
