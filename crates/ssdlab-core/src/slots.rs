//! The seven slots: every answer that a drive can be given, by name. The only file that names
//! them all; a new policy is one file and one line here.

use ssdlab_base::{Nanos, choice};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::account::OpKind;
use crate::policy::background::{
    BackgroundPolicy, BlockEstimate, DriveView, EndedJob, Gc, Job, PageRead, PlaneView, Repairs,
    StaticWearLeveling, Trigger,
};
use crate::policy::eviction::{BufferUse, EvictionPolicy, Lru};
use crate::policy::placement::{Heat, NextPage, PlacementPolicy, PlacementView, Typed};
use crate::policy::program_mode::{Normal, ProgramModePolicy, ProgramModeView};
use crate::policy::read_start::{
    FixedLevel, HighestLevel, LowestLevel, ReadStartPolicy, ReadStartView,
};
use crate::policy::scheduler::{
    Decision, Dispatch, Fifo, QueueView, ReadFirst, SchedulerPolicy, SchedulerView, StrictPriority,
    WriteFirst,
};
use crate::policy::suspend::{
    FailedReadsView, NoSuspend, ProgramEraseSuspend, SuspendPolicy, SuspendView, Verdict,
};
use crate::policy::{PlacementHint, Policy, PolicyContext};
use crate::queue::{GroupId, PlaneShare};
use crate::schemes::buffers::{CcfLru, Cflru, LruWsr, PtLru};
use crate::schemes::dlv::last_level::LastLevel;
use crate::schemes::dlv::per_class::PerClass;
use crate::schemes::dlv::scheduler::Dlv;
use crate::schemes::dlv::sl_table::SlTable;
use crate::schemes::dlv::small_to_strong::SmallToStrong;
use crate::schemes::hire::fixed_mode::FixedMode;
use crate::schemes::hire::hotness_placement::HotnessPlacement;
use crate::schemes::hire::per_hotness::PerHotness;
use crate::schemes::pa_ssd::hgs::Hgs;
use crate::schemes::pa_ssd::lfs::Lfs;
use crate::schemes::pa_ssd::qds::Qds;
use crate::schemes::pa_ssd::sbs::Sbs;
use crate::schemes::pa_ssd::ubs::Ubs;
use crate::schemes::pa_ssd::us::Us;
use crate::schemes::pa_ssd::wbs::Wbs;
use crate::schemes::pv_read::measured_level::MeasuredLevel;
use crate::schemes::pv_read::oracle_hotness::OracleHotness;
use crate::schemes::pv_read::read_hot_migration::ReadHotMigration;
use crate::schemes::readguard::dual_pool::DualPool;
use crate::schemes::readguard::esra::Esra;
use crate::schemes::readguard::inversion_repair::InversionRepair;
use crate::schemes::readguard::last_vref::LastVref;
use crate::schemes::readguard::priority_placement::PriorityPlacement;
use crate::schemes::readguard::subpool_gc::SubpoolGc;
use crate::toggle::Toggle;

