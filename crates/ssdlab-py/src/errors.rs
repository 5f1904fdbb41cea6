//! The one place where what goes wrong in Rust becomes a Python exception.

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

/// What may go wrong in a call.
pub enum Wrong {
    /// The user's input.
    Input(Fault),
    /// The simulator itself, which panicked with this message.
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

/// An `InputError` with the line that the user sees and the place that it names.
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

/// What the first panic since the last one that was told said, and where it was. Those that
/// follow from it in other threads say less.
static FIRST_PANIC: Mutex<Option<String>> = Mutex::new(None);

fn first_panic() -> MutexGuard<'static, Option<String>> {
    FIRST_PANIC.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps panics off the terminal: they are told as an exception.
pub fn keep_panics_quiet() {
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

/// How the panic of zstd's crate begins that has no memory for a context, where other crates return
/// an error.
const ZSTD_HAS_NO_MEMORY: &str = "zstd returned null pointer";

/// Does `work`; a panic in it becomes [`Wrong::Internal`].
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Wrong> {
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

/// A value that Python handed over as JSON text.
///
/// # Errors
/// An `InputError` that names it as `what`.
pub fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| input(&Fault::new(what, error.to_string())))
}

/// A value as JSON text for Python.
///
/// # Errors
/// An `InternalError`: what is handed out can always be written.
pub fn to_json<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| InternalError::new_err(error.to_string()))
}
