//! The Python binding, `ssdlab._native`. Plans come in and results go out as JSON text.
//!
//! Two rules hold for every function. Long work goes through [`gil`]: other Python threads run
//! meanwhile, Ctrl-C works, and a callback reports progress. Only [`errors`] turns errors,
//! including panics, into exceptions.

mod chips;
mod errors;
mod gil;
mod memory;

#[pyo3::pymodule]
mod _native {
    use std::path::PathBuf;

    use pyo3::exceptions::{PyBaseException, PyKeyboardInterrupt};
    use pyo3::prelude::*;
    use schemars::generate::SchemaSettings;
    use ssdlab_base::Fault;
    use ssdlab_ldpc::derive::derive;
    use ssdlab_ldpc::ledger::Order;
    use ssdlab_ldpc::monte_carlo::Hooks;
    use ssdlab_run::chip_measurements;
    use ssdlab_run::files::{self, NamedFile};
    use ssdlab_run::interactive::Submission;
    use ssdlab_run::result::SCHEMA_VERSION;
    use ssdlab_run::traces::{self, MixOrder, Reading};
    use ssdlab_run::{Control, PRESETS, Plan, RunResult, SCHEMES, workloads};
    use ssdlab_workload::{Format, Kind};

    use crate::errors::{Wrong, from_json, guarded, keep_panics_quiet, to_json};
    use crate::gil;

    /// The name of an option, and the file that it names.
    type File = (String, PathBuf);

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        keep_panics_quiet();
        module.add("MAX_ROWS", chip_measurements::MAX_ROWS)?;
        module.add("PROFILE", if cfg!(debug_assertions) { "dev" } else { "release" })?;
        module.add("SCHEMA_VERSION", SCHEMA_VERSION)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs every plan of a JSON list, at most `jobs` at a time.
    ///
    /// Returns three values:
    /// - a JSON text for each plan, null for a plan without a result,
    /// - whether Ctrl-C ended the runs early,
    /// - the `InputError` of a run that failed after others had ended.
    ///
    /// `progress` is called about ten times a second with one tuple per plan. It has the share
    /// done, the requests done, whether the drive is still being prepared, and whether the plan
    /// has finished.
    #[pyfunction]
    #[pyo3(signature = (plans, jobs, progress=None))]
    fn run(
        py: Python<'_>,
        plans: &str,
        jobs: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<String>, bool, Option<Py<PyBaseException>>)> {
        let plans: Vec<Plan> = from_json("plans", plans)?;
        let control = Control::new(plans.len());
        let (outcome, interrupted) = gil::work(py, control, progress, move |control| {
            ssdlab_run::run_all(&plans, jobs, control)
        })?;
        let error = outcome.fault.map(|fault| PyErr::from(Wrong::Input(fault)).into_value(py));
        // Convert one result at a time: a large comparison must not be in memory twice.
        let texts: PyResult<_> = outcome.results.into_iter().map(|one| to_json(&one)).collect();
        Ok((texts?, interrupted, error))
    }

    /// Returns how many of these plans can run at a time with the cores and the memory available.
    #[pyfunction]
    fn at_a_time(py: Python<'_>, plans: &str) -> PyResult<usize> {
        let plans: Vec<Plan> = from_json("plans", plans)?;
        gil::work_alone(py, move || ssdlab_run::at_a_time(&plans))
    }

    /// Returns the files that plans in a JSON list read, and those that they write, as `(option,
    /// path)`.
    #[pyfunction]
    fn files_of(plans: &str) -> PyResult<(Vec<File>, Vec<File>)> {
        let plans: Vec<Plan> = from_json("plans", plans)?;
        let (read, written) = guarded(|| ssdlab_run::files_of(&plans))?;
        let pairs = |files: Vec<NamedFile>| -> Vec<File> {
            files.into_iter().map(|file| (file.option, file.path)).collect()
        };
        Ok((pairs(read), pairs(written)))
    }

    /// Returns the text of a config file that is a pipe, for a plan's `piped`; None for a regular
    /// file.
    #[pyfunction]
    fn text_of_pipe(py: Python<'_>, path: PathBuf) -> PyResult<Option<String>> {
        gil::work_alone(py, move || ssdlab_run::text_of_pipe(&path))
    }

