//! Translates page operations by the page map. Of a map that is cached in part, operations wait for
//! their entries. The drive reads, writes back and updates translation pages like any other page.

use std::collections::BTreeSet;

use ssdlab_nand::{Lpn, PlaneId};

use super::Step;
use super::Translation;
use crate::account::{Cause, OpKind};
use crate::audit::audit_event;
use crate::drive::machine::Machine;
use crate::flash::{Fifo, NewTxn, Owner, Txn, TxnId};
use crate::ftl::{Entry, MapCache, MapRoom, MapShape};
use crate::host::Op;
use crate::policy::event::Event;

/// The cached part of the map, and the operations that wait for other parts.
#[derive(Clone, Debug)]
pub(in crate::drive) struct Mapping {
    cache: MapCache,
    /// Operations that wait for the translation page of each slot.
    waiting: Vec<Fifo>,
    /// Operations that wait for a slot.
    starved: Fifo,
    /// By plane, the translation pages that its job has changed and that are not cached.
    moved: Vec<BTreeSet<u32>>,
}

impl Mapping {
    /// Returns an empty cache.
    pub(crate) fn new(shape: MapShape, planes: u32) -> Mapping {
        Mapping {
            cache: MapCache::new(shape),
            waiting: vec![Fifo::EMPTY; shape.slots as usize],
            starved: Fifo::EMPTY,
            moved: vec![BTreeSet::new(); planes as usize],
        }
    }
}

impl Translation {
    /// Sends a page operation to the flash, unless an earlier operation on the same page is under
    /// way.
    #[inline(always)]
    pub(in crate::drive) fn acquire(&mut self, machine: &mut Machine, id: TxnId) -> Step {
        if machine.acquire_page(id, true) { self.translate(machine, id) } else { Step::InProgress }
    }

    /// Enqueues a page operation at its plane, as soon as the map entry of its page is cached.
    pub(in crate::drive) fn translate(&mut self, machine: &mut Machine, id: TxnId) -> Step {
        if self.ensure_mapping_cached(machine, id) {
            self.continue_with_entry(machine, id)
        } else {
            Step::InProgress
        }
    }

    /// Continues an operation whose map entry is cached.
    #[inline(always)]
    pub(in crate::drive) fn continue_with_entry(
        &mut self,
        machine: &mut Machine,
        id: TxnId,
    ) -> Step {
        match machine.flash.txns[id].kind {
            OpKind::Read => self.translate_read(machine, id),
            OpKind::Program => {
                self.translate_write(machine, id);
                Step::InProgress
            }
            OpKind::Erase => Step::Trims,
        }
    }

    #[inline(always)]
    fn translate_read(&mut self, machine: &mut Machine, id: TxnId) -> Step {
        let Some(plane) = machine.locate(id) else { return Step::Unmapped };
        self.dispatch.send(machine, id, plane);
        Step::InProgress
    }

    #[inline(always)]
    fn translate_write(&mut self, machine: &mut Machine, id: TxnId) {
        machine.make_hint(id);
        let rest = machine.rest_to_read(id);
        if rest != 0 {
            machine.flash.txns.read_rest_first(id, rest);
            if let Some(plane) = machine.locate(id) {
                return self.dispatch.send(machine, id, plane);
            }
            unreachable!("a page that must be read first lies somewhere");
        }
        let plane = machine.plane_for_write(id);
        self.dispatch.send(machine, id, plane);
    }

    /// Programs the page of a write whose old content was read. The program includes the old
    /// content.
    #[inline(never)]
    pub(in crate::drive) fn write_after_read(&mut self, machine: &mut Machine, id: TxnId) {
        machine.note_page_read(id);
        let Txn { lpn, .. } = machine.flash.txns[id];
        audit_event!(machine, merges(id, machine.flash.txns[id].mask));
        let page = machine.ftl.map.sectors(lpn).unwrap_or(machine.geometry.page_mask());
        machine.flash.txns.program_with_rest(id, page);
        let plane = machine.plane_for_write(id);
        self.dispatch.send(machine, id, plane);
    }

    /// Returns the operations that wait for entries of the map.
    pub(in crate::drive) fn waiting_for_entries(&self, machine: &Machine) -> Vec<TxnId> {
        let lists = self.mapping.iter().flat_map(|all| all.waiting.iter().chain([&all.starved]));
        lists.flat_map(|list| list.ids(&machine.flash.txns)).collect()
    }

    /// Returns whether the entry of an operation's page is cached. If not, the operation waits for
    /// it.
    pub(in crate::drive) fn ensure_mapping_cached(
        &mut self,
        machine: &mut Machine,
        id: TxnId,
    ) -> bool {
        self.mapping.is_none() || self.look_up(machine, id)
    }

    fn look_up(&mut self, machine: &mut Machine, id: TxnId) -> bool {
        let txn = &machine.flash.txns[id];
        if matches!(txn.owner, Owner::Map { .. }) {
            return true;
        }
        let mapping = self.mapping.as_mut().expect("a map that is held in part");
        match mapping.cache.look_up(txn.lpn) {
            Entry::Here => {
                machine.stats.map.hits += 1;
                return true;
            }
            Entry::Coming => machine.stats.map.misses += 1,
            Entry::Absent => {
                machine.stats.map.misses += 1;
                self.load_for(machine, id);
                return false;
            }
        }
        let mapping = self.mapping.as_mut().expect("a map that is held in part");
        let page = mapping.cache.page_of(machine.flash.txns[id].lpn);
        let slot = mapping.cache.slot_of(page).expect("it is on its way");
        mapping.waiting[slot].push(&mut machine.flash.txns, id);
        false
    }

