//! The seven slots: every answer that a drive can be given, by name. The only file that names
//! them all; a new policy is one file and one line here.

use ssdlab_base::choice;
use ssdlab_nand::PlaneId;
use ssdlab_nand::refusal::Refusal;

use crate::buffers::{CcfLru, Cflru, LruWsr, PtLru};
use crate::dlv::last_level::LastLevel;
use crate::dlv::per_class::PerClass;
use crate::dlv::scheduler::Dlv;
use crate::dlv::sl_table::SlTable;
use crate::dlv::small_to_strong::SmallToStrong;
use crate::hire::fixed_mode::FixedMode;
use crate::hire::hotness_placement::HotnessPlacement;
use crate::hire::per_hotness::PerHotness;
use crate::pa_ssd::hgs::Hgs;
use crate::pa_ssd::lfs::Lfs;
use crate::pa_ssd::qds::Qds;
use crate::pa_ssd::sbs::Sbs;
use crate::pa_ssd::ubs::Ubs;
use crate::pa_ssd::us::Us;
use crate::pa_ssd::wbs::Wbs;
use crate::pv_read::measured_level::MeasuredLevel;
use crate::pv_read::oracle_hotness::OracleHotness;
use crate::pv_read::read_hot_migration::ReadHotMigration;
use crate::readguard::dual_pool::DualPool;
use crate::readguard::esra::Esra;
use crate::readguard::inversion_repair::InversionRepair;
use crate::readguard::last_vref::LastVref;
use crate::readguard::priority_placement::PriorityPlacement;
use crate::readguard::subpool_gc::SubpoolGc;
use crate::streams::sepbit::SepBit;
use ssdlab_policy::Toggle;
use ssdlab_policy::account::OpKind;
use ssdlab_policy::allocation::Streams;
use ssdlab_policy::background::{
    BackgroundNeeds, BackgroundPolicy, DriveView, Gc, Job, PlaneView, Repairs, StaticWearLeveling,
    Trigger,
};
use ssdlab_policy::event::{Actions, Event, EventMask};
use ssdlab_policy::eviction::{BufferUse, EvictionPolicy, Lru};
use ssdlab_policy::placement::{
    Heat, NextPage, PageView, PlacementNeeds, PlacementPolicy, PlacementView,
};
use ssdlab_policy::program_mode::{Normal, ProgramModePolicy, ProgramModeView};
use ssdlab_policy::queue::PlaneShare;
use ssdlab_policy::read_start::{
    FixedLevel, HighestLevel, LowestLevel, ReadStartNeeds, ReadStartPolicy, ReadStartView,
};
use ssdlab_policy::scheduler::{
    Decision, Dispatch, Fifo, Occasion, Planes, QueueView, ReadFirst, SchedulerPolicy,
    SchedulerView, StrictPriority, WriteFirst,
};
use ssdlab_policy::suspend::{
    FailedReadsView, NoSuspend, ProgramEraseSuspend, SuspendPolicy, SuspendView, Verdict,
};
use ssdlab_policy::{PlacementHint, Policy, PolicyContext};

