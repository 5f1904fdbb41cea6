//! The reins of runs that are under way in other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ssdlab_base::Stop;

/// How far a plan has come, to be read from another thread.
#[derive(Debug, Default)]
pub struct Progress {
    /// Parts per million of the requests, of the preparation with the top bit set; or unknown.
    share: AtomicU64,
    requests: AtomicU64,
    finished: AtomicBool,
}

const PREPARING: u64 = 1 << 63;
const UNKNOWN: u64 = PREPARING - 1;

impl Progress {
    /// The replay has come this far.
    pub fn note(&self, share: Option<f64>, requests: u64) {
        let share = share.map_or(UNKNOWN, |share| (share * 1e6) as u64);
        self.share.store(share, Ordering::Relaxed);
        self.requests.store(requests, Ordering::Relaxed);
    }

    /// The drive is being written before the run, and this share of a capacity is done.
    pub fn preparing(&self, share: f64) {
        self.share.store((share * 1e6) as u64 | PREPARING, Ordering::Relaxed);
    }

    /// The plan has been run, or stopped.
    pub fn finish(&self) {
        self.finished.store(true, Ordering::Relaxed);
    }

    /// `(share done if that is known, requests done, still preparing, finished)`.
    pub fn read(&self) -> (Option<f64>, u64, bool, bool) {
        let share = self.share.load(Ordering::Relaxed);
        let requests = self.requests.load(Ordering::Relaxed);
        let finished = self.finished.load(Ordering::Relaxed);
        let done = (share != UNKNOWN).then_some((share & !PREPARING) as f64 / 1e6);
        (done, requests, share & PREPARING != 0, finished)
    }
}

/// The reins of a run that is under way in other threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to stop: what was measured until then is returned, marked partial.
    pub stop: Arc<AtomicBool>,
    /// Whether something would be lost if the work was left where it is.
    keeps: AtomicBool,
    /// How far each plan has come.
    pub progress: Vec<Progress>,
}

impl Control {
    /// From now on there is something to be kept: results, or a file that is being written.
    pub fn keep(&self) {
        self.keeps.store(true, Ordering::Relaxed);
    }

    /// Whether something would be lost if the work was left where it is; if not, it need not end
    /// before the user goes on.
    pub fn keeps(&self) -> bool {
        self.keeps.load(Ordering::Relaxed)
    }

    /// Whether it is to stop, for those who read on its behalf.
    pub fn stop(&self) -> Stop {
        Stop::of(&self.stop)
    }

    /// Reins for this many plans.
    pub fn new(plans: usize) -> Control {
        let progress = (0..plans).map(|_| Progress::default()).collect();
        Control { progress, ..Control::default() }
    }
}