    /// Refuses a file that is both read and written, or written twice. Files are `(option, path)`.
    #[pyfunction]
    #[pyo3(name = "check_apart")]
    fn check_distinct(read: Vec<File>, written: Vec<File>) -> PyResult<()> {
        let named = |files: Vec<File>| -> Vec<NamedFile> {
            files.into_iter().map(|(option, path)| NamedFile::new(option, path)).collect()
        };
        Ok(guarded(|| files::check_distinct(&named(read), &named(written)))?)
    }

    /// Returns the path in a trace name `FILE` or `FILE:format`.
    #[pyfunction]
    fn trace_file(spec: &str) -> PyResult<PathBuf> {
        Ok(guarded(|| traces::file_of(spec))?)
    }

    /// A file that appears complete or not at all (`ssdlab.files` wraps it).
    #[pyclass]
    struct NewFile(Option<files::NewFile>);

    #[pymethods]
    impl NewFile {
        /// Creates a file that will be at `path`; error messages name the option.
        #[new]
        fn new(option: &str, path: PathBuf) -> PyResult<NewFile> {
            Ok(NewFile(Some(guarded(|| files::NewFile::new(option, &path))?)))
        }

        /// Appends bytes.
        fn write(&self, py: Python<'_>, content: &[u8]) -> PyResult<()> {
            let Some(file) = &self.0 else { return Ok(()) };
            Ok(py.detach(|| guarded(|| file.write(content)))?)
        }

        /// Puts the file at its path, replacing an existing file.
        fn persist(&mut self, py: Python<'_>) -> PyResult<()> {
            let Some(file) = self.0.take() else { return Ok(()) };
            Ok(py.detach(|| guarded(|| file.persist()))?)
        }
    }

    #[pymodule_export]
    use crate::memory::{end_without_memory, memory_left};

    /// Removes incomplete files, for a process that ends at once.
    #[pyfunction]
    fn remove_unfinished() {
        files::remove_unfinished();
    }

    /// Ages a drive according to a plan and saves its state.
    /// Returns the header of the state file as JSON (null if Ctrl-C came before it was written),
    /// and whether Ctrl-C came.
    #[pyfunction]
    #[pyo3(signature = (plan, path, progress=None))]
    fn save_state(
        py: Python<'_>,
        plan: &str,
        path: PathBuf,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, bool)> {
        let plan: Plan = from_json("plan", plan)?;
        let work = move |control: &Control| ssdlab_run::save_state(&plan, &path, control);
        let (header, interrupted) = gil::work(py, Control::new(1), progress, work)?;
        Ok((to_json(&header)?, interrupted))
    }

    /// Reads and checks a saved state. Returns its header as JSON.
    #[pyfunction]
    fn load_state(py: Python<'_>, path: PathBuf) -> PyResult<String> {
        let work = move |control: &Control| ssdlab_run::load_state(&path, control);
        let (loaded, _) = gil::work(py, Control::new(0), None, work)?;
        let (header, _) = loaded.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
        to_json(&header)
    }

    /// A drive that the caller steps (`ssdlab.Drive` wraps it). Times are in nanoseconds.
    #[pyclass]
    struct InteractiveDrive(ssdlab_run::InteractiveDrive);

    #[pymethods]
    impl InteractiveDrive {
        /// Creates the drive of a plan, given as JSON, in its start state.
        #[new]
        fn new(py: Python<'_>, plan: &str) -> PyResult<InteractiveDrive> {
            let plan: Plan = from_json("plan", plan)?;
            gil::work_alone(py, move || ssdlab_run::InteractiveDrive::new(&plan))
                .map(InteractiveDrive)
        }

        /// Returns the number of sectors that the host can address.
        #[getter]
        fn sectors(&self) -> u64 {
            self.0.sectors()
        }

        /// Returns the current simulated time.
        #[getter]
        fn now_ns(&self) -> u64 {
            self.0.now_ns()
        }

