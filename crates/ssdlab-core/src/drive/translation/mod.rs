//! Where a page operation goes: to the plane of its page, or to the one on which its page is to be written.

use crate::audit::watch;
use ssdlab_nand::Level;

mod mapping;

use super::dispatch::Dispatcher;
use super::machine::Machine;
use crate::account::{Cause, OpKind};
use crate::flash::TxnId;
use mapping::Mapping;

/// What becomes of a page operation that has its turn, its entry and its place in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Step {
    /// It waits, or is on its way to the flash.
    UnderWay,
    /// It reads a page that was never written, and ends.
    Unmapped,
    /// It unmaps its page, and ends.
    Trims,
}

/// The page map: which part of it is held, and what lies below.
#[derive(Clone, Debug)]
pub(super) struct Translation {
    /// Which part of the map is held, if not all of it.
    pub(super) mapping: Option<Box<Mapping>>,
    pub(super) dispatch: Dispatcher,
}

impl Translation {
    /// Nothing is looked up, and nothing waits.
    pub(super) fn new(machine: &mut Machine) -> Translation {
        let planes = machine.geometry.plane_count();
        let shape = machine.resolved.map_cache;
        Translation {
            mapping: shape.map(|shape| Box::new(Mapping::new(shape, planes))),
            dispatch: Dispatcher::new(machine),
        }
    }

    /// Sends a page operation on to the flash unless an earlier one to the same page is under way.
    #[inline(always)]
    pub(super) fn acquire(&mut self, machine: &mut Machine, id: TxnId) -> Step {
        let changes = machine.flash.txns[id].changes_page();
        if machine.host.hazards.acquire(&mut machine.flash.txns, id, changes) {
            self.translate(machine, id)
        } else {
            Step::UnderWay
        }
    }

    /// Finds the plane of a page operation and enqueues it there, as soon as the entry of its page is held.
    #[inline]
    pub(super) fn translate(&mut self, machine: &mut Machine, id: TxnId) -> Step {
        if self.ensure_mapping_cached(machine, id) {
            self.continue_with_entry(machine, id)
        } else {
            Step::UnderWay
        }
    }

    /// The entry of an operation's page is held.
    #[inline(always)]
    pub(super) fn continue_with_entry(&mut self, machine: &mut Machine, id: TxnId) -> Step {
        match machine.flash.txns[id].kind {
            OpKind::Read => self.translate_read(machine, id),
            OpKind::Program => {
                self.translate_write(machine, id);
                Step::UnderWay
            }
            OpKind::Erase => Step::Trims,
        }
    }

    #[inline(always)]
    fn translate_read(&mut self, machine: &mut Machine, id: TxnId) -> Step {
        let Some(plane) = machine.locate(id) else { return Step::Unmapped };
        self.dispatch.send(machine, id, plane);
        Step::UnderWay
    }

    #[inline(always)]
    fn translate_write(&mut self, machine: &mut Machine, id: TxnId) {
        machine.make_hint(id);
        let rest = machine.rest_to_read(id);
        if rest != 0 {
            let txn = &mut machine.flash.txns[id];
            txn.sectors = rest.count_ones() as u16;
            txn.read_first = true;
            txn.kind = OpKind::Read;
            if txn.cause == Cause::Host {
                txn.cause = Cause::Rmw;
            }
            if let Some(plane) = machine.locate(id) {
                return self.dispatch.send(machine, id, plane);
            }
            unreachable!("a page that must be read first lies somewhere");
        }
        let plane = machine.plane_for_write(id);
        self.dispatch.send(machine, id, plane);
    }

    /// A write's page was read: now it is programmed with what it already held.
    #[inline(never)]
    pub(super) fn write_after_read(&mut self, machine: &mut Machine, id: TxnId) {
        let txn = &mut machine.flash.txns[id];
        watch!(machine, merges(id, txn.mask));
        txn.read_first = false;
        txn.kind = OpKind::Program;
        if txn.cause == Cause::Rmw {
            txn.cause = Cause::Host;
        }
        txn.mask |= machine.ftl.map.sectors(txn.lpn).unwrap_or(machine.geometry.page_mask());
        txn.sectors = txn.mask.count_ones() as u16;
        // What failed while reading no longer explains what comes.
        txn.failed = 0;
        txn.level = Level::FIRST;
        txn.age = None;
        let plane = machine.plane_for_write(id);
        self.dispatch.send(machine, id, plane);
    }
}
