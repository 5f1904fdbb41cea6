//! All array units of a drive, the planes of each, and the list of free units to serve.

use std::ops::{Index, IndexMut};

use ssdlab_base::SimTime;
use ssdlab_nand::{Geometry, PlaneId};

use super::unit::{State, Unit};

/// An array unit's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitId(pub u32);

impl UnitId {
    /// Returns the number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The array units.
#[derive(Clone, Debug)]
pub struct Units {
    units: Box<[Unit]>,
    /// The number of each plane's unit.
    of_planes: Box<[u32]>,
    /// Units that became free, or that were given work while free.
    to_serve: Vec<UnitId>,
}

impl Units {
    /// Creates free units, each of `planes_per_unit` planes.
    pub(super) fn new(geometry: &Geometry, planes_per_unit: u32) -> Units {
        let planes = geometry.plane_count();
        let unit = |unit| {
            let first = PlaneId(unit * planes_per_unit);
            Unit::new(first, planes_per_unit, geometry.channel_of(first).0)
        };
        Units {
            units: (0..planes / planes_per_unit).map(unit).collect(),
            of_planes: (0..planes).map(|plane| plane / planes_per_unit).collect(),
            to_serve: Vec::new(),
        }
    }

    /// Returns the number of units.
    pub(super) fn count(&self) -> usize {
        self.units.len()
    }

    /// Returns every unit with its number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (UnitId, &Unit)> {
        (0..).map(UnitId).zip(&self.units)
    }

    /// Returns the first plane, the number of planes and the channel of every unit.
    pub fn layout(&self) -> impl Iterator<Item = (PlaneId, u32, u16)> + '_ {
        self.units.iter().map(|unit| (unit.first_plane, unit.plane_count, unit.channel))
    }

    /// Returns the number of a plane's unit.
    #[inline]
    pub fn id_of(&self, plane: PlaneId) -> UnitId {
        UnitId(self.of_planes[plane.index()])
    }

    /// Returns a plane's unit.
    #[inline]
    pub fn of(&self, plane: PlaneId) -> &Unit {
        &self.units[self.of_planes[plane.index()] as usize]
    }

    /// Returns a plane's unit, for changes.
    #[inline]
    pub(super) fn of_mut(&mut self, plane: PlaneId) -> &mut Unit {
        &mut self.units[self.of_planes[plane.index()] as usize]
    }

    /// Returns the busy nanoseconds of every unit until `now`.
    pub(super) fn busy(&self, now: SimTime) -> Vec<u64> {
        self.units.iter().map(|unit| unit.busy(now)).collect()
    }

    /// Lists a unit to be served, if the unit is free.
    #[inline]
    pub(super) fn list(&mut self, id: UnitId) {
        let unit = &mut self[id];
        if unit.state == State::Idle && !unit.listed {
            unit.listed = true;
            self.to_serve.push(id);
        }
    }

    /// Returns whether [`Units::take_idle`] has a unit to return.
    pub(crate) fn has_idle(&self) -> bool {
        !self.to_serve.is_empty()
    }

    /// Takes a unit that became free, or that was given work while free.
    #[inline]
    pub fn take_idle(&mut self) -> Option<UnitId> {
        let id = self.to_serve.pop()?;
        self[id].listed = false;
        Some(id)
    }
}

impl Index<UnitId> for Units {
    type Output = Unit;
    #[inline]
    fn index(&self, id: UnitId) -> &Unit {
        &self.units[id.index()]
    }
}

impl IndexMut<UnitId> for Units {
    #[inline]
    fn index_mut(&mut self, id: UnitId) -> &mut Unit {
        &mut self.units[id.index()]
    }
}
