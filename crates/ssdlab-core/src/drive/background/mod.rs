//! Background operations: a block's pages move elsewhere and the block is erased, or single pages
//! move.

mod actions;
mod drive_wide;
mod jobs;
mod moves;
mod relocation;

use super::machine::Machine;
use drive_wide::DriveWide;
use jobs::Jobs;
use moves::Moves;

/// What is relocated, and who wants it.
#[derive(Clone, Debug)]
pub(super) struct Background {
    /// What runs on each plane.
    pub(super) jobs: Jobs,
    /// What waits for its plane or its time.
    pub(super) drive_wide: DriveWide,
    /// Where pages may move that the host reads, if they do.
    pub(super) moves: Option<Box<Moves>>,
}

impl Background {
    /// Nothing runs, waits or moves.
    pub(super) fn new(machine: &Machine) -> Background {
        let (resolved, policies) = (&machine.resolved, &machine.policies.background);
        let planes = resolved.geometry().plane_count();
        let migrates = policies.iter().any(|policy| policy.needs().migrates);
        Background {
            jobs: Jobs::new(planes, policies),
            drive_wide: DriveWide::new(policies, planes, resolved.config.flash.time_scale),
            moves: migrates.then(|| Box::new(Moves::new(resolved))),
        }
    }
}