/// Declares one slot: the names and settings that a config may choose from, the policies
/// themselves, and a macro that calls a method of whichever answer was chosen.
macro_rules! slot {
    (
        $d:tt $each:ident
        $(#[doc = $doc:literal])*
        $Any:ident from $Choice:ident {
            $($(#[doc = $note:literal])* $name:ident => $Policy:ident),+ $(,)?
        } default $default:ident
    ) => {
        choice! {
            $(#[doc = $doc])*
            pub enum $Choice {
                $($(#[doc = $note])* $name => $Policy(<$Policy as Policy>::Config)),+
            } default $default
        }

        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        pub enum $Any {
            $($(#[doc = $note])* $Policy($Policy)),+
        }

        impl $Any {
            /// The chosen policy, set up for this drive.
            pub fn build(choice: &$Choice, context: &PolicyContext) -> $Any {
                match choice {
                    $($Choice::$Policy(config) => $Any::$Policy(Policy::build(config, context))),+
                }
            }

            /// Whether the chosen policy can be set up for this drive.
            ///
            /// # Errors
            /// What it cannot work with.
            pub fn check(choice: &$Choice, context: &PolicyContext) -> Result<(), Refusal> {
                match choice {
                    $($Choice::$Policy(config) => <$Policy as Policy>::check(config, context)),+
                }
            }
        }

        macro_rules! $each {
            ($d policy:expr, $d chosen:ident => $d call:expr) => {
                match $d policy { $($Any::$Policy($d chosen) => $d call),+ }
            };
        }
    };
}

slot! { $ each_scheduler
    /// Which request goes to the flash next.
    AnyScheduler from SchedulerChoice {
        /// First come, first served on each plane.
        fifo => Fifo,
        /// Reads before writes on each plane.
        read_first => ReadFirst,
        /// Writes before reads on each plane.
        write_first => WriteFirst,
        /// By the priority of the submission queue; for two to five queues (`host.queues`).
        strict_priority => StrictPriority,
        /// The request that is expected to end first, and strong blocks where they help (DLV).
        dlv => Dlv,
    } default fifo
}

slot! { $ each_placement
    /// What kind of block and page a write wants; a link of a chain.
    AnyPlacement from PlacementChoice {
        /// The next page of the plane's open block.
        next_page => NextPage,
        /// Strong blocks for small writes (PV+allocation).
        small_to_strong => SmallToStrong,
        /// Pages of each type in turn, request by request (PA-SSD).
        us => Us,
        /// The page type that the host's hint asks for (PA-SSD).
        hgs => Hgs,
        /// The lowest page type (PA-SSD).
        lfs => Lfs,
        /// The lowest page type for small writes (PA-SSD).
        sbs => Sbs,
        /// The lowest page type while the queue is long (PA-SSD).
        qds => Qds,
        /// The lowest page type while the write buffer is full (PA-SSD).
        wbs => Wbs,
        /// Page types by chance, by what is free of each; for what is moved, too (PA-SSD).
        ubs => Ubs,
        /// Blocks as good as the page is hot, both known before the run (the ideal of PV-read).
        oracle_hotness => OracleHotness,
        /// Blocks of the submission queue's priority (ReadGuard).
        priority => PriorityPlacement,
        /// Blocks of pages that are mostly read, mostly written, or both (HIRE).
        hotness => HotnessPlacement,
    } default next_page
}

slot! { $ each_program_mode
    /// With which voltages or step a page is programmed; a link of a chain.
    AnyProgramMode from ProgramModeChoice {
        /// The normal voltages.
        normal => Normal,
        /// Each class of blocks with voltages of its own (DLV: a larger step on strong blocks).
        per_class => PerClass,
        /// Every page with the same voltages (HIRE's comparisons).
        fixed => FixedMode,
        /// Higher voltages for pages that are mostly read, lower ones for what is mostly written (HIRE).
        per_hotness => PerHotness,
    } default normal
}

slot! { $ each_read_start
    /// Where a read starts on the ladder, and how it climbs.
    AnyReadStart from ReadStartChoice {
        /// From the lowest level up, one at a time.
        lowest_level => LowestLevel,
        /// From a fixed level up, one at a time.
        fixed_level => FixedLevel,
        /// Always the last rung.
        highest_level => HighestLevel,
        /// From the rung that tables give by the block's class and the data's age (DLV).
        sl_table => SlTable,
        /// From the rung at which the page was read last (LaLDPC).
        last_level => LastLevel,
        /// From the rung at which the block was measured (PV-read).
        measured_level => MeasuredLevel,
        /// From the rung at which the same layer of the block was read last (process similarity).
        last_vref => LastVref,
    } default lowest_level
}

slot! { $ each_suspend
    /// Who may interrupt whom on a die.
    AnySuspend from SuspendChoice {
        /// Every operation runs to its end.
        none => NoSuspend,
        /// Host reads interrupt programs and erases.
        program_erase => ProgramEraseSuspend,
        /// Host reads interrupt loops of programs and erases, and retries of lower priorities
        /// (ReadGuard).
        esra => Esra,
    } default none
}

slot! { $ each_eviction
    /// Which page leaves a full buffer.
    AnyEviction from EvictionChoice {
        /// The page that was not used for longest.
        lru => Lru,
        /// CFLRU: of the pages not used for longest, a clean one first.
        cflru => Cflru,
        /// LRU-WSR: as `lru`, with a second chance for written pages.
        lru_wsr => LruWsr,
        /// CCF-LRU: clean pages used once first, then second chances.
        ccf_lru => CcfLru,
        /// PT-LRU: clean pages used once first, then written or often used ones by chance.
        pt_lru => PtLru,
    } default lru
}

/// Declares the tenders: a config section for each, and the list of those that are on.
macro_rules! background {
    ($d:tt $each:ident $($(#[doc = $note:literal])* $name:ident => $Policy:ident $on:ident),+ $(,)?) => {
        /// What is moved, levelled, erased, and by whom: each tender by its name.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct BackgroundChoice {
            $($(#[doc = $note])* pub $name: Toggle<<$Policy as Policy>::Config>),+
        }

        impl Default for BackgroundChoice {
            fn default() -> BackgroundChoice {
                BackgroundChoice { $($name: Toggle::$on()),+ }
            }
        }

        /// A tender.
        #[derive(Clone, Debug)]
        pub enum AnyBackground { $($(#[doc = $note])* $Policy($Policy)),+ }

        impl AnyBackground {
            /// The tenders that are on, in the order in which they are asked.
            pub fn build(choice: &BackgroundChoice, setup: &PolicyContext) -> Vec<AnyBackground> {
                let mut policies = Vec::new();
                $(if let Some(config) = choice.$name.get() {
                    policies.push(AnyBackground::$Policy(Policy::build(config, setup)));
                })+
                policies
            }

            /// Whether the tenders that are on can be set up for this drive.
            ///
            /// # Errors
            /// What they cannot work with.
            pub fn check(choice: &BackgroundChoice, setup: &PolicyContext) -> Result<(), Refusal> {
                $(if let Some(config) = choice.$name.get() {
                    <$Policy as Policy>::check(config, setup)?;
                })+
                Ok(())
            }
        }

        macro_rules! $each {
            ($d policy:expr, $d chosen:ident => $d call:expr) => {
                match $d policy { $(AnyBackground::$Policy($d chosen) => $d call),+ }
            };
        }
    };
}

background! { $ each_background
    /// Static wear levelling. Off by default.
    static_wear_leveling => StaticWearLeveling off,
    /// Garbage collection. On by default.
    gc => Gc on,
    /// Pages that are read often move to blocks that are read fast (PV-read). Off by default.
    read_hot_migration => ReadHotMigration off,
    /// Static wear levelling with two pools, within priorities and across them (ReadGuard). Off by default.
    dual_pool => DualPool off,
    /// Garbage collection by subpool (ReadGuard). Off by default.
    subpool_gc => SubpoolGc off,
    /// Blocks of a priority that became worse than those of a lower one are exchanged or refreshed
    /// (ReadGuard). Off by default.
    inversion_repair => InversionRepair off,
}

/// Passes every question of a slot on to whichever policy was chosen.
macro_rules! asks {
    ($each:ident, $Trait:ident for $Any:ident {
        $($(#[$hint:meta])? fn $name:ident($me:ident: $Me:ty $(, $given:ident: $Given:ty)*) $(-> $Said:ty)?;)+
    }) => {
        impl $Trait for $Any {
            $($(#[$hint])? fn $name($me: $Me $(, $given: $Given)*) $(-> $Said)? {
                $each!($me, policy => policy.$name($($given),*))
            })+
        }
    };
}

asks! { each_scheduler, SchedulerPolicy for AnyScheduler {
    #[inline] fn rank(self: &mut Self, view: &SchedulerView) -> u8;
    fn holds_requests(self: &Self) -> bool;
    fn window(self: &Self) -> usize;
    fn estimate(self: &mut Self, view: &QueueView, kind: OpKind, plane_share: &PlaneShare) -> u64;
    fn goes_at_once(self: &mut Self, view: &QueueView, group: GroupId) -> bool;
    fn next(self: &mut Self, view: &QueueView, plane: PlaneId) -> Option<Decision>;
    fn on_dispatch(self: &mut Self, view: &QueueView, dispatch: &Dispatch, classes: &mut Vec<Option<u8>>);
    fn on_page_allocated(self: &mut Self, plane: PlaneId, class: u8, arrival: u64);
    fn on_plane_changed(self: &mut Self, from: PlaneId, to: PlaneId, arrival: u64);
    fn is_overdue(self: &mut Self, view: &QueueView, plane: PlaneId) -> bool;
    fn steps(self: &mut Self) -> u64;
    fn metadata_bits(self: &Self) -> Vec<(&'static str, u64)>;
} }

asks! { each_placement, PlacementPolicy for AnyPlacement {
    #[inline] fn fill(self: &mut Self, view: &PlacementView, hint: &mut PlacementHint);
    fn types(self: &Self) -> Typed;
    #[inline] fn page(self: &mut Self, lpn: Lpn, hint: &mut PlacementHint);
    fn wants_heat(self: &Self) -> bool;
    fn set_page_heat(self: &mut Self, heat: &Heat);
    fn heeds_hints(self: &Self) -> bool;
} }

asks! { each_program_mode, ProgramModePolicy for AnyProgramMode {
    #[inline] fn fill(self: &mut Self, view: &ProgramModeView, hint: &mut PlacementHint);
} }

asks! { each_read_start, ReadStartPolicy for AnyReadStart {
    #[inline] fn start(self: &mut Self, view: &ReadStartView) -> u8;
    fn climb(self: &mut Self, view: &ReadStartView, failed: u8) -> u8;
    fn by_one(self: &Self) -> bool;
    fn learns(self: &Self) -> bool;
    fn decoded(self: &mut Self, view: &ReadStartView, rung: u8, first_try: bool);
    fn written(self: &mut Self, lpn: Lpn);
    fn erased(self: &mut Self, block: BlockId);
    fn metadata_bits(self: &Self) -> Vec<(&'static str, u64)>;
} }

asks! { each_suspend, SuspendPolicy for AnySuspend {
    #[inline] fn verdict(self: &mut Self, view: &SuspendView) -> Verdict;
    fn may_preempt_read(self: &mut Self, view: &FailedReadsView) -> bool;
    fn max_suspended_reads(self: &Self) -> u8;
} }

asks! { each_eviction, EvictionPolicy for AnyEviction {
    fn insert(self: &mut Self, view: &BufferUse);
    fn touch(self: &mut Self, view: &BufferUse);
    fn remove(self: &mut Self, slot: u32);
    fn flushed(self: &mut Self);
    fn victim(self: &mut Self) -> Option<u32>;
} }

asks! { each_background, BackgroundPolicy for AnyBackground {
    fn free_page_target(self: &Self) -> u32;
    fn keeps_of_drive(self: &Self) -> u32;
    fn job(self: &mut Self, trigger: Trigger, view: &PlaneView) -> Option<Job>;
    fn urgent_below(self: &Self) -> u32;
    fn counts_pages(self: &Self) -> bool;
    fn counts_reads(self: &Self) -> u8;
    fn page_read(self: &mut Self, read: &PageRead) -> Option<u8>;
    fn on_no_space(self: &mut Self, plane: PlaneId, class: u8);
    fn is_drive_wide(self: &Self) -> bool;
    fn drive_job(self: &mut Self, view: &DriveView) -> Option<Job>;
    fn interval(self: &Self) -> Option<Nanos>;
    fn round(self: &mut Self, full: &[BlockEstimate], jobs: &mut Vec<Job>);
    fn may_start(self: &mut Self, pages: u32) -> bool;
    fn round_left_out(self: &mut Self);
    fn ended(self: &mut Self, ended: &EndedJob);
    fn levels_across(self: &Self) -> bool;
    fn repairs(self: &Self) -> Option<Repairs>;
    fn reset_counts(self: &mut Self);
    fn metadata_bits(self: &Self, apart: u64) -> Vec<(&'static str, u64)>;
} }