        /// Returns the time of the drive's next event, or None if the drive is idle.
        #[getter]
        fn next_event_ns(&self) -> Option<u64> {
            self.0.next_event_ns()
        }

        /// Submits a request. Returns its number, or None if its queue is full.
        #[pyo3(signature = (op, lba, sectors, at_ns, queue, hint))]
        fn submit(
            &mut self,
            op: &str,
            lba: u64,
            sectors: u32,
            at_ns: Option<u64>,
            queue: u8,
            hint: u8,
        ) -> PyResult<Option<u64>> {
            let submission = Submission { op, lba, sectors, at_ns, queue, hint };
            Ok(guarded(|| self.0.submit(submission))?)
        }

        /// Advances to `until_ns` inclusive, or until no event is left. Returns the completed
        /// requests as a JSON list.
        fn advance(&mut self, until_ns: Option<u64>) -> PyResult<String> {
            to_json(&guarded(|| self.0.advance(until_ns))?)
        }

        /// Returns the totals of the drive so far, as JSON.
        fn counts(&self) -> PyResult<String> {
            to_json(&self.0.counts())
        }
    }

    /// Returns the name and summary of every preset.
    #[pyfunction]
    fn presets() -> Vec<(&'static str, &'static str)> {
        PRESETS.iter().map(|entry| (entry.name, entry.summary)).collect()
    }

    /// Returns the TOML text of a preset.
    #[pyfunction]
    fn preset_text(name: &str) -> PyResult<String> {
        Ok(guarded(|| ssdlab_run::preset_text(name))?)
    }

    /// Returns the name and summary of every scheme.
    #[pyfunction]
    fn schemes() -> Vec<(&'static str, &'static str)> {
        SCHEMES.iter().map(|entry| (entry.name, entry.summary)).collect()
    }