/// Passes what every policy is asked on to whichever was chosen.
macro_rules! learns {
    ($Any:ident { $($Policy:ident),+ }) => {
        impl $Any {
            /// The kinds of event that the policy wants to learn of.
            pub fn events(&self) -> EventMask {
                match self { $($Any::$Policy(policy) => policy.events()),+ }
            }

            /// Something happened.
            pub fn on_event(&mut self, event: &Event, actions: &mut Actions) {
                match self { $($Any::$Policy(policy) => policy.on_event(event, actions)),+ }
            }

            /// Bits that a controller needs for what the policy keeps, by structure, where so many blocks are
            /// set apart.
            pub fn metadata_bits(&self, blocks_apart: u64) -> Vec<(&'static str, u64)> {
                match self { $($Any::$Policy(policy) => policy.metadata_bits(blocks_apart)),+ }
            }

            /// What the policy has counted for results, if it counts anything.
            pub fn report(&self) -> Option<Repairs> {
                match self { $($Any::$Policy(policy) => policy.report()),+ }
            }
        }
    };
}

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

        learns! { $Any { $($Policy),+ } }

        macro_rules! $each {
            ($d policy:expr, $d chosen:ident => $d call:expr) => {
                match $d policy { $($Any::$Policy($d chosen) => $d call),+ }
            };
            (of $d choice:expr, $d Chosen:ident, $d config:ident => $d call:expr) => {
                match $d choice {
                    $($Choice::$Policy($d config) => { type $d Chosen = $Policy; $d call }),+
                }
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
        /// Streams of pages that are expected to be overwritten at about the same time (SepBIT).
        sepbit => SepBit,
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
    /// At which level a read starts, and how it goes on.
    AnyReadStart from ReadStartChoice {
        /// From the lowest level up, one at a time.
        lowest_level => LowestLevel,
        /// From a fixed level up, one at a time.
        fixed_level => FixedLevel,
        /// Always the highest level.
        highest_level => HighestLevel,
        /// From the level that tables give by the block's class and the data's age (DLV).
        sl_table => SlTable,
        /// From the level at which the page was read last (LaLDPC).
        last_level => LastLevel,
        /// From the level at which the block was measured (PV-read).
        measured_level => MeasuredLevel,
        /// From the level at which the same layer of the block was read last (process similarity).
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

/// Declares the background policies: a config section for each, and the list of those that are on.
macro_rules! background {
    ($d:tt $each:ident $($(#[doc = $note:literal])* $name:ident => $Policy:ident $on:ident),+ $(,)?) => {
        /// What is moved, leveled, erased, and by whom: each background policy by its name.
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

        /// A background policy.
        #[derive(Clone, Debug)]
        pub enum AnyBackground { $($(#[doc = $note])* $Policy($Policy)),+ }

        learns! { AnyBackground { $($Policy),+ } }

        impl AnyBackground {
            /// The background policies that are on, in the order in which they are asked.
            pub fn build(choice: &BackgroundChoice, setup: &PolicyContext) -> Vec<AnyBackground> {
                let mut policies = Vec::new();
                $(if let Some(config) = choice.$name.get() {
                    policies.push(AnyBackground::$Policy(Policy::build(config, setup)));
                })+
                policies
            }

            /// Whether the background policies that are on can be set up for this drive.
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
    /// Static wear leveling. Off by default.
    static_wear_leveling => StaticWearLeveling off,
    /// Garbage collection. On by default.
    gc => Gc on,
    /// Pages that are read often move to blocks that are read fast (PV-read). Off by default.
    read_hot_migration => ReadHotMigration off,
    /// Static wear leveling with two pools, within priorities and across them (ReadGuard). Off by default.
    dual_pool => DualPool off,
    /// Garbage collection by subpool (ReadGuard). Off by default.
    subpool_gc => SubpoolGc off,
    /// Blocks of a priority that became worse than those of a lower one are exchanged or refreshed
    /// (ReadGuard). Off by default.
    inversion_repair => InversionRepair off,
}

/// Passes every question of a slot on to whichever policy was chosen.
macro_rules! asks {
    ($each:ident, $Any:ident {
        $($(#[$hint:meta])+ fn $name:ident($me:ident: $Me:ty $(, $argument:ident: $Argument:ty)*) $(-> $Returned:ty)?;)+
    }) => {
        impl $Any {
            $($(#[$hint])+ pub fn $name($me: $Me $(, $argument: $Argument)*) $(-> $Returned)? {
                $each!($me, policy => policy.$name($($argument),*))
            })+
        }
    };
}

asks! { each_scheduler, AnyScheduler {
    /// [`SchedulerPolicy::rank`].
    #[inline] fn rank(self: &mut Self, view: &SchedulerView) -> u8;
    /// [`SchedulerPolicy::window`].
    fn window(self: &Self) -> Option<usize>;
    /// [`SchedulerPolicy::estimate`].
    fn estimate(self: &mut Self, view: &QueueView<impl Planes>, kind: OpKind, plane_share: &PlaneShare) -> u64;
    /// [`SchedulerPolicy::next`].
    fn next(self: &mut Self, view: &QueueView<impl Planes>, occasion: Occasion) -> Option<Decision>;
    /// [`SchedulerPolicy::on_dispatch`].
    fn on_dispatch(self: &mut Self, view: &QueueView<impl Planes>, dispatch: &Dispatch, classes: &mut Vec<Option<u8>>);
    /// [`SchedulerPolicy::is_overdue`].
    fn is_overdue(self: &mut Self, view: &QueueView<impl Planes>, plane: PlaneId) -> bool;
} }

asks! { each_placement, AnyPlacement {
    /// [`PlacementPolicy::fill`].
    #[inline] fn fill(self: &mut Self, view: &PlacementView, hint: &mut PlacementHint);
    /// [`PlacementPolicy::needs`].
    fn needs(self: &Self) -> PlacementNeeds;
    /// [`PlacementPolicy::fill_page`].
    #[inline] fn fill_page(self: &mut Self, view: &PageView, hint: &mut PlacementHint);
    /// [`PlacementPolicy::set_page_heat`].
    fn set_page_heat(self: &mut Self, heat: &Heat);
} }

impl AnyPlacement {
    /// [`PlacementPolicy::streams`].
    pub fn streams(choice: &PlacementChoice) -> Streams {
        each_placement!(of choice, Chosen, config => <Chosen as PlacementPolicy>::streams(config))
    }
}

asks! { each_program_mode, AnyProgramMode {
    /// [`ProgramModePolicy::fill`].
    #[inline] fn fill(self: &mut Self, view: &ProgramModeView, hint: &mut PlacementHint);
} }

asks! { each_read_start, AnyReadStart {
    /// [`ReadStartPolicy::start`].
    #[inline] fn start(self: &mut Self, view: &ReadStartView) -> u8;
    /// [`ReadStartPolicy::climb`].
    fn climb(self: &mut Self, view: &ReadStartView, failed: u8) -> u8;
    /// [`ReadStartPolicy::needs`].
    fn needs(self: &Self) -> ReadStartNeeds;
} }

asks! { each_suspend, AnySuspend {
    /// [`SuspendPolicy::verdict`].
    #[inline] fn verdict(self: &mut Self, view: &SuspendView) -> Verdict;
    /// [`SuspendPolicy::may_preempt_read`].
    fn may_preempt_read(self: &mut Self, view: &FailedReadsView) -> bool;
    /// [`SuspendPolicy::max_suspended_reads`].
    fn max_suspended_reads(self: &Self) -> u8;
} }

asks! { each_eviction, AnyEviction {
    /// [`EvictionPolicy::insert`].
    fn insert(self: &mut Self, view: &BufferUse);
    /// [`EvictionPolicy::touch`].
    fn touch(self: &mut Self, view: &BufferUse);
    /// [`EvictionPolicy::remove`].
    fn remove(self: &mut Self, slot: u32);
    /// [`EvictionPolicy::flushed`].
    fn flushed(self: &mut Self);
    /// [`EvictionPolicy::victim`].
    fn victim(self: &mut Self) -> Option<u32>;
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
    /// [`BackgroundPolicy::levels_across`].
    fn levels_across(self: &Self) -> bool;
} }
