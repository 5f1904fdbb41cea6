//! The only place that turns Rust errors into Python exceptions.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::PyErr;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ssdlab_base::Fault;

pyo3::import_exception!(ssdlab.errors, InputError);
pyo3::import_exception!(ssdlab.errors, InternalError);

/// The errors of a call.
pub enum Wrong {
    /// An invalid input of the user.
    Input(Fault),
    /// A panic of the simulator, with its message.
    Internal(String),
}

impl From<Wrong> for PyErr {
    fn from(wrong: Wrong) -> PyErr {
        match wrong {
            Wrong::Input(fault) => input(&fault),
            Wrong::Internal(message) => InternalError::new_err(message),
        }
    }
}

/// Returns an `InputError` with the message and the place that it names.
fn input(fault: &Fault) -> PyErr {
    let placeless = Fault { source: String::new(), line: None, column: None, ..fault.clone() };
    let file = Some(fault.source.as_str()).filter(|source| !source.is_empty());
    InputError::new_err((
        fault.to_string(),
        file.map(str::to_owned),
        fault.line,
        fault.column,
        placeless.to_string(),
    ))
}

/// The message and place of the first panic since the last report. Later panics in other threads
/// follow from the first one and explain less.
static FIRST_PANIC: Mutex<Option<String>> = Mutex::new(None);

fn first_panic() -> MutexGuard<'static, Option<String>> {
    FIRST_PANIC.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps panics off the terminal, because an exception reports them.
pub(crate) fn keep_panics_quiet() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        let message = panic_text(panic.payload()) + &place.unwrap_or_default();
        first_panic().get_or_insert(message);
    }));
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}

/// How a panic of the `zstd` crate begins that found no memory for a context. Other crates return
/// an error.
const ZSTD_HAS_NO_MEMORY: &str = "zstd returned null pointer";

/// Runs `work`, and turns a panic in it into [`Wrong::Internal`].
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Wrong> {
    let payload = match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => return result.map_err(Wrong::Input),
        Err(payload) => payload,
    };
    let message = first_panic().take().unwrap_or_else(|| panic_text(&*payload));
    if message.starts_with(ZSTD_HAS_NO_MEMORY) {
        Err(Wrong::Input(Fault::new("", "out of memory")))
    } else {
        Err(Wrong::Internal(message))
    }
}

/// Reads a value that Python passes as JSON text.
///
/// # Errors
/// Returns an `InputError` that calls the value `what`.
pub(crate) fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| input(&Fault::new(what, error.to_string())))
}

/// Writes a value as JSON text for Python.
///
/// # Errors
/// Returns an `InternalError`, which no value that the binding returns should cause.
pub(crate) fn to_json<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| InternalError::new_err(error.to_string()))
}
