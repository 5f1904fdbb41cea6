//! A trace that several plans read, by itself or in a mix: it is parsed once, however long it is, and what was
//! parsed is kept for the others ([`keep`]). Nobody waits for another, and who comes later finds all of it.

mod keep;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use ssdlab_base::Fault;
use ssdlab_workload::{Record, Source, Trace, TraceOptions};

use self::keep::{Keep, Kept};
use crate::begin::Begins;
use crate::mix::Layout;
use crate::plan::Prepared;
use crate::source::{BATCH, open_trace};
use crate::traces::AppOrder;

/// What a plan has in common with others that run beside it.
#[derive(Debug, Default)]
pub struct InCommon {
    /// Its trace.
    pub trace: Option<Arc<Shared>>,
    /// Those of its mix's members, where they are traces.
    pub members: Vec<Option<Arc<Shared>>>,
    /// What its drive begins with.
    pub begins: Option<Begins>,
    /// Why it does not begin as another does, if only for lack of memory.
    pub begins_alone: Option<String>,
}

/// A trace, as far as it has been parsed.
pub struct Shared {
    spec: String,
    options: TraceOptions,
    name: String,
    format: Option<&'static str>,
    /// What the user should know of how it is read.
    remarks: Vec<String>,
    /// Where its parts are kept.
    keep: Arc<Keep>,
    sha256: OnceLock<Result<Option<String>, Fault>>,
    inside: Mutex<Inside>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Shared").field("name", &self.name).finish_non_exhaustive()
    }
}

struct Inside {
    trace: Trace,
    parts: Vec<Arc<Part>>,
    /// Whether there was no room for the next part: who has those before it goes on alone.
    full: bool,
    ended: bool,
}

/// What one call of [`Source::fill`] gave.
struct Part {
    records: Kept,
    count: usize,
    progress: Option<f64>,
}

/// Lets those of these plans that read the same requests of the same trace share them.
pub fn share(prepared: &mut [Prepared]) {
    share_in(&Arc::new(Keep::default()), prepared);
}

fn share_in(keep: &Arc<Keep>, prepared: &mut [Prepared]) {
    let requests =
        |plan: &Prepared| (plan.plan.trace.clone(), plan.workload.trace.clone(), plan.plan.limit);
    let reads = |plan: &Prepared| plan.plan.trace.is_some();
    let all = groups(prepared, reads, |one, other| requests(one) == requests(other));
    for readers in &all {
        // One that cannot be read is found when it is opened to be run.
        let first = &prepared[readers[0]];
        let spec = first.plan.trace.as_deref().expect("a plan that reads a trace");
        if let Ok(one) = Shared::open(spec, &first.workload.trace, keep.clone()) {
            let one = Arc::new(one);
            readers.iter().for_each(|&at| prepared[at].shared.trace = Some(one.clone()));
        }
    }
    share_members(keep, prepared);
}

/// The same of the members of mixes that are read as far, beside the same twins: what is to be said of a trace
/// depends on that.
fn share_members(keep: &Arc<Keep>, prepared: &mut [Prepared]) {
    let requests = |plan: &Prepared| {
        let twins = plan.mix.as_ref().map(Layout::twins);
        let seed =
            twins.is_some_and(|all| all.iter().any(Option::is_some)).then_some(plan.plan.seed);
        (plan.plan.mix.clone(), plan.workload.trace.clone(), plan.plan.limit, seed)
    };
    let alike = |one: &Prepared, other: &Prepared| {
        let twins = |plan: &Prepared| plan.mix.as_ref().map(|mix| mix.twins().to_vec());
        requests(one) == requests(other) && twins(one) == twins(other)
    };
    let reads = |plan: &Prepared| plan.mix.is_some();
    for readers in groups(prepared, reads, alike) {
        let first = &prepared[readers[0]];
        let layout = first.mix.as_ref().expect("a plan with a mix");
        let open = |(nth, app): (usize, &AppOrder)| {
            let new = || Shared::open(&app.trace, &first.workload.trace, keep.clone()).ok();
            layout.twins()[nth].is_none().then(new).flatten().map(Arc::new)
        };
        let members: Vec<_> = first.plan.mix.iter().enumerate().map(open).collect();
        readers.iter().for_each(|&at| prepared[at].shared.members.clone_from(&members));
    }
}

