//! What the drives of several plans begin with: the first that needs it makes it, each goes on with
//! a copy of its own, and the last takes it.

use std::sync::{Arc, Mutex};

use ssdlab_base::Fault;
use ssdlab_core::Drive;
use ssdlab_core::drive::{Media, Start};

use crate::precondition::Settled;
use crate::state::Header;

/// What a plan's drive begins with, where others' do, too.
#[derive(Clone, Debug)]
pub enum Begins {
    /// As drawn.
    Drawn(Arc<Common<Start>>),
    /// As a state file says.
    Saved(Arc<Common<(Header, Media)>>),
    /// As it is once it was overwritten until it was steady.
    Steady(Arc<Common<(Drive, Settled)>>),
}

/// Something that several plans need.
#[derive(Debug)]
pub struct Common<T>(Mutex<Inside<T>>);

#[derive(Debug)]
struct Inside<T> {
    /// How many have not asked for it.
    left: usize,
    made: Option<T>,
}

impl<T: Clone> Common<T> {
    pub(crate) fn new(plans: usize) -> Arc<Common<T>> {
        Arc::new(Common(Mutex::new(Inside { left: plans, made: None })))
    }

    /// It, for one plan, and whether another has made it; who asks meanwhile waits. `None` if it
    /// was stopped.
    pub fn get(
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
