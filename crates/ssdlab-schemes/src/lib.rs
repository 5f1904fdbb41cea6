//! The policies of published systems, one folder for each system, and the catalog for configs.
//!
//! A folder holds the policies of a system, their state, and the bundles of settings that define
//! its variants. [`metadata`] is the state that several policies of a drive read. The lists below
//! name every policy. A new policy is a file and a line in a list. The line gives the policy its
//! name in configs, help texts and the schema and, with `as`, makes it a scheme. [`catalog`] holds
//! the schemes of several policies, and the drives that ship.

#[macro_use]
mod slot;

mod buffers;
pub mod catalog;
mod dlv;
mod hire;
pub mod metadata;
mod pa_ssd;
mod pv_read;
mod readguard;
mod renamed;
/// Streams: writes whose data is expected to live as long share blocks, so that these become
/// invalid together.
mod streams {
    pub(crate) mod by_queue;
    pub(crate) mod sepbit;
}

use crate::catalog::Entry;
pub use renamed::RENAMED;
use ssdlab_base::{Nanos, SimTime, choice};
use ssdlab_nand::refusal::{IdleKey, Refusal};
use ssdlab_nand::{Level, PlaneId};
use ssdlab_policy::account::OpKind;
use ssdlab_policy::allocation::Streams;
use ssdlab_policy::background::{
    BackgroundNeeds, BackgroundPolicy, BackgroundUses, DriveView, Job, PlaneView, Trigger,
};
use ssdlab_policy::columns::Column;
use ssdlab_policy::counters::Counter;
use ssdlab_policy::event::{Event, EventContext, EventMask};
use ssdlab_policy::eviction::{EvictionPolicy, EvictionView};
use ssdlab_policy::placement::{PageView, PlacementNeeds, PlacementPolicy, PlacementView};
use ssdlab_policy::program_mode::{ProgramModeNeeds, ProgramModePolicy, ProgramModeView};
use ssdlab_policy::queue::PlaneShare;
use ssdlab_policy::read_start::{ReadStartNeeds, ReadStartPolicy, ReadStartView};
use ssdlab_policy::scheduler::{
    Decision, DecisionDetails, HostRank, Occasion, Planes, QueueView, SchedulerNeeds,
    SchedulerPolicy, SchedulerView,
};
use ssdlab_policy::suspend::{SuspendFacts, SuspendNeeds, SuspendPolicy, SuspendView, Verdict};
use ssdlab_policy::{Learner, PlacementHint, Policy, PolicyContext, Toggle};

slot! { $ each_scheduler
    /// Which request goes to the flash next.
    AnyScheduler from SchedulerChoice {
        /// First come, first served on each plane.
        fifo => Fifo in ssdlab_policy::scheduler,
        /// Reads before writes on each plane.
        read_first => ReadFirst in ssdlab_policy::scheduler,
        /// Writes before reads on each plane.
        write_first => WriteFirst in ssdlab_policy::scheduler,
        /// By the priority of the submission queue; for two to five queues (`host.queues`).
        strict_priority => StrictPriority in ssdlab_policy::scheduler,
        /// The request that is expected to end first, and strong blocks where they help (DLV).
        dlv => Dlv in crate::dlv::scheduler,
    } default fifo, schemes SCHEDULERS from "scheduler = \"", "\"\n"
}

slot! { $ each_placement
    /// Which kind of block and page takes a write; a link of a chain.
    AnyPlacement from PlacementChoice {
        /// The next page of the plane's open block.
        next_page => NextPage in ssdlab_policy::placement,
        /// Strong blocks for small writes (PV+allocation).
        small_to_strong => SmallToStrong in crate::dlv::small_to_strong,
        /// Pages of each type in turn, request by request (PA-SSD).
        us => Us in crate::pa_ssd::us,
        /// The page type that the host's hint asks for (PA-SSD).
        hgs => Hgs in crate::pa_ssd::hgs,
        /// The lowest page type (PA-SSD).
        lfs => Lfs in crate::pa_ssd::lfs,
        /// The lowest page type for small writes (PA-SSD).
        sbs => Sbs in crate::pa_ssd::sbs,
        /// The lowest page type while the queue is long (PA-SSD).
        qds => Qds in crate::pa_ssd::qds,
        /// The lowest page type while the write buffer is full (PA-SSD).
        wbs => Wbs in crate::pa_ssd::wbs,
        /// Random page types, in proportion to free pages; also for pages that move (PA-SSD).
        ubs => Ubs in crate::pa_ssd::ubs,
        /// The best blocks for the hottest pages, both known before the run (the ideal of PV-read).
        oracle_hotness => OracleHotness in crate::pv_read::oracle_hotness,
        /// Blocks of the submission queue's priority (ReadGuard).
        priority => PriorityPlacement in crate::readguard::priority_placement,
        /// Blocks of pages that are mostly read, mostly written, or both (HIRE).
        hotness => HotnessPlacement in crate::hire::hotness_placement,
        /// A stream for each submission queue, so that tenants share no block.
        by_queue => ByQueue in crate::streams::by_queue as "streams/by-queue": "tenants share no block: a stream for each submission queue",
        /// Streams of pages that are expected to be overwritten at about the same time (SepBIT).
        sepbit => SepBit in crate::streams::sepbit as "streams/sepbit": "pages that are expected to be overwritten at about the same time share blocks (SepBIT)",
    } default next_page, schemes PLACEMENTS from "placement = [\"", "\"]\n"
}