/// The plans that want something and have it in common with another, by what they have in common.
pub(crate) fn groups(
    prepared: &[Prepared],
    wants: impl Fn(&Prepared) -> bool,
    same: impl Fn(&Prepared, &Prepared) -> bool,
) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for (at, plan) in prepared.iter().enumerate().filter(|(_, plan)| wants(plan)) {
        match all.iter_mut().find(|group| same(&prepared[group[0]], plan)) {
            Some(group) => group.push(at),
            None => all.push(vec![at]),
        }
    }
    all.retain(|group| group.len() > 1);
    all
}

impl Shared {
    fn open(spec: &str, options: &TraceOptions, keep: Arc<Keep>) -> Result<Shared, Fault> {
        let trace = open_trace(spec, options)?;
        Ok(Shared {
            spec: spec.into(),
            options: options.clone(),
            name: trace.name().into(),
            format: trace.trace_format(),
            remarks: trace.remarks(),
            keep,
            sha256: OnceLock::new(),
            inside: Mutex::new(Inside { trace, parts: Vec::new(), full: false, ended: false }),
        })
    }

    /// The trace from its first request on, for one plan.
    pub fn view(self: &Arc<Shared>) -> View {
        View { shared: self.clone(), next: 0, progress: None, alone: None }
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("no thread panics while it parses")
    }

    /// Appends a part to a batch, parsed now if nobody has, and says how many requests it has and how much of the
    /// trace was read; `None` if there was no room for it.
    fn part(
        &self,
        at: usize,
        most: usize,
        batch: &mut Vec<Record>,
    ) -> Result<Option<(usize, Option<f64>)>, Fault> {
        let mut inside = self.inside();
        if let Some(part) = inside.parts.get(at).cloned() {
            drop(inside);
            let got = self.keep.get(&part.records, batch);
            got.map_err(|error| {
                Fault::new(&*self.name, "what was read of it cannot be read again").got(error)
            })?;
            return Ok(Some((part.count, part.progress)));
        }
        if inside.full {
            return Ok(None);
        }
        let count = inside.trace.fill(batch, most)?;
        let progress = inside.trace.progress();
        inside.ended = count == 0;
        match self.keep.put(&batch[batch.len() - count..]) {
            Some(records) => inside.parts.push(Arc::new(Part { records, count, progress })),
            None => inside.full = true,
        }
        Ok(Some((count, progress)))
    }

    /// The hash of the file, found once: as it was read if it was read to its end; others are not to wait
    /// while it is read for that alone.
    fn sha256(&self) -> Result<Option<String>, Fault> {
        let found = || match self.inside() {
            inside if inside.ended => Source::sha256(&inside.trace),
            inside => {
                drop(inside);
                Source::sha256(&open_trace(&self.spec, &self.options)?)
            }
        };
        self.sha256.get_or_init(found).clone()
    }

    /// The trace after so many parts, for who goes on alone.
    fn after(&self, parts: usize) -> Result<Trace, Fault> {
        let mut trace = open_trace(&self.spec, &self.options)?;
        let mut passed = Vec::with_capacity(BATCH);
        for _ in 0..parts {
            passed.clear();
            trace.fill(&mut passed, BATCH)?;
        }
        Ok(trace)
    }
}

/// What one plan sees of a trace that it shares. All who share one must ask for parts of the same sizes.
pub struct View {
    shared: Arc<Shared>,
    next: usize,
    progress: Option<f64>,
    /// Its own reader, where there is no room to keep more of the trace.
    alone: Option<Box<Trace>>,
}

