//! Threads on a system that may refuse one: a limit on processes, or no memory for a stack.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder, JoinHandle};

use crate::{Fault, reason};

/// The number of threads that are being started.
static STARTING: AtomicUsize = AtomicUsize::new(0);

/// Returns whether a thread is being started. Rust aborts if there is no memory for the thread's
/// handle, and does not ask our allocator for it.
pub fn is_starting() -> bool {
    STARTING.load(Ordering::SeqCst) > 0
}

/// Starts a thread, and counts it while it starts.
fn start<T>(spawn: impl FnOnce() -> T) -> T {
    STARTING.fetch_add(1, Ordering::SeqCst);
    let started = spawn();
    STARTING.fetch_sub(1, Ordering::SeqCst);
    started
}

/// Runs `work` in up to `count` threads at once, including the calling thread. If the system
/// refuses a thread, fewer threads run it: each call of `work` takes pieces until none is left.
pub fn in_up_to(count: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..count {
            if start(|| Builder::new().spawn_scoped(scope, &work)).is_err() {
                break;
            }
        }
        work();
    });
}

/// Starts `work` in its own thread.
///
/// # Errors
/// Fails if the system refuses the thread.
pub fn begin<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Fault> {
    start(|| Builder::new().spawn(work)).map_err(|error| {
        let expected = "room for a few threads per run (ulimit -u, pids.max, ulimit -v)";
        Fault::new("threads", "the system refused to start a thread")
            .got(reason(error))
            .expected(expected)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn any_number_of_threads_does_all_of_the_work() {
        for count in [0, 1, 5] {
            let (next, done) = (AtomicU32::new(0), AtomicU32::new(0));
            in_up_to(count, || {
                while next.fetch_add(1, Ordering::Relaxed) < 100 {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
            assert_eq!(done.into_inner(), 100);
        }
    }
}
