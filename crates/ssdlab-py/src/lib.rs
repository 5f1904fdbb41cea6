//! The Python binding: `ssdlab._native`. Thin: plans come in and results go out as JSON text.
//!
//! Two rules hold for every function. Whatever may take long goes through [`gil`], which lets
//! other Python threads run meanwhile, answers Ctrl-C and reports progress; and errors become
//! exceptions in [`errors`] alone, a panic among them.

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
    use ssdlab_run::files::{self, NamedFile};
    use ssdlab_run::interactive::Submission;
    use ssdlab_run::result::SCHEMA_VERSION;
    use ssdlab_run::traces::{self, MixOrder, Reading};
    use ssdlab_run::{Control, PRESETS, Plan, RunResult, SCHEMES, workloads};
    use ssdlab_run::{chip_measurements, chips};
    use ssdlab_workload::{Format, Kind};

    use crate::errors::{Wrong, from_json, guarded, keep_panics_quiet, to_json};
    use crate::gil;

    /// An option and the file that it names.
    type File = (String, PathBuf);

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        keep_panics_quiet();
        module.add("MAX_ROWS", chip_measurements::ROWS_MOST)?;
        module.add("SCHEMA_VERSION", SCHEMA_VERSION)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// Runs every plan of a JSON list, at most `jobs` at a time.
    ///
    /// Returns a JSON text for each plan, null for one that has no result, whether Ctrl-C cut them
    /// short, and the `InputError` of a run that failed, while others had ended. `progress` is
    /// called about ten times a second with a list of (share done, requests done, whether the drive
    /// is still being prepared, whether it has finished), one a plan.
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
        // One at a time: of a large comparison they are not to be there twice.
        let texts: PyResult<_> = outcome.results.into_iter().map(|one| to_json(&one)).collect();
        Ok((texts?, interrupted, error))
    }

    /// How many of these plans can run at a time, as there are cores and memory.
    #[pyfunction]
    fn at_a_time(py: Python<'_>, plans: &str) -> PyResult<usize> {
        let plans: Vec<Plan> = from_json("plans", plans)?;
        gil::work_alone(py, move || ssdlab_run::at_a_time(&plans))
    }

    /// The files that plans in a JSON list read, and those that they write: `(option, path)` each.
    #[pyfunction]
    fn files_of(plans: &str) -> PyResult<(Vec<File>, Vec<File>)> {
        let plans: Vec<Plan> = from_json("plans", plans)?;
        let (read, written) = guarded(|| ssdlab_run::files_of(&plans))?;
        let pairs = |files: Vec<NamedFile>| -> Vec<File> {
            files.into_iter().map(|file| (file.option, file.path)).collect()
        };
        Ok((pairs(read), pairs(written)))
    }

    /// What came through a config file that is a pipe, which plans take as `piped`; None of a file.
    #[pyfunction]
    fn text_of_pipe(py: Python<'_>, path: PathBuf) -> PyResult<Option<String>> {
        gil::work_alone(py, move || ssdlab_run::text_of_pipe(&path))
    }

    /// Refuses a file that is read and written, or written twice; `(option, path)` each.
    #[pyfunction]
    fn check_apart(read: Vec<File>, written: Vec<File>) -> PyResult<()> {
        let named = |files: Vec<File>| -> Vec<NamedFile> {
            files.into_iter().map(|(option, path)| NamedFile::new(option, path)).collect()
        };
        Ok(guarded(|| files::check_apart(&named(read), &named(written)))?)
    }

    /// The file of a trace `FILE` or `FILE:format`.
    #[pyfunction]
    fn trace_file(spec: &str) -> PyResult<PathBuf> {
        Ok(guarded(|| traces::file_of(spec))?)
    }

    /// A file that appears whole or not at all (`ssdlab.files` has those that are used).
    #[pyclass]
    struct NewFile(Option<files::NewFile>);

    #[pymethods]
    impl NewFile {
        /// Begins a file that will be at a path; messages name the option.
        #[new]
        fn new(option: &str, path: PathBuf) -> PyResult<NewFile> {
            Ok(NewFile(Some(guarded(|| files::NewFile::new(option, &path))?)))
        }

        /// Appends bytes.
        fn write(&self, py: Python<'_>, content: &[u8]) -> PyResult<()> {
            let Some(file) = &self.0 else { return Ok(()) };
            Ok(py.detach(|| guarded(|| file.write(content)))?)
        }

        /// Puts the file where it belongs, in place of what is there.
        fn persist(&mut self, py: Python<'_>) -> PyResult<()> {
            let Some(file) = self.0.take() else { return Ok(()) };
            Ok(py.detach(|| guarded(|| file.persist()))?)
        }
    }

    #[pymodule_export]
    use crate::memory::{end_without_memory, memory_left};

    /// Removes files that are not whole, for a process that ends in a hurry.
    #[pyfunction]
    fn remove_unfinished() {
        files::remove_unfinished();
    }

    /// Ages a drive as a plan says and saves its state; what the file says of itself, as JSON (null
    /// if Ctrl-C came before it was written), and whether Ctrl-C was heard.
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

    /// Reads a saved state and checks it; what the file says of itself, as JSON.
    #[pyfunction]
    fn load_state(py: Python<'_>, path: PathBuf) -> PyResult<String> {
        let work = move |control: &Control| ssdlab_run::load_state(&path, control);
        let (loaded, _) = gil::work(py, Control::new(0), None, work)?;
        let (header, _) = loaded.ok_or_else(|| PyKeyboardInterrupt::new_err(()))?;
        to_json(&header)
    }

    /// A drive that is stepped by hand (`ssdlab.Drive` makes it pleasant). Times are nanoseconds.
    #[pyclass]
    struct InteractiveDrive(ssdlab_run::InteractiveDrive);

    #[pymethods]
    impl InteractiveDrive {
        /// The drive of a plan, as JSON, in its start state.
        #[new]
        fn new(py: Python<'_>, plan: &str) -> PyResult<InteractiveDrive> {
            let plan: Plan = from_json("plan", plan)?;
            gil::work_alone(py, move || ssdlab_run::InteractiveDrive::new(&plan))
                .map(InteractiveDrive)
        }

        /// Sectors that the host can address.
        #[getter]
        fn sectors(&self) -> u64 {
            self.0.sectors()
        }

        /// The present moment.
        #[getter]
        fn now_ns(&self) -> u64 {
            self.0.now_ns()
        }

        /// The next moment at which the drive does something by itself; None when it is idle.
        #[getter]
        fn next_event_ns(&self) -> Option<u64> {
            self.0.next_event_ns()
        }

        /// Submits a request; its number, or None if its queue is full.
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

        /// Lets everything happen up to and including a moment, or all there is; the requests that
        /// have ended, as a JSON list.
        fn advance(&mut self, until_ns: Option<u64>) -> PyResult<String> {
            to_json(&guarded(|| self.0.advance(until_ns))?)
        }

        /// What the drive has done so far, as JSON.
        fn sums(&self) -> PyResult<String> {
            to_json(&self.0.sums())
        }
    }

    /// Every preset: name and summary.
    #[pyfunction]
    fn presets() -> Vec<(&'static str, &'static str)> {
        PRESETS.iter().map(|entry| (entry.name, entry.summary)).collect()
    }

    /// The text of a preset, in TOML.
    #[pyfunction]
    fn preset_text(name: &str) -> PyResult<String> {
        Ok(guarded(|| ssdlab_run::preset_text(name))?)
    }

    /// Every scheme: name and summary.
    #[pyfunction]
    fn schemes() -> Vec<(&'static str, &'static str)> {
        SCHEMES.iter().map(|entry| (entry.name, entry.summary)).collect()
    }

    /// The text of a scheme, in TOML.
    #[pyfunction]
    fn scheme_text(name: &str) -> PyResult<&'static str> {
        Ok(guarded(|| ssdlab_run::scheme_text(name))?)
    }

    /// The names of the closed-form workloads.
    #[pyfunction]
    #[pyo3(name = "workloads")]
    fn closed_forms() -> Vec<&'static str> {
        Kind::NAMES.to_vec()
    }

    /// Every twin, as a JSON list.
    #[pyfunction]
    fn twins() -> PyResult<String> {
        to_json(&guarded(|| Ok(workloads::twins()))?)
    }

    /// A twin against its targets, as JSON (null if Ctrl-C came first), and whether Ctrl-C was
    /// heard; of all its requests, or scaled to so many.
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

    /// What traces are like, as a JSON list (null if Ctrl-C came first), and whether Ctrl-C was
    /// heard. `reading` says, in JSON, how they are read and which part of them.
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

    /// Writes a trace in another format; what was written, as JSON (null if Ctrl-C came first), and
    /// whether Ctrl-C was heard.
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

    /// Merges traces into one as `order` says, in JSON; what was written, as JSON (null if Ctrl-C
    /// came first), and whether Ctrl-C was heard.
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

    /// Every trace format, with its columns and its unit of time, as a JSON list.
    #[pyfunction]
    fn trace_formats() -> PyResult<String> {
        to_json(&traces::formats())
    }

    /// The names of the trace formats.
    #[pyfunction]
    fn formats() -> Vec<&'static str> {
        Format::ALL.iter().map(|format| format.name()).collect()
    }

    /// What the blocks of a plan's device are, as JSON.
    #[pyfunction]
    fn physics(py: Python<'_>, plan: &str) -> PyResult<String> {
        let plan: Plan = from_json("plan", plan)?;
        to_json(&gil::work_alone(py, move || ssdlab_run::physics(&plan))?)
    }

    /// Chips of a plan's device, characterised as `order` says in JSON, and the hash of the config;
    /// None if Ctrl-C was heard.
    #[pyfunction]
    fn measure(py: Python<'_>, plan: &str, order: &str) -> PyResult<Option<(Chips, String)>> {
        let plan: Plan = from_json("plan", plan)?;
        let order: chip_measurements::Order = from_json("order", order)?;
        let work = move |control: &Control| chip_measurements::measure(&plan, &order, control);
        let (made, interrupted) = gil::work(py, Control::new(1), None, work)?;
        Ok(made.filter(|_| !interrupted).map(|(samples, hash)| (Chips(samples), hash)))
    }

    /// Chips that a CSV file has measurements of; and its SHA-256.
    #[pyfunction]
    fn read_chips(py: Python<'_>, path: PathBuf) -> PyResult<(Chips, String)> {
        let (samples, hash) = gil::work_alone(py, move || chips::read(&path))?;
        Ok((Chips(samples), hash))
    }

    /// Time at 30 degrees Celsius for which one unit of it at another temperature counts.
    #[pyfunction]
    fn acceleration(celsius: f64, activation_ev: f64) -> f64 {
        chips::acceleration(celsius, 30.0, activation_ev)
    }

    /// Measurements of chips (`ssdlab.fit` reads them). Columns are doubles, little-endian.
    #[pyclass]
    struct Chips(chips::Samples);

    #[pymethods]
    impl Chips {
        /// The chips' names.
        #[getter]
        fn chips(&self) -> Vec<String> {
            self.0.chips.clone()
        }

        /// How many blocks there are.
        #[getter]
        fn blocks(&self) -> usize {
            self.0.blocks.len()
        }

        /// A column; empty if it was left out.
        fn column(&self, name: &str) -> Vec<u8> {
            doubles(self.0.column(name).unwrap_or_default())
        }

        /// The rows of some chips, by their places, as a file has them.
        fn csv(&self, chips: Vec<u32>) -> String {
            self.0.of_chips(&chips).csv()
        }

        /// Why drives cannot have the blocks of these chips; None if they can.
        fn unfit(&self, chips: Vec<u32>, activation_ev: f64) -> Option<String> {
            let wrong = self.0.of_chips(&chips).unfit(activation_ev)?;
            Some(format!("got {}, expected {}", wrong.got, wrong.expected))
        }
    }

    /// ReadGuard's predictor with coefficients in JSON, over columns of doubles.
    #[pyclass]
    struct Predictor(chips::Predictor);

    #[pymethods]
    impl Predictor {
        #[new]
        fn new(config: &str) -> PyResult<Predictor> {
            let config: chips::PredictorConfig = from_json("predictor", config)?;
            let resolve = || Ok(chips::Predictor::resolve(&config, "predictor")?);
            Ok(Predictor(guarded(resolve)?))
        }

        /// Ages of blocks by their P/E cycles, time of an erase in µs, first errors, days of dwell.
        fn age(&self, cycles: &[u8], erase_us: &[u8], e0: &[u8], dwell_days: &[u8]) -> Vec<u8> {
            let of =
                numbers(cycles).zip(numbers(erase_us)).zip(numbers(e0).zip(numbers(dwell_days)));
            doubles(of.map(|((pe, erase), (e0, dwell))| self.0.age(pe, erase, e0, dwell)))
        }

        /// Errors by ages of blocks, days since they were programmed, and page reads.
        fn errors(&self, age: &[u8], days: &[u8], reads: &[u8]) -> Vec<u8> {
            let of = numbers(age).zip(numbers(days)).zip(numbers(reads));
            doubles(of.map(|((age, days), reads)| self.0.errors(age, days, reads)))
        }

        /// Retries by errors.
        fn retries(&self, errors: &[u8]) -> Vec<u8> {
            doubles(numbers(errors).map(|errors| f64::from(self.0.retries(errors))))
        }
    }

    fn numbers(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
        bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().expect("eight")))
    }

    fn doubles(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
        values.into_iter().flat_map(f64::to_le_bytes).collect()
    }

    /// What codes decode, as JSON (null if Ctrl-C came before the table stood), and whether Ctrl-C
    /// was heard. `order` says in JSON of which cell, and what is to be measured.
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

    /// The config of a plan: as TOML, as a listing with origins, and its hash.
    #[pyfunction]
    fn effective(py: Python<'_>, plan: &str) -> PyResult<(String, String, String)> {
        let plan: Plan = from_json("plan", plan)?;
        gil::work_alone(py, move || ssdlab_run::effective(&plan))
    }

    /// The JSON Schema of a result.
    #[pyfunction]
    fn result_schema() -> PyResult<String> {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        to_json(&guarded(|| Ok(generator.into_root_schema_for::<RunResult>()))?)
    }

    /// The JSON Schema of a config.
    #[pyfunction]
    fn schema() -> PyResult<String> {
        to_json(&guarded(|| Ok(ssdlab_run::schema()))?)
    }

    /// Every config key, in Markdown.
    #[pyfunction]
    fn keys_markdown() -> PyResult<String> {
        Ok(guarded(|| Ok(ssdlab_run::keys_markdown()))?)
    }

    /// The candidate nearest in spelling, if one is near enough to be meant.
    #[pyfunction]
    fn nearest(typed: &str, candidates: Vec<String>) -> Option<String> {
        ssdlab_base::nearest(typed, candidates.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Panics with `message`, for the test that a panic never reaches the user as a traceback.
    #[pyfunction]
    fn panic_for_test(py: Python<'_>, message: String) -> PyResult<()> {
        let work = move |_: &Control| -> Result<(), Fault> { panic!("{message}") };
        gil::work(py, Control::new(0), None, work).map(drop)
    }
}
