//! The order in which static allocation deals logical pages to the planes.

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