    /// Returns the TOML text of a scheme.
    #[pyfunction]
    fn scheme_text(name: &str) -> PyResult<&'static str> {
        Ok(guarded(|| ssdlab_run::scheme_text(name))?)
    }

    /// Returns the names of the closed-form workloads.
    #[pyfunction]
    #[pyo3(name = "workloads")]
    fn closed_forms() -> Vec<&'static str> {
        Kind::NAMES.to_vec()
    }

    /// Returns every twin, as a JSON list.
    #[pyfunction]
    fn twins() -> PyResult<String> {
        to_json(&guarded(|| Ok(workloads::twins()))?)
    }

    /// Compares a twin with its targets: with all of its requests, or scaled to `requests`.
    /// Returns the comparison as JSON (null if Ctrl-C came first), and whether Ctrl-C came.
    #[pyfunction]
    #[pyo3(signature = (name, requests, seed, progress=None))]
    fn show_twin(
        py: Python<'_>,
        name: String,
        requests: Option<u64>,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, bool)> {
        let work = move |control: &Control| workloads::show(&name, requests, seed, control);
        let (shown, interrupted) = gil::work(py, Control::new(1), progress, work)?;
        Ok((to_json(&shown)?, interrupted))
    }

    /// Measures traces. `reading` says, in JSON, how to read them and which part.
    /// Returns the statistics as a JSON list (null if Ctrl-C came first), and whether Ctrl-C came.
    #[pyfunction]
    #[pyo3(signature = (traces, reading, reuse, progress=None))]
    fn trace_info(
        py: Python<'_>,
        traces: Vec<String>,
        reading: &str,
        reuse: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, bool)> {
        let reading: Reading = from_json("reading", reading)?;
        let control = Control::new(traces.len());
        let work = move |control: &Control| traces::info(&traces, &reading, reuse, control);
        let (found, interrupted) = gil::work(py, control, progress, work)?;
        Ok((to_json(&found)?, interrupted))
    }

    /// Writes a trace in another format.
    /// Returns the counts of what was written as JSON (null if Ctrl-C came first), and whether
    /// Ctrl-C came.
    #[pyfunction]
    #[pyo3(signature = (trace, out, reading, progress=None))]
    fn trace_convert(
        py: Python<'_>,
        trace: String,
        out: String,
        reading: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, bool)> {
        let reading: Reading = from_json("reading", reading)?;
        let work = move |control: &Control| traces::convert(&trace, &out, &reading, control);
        let (written, interrupted) = gil::work(py, Control::new(1), progress, work)?;
        Ok((to_json(&written)?, interrupted))
    }

    /// Merges traces into one; `order` says how, in JSON.
    /// Returns the counts of what was written as JSON (null if Ctrl-C came first), and whether
    /// Ctrl-C came.
    #[pyfunction]
    #[pyo3(signature = (order, out, progress=None))]
    fn trace_mix(
        py: Python<'_>,
        order: &str,
        out: String,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, bool)> {
        let order: MixOrder = from_json("order", order)?;
        let work = move |control: &Control| traces::mix(&order, &out, control);
        let (written, interrupted) = gil::work(py, Control::new(1), progress, work)?;
        Ok((to_json(&written)?, interrupted))
    }

    /// Returns every trace format, with its columns and time unit, as a JSON list.
    #[pyfunction]
    fn trace_formats() -> PyResult<String> {
        to_json(&traces::formats())
    }

    /// Returns the names of the trace formats.
    #[pyfunction]
    fn formats() -> Vec<&'static str> {
        Format::ALL.iter().map(|format| format.name()).collect()
    }

    /// Returns the properties of the blocks of a plan's device, as JSON.
    #[pyfunction]
    fn physics(py: Python<'_>, plan: &str) -> PyResult<String> {
        let plan: Plan = from_json("plan", plan)?;
        to_json(&gil::work_alone(py, move || ssdlab_run::physics(&plan))?)
    }

    #[pymodule_export]
    use crate::chips::{Chips, Predictor, acceleration, measure, read_chips};

    /// Measures the decoding of LDPC codes; `order` says, in JSON, the cell type and the
    /// measurements.
    /// Returns the table as JSON (null if Ctrl-C came before it was complete), and whether Ctrl-C
    /// came.
    #[pyfunction]
    #[pyo3(signature = (order, progress=None))]
    fn ldpc(py: Python<'_>, order: &str, progress: Option<Py<PyAny>>) -> PyResult<(String, bool)> {
        let order: Order = from_json("order", order)?;
        let work = move |control: &Control| {
            let note = |share, frames| control.progress[0].note(Some(share), frames);
            Ok(derive(&order, &Hooks { stop: &control.stop, note: &note }))
        };
        let (ledger, interrupted) = gil::work(py, Control::new(1), progress, work)?;
        Ok((to_json(&ledger)?, interrupted))
    }

    /// Returns the config of a plan as TOML, as a listing with origins, and its hash.
    #[pyfunction]
    fn effective(py: Python<'_>, plan: &str) -> PyResult<(String, String, String)> {
        let plan: Plan = from_json("plan", plan)?;
        gil::work_alone(py, move || ssdlab_run::effective(&plan))
    }

    /// Returns the JSON Schema of a result.
    #[pyfunction]
    fn result_schema() -> PyResult<String> {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        to_json(&guarded(|| Ok(generator.into_root_schema_for::<RunResult>()))?)
    }

    /// Returns the JSON Schema of a config.
    #[pyfunction]
    fn schema() -> PyResult<String> {
        to_json(&guarded(|| Ok(ssdlab_run::schema()))?)
    }

    /// Returns every config key, as Markdown.
    #[pyfunction]
    fn keys_markdown() -> PyResult<String> {
        Ok(guarded(|| Ok(ssdlab_run::keys_markdown()))?)
    }

    /// Returns the candidate nearest in spelling, or None if all differ too much.
    #[pyfunction]
    fn nearest(typed: &str, candidates: Vec<String>) -> Option<String> {
        ssdlab_base::nearest(typed, candidates.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Panics with `message`, to test that no panic reaches the user as a traceback.
    #[pyfunction]
    fn panic_for_test(py: Python<'_>, message: String) -> PyResult<()> {
        let work = move |_: &Control| -> Result<(), Fault> { panic!("{message}") };
        gil::work(py, Control::new(0), None, work).map(drop)
    }
}