slot! { $ each_program_mode
    /// With which voltages or step size a page is programmed; a link of a chain.
    AnyProgramMode from ProgramModeChoice {
        /// The normal voltages.
        normal => Normal in ssdlab_policy::program_mode,
        /// Separate voltages for each class of blocks (DLV: a larger step on strong blocks).
        per_class => PerClass in crate::dlv::per_class,
        /// The same voltages for every page (HIRE's comparisons).
        fixed => FixedMode in crate::hire::fixed_mode,
        /// Higher voltages for pages that are mostly read, lower ones for pages that are mostly
        /// written (HIRE).
        per_hotness => PerHotness in crate::hire::per_hotness,
    } default normal, schemes PROGRAM_MODES from "program_mode = [\"", "\"]\n"
}

slot! { $ each_read_start
    /// At which level a read starts, and which levels follow.
    AnyReadStart from ReadStartChoice {
        /// From the lowest level up, one at a time.
        lowest_level => LowestLevel in ssdlab_policy::read_start,
        /// From a fixed level up, by a fixed step.
        fixed_level => FixedLevel in ssdlab_policy::read_start,
        /// Always the highest level.
        highest_level => HighestLevel in ssdlab_policy::read_start,
        /// From the level that tables give by the block's class and the data's age (DLV).
        sl_table => SlTable in crate::dlv::sl_table,
        /// From the level at which the page was read last (LaLDPC).
        last_level => LastLevel in crate::dlv::last_level,
        /// From the level at which the block was measured (PV-read).
        measured_level => MeasuredLevel in crate::pv_read::measured_level,
        /// From the level at which the same layer of the block was read last (process similarity).
        last_vref => LastVref in crate::readguard::last_vref,
    } default lowest_level, schemes READ_STARTS from "read_start = \"", "\"\n"
}

slot! { $ each_suspend
    /// Which operation may interrupt another on a die.
    AnySuspend from SuspendChoice {
        /// Every operation runs to its end.
        none => NoSuspend in ssdlab_policy::suspend,
        /// Host reads interrupt programs and erases.
        program_erase => ProgramEraseSuspend in ssdlab_policy::suspend,
        /// Host reads interrupt loops of programs and erases, and retries of lower priorities
        /// (ReadGuard).
        esra => Esra in crate::readguard::esra,
    } default none, schemes SUSPENDS from "suspend = \"", "\"\n"
}

slot! { $ each_eviction
    /// Which page leaves a full buffer.
    AnyEviction from EvictionChoice {
        /// The least recently used page.
        lru => Lru in ssdlab_policy::eviction,
        /// CFLRU: a clean page first, among the least recently used ones.
        cflru => Cflru in crate::buffers,
        /// LRU-WSR: as `lru`, with a second chance for written pages.
        lru_wsr => LruWsr in crate::buffers,
        /// CCF-LRU: clean pages used once first, then second chances.
        ccf_lru => CcfLru in crate::buffers,
        /// PT-LRU: clean pages used once first, then written or often used ones at random.
        pt_lru => PtLru in crate::buffers,
    } default lru, schemes EVICTIONS from "eviction = \"", "\"\n"
}

background! { $ each_background, schemes BACKGROUNDS
    /// Static wear leveling. Off by default.
    static_wear_leveling => StaticWearLeveling in ssdlab_policy::background, off,
    /// Garbage collection. On by default.
    gc => Gc in ssdlab_policy::background, on,
    /// Pages that are read often move to blocks that are read fast (PV-read). Off by default.
    read_hot_migration => ReadHotMigration in crate::pv_read::read_hot_migration, off,
    /// Static wear leveling with two pools, within priorities and across them (ReadGuard). Off by
    /// default.
    dual_pool => DualPool in crate::readguard::dual_pool, off,
    /// Garbage collection by subpool (ReadGuard). Off by default.
    subpool_gc => SubpoolGc in crate::readguard::subpool_gc, off,
    /// Blocks of a priority that became worse than those of a lower one are exchanged or refreshed
    /// (ReadGuard). Off by default.
    inversion_repair => InversionRepair in crate::readguard::inversion_repair, off,
}

