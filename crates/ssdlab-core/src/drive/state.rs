//! The contents of a drive without its policies, for state files and for other drives.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Serialize, Serializer};
use ssdlab_nand::Geometry;

use super::machine::Machine;
use super::machine::policies::Listener;
use super::start::{restore_reserved, save_classes, save_free_order, save_free_ranks};
use super::{Drive, Start};
use crate::config::{RESERVE_BLOCKS, Resolved};
use crate::flash::Facts;
use crate::ftl::{self, BlockTable, SavedMap, SavedOpen};
use crate::policy::columns::SavedColumns;
use crate::saved::{Limits, SavedPart};

/// The contents of an idle drive: map, block table, open blocks, and the history of the cells.
/// Serialized as a tuple of columns; read by [`Unchecked::reader`].
#[derive(Clone, Debug)]
pub struct Media {
    pub(super) map: SavedMap,
    pub(super) blocks: BlockTable,
    pub(super) open: SavedOpen,
    pub(super) facts: Facts,
    /// The saved columns of the metadata components and the policies.
    policies: SavedColumns,
}

/// Number of columns of a [`Media`]: the sum over its parts.
const COLUMNS: usize = SavedMap::COLUMNS
    + BlockTable::COLUMNS
    + SavedOpen::COLUMNS
    + Facts::COLUMNS
    + SavedColumns::COLUMNS;

impl Serialize for Media {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut to = to.serialize_tuple(COLUMNS)?;
        self.map.write(&mut to)?;
        self.blocks.write(&mut to)?;
        self.open.write(&mut to)?;
        self.facts.write(&mut to)?;
        self.policies.write(&mut to)?;
        to.end()
    }
}

/// Contents that were read from a file and not checked yet.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Unchecked(Media);

impl Unchecked {
    /// Returns a reader for the contents of a drive within these limits.
    pub fn reader<'a, 'de>(
        limits: &'a Limits<'a>,
    ) -> impl DeserializeSeed<'de, Value = Unchecked> + use<'a, 'de> {
        Reader(limits)
    }

    /// Returns the largest number of bytes that [`Unchecked::check`] takes.
    pub fn check_takes(geometry: &Geometry) -> u64 {
        ftl::check_takes(geometry)
    }

    /// Returns the contents, if an idle drive of this shape can have held them.
    ///
    /// # Errors
    /// The first inconsistency.
    pub fn check(self, geometry: &Geometry) -> Result<Media, String> {
        self.0.audit(geometry).map(|()| self.0)
    }
}

/// Why a drive cannot take over the contents of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The other drive had another shape.
    OtherShape,
    /// No drive can have saved these contents.
    Inconsistent(String),
}

struct Reader<'a>(&'a Limits<'a>);

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Unchecked;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Unchecked, D::Error> {
        from.deserialize_tuple(COLUMNS, self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Unchecked;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the contents of a drive")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Unchecked, A::Error> {
        let (from, limits) = (&mut from, self.0);
        Ok(Unchecked(Media {
            map: SavedMap::read(from, limits)?,
            blocks: BlockTable::read(from, limits)?,
            open: SavedOpen::read(from, limits)?,
            facts: Facts::read(from, limits)?,
            policies: SavedColumns::read(from, limits)?,
        }))
    }
}

impl Media {
    /// Returns the number of logical pages, including those of the map itself.
    pub fn logical_pages(&self) -> u32 {
        self.map.logical_pages() as u32
    }

    /// Returns how many of the first `logical_pages` logical pages hold data. These are the pages
    /// that the host can address.
    pub fn mapped_pages(&self, logical_pages: u64) -> u64 {
        self.map.mapped(usize::try_from(logical_pages).unwrap_or(usize::MAX)).into()
    }

    /// Returns the saved columns of the metadata components and the policies.
    pub fn policies(&self) -> &SavedColumns {
        &self.policies
    }

    /// Checks that an idle drive of this shape can have held the contents. The time grows with
    /// their size.
    ///
    /// # Errors
    /// The first inconsistency.
    pub fn audit(&self, geometry: &Geometry) -> Result<(), String> {
        let Media { map, blocks, open, facts, .. } = self;
        ftl::check(geometry, map, blocks, open, RESERVE_BLOCKS)?;
        facts.check(geometry, |block| (blocks.written(block), blocks.is_open(block)))
    }
}

/// The places of the drive's own columns in a state file.
const WRITE_PLANES: &str = "drive/write_planes";
const MOVES: &str = "drive/moves";

