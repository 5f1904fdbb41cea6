//! The flag that tells work to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is set once and read by whoever works. Its copies are one flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Returns the flag that this is.
    pub fn of(flag: &Arc<AtomicBool>) -> Stop {
        Stop(Arc::clone(flag))
    }

    /// Tells all who share it to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What is to be done is the same, whoever may stop it.
impl PartialEq for Stop {
    fn eq(&self, _: &Stop) -> bool {
        true
    }
}

impl Eq for Stop {}