    /// Reads the translation page that an operation needs, as soon as the cache has a slot for it.
    fn load_for(&mut self, machine: &mut Machine, id: TxnId) {
        let mapping = self.mapping.as_mut().expect("a map that is held in part");
        let page = mapping.cache.page_of(machine.flash.txns[id].lpn);
        let room = match mapping.cache.slot_of(page) {
            // Another operation has requested the page in the meantime.
            Some(_) => None,
            None => Some(mapping.cache.begin_load(page)),
        };
        if room == Some(MapRoom::None) {
            return mapping.starved.push(&mut machine.flash.txns, id);
        }
        let slot = mapping.cache.slot_of(page).expect("it has one");
        mapping.waiting[slot].push(&mut machine.flash.txns, id);
        if let Some(MapRoom::AfterWriting(old)) = room {
            machine.stats.map.written_back += 1;
            self.map_operation(machine, old, OpKind::Program, false);
        }
        if room.is_some() {
            self.map_operation(machine, page, OpKind::Read, false);
        }
    }

    /// Notes that a translation page is on the flash. If entries changed meanwhile, updates it
    /// again.
    pub(in crate::drive) fn page_written(&mut self, machine: &mut Machine, page: u32) {
        let mapping = self.mapping.as_mut().expect("a map that is held in part");
        if mapping.cache.paid(page) {
            self.change_on_flash(machine, page);
        }
    }

    /// Notes that a translation page has arrived. Returns the operations that wait for its entries.
    pub(in crate::drive) fn page_loaded(&mut self, machine: &mut Machine, page: u32) -> Fifo {
        let mapping = self.mapping.as_mut().expect("a map that is held in part");
        mapping.cache.loaded(page);
        let (first, count) = mapping.cache.entries_of(page);
        machine.publish(&Event::EntriesLoaded { first, count });
        let slot = mapping.cache.slot_of(page).expect("it has come");
        std::mem::take(&mut mapping.waiting[slot])
    }

    /// Gives slots that have become free to the operations that wait for one. Returns the first
    /// whose entry has arrived meanwhile; `None` once no slot is free or no operation waits.
    pub(in crate::drive) fn next_with_entry(&mut self, machine: &mut Machine) -> Option<TxnId> {
        loop {
            let mapping = self.mapping.as_mut().filter(|mapping| mapping.cache.has_room())?;
            let id = mapping.starved.pop(&machine.flash.txns)?;
            if mapping.cache.look_up(machine.flash.txns[id].lpn) == Entry::Here {
                return Some(id);
            }
            self.load_for(machine, id);
        }
    }

    /// Updates the cached entry of a logical page, or the translation page on the flash.
    pub(in crate::drive) fn entry_changed(&mut self, machine: &mut Machine, lpn: Lpn) {
        if self.mapping.is_some() {
            self.change_entry(machine, lpn);
        }
    }

    #[inline(never)]
    fn change_entry(&mut self, machine: &mut Machine, lpn: Lpn) {
        let Some(mapping) = &mut self.mapping else { return };
        if mapping.cache.is_translation(lpn) || mapping.cache.change(lpn) {
            return;
        }
        let page = mapping.cache.page_of(lpn);
        if mapping.cache.owe(page) {
            self.change_on_flash(machine, page);
        }
    }

    /// Updates the entry of a page that a plane's job has moved. The job's changes reach the flash
    /// together.
    #[inline]
    pub(in crate::drive) fn entry_moved(&mut self, lpn: Lpn, plane: PlaneId) {
        let Some(mapping) = &mut self.mapping else { return };
        if !mapping.cache.is_translation(lpn) && !mapping.cache.change(lpn) {
            mapping.moved[plane.index()].insert(mapping.cache.page_of(lpn));
        }
    }

    /// Writes the entries that a plane's job has changed to the flash, at the end of the job.
    pub(in crate::drive) fn change_moved(&mut self, machine: &mut Machine, plane: PlaneId) {
        let Some(mapping) = &mut self.mapping else { return };
        for page in std::mem::take(&mut mapping.moved[plane.index()]) {
            let mapping = self.mapping.as_mut().expect("a map that is held in part");
            // A page that was loaded in the meantime takes the changes in the cache.
            if mapping.cache.change_page(page) {
                continue;
            }
            if mapping.cache.owe(page) {
                self.change_on_flash(machine, page);
            }
        }
    }

    fn change_on_flash(&mut self, machine: &mut Machine, page: u32) {
        machine.stats.map.changed_on_flash += 1;
        self.map_operation(machine, page, OpKind::Program, true);
    }

    /// Begins an operation on a translation page. With `in_part`, the page is read before it is
    /// written.
    fn map_operation(&mut self, machine: &mut Machine, page: u32, kind: OpKind, in_part: bool) {
        let mapping = self.mapping.as_ref().expect("a map that is held in part");
        let lpn = mapping.cache.lpn_of(page);
        let mask = if in_part { 1 } else { machine.geometry.page_mask() };
        let owner = Owner::Map { page, in_part };
        let new =
            NewTxn { lpn, owner, kind, cause: Cause::Mapping, mask, sectors: mask.count_ones() };
        let id = machine.flash.txns.begin(new, machine.now);
        machine.flash.assign_seq(id);
        let op = if kind == OpKind::Read { Op::Read } else { Op::Write };
        audit_event!(machine, begins(id, &machine.flash.txns[id], op));
        // The map's own pages need no entry.
        let changes = machine.flash.txns[id].changes_page();
        if machine.host.hazards.acquire(&mut machine.flash.txns, id, changes) {
            let step = self.continue_with_entry(machine, id);
            debug_assert_eq!(step, Step::InProgress, "the map was on the flash from the start");
        }
    }
}