asks! { each_scheduler, AnyScheduler {
    /// [`SchedulerPolicy::rank`].
    #[inline] fn rank(self: &mut Self, view: &SchedulerView) -> HostRank;
    /// [`SchedulerPolicy::window`].
    fn window(self: &Self) -> Option<usize>;
    /// [`SchedulerPolicy::estimate`].
    fn estimate(self: &mut Self, view: &QueueView<impl Planes>, kind: OpKind, plane_share: &PlaneShare) -> Nanos;
    /// [`SchedulerPolicy::next`].
    fn next(self: &mut Self, view: &QueueView<impl Planes>, occasion: Occasion, details: &mut DecisionDetails) -> Option<Decision>;
    /// [`SchedulerPolicy::is_overdue`].
    #[inline] fn is_overdue(self: &Self, now: SimTime, plane: PlaneId) -> bool;
} }

impl AnyScheduler {
    /// [`SchedulerPolicy::needs`].
    pub fn needs(choice: &SchedulerChoice) -> SchedulerNeeds {
        each_scheduler!(of choice, Chosen, config => <Chosen as SchedulerPolicy>::needs(config))
    }
}

asks! { each_placement, AnyPlacement {
    /// [`PlacementPolicy::fill`].
    #[inline] fn fill(self: &mut Self, view: &PlacementView, hint: &mut PlacementHint);
    /// [`PlacementPolicy::fill_page`].
    #[inline] fn fill_page(self: &mut Self, view: &PageView, hint: &mut PlacementHint);
} }

impl AnyPlacement {
    /// [`PlacementPolicy::streams`].
    pub fn streams(choice: &PlacementChoice) -> Streams {
        each_placement!(of choice, Chosen, config => <Chosen as PlacementPolicy>::streams(config))
    }

    /// [`PlacementPolicy::needs`].
    pub fn needs(choice: &PlacementChoice) -> PlacementNeeds {
        each_placement!(of choice, Chosen, config => <Chosen as PlacementPolicy>::needs(config))
    }
}

asks! { each_program_mode, AnyProgramMode {
    /// [`ProgramModePolicy::fill`].
    #[inline] fn fill(self: &mut Self, view: &ProgramModeView, hint: &mut PlacementHint);
} }

impl AnyProgramMode {
    /// [`ProgramModePolicy::needs`].
    pub fn needs(choice: &ProgramModeChoice) -> ProgramModeNeeds {
        each_program_mode!(of choice, Chosen, config => <Chosen as ProgramModePolicy>::needs(config))
    }
}

asks! { each_read_start, AnyReadStart {
    /// [`ReadStartPolicy::start`].
    #[inline(always)] fn start(self: &mut Self, view: &ReadStartView) -> Level;
    /// [`ReadStartPolicy::climb`].
    fn climb(self: &mut Self, view: &ReadStartView, failed: Level) -> Level;
    /// [`ReadStartPolicy::needs`].
    fn needs(self: &Self) -> ReadStartNeeds;
} }

asks! { each_suspend, AnySuspend {
    /// [`SuspendPolicy::verdict`].
    #[inline] fn verdict(self: &mut Self, view: &SuspendView) -> Verdict;
} }

impl AnySuspend {
    /// [`SuspendPolicy::needs`].
    pub fn needs(choice: &SuspendChoice) -> SuspendNeeds {
        each_suspend!(of choice, Chosen, config => <Chosen as SuspendPolicy>::needs(config))
    }

    /// [`SuspendPolicy::idle_keys`].
    pub fn idle_keys(choice: &SuspendChoice, facts: &SuspendFacts) -> Vec<IdleKey> {
        each_suspend!(of choice, Chosen, config => <Chosen as SuspendPolicy>::idle_keys(config, facts))
    }
}

asks! { each_eviction, AnyEviction {
    /// [`EvictionPolicy::victim`].
    fn victim(self: &mut Self, view: &EvictionView) -> Option<u32>;
} }

asks! { each_background, AnyBackground {
    /// [`BackgroundPolicy::needs`].
    fn needs(self: &Self) -> BackgroundNeeds;
    /// [`BackgroundPolicy::job`].
    fn job(self: &mut Self, trigger: Trigger, view: &PlaneView) -> Option<Job>;
    /// [`BackgroundPolicy::drive_job`].
    fn drive_job(self: &mut Self, view: &DriveView) -> Option<Job>;
    /// [`BackgroundPolicy::may_start`].
    fn may_start(self: &mut Self, pages: u32) -> bool;
} }