impl Drive {
    /// Returns the contents of the flash and its tables, without extra memory beside the drive's.
    /// `None` while an operation is under way, or while the buffer holds data that is not
    /// programmed.
    pub fn media(mut self) -> Option<Media> {
        let unwritten = self.buffer.pages.as_ref().is_some_and(|buffer| {
            let mut pages = buffer.pages();
            pages.any(|(_, page)| page.dirty != 0)
        });
        if !self.is_idle() || unwritten {
            return None;
        }
        // A policy that waits for a dropped relocation would wait forever.
        self.background.drop_waiting(&mut self.machine, None);
        Some(Media {
            policies: self.saved_columns(),
            map: self.machine.ftl.map.save(),
            blocks: self.machine.ftl.blocks,
            open: self.machine.ftl.alloc.save(),
            facts: self.machine.flash.cells.save(self.machine.now),
        })
    }

    /// Returns a drive with this config that holds these contents. A component or policy that the
    /// saved drive had, with the same columns, continues with its saved state and timer; others
    /// start afresh.
    ///
    /// # Errors
    /// If the contents are those of a drive of another shape, or if the saved state of a policy is
    /// impossible.
    pub fn with_media(resolved: Arc<Resolved>, mut media: Media) -> Result<Drive, Misfit> {
        let policies = std::mem::take(&mut media.policies);
        let start = Start::of(&resolved, media, &policies)?;
        let mut drive = Drive::at_start(resolved, start);
        let places = drive.restore_columns(&policies).map_err(Misfit::Inconsistent)?;
        let Machine { resolved, ftl, policies: own, .. } = &mut drive.machine;
        restore_reserved(resolved, &mut own.metadata, ftl, &policies)?;
        if let Some(moves) = &mut drive.background.moves {
            moves.recount(
                &drive.machine.ftl.map,
                &drive.machine.geometry,
                drive.machine.planes.order(),
            );
        }
        let continued = drive.restore_started(places, &policies).map_err(Misfit::Inconsistent)?;
        drive.publish_started(&continued);
        Ok(drive)
    }

    fn saved_columns(&mut self) -> SavedColumns {
        let mut saved = self.machine.policies.saved(self.machine.shape());
        let now = self.machine.now;
        let places = self.machine.policies.places();
        self.background.drive_wide.save_timers(now, &places, &mut saved);
        save_classes(&self.machine.resolved, &self.machine.ftl.blocks, &mut saved);
        save_free_order(&self.machine.ftl, &mut saved);
        save_free_ranks(&self.machine.resolved, &self.machine.ftl, &mut saved);
        if let Some((place, columns)) = self.machine.lifetime.columns(&self.machine.resolved.config)
        {
            saved.add(&place, &columns);
        }
        saved.add(WRITE_PLANES, &[self.machine.planes.column()]);
        if let Some(moves) = &mut self.background.moves {
            saved.add(MOVES, &moves.columns());
        }
        self.save_started(&mut saved);
        saved
    }

    /// Restores columns and timers. Returns the components and policies that continue, each with
    /// its place in the config. The others begin empty, and without a timer.
    fn restore_columns(&mut self, saved: &SavedColumns) -> Result<Vec<(Listener, String)>, String> {
        let places = self.machine.policies.restore(self.machine.shape(), saved)?;
        self.background.drive_wide.restore_timers(&places, saved)?;
        if let Some((place, mut columns)) =
            self.machine.lifetime.columns(&self.machine.resolved.config)
        {
            saved.restore(&place, &mut columns)?;
        }
        saved.restore(WRITE_PLANES, &mut [self.machine.planes.column()])?;
        self.background.restore_moves(&self.machine.resolved, MOVES, saved)?;
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::columns::{Column, Per};

    const TIMER: &str = "read_start/last_vref/timer";

    #[test]
    fn a_policy_whose_columns_do_not_fit_starts_anew_without_its_timer() {
        let resolved = |layers: u32| {
            let config = format!(
                "geometry = {{ channels = 1, chips = 1, dies = 1, planes = 1, blocks = 16, \
                 pages = 8, page_size = \"4KiB\", cell = \"mlc\" }}\n\
                 timing = {{ read = \"50us\", program = \"200us\", erase = \"1ms\" }}\n\
                 ftl.overprovisioning = 0.4\nphysics.retries = {{}}\n\
                 read_start.last_vref.layers = {layers}"
            );
            Arc::new(Resolved::new(&toml::from_str(&config).unwrap(), 1).unwrap())
        };
        let drive = Drive::new(resolved(2));
        let mut media = drive.media().expect("a drive at rest");
        media.policies.add(TIMER, &[Column::new("left", Per::Drive, &mut 5_000u64)]);
        for (layers, continues) in [(2, true), (4, false)] {
            let after = Drive::with_media(resolved(layers), media.clone()).expect("the same shape");
            let saved = after.media().expect("a drive at rest").policies;
            let mut left = 0u64;
            let timer = saved.restore(TIMER, &mut [Column::new("left", Per::Drive, &mut left)]);
            assert_eq!((timer, left > 0), (Ok(continues), continues), "{layers} layers");
        }
    }
}
