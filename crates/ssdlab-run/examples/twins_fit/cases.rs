//! The excerpts and their peculiarities.

/// An excerpt of a trace that twins imitate.
pub(crate) struct Case {
    /// Its name, and the name of the shape fitted on it.
    pub name: &'static str,
    /// Its file, below the folder of excerpts.
    pub path: &'static str,
    /// Its device in that file, if the file holds several.
    pub device: Option<&'static str>,
    /// Length of its time unit in nanoseconds, if its publisher changed the unit.
    pub tick: Option<u64>,
    /// The information that it lacks.
    pub lacks: Lacks,
    /// The twins of the catalog with a shape fitted on it.
    pub twins: &'static [&'static str],
}

/// The information that an excerpt lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lacks {
    /// Nothing.
    Nothing,
    /// Times finer than a second.
    Times,
    /// The reads.
    Reads,
}

impl Lacks {
    /// Returns a note in words.
    pub(crate) fn note(self) -> &'static str {
        match self {
            Lacks::Nothing => "",
            Lacks::Times => " (whole seconds)",
            Lacks::Reads => " (writes only)",
        }
    }
}

const NONE: Case =
    Case { name: "", path: "", device: None, tick: None, lacks: Lacks::Nothing, twins: &[] };
const WEB: &str = "msr_web_0_first1000/orig_pre-processed_first_1000.csv.zst";

/// An excerpt of which only the arrivals are fitted.
pub(crate) const VM: Case = Case {
    name: "vm",
    path: "cloudphysics_114k/orig_cloudPhysicsIO.vscsi.zst",
    twins: &["readguard/ali2"],
    ..NONE
};

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "hm0",
        path: "msr_hm_0_7k/orig_hm_0.csv.zst",
        twins: &["dlv/hm0", "pv-read/hm0"],
        ..NONE
    },
    Case {
        name: "fin1",
        path: "spc_financial1_10k/orig_example.ascii.zst",
        twins: &["dlv/fin1"],
        ..NONE
    },
    Case {
        name: "fin2",
        path: "spc_sub_financial2_a/orig_trace2.zst",
        twins: &["dlv/fin2"],
        ..NONE
    },
    Case {
        name: "dtr",
        path: "msps_dtrs_5min/orig_DTRS1K.trace.zst",
        tick: Some(1_000),
        twins: &["pa-ssd/dtr"],
        ..NONE
    },
    Case {
        name: "web0",
        path: WEB,
        device: Some("web_0"),
        tick: Some(1_000_000_000),
        lacks: Lacks::Times,
        twins: &["dlv/web0"],
    },
    Case {
        name: "web2",
        path: WEB,
        device: Some("web_2"),
        tick: Some(1_000_000_000),
        lacks: Lacks::Times,
        twins: &["dlv/web2"],
    },
    Case {
        name: "mds0",
        path: "msr_mds_0_writes1k/orig_mds_0.csv.zst",
        lacks: Lacks::Reads,
        twins: &["dlv/mds0"],
        ..NONE
    },
    Case {
        name: "proj0",
        path: "msr_proj_0_writes1k/orig_proj_0.csv.zst",
        lacks: Lacks::Reads,
        twins: &["dlv/proj0", "pv-read/proj0"],
        ..NONE
    },
    Case {
        name: "rsrch2",
        path: "msr_rsrch_2_writes1k/orig_rsrch_2.csv.zst",
        lacks: Lacks::Reads,
        twins: &["dlv/rsrch2"],
        ..NONE
    },
    Case {
        name: "websearch",
        path: "spc_websearch1_24k/orig_wsrch-small.trace.zst",
        twins: &["hire/websearch"],
        ..NONE
    },
];
