//! Publishes that a drive has started, once to each policy.

use super::Drive;
use super::machine::policies::Listener;
use crate::policy::columns::{Column, Per, SavedColumns};
use crate::policy::event::{Event, EventMask};

const STARTED: &str = "started";

fn place_of(place: &str) -> String {
    format!("drive/started/{place}")
}

impl Drive {
    /// Publishes that the drive has started to its listeners, except those that continue from a
    /// state file, and carries out their actions.
    pub(super) fn publish_started(&mut self, continued: &[Listener]) {
        let (policies, now) = (&mut self.machine.policies, self.machine.now);
        for listener in policies.listeners_of(EventMask::DRIVE_STARTED) {
            if !continued.contains(&listener) {
                policies.publish_to(now, listener, &Event::DriveStarted);
            }
        }
        if policies.have_pending() {
            self.act_at_once();
        }
    }

    /// Returns those of the listeners, each with its place in the config, that subscribe to the
    /// start.
    fn started(&self, mut places: Vec<(Listener, String)>) -> Vec<(Listener, String)> {
        let listeners = self.machine.policies.listeners_of(EventMask::DRIVE_STARTED);
        places.retain(|(listener, _)| listeners.contains(listener));
        places
    }

    /// Saves which policies have received the event.
    pub(super) fn save_started(&mut self, to: &mut SavedColumns) {
        let places = self.machine.policies.places();
        for (_, place) in self.started(places) {
            to.add(&place_of(&place), &[Column::new(STARTED, Per::Drive, &mut 1u8)]);
        }
    }

    /// Returns those of the policies at `places` that received the event before the state file was
    /// saved.
    ///
    /// # Errors
    /// If a saved value is impossible.
    pub(super) fn restore_started(
        &self,
        places: Vec<(Listener, String)>,
        from: &SavedColumns,
    ) -> Result<Vec<Listener>, String> {
        let mut continued = Vec::new();
        for (listener, place) in self.started(places) {
            let mut started = 0u8;
            let mut column = [Column::new(STARTED, Per::Drive, &mut started).up_to(1)];
            if from.restore(&place_of(&place), &mut column)? {
                continued.push(listener);
            }
        }
        Ok(continued)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ssdlab_base::{Nanos, SimTime};

    use crate::config::Resolved;
    use crate::drive::Drive;
    use crate::drive::machine::policies::Listener;
    use crate::host::{Op, Request};
    use crate::policy::columns::SavedColumns;
    use crate::policy::event::{Action, EventMask};

    fn resolved() -> Arc<Resolved> {
        let config = "geometry = { channels = 1, chips = 1, dies = 1, planes = 1, blocks = 16, \
                      pages = 8, page_size = \"4KiB\", cell = \"mlc\" }\n\
                      timing = { read = \"50us\", program = \"200us\", erase = \"1ms\" }\n\
                      ftl.overprovisioning = 0.4\nstart.fill = 0.5";
        Arc::new(Resolved::new(&toml::from_str(config).unwrap(), 1).unwrap())
    }

    fn write(drive: &mut Drive) {
        let now = drive.now();
        let (op, sectors) = (Op::Write, 8);
        let request = Request { tag: 0, arrival: now, op, lba: 0, sectors, queue: 0, hint: 0 };
        drive.submit(now, request).expect("room for a request");
        while let Some(next) = drive.next_event() {
            drive.advance(next, &mut Vec::new());
        }
    }

    #[test]
    fn a_drive_starts_once_before_its_first_request() {
        let mut drive = Drive::new(resolved());
        let mut fork = drive.clone();
        write(&mut drive);
        assert_eq!(drive.take_events(), ["DriveStarted at 0 ns, 0 ns for the cells"]);
        write(&mut drive);
        assert!(drive.take_events().is_empty());
        // A fork has the event of its origin, and no other.
        write(&mut fork);
        assert_eq!(fork.take_events().len(), 1);
    }

    #[test]
    fn after_a_state_file_only_new_policies_start() {
        let mut drive = Drive::new(resolved());
        write(&mut drive);
        let media = drive.clone().media().expect("a drive at rest");
        let mut continued = Drive::with_media(resolved(), media).expect("the same drive");
        assert!(continued.take_events().is_empty(), "it continues");
        drive.record_events(EventMask::NONE);
        let media = drive.media().expect("a drive at rest");
        let mut new = Drive::with_media(resolved(), media).expect("the same drive");
        assert_eq!(new.take_events().len(), 1, "the saved drive had no such policy");
    }

    #[test]
    fn a_policy_that_begins_empty_starts_again() {
        let mut drive = Drive::new(resolved());
        let mut saved = SavedColumns::default();
        drive.save_started(&mut saved);
        let places = drive.machine.policies.places();
        let continued = drive.restore_started(places, &saved);
        assert_eq!(continued, Ok(vec![Listener::Record]));
        let restored_none = drive.restore_started(Vec::new(), &saved);
        assert_eq!(restored_none, Ok(Vec::new()));
    }

    #[test]
    fn a_timer_that_is_set_at_the_start_comes_due_without_a_request() {
        let mut drive = Drive::at_start(resolved(), crate::drive::Start::draw(&resolved(), &[]));
        drive.machine.policies.ask(Action::SetTimer { after: Nanos::from_ms(2) });
        drive.publish_started(&[]);
        drive.take_events();
        drive.advance(SimTime::from_ns(1_999_999), &mut Vec::new());
        assert!(drive.take_events().is_empty());
        drive.advance(SimTime::from_ns(2_000_000), &mut Vec::new());
        assert_eq!(drive.take_events().len(), 1);
    }
}
