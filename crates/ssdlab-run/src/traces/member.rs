//! A member of a mix: a trace in a file, or a twin.

use ssdlab_base::{Fault, rng};
use ssdlab_workload::twins::{Twin, TwinSource, find};
use ssdlab_workload::{Described, Reach, Record, Source, Trace};

use super::{AppOrder, file_of};
use crate::shared::View;

/// The requests of a member, from the first on.
pub(crate) enum Member {
    Trace(Box<Trace>),
    /// A trace that other plans read, too.
    Shared(View),
    Twin(&'static Twin, TwinSource),
}

/// Returns the twin that a member names, unless a file of this name exists. A bare name selects a
/// twin of `family` if that family has one.
///
/// # Errors
/// When several twins have this name.
pub(crate) fn twin_of(spec: &str, family: Option<&str>) -> Result<Option<&'static Twin>, Fault> {
    if file_of(spec).is_ok_and(|path| path.exists()) {
        return Ok(None);
    }
    match find(spec, family) {
        Ok(twin) => Ok(Some(twin)),
        // A name that is not a twin's is the name of a trace. Opening that trace reports a missing
        // file.
        Err(fault) if fault.expected.is_none() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// The members of a mix, not opened yet.
pub(crate) struct Members<'a> {
    pub(crate) apps: &'a [AppOrder],
    /// The twin that each application is; none for a trace.
    pub(crate) twins: &'a [Option<&'static Twin>],
    /// The seed of the twins.
    pub(crate) seed: u64,
    /// Opens a member that is a trace.
    pub(crate) open: &'a dyn Fn(usize) -> Result<Member, Fault>,
}

impl Members<'_> {
    /// Opens a member.
    ///
    /// # Errors
    /// When its trace cannot be read.
    pub(crate) fn open(&self, nth: usize) -> Result<Member, Fault> {
        let Some(twin) = self.twins[nth] else {
            return (self.open)(nth);
        };
        // A twin generates the same requests in a mix as alone. A second copy of it in the mix gets
        // another seed.
        let alike = |other: &&Option<&Twin>| other.is_some_and(|other| other.name == twin.name);
        let before = self.twins[..nth].iter().filter(alike).count() as u64;
        let seed = if before == 0 { self.seed } else { rng::hash(self.seed, before, 0) };
        Ok(Member::Twin(twin, twin.source(seed)?))
    }

    /// Opens all members.
    ///
    /// # Errors
    /// When a trace cannot be read.
    pub(crate) fn open_all(&self) -> Result<Vec<Member>, Fault> {
        (0..self.apps.len()).map(|nth| self.open(nth)).collect()
    }
}

impl Member {
    /// Returns a member that reads its trace by itself.
    pub(crate) fn trace(trace: Trace) -> Member {
        Member::Trace(Box::new(trace))
    }

    /// Returns the remarks for the user on how the member is read.
    pub(crate) fn remarks(&self) -> Vec<String> {
        match self {
            Member::Trace(trace) => trace.remarks(),
            Member::Shared(view) => view.remarks().to_vec(),
            Member::Twin(..) => Vec::new(),
        }
    }

    /// Returns the format that its trace is read in; `twin` for a twin.
    pub(crate) fn format(&self) -> &'static str {
        self.trace_format().unwrap_or("twin")
    }

    /// Returns the range of its addresses, if it is known without reading the requests.
    pub(crate) fn reach(&self) -> Option<Reach> {
        match self {
            Member::Trace(_) | Member::Shared(_) => None,
            Member::Twin(twin, _) => Some(Reach { first: 0, end: twin.sectors() }),
        }
    }

    /// Returns the name of its original, as results show it.
    pub(crate) fn title(&self) -> Option<String> {
        match self {
            Member::Trace(_) | Member::Shared(_) => None,
            Member::Twin(twin, _) => Some(twin.title.clone()),
        }
    }

    fn source(&self) -> &dyn Source {
        match self {
            Member::Trace(trace) => trace.as_ref(),
            Member::Shared(view) => view,
            Member::Twin(_, source) => source,
        }
    }
}

impl Described for Member {
    fn name(&self) -> &str {
        self.source().name()
    }

    fn twins(&self) -> Vec<String> {
        self.source().twins()
    }

    fn sha256(&self) -> Result<Option<String>, Fault> {
        self.source().sha256()
    }

    fn trace_format(&self) -> Option<&'static str> {
        self.source().trace_format()
    }

    fn warnings(&self) -> Vec<String> {
        self.source().warnings()
    }
}

impl Source for Member {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        match self {
            Member::Trace(trace) => trace.fill(batch, most),
            Member::Shared(view) => view.fill(batch, most),
            Member::Twin(_, source) => source.fill(batch, most),
        }
    }

    fn expected(&self) -> Option<u64> {
        self.source().expected()
    }

    fn progress(&self) -> Option<f64> {
        self.source().progress()
    }

    fn line(&self, index: usize) -> Option<u64> {
        self.source().line(index)
    }

    fn device(&self, index: usize) -> Option<&str> {
        self.source().device(index)
    }

    fn fault(&self, index: usize, what: &str) -> Fault {
        self.source().fault(index, what)
    }
}
