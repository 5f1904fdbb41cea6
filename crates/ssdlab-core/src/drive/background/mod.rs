//! Background operations: whole blocks are emptied and erased, or single pages move.

mod actions;
mod drive_wide;
mod jobs;
mod moves;
mod relocation;

use super::machine::Machine;
use crate::config::Resolved;
use crate::policy::columns::SavedColumns;
use drive_wide::DriveWide;
use jobs::Jobs;
use moves::Moves;

/// The relocations of a drive.
#[derive(Clone, Debug)]
pub(super) struct Background {
    /// The running job of each plane.
    pub(super) jobs: Jobs,
    /// The jobs that wait for their planes, and the timers.
    pub(super) drive_wide: DriveWide,
    /// The moves of single pages; `None` if the drive had none so far.
    pub(super) moves: Option<Box<Moves>>,
    /// Whether a policy declares that it moves pages that the host has read.
    pub(super) migrates: bool,
}

impl Background {
    /// Returns the state of a drive without relocations.
    pub(super) fn new(machine: &Machine) -> Background {
        let (resolved, policies) = (&machine.resolved, &machine.policies.background);
        let planes = resolved.geometry().plane_count();
        let migrates = policies.iter().any(|policy| policy.needs().migrates);
        Background {
            jobs: Jobs::new(planes, policies),
            drive_wide: DriveWide::new(policies, planes, resolved.config.flash.time_scale),
            moves: migrates.then(|| Box::new(Moves::new(resolved))),
            migrates,
        }
    }

    /// Continues the moves of a saved drive.
    ///
    /// # Errors
    /// If a saved value is out of range.
    pub(super) fn restore_moves(
        &mut self,
        resolved: &Resolved,
        place: &str,
        from: &SavedColumns,
    ) -> Result<(), String> {
        let own = self.moves.take();
        let has_own = own.is_some();
        let mut moves = own.unwrap_or_else(|| Box::new(Moves::new(resolved)));
        let has_saved = from.restore(place, &mut moves.columns())?;
        self.moves = (has_own || has_saved).then_some(moves);
        Ok(())
    }
}
