//! Start states shared by several plans. The first plan that needs one creates it, each plan gets a
//! copy, and the last plan takes the original.

use std::sync::{Arc, Mutex};

use ssdlab_base::Fault;
use ssdlab_core::Drive;
use ssdlab_core::drive::{Media, Start};

use crate::precondition::PreconditionResult;
use crate::state::Header;

/// The start state that a plan's drive shares with those of other plans.
#[derive(Clone, Debug)]
pub(crate) enum Begins {
    /// Drawn at random.
    Drawn(Arc<Common<Start>>),
    /// Read from a state file.
    Saved(Arc<Common<(Header, Media)>>),
    /// Overwritten until the drive was steady.
    Steady(Arc<Common<(Drive, PreconditionResult)>>),
}

/// A value that several plans need.
#[derive(Debug)]
pub(crate) struct Common<T>(Mutex<Inside<T>>);

#[derive(Debug)]
struct Inside<T> {
    /// The number of plans that have not asked for it yet.
    left: usize,
    made: Option<T>,
}

impl<T: Clone> Common<T> {
    pub(crate) fn new(plans: usize) -> Arc<Common<T>> {
        Arc::new(Common(Mutex::new(Inside { left: plans, made: None })))
    }

    /// Returns the value for one plan, and whether another plan made it. While one plan makes it,
    /// the others wait. Returns `None` if stopped.
    pub(crate) fn get(
        &self,
        make: impl FnOnce() -> Result<Option<T>, Fault>,
    ) -> Result<Option<(T, bool)>, Fault> {
        let mut inside = self.0.lock().expect("a panic while one is made ends them all");
        inside.left -= 1;
        let copied = inside.made.is_some();
        if !copied {
            inside.made = make()?;
        }
        let one = match inside.left {
            0 => inside.made.take(),
            _ => inside.made.clone(),
        };
        Ok(one.map(|one| (one, copied)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_makes_the_start_and_the_last_takes_it() {
        let common = Common::new(3);
        let (one, copied) = common.get(|| Ok(Some(Arc::new(())))).unwrap().unwrap();
        assert_eq!((copied, Arc::strong_count(&one)), (false, 2));
        let (two, copied) = common.get(|| unreachable!("it is there")).unwrap().unwrap();
        assert_eq!((copied, Arc::strong_count(&two)), (true, 3));
        let (three, copied) = common.get(|| unreachable!("it is there")).unwrap().unwrap();
        assert_eq!((copied, Arc::strong_count(&three)), (true, 3));
    }

    #[test]
    fn a_start_that_could_not_be_made_is_tried_again() {
        let common: Arc<Common<u8>> = Common::new(3);
        assert!(common.get(|| Err(Fault::new("it", "fails"))).is_err());
        assert_eq!(common.get(|| Ok(None)), Ok(None));
        assert_eq!(common.get(|| Ok(Some(1))), Ok(Some((1, false))));
    }
}
