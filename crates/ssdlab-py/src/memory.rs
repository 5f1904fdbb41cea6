//! Ends the command with one line and an exit code when no memory is left.
//!
//! Rust would abort, which is a signal. No cleanup is possible without memory, and none is needed:
//! incomplete files have no name yet.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;
use pyo3::pyfunction;

/// The exit code for an input that asks too much, as in `ssdlab.cli.exit_codes`.
const INPUT: c_int = 2;

/// Whether the process is a command, which may end.
static IS_COMMAND: AtomicBool = AtomicBool::new(false);

/// The system's allocator; in a command, a failed allocation ends the process.
struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

fn had(memory: *mut u8) -> *mut u8 {
    if memory.is_null() && IS_COMMAND.load(Ordering::Relaxed) {
        end();
    }
    memory
}

/// Whether a thread has already found that no memory is left.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

#[cold]
fn end() -> ! {
    let line = b"out of memory\n";
    while IS_ENDING.swap(true, Ordering::Relaxed) {
        // SAFETY: `pause` has no preconditions. Another thread writes the line and ends the
        // process.
        unsafe { libc::pause() };
    }
    // SAFETY: the line is valid for its whole length. The process ends at once.
    unsafe {
        libc::write(2, line.as_ptr().cast(), line.len());
        libc::_exit(INPUT)
    }
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        had(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        had(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        had(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Makes the process end with one line, not with a signal, when Rust gets no memory.
#[pyfunction]
pub(crate) fn end_without_memory() {
    IS_COMMAND.store(true, Ordering::Relaxed);
    // SAFETY: the handler does only what a signal handler may do.
    unsafe { libc::signal(libc::SIGABRT, aborted as *const () as libc::sighandler_t) };
}

/// Handles an abort. If a thread is starting, its handle got no memory and Rust has said so: the
/// process ends. Any other abort stays an abort.
extern "C" fn aborted(_: c_int) {
    if ssdlab_base::threads::is_starting() {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(INPUT) };
    }
    // SAFETY: `abort` raises the signal once more when this returns.
    unsafe { libc::signal(libc::SIGABRT, libc::SIG_DFL) };
}

/// Returns the bytes that this process may still take, and the cause of the limit. Returns None if
/// the limit is unknown.
#[pyfunction]
pub(crate) fn memory_left() -> Option<(u64, &'static str)> {
    ssdlab_run::memory_left()
}
