//! The only path for long work. Other Python threads run meanwhile, Ctrl-C stops the work, and a
//! callback reports progress.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ssdlab_base::{Fault, threads};
use ssdlab_run::Control;
use ssdlab_run::control::Progress;

use crate::errors::{Wrong, guarded};

/// The time between two polls of signals and progress.
const POLL: Duration = Duration::from_millis(100);

/// The number of polls, one second in all, that stopped work may still run if nothing is lost by
/// leaving it.
const GRACE: u32 = 10;

/// Runs `work` in its own thread. Returns its result, and whether Ctrl-C stopped it.
///
/// # Errors
/// - Returns the fault of `work`.
/// - Returns an exception of `progress` once the work has stopped.
/// - Returns a `KeyboardInterrupt` at the second Ctrl-C, even while the work still runs.
/// - Returns the first Ctrl-C after one second if the work cannot stop (a file blocks) and keeps
///   nothing.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    control: Control,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Control) -> Result<T, Fault> + Send + 'static,
) -> PyResult<(T, bool)> {
    let control = Arc::new(control);
    let (sender, receiver) = sync_channel(1);
    let shared = Arc::clone(&control);
    let begun = threads::begin(move || {
        // Sending fails only if a Ctrl-C ended the receiver.
        let _ = sender.send(guarded(|| work(&shared)));
    });
    begun.map_err(Wrong::Input)?;
    let receiver = Mutex::new(receiver);
    let mut stopped: Option<(PyErr, u32)> = None;
    loop {
        let next = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv_timeout(POLL)
        });
        match next {
            Ok(outcome) => {
                let stopped = stopped.map(|(error, _)| error);
                return finish(py, outcome, stopped, control.keeps());
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Wrong::Internal("the work ended without an answer".into()).into());
            }
            Err(RecvTimeoutError::Timeout) => {
                // A callback that raised is not called again: its exception is the one to report.
                let report = progress.as_ref().filter(|_| stopped.is_none());
                if let Err(error) = poll(py, &control, report) {
                    control.stop.store(true, Ordering::Relaxed);
                    if stopped.replace((error, 0)).is_some() {
                        return Err(PyKeyboardInterrupt::new_err(()));
                    }
                }
                let is_over = |(_, polls): &mut (PyErr, u32)| {
                    *polls += 1;
                    *polls > GRACE && !control.keeps()
                };
                if let Some((error, _)) = stopped.take_if(is_over) {
                    return Err(error);
                }
            }
        }
    }
}

/// Runs `work` that only reads files, in its own thread. Ctrl-C leaves it even if a file blocks.
///
/// # Errors
/// Returns the fault of `work`, or a `KeyboardInterrupt` at Ctrl-C.
pub(crate) fn work_alone<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    match self::work(py, Control::new(0), None, move |_| work())? {
        (_, true) => Err(PyKeyboardInterrupt::new_err(())),
        (value, false) => Ok(value),
    }
}

/// Handles signals and reports progress.
fn poll(py: Python<'_>, control: &Control, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    match progress {
        Some(report) => {
            let plans: Vec<_> = control.progress.iter().map(Progress::read).collect();
            report.call1(py, (plans,)).map(drop)
        }
        None => Ok(()),
    }
}

fn finish<T>(
    py: Python<'_>,
    outcome: Result<T, Wrong>,
    stopped: Option<PyErr>,
    keeps: bool,
) -> PyResult<(T, bool)> {
    match (outcome, stopped) {
        // Work that was interrupted may fail for that reason alone, so do not report its fault.
        (Err(_), Some(error)) if !keeps => Err(error),
        (Err(wrong), _) => Err(wrong.into()),
        (Ok(value), None) => Ok((value, false)),
        (Ok(value), Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Ok((value, true))
        }
        (Ok(_), Some(error)) => Err(error),
    }
}
