//! The state that all parts of a drive share: requests, map, flash, policies, statistics.
//!
//! A part gets the machine as an argument of each call. The machine knows no part.

mod enqueue;
mod hints;
mod levels;
mod lifetime;
mod page_waits;
mod pages;
pub(super) mod policies;
mod publish;
mod reassessments;
mod requests;
mod same_page;
mod wear_out;

use std::sync::Arc;

use ssdlab_base::SimTime;
use ssdlab_nand::Geometry;
pub(super) use wear_out::WearOut;
pub use wear_out::{Life, LifeMark};

use super::start::{self, Start};
use crate::audit::Auditor;
use crate::config::{Allocation, Resolved};
use crate::flash::Flash;
use crate::ftl::{Ftl, PlaneOrder, WritePlanes};
use crate::host::Host;
use crate::stats::Stats;
use lifetime::Lifetime;
use policies::Policies;

/// The state that all parts of a drive share.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) resolved: Arc<Resolved>,
    pub(super) geometry: Geometry,
    pub(super) now: SimTime,
    /// The requests under way, and the order of those that share a page.
    pub(super) host: Host,
    pub(super) ftl: Ftl,
    /// The planes on which the host's pages are written.
    pub(super) planes: WritePlanes,
    pub(super) flash: Flash,
    pub(super) policies: Policies,
    /// By plane, whether a job empties a block of it.
    pub(super) collecting: Box<[bool]>,
    /// The statistics since they began.
    pub(super) stats: Stats,
    pub(super) lifetime: Lifetime,
    /// The auditor, in paranoid mode.
    pub(super) auditor: Option<Box<Auditor>>,
}

impl Machine {
    /// Returns the number of blocks and the number of classes.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.ftl.blocks.len(), self.resolved.classes.count)
    }

    /// Returns the machine of a drive in this start state.
    pub(super) fn new(resolved: Arc<Resolved>, mut start: Start) -> Machine {
        start.cells.are_of(&resolved.chip);
        let Start { mut ftl, cells, mut metadata } = start;
        start::begin(&resolved, &mut metadata, &mut ftl, &cells);
        let config = &resolved.config;
        let geometry = resolved.geometry().clone();
        let order = PlaneOrder::new(&config.ftl.allocation_order, &geometry);
        let mut machine = Machine {
            now: SimTime::START,
            host: Host::new(config.host.queues, config.host.queue_depth, config.host.supersedes()),
            ftl,
            planes: WritePlanes::new(order, config.ftl.allocation == Allocation::Dynamic),
            flash: Flash::new(&geometry, resolved.flash.clone(), cells),
            policies: Policies::new(&resolved, metadata),
            collecting: vec![false; geometry.plane_count() as usize].into(),
            stats: Stats::new(config.host.queues as usize, SimTime::START),
            lifetime: Lifetime::new(&resolved),
            auditor: None,
            geometry,
            resolved,
        };
        machine.publish_open_blocks();
        machine.track_wear_out();
        machine
    }
}
