//! The one door through which long work goes: other Python threads run meanwhile, Ctrl-C is
//! heard, progress is reported.

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

/// Time between two polls of signals and progress.
const POLL: Duration = Duration::from_millis(100);

/// The polls that stopped work may still take where leaving it loses nothing: a second.
const GRACE: u32 = 10;

/// Does `work` in a thread of its own, and returns what came of it and whether Ctrl-C stopped it.
///
/// # Errors
/// What the work is refused for; what `progress` raised, once the work has stopped; the second
/// Ctrl-C at once, whatever the work still does, and the first soon, if the work is at something
/// that nothing stops (a file that blocks) and has nothing to keep.
pub fn work<T: Send + 'static>(
    py: Python<'_>,
    control: Control,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Control) -> Result<T, Fault> + Send + 'static,
) -> PyResult<(T, bool)> {
    let control = Arc::new(control);
    let (sender, receiver) = sync_channel(1);
    let shared = Arc::clone(&control);
    let begun = threads::begin(move || {
        // Nobody listens only after a second Ctrl-C.
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
                // What has raised is not called again: its error is the one to be told.
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

/// Does `work` that reads files and keeps nothing, in a thread of its own: Ctrl-C leaves it, even
/// where a file blocks.
///
/// # Errors
/// What the work is refused for, and Ctrl-C.
pub fn work_alone<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    match self::work(py, Control::new(0), None, move |_| work())? {
        (_, true) => Err(PyKeyboardInterrupt::new_err(())),
        (value, false) => Ok(value),
    }
}

/// Answers signals and reports progress.
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
        // What is wrong with something that was left in the middle is nothing to be told.
        (Err(_), Some(error)) if !keeps => Err(error),
        (Err(wrong), _) => Err(wrong.into()),
        (Ok(value), None) => Ok((value, false)),
        (Ok(value), Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Ok((value, true))
        }
        (Ok(_), Some(error)) => Err(error),
    }
}