impl View {
    /// What the user should know of how it is read.
    pub fn remarks(&self) -> &[String] {
        &self.shared.remarks
    }

    /// Asks the trace that it reads.
    fn ask<T>(&self, what: impl FnOnce(&Trace) -> T) -> T {
        match &self.alone {
            Some(trace) => what(trace),
            None => what(&self.shared.inside().trace),
        }
    }
}

impl Source for View {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        if self.alone.is_none() {
            if let Some((count, progress)) = self.shared.part(self.next, most, batch)? {
                (self.next, self.progress) = (self.next + 1, progress);
                return Ok(count);
            }
            self.alone = Some(Box::new(self.shared.after(self.next)?));
        }
        self.alone.as_mut().expect("just opened").fill(batch, most)
    }

    fn expected(&self) -> Option<u64> {
        None
    }

    fn progress(&self) -> Option<f64> {
        self.alone.as_ref().map_or(self.progress, |trace| trace.progress())
    }

    fn name(&self) -> &str {
        &self.shared.name
    }

    fn sha256(&self) -> Result<Option<String>, Fault> {
        match &self.alone {
            Some(trace) => Source::sha256(&**trace),
            None => self.shared.sha256(),
        }
    }

    fn trace_format(&self) -> Option<&'static str> {
        self.shared.format
    }

    fn line(&self, index: usize) -> Option<u64> {
        if let Some(trace) = &self.alone {
            return trace.line(index);
        }
        // Others may have read on: what is asked for one message is parsed for it again.
        let mut trace = self.shared.after(self.next.checked_sub(1)?).ok()?;
        trace.fill(&mut Vec::new(), BATCH).ok()?;
        trace.line(index)
    }

    fn twins(&self) -> Vec<String> {
        self.ask(Source::twins)
    }

    fn doubts(&self) -> Vec<String> {
        self.ask(Source::doubts)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::control::Control;
    use crate::mix;
    use crate::plan::Plan;
    use crate::source::Requests;

    fn some_plans(path: &std::path::Path, limits: &[Option<u64>]) -> Vec<Prepared> {
        let plan = |&limit| Plan {
            device: "generic-mlc-512g".into(),
            trace: Some(path.display().to_string()),
            limit,
            ..Plan::default()
        };
        let mut all: Vec<_> =
            limits.iter().map(|limit| plan(limit).prepare().expect("a plan")).collect();
        share(&mut all);
        all
    }

    fn write(path: &std::path::Path, requests: u64, wrong: Option<u64>) {
        let mut text = String::new();
        for number in 0..requests {
            let op = if wrong == Some(number) { "Rest" } else { "Read" };
            writeln!(text, "{number},host,0,{op},{},4096,0", number * 512).unwrap();
        }
        std::fs::write(path, text).unwrap();
    }

    fn read(source: &mut dyn Source, parts: usize) -> Result<Vec<Record>, Fault> {
        let mut all = Vec::new();
        for _ in 0..parts {
            source.fill(&mut all, BATCH)?;
        }
        Ok(all)
    }

    #[test]
    fn those_who_share_a_trace_read_what_each_would_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.msr");
        write(&path, 10_000, None);
        let plans = some_plans(&path, &[None, Some(7), None, Some(7), Some(8)]);
        let shared: Vec<_> = plans.iter().map(|plan| plan.shared.trace.as_ref()).collect();
        assert!(Arc::ptr_eq(shared[0].unwrap(), shared[2].unwrap()));
        assert!(Arc::ptr_eq(shared[1].unwrap(), shared[3].unwrap()));
        assert!(shared[4].is_none(), "nobody reads as many");
        let mut alone = open_trace(&path.display().to_string(), &Default::default()).unwrap();
        let expected = read(&mut alone, 4).unwrap();
        let [mut first, mut second] = [0, 2].map(|at| shared[at].unwrap().view());
        let begun = read(&mut first, 1).unwrap();
        assert_eq!((&begun[..], second.line(0)), (&expected[..BATCH], None));
        assert_eq!(first.line(5), Some(6));
        first.fill(&mut Vec::new(), BATCH).unwrap();
        // Who comes later needs the file no more, but for messages.
        assert!(read(&mut second, 2).unwrap() == expected[..2 * BATCH]);
        assert_eq!(second.line(1), Some(BATCH as u64 + 2));
        read(&mut first, 2).unwrap();
        let sha256 = first.sha256().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(read(&mut second, 2).unwrap() == expected[2 * BATCH..]);
        assert_eq!((second.progress(), second.fill(&mut Vec::new(), BATCH)), (Some(1.0), Ok(0)));
        assert_eq!((second.sha256().unwrap(), second.trace_format()), (sha256, Some("msr")));
    }

    #[test]
    fn all_are_told_what_is_wrong_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.msr");
        write(&path, 10_000, Some(5000));
        for plan in some_plans(&path, &[None, None]) {
            let mut view = plan.shared.trace.expect("another reads it").view();
            assert_eq!(read(&mut view, 2).unwrap().len(), 5000);
            let fault = read(&mut view, 1).unwrap_err().to_string();
            assert!(fault.contains("some.msr:5001"), "{fault}");
        }
    }

    /// Two plans that share what there is no room for in memory.
    fn two_with(path: &std::path::Path, keep: Keep) -> Vec<Prepared> {
        let mut plans = some_plans(path, &[None, None]);
        share_in(&Arc::new(keep), &mut plans);
        plans
    }

    #[test]
    fn one_that_is_longer_than_memory_is_parsed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.msr");
        write(&path, 40_000, None);
        let plans = two_with(&path, Keep::new(10_000, folder.path().into()));
        let shared = plans[0].shared.trace.as_ref().unwrap();
        let [mut first, mut second] = [(); 2].map(|()| shared.view());
        let mut all = [read(&mut first, 5).unwrap(), read(&mut second, 2).unwrap()];
        // They pass each other; then the file is no longer there, and all of it is kept.
        all[1].append(&mut read(&mut second, 8).unwrap());
        all[0].append(&mut read(&mut first, 6).unwrap());
        std::fs::remove_file(&path).unwrap();
        all[1].append(&mut read(&mut second, 1).unwrap());
        let later = read(&mut shared.view(), 11).unwrap();
        assert!(later.len() == 40_000 && all.iter().all(|all| *all == later));
        assert!([&first, &second].into_iter().all(|view| view.alone.is_none()));
    }

    #[test]
    fn one_that_there_is_no_room_for_is_read_by_each_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.msr");
        write(&path, 20_000, None);
        let plans = two_with(&path, Keep::new(10_000, folder.path().join("nowhere")));
        let shared = plans[0].shared.trace.as_ref().unwrap();
        let [mut first, mut second] = [(); 2].map(|()| shared.view());
        let mut all = [read(&mut first, 2).unwrap(), read(&mut second, 1).unwrap()];
        assert!(!shared.inside().full);
        all[0].append(&mut read(&mut first, 4).unwrap());
        all[1].append(&mut read(&mut second, 5).unwrap());
        assert!(shared.inside().full);
        assert!(all[0].len() == 20_000 && all[0] == all[1]);
        assert_eq!((first.line(0), second.progress()), (None, Some(1.0)));
    }

    #[test]
    fn traces_have_memory_as_they_need_it() {
        let folder = tempfile::tempdir().unwrap();
        let [long, short] = [(40_000, "long.msr"), (9000, "short.msr")].map(|(requests, name)| {
            let path = folder.path().join(name);
            write(&path, requests, None);
            path
        });
        let mut plans = some_plans(&long, &[None, None]);
        plans.append(&mut some_plans(&short, &[None, None]));
        share_in(&Arc::new(Keep::new(50_000, folder.path().join("nowhere"))), &mut plans);
        for (at, requests) in [(2, 9000), (0, 40_000)] {
            let shared = plans[at].shared.trace.as_ref().unwrap();
            assert_eq!(read(&mut shared.view(), 11).unwrap().len(), requests);
            assert!(!shared.inside().full);
        }
    }

    #[test]
    fn results_are_those_of_each_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.msr");
        write(&path, 9000, None);
        let plan = |order: &str, limit| Plan {
            device: "generic-mlc-512g".into(),
            trace: Some(path.display().to_string()),
            set: vec![format!("order={order}")],
            replays: Some(2),
            limit,
            ..Plan::default()
        };
        let plans = [
            plan("fifo", None),
            plan("read_first", None),
            plan("fifo", Some(10)),
            plan("fifo", Some(10)),
        ];
        are_those_of_each_alone(&plans);
    }

    #[test]
    fn members_of_mixes_are_parsed_once() {
        let folder = tempfile::tempdir().unwrap();
        let [long, short] = [(40_000, "long.msr"), (9000, "short.msr")].map(|(requests, name)| {
            let path = folder.path().join(name);
            write(&path, requests, None);
            path
        });
        let app = |name: &str, trace: &str, scale| AppOrder {
            name: name.into(),
            trace: trace.into(),
            queue: Some(0),
            scale: Some(scale),
            start: None,
            offset: None,
        };
        let [long_spec, short_spec] = [&long, &short].map(|path| path.display().to_string());
        let plan = |order: &str, limit| Plan {
            device: "generic-mlc-512g".into(),
            set: vec![format!("order={order}")],
            mix: vec![
                app("a", &long_spec, 1.0),
                app("b", "dlv/hm0", 1.0),
                app("c", &short_spec, 0.5),
            ],
            limit,
            ..Plan::default()
        };
        let plans = [
            plan("fifo", Some(20_000)),
            plan("read_first", Some(20_000)),
            plan("fifo", Some(10)),
            Plan { seed: 7, ..plan("fifo", Some(20_000)) },
        ];
        are_those_of_each_alone(&plans);

        let mut prepared: Vec<_> = plans.iter().map(|plan| plan.prepare().unwrap()).collect();
        mix::lay_out(&prepared, &Control::new(plans.len())).unwrap();
        share(&mut prepared);
        let members = |at: usize| &prepared[at].shared.members[..];
        let [Some(first), None, Some(_)] = members(0) else { panic!("two traces and a twin") };
        assert!(Arc::ptr_eq(first, members(1)[0].as_ref().unwrap()));
        assert!(members(2).is_empty(), "nobody reads as many");
        assert!(members(3).is_empty(), "nobody reads them beside the same twin");
        // Who comes later needs the file no more.
        let open = |at: usize| Requests::open(&prepared[at], &mut Vec::new()).unwrap();
        let read_all = |mut from: Requests| {
            let (mut all, mut batch) = (Vec::new(), Vec::new());
            while {
                from.read(&mut batch).unwrap();
                !batch.is_empty()
            } {
                all.append(&mut batch);
            }
            all
        };
        let all = read_all(open(0));
        std::fs::remove_file(&long).unwrap();
        assert!(all.len() == 20_000 && read_all(open(1)) == all);
    }

    /// Checks that plans have the same results together as each alone.
    fn are_those_of_each_alone(plans: &[Plan]) {
        let told = |result: crate::RunResult| {
            (result.results_digest, result.remarks, result.provenance.trace_sha256)
        };
        let alone: Vec<_> = plans
            .iter()
            .map(|plan| {
                told(crate::run_uninterrupted(std::slice::from_ref(plan), 1).unwrap().remove(0))
            })
            .collect();
        for jobs in [1, 2, 4] {
            let together = crate::run_uninterrupted(plans, jobs).unwrap();
            assert_eq!(together.into_iter().map(told).collect::<Vec<_>>(), alone);
        }
    }
}
