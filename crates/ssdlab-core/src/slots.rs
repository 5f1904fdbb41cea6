//! The seven slots: every answer that a drive can be given, by name. The only file that names
//! them all; a new policy is one file and one line here.

use ssdlab_base::{Nanos, choice};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::account::OpKind;
use crate::policy::evict::{EvictPolicy, Lru, UseView};
use crate::policy::order::{
    Fifo, Going, HoldView, Next, OrderPolicy, OrderView, Priority, ReadFirst, WriteFirst,
};
use crate::policy::place::{Heat, NextPage, PlacePolicy, PlaceView, Typed};
use crate::policy::preempt::{
    Nobody, PreemptPolicy, PreemptView, ReadsInterrupt, ReadsView, Verdict,
};
use crate::policy::program::{Normal, ProgramPolicy, ProgramView};
use crate::policy::read::{Climb, ReadPolicy, ReadView, Worst};
use crate::policy::tend::{
    DriveView, EndedJob, Gc, Graded, Job, PageRead, Repairs, StaticWear, TendPolicy, TendView,
    Trigger,
};
use crate::policy::{Answer, Setup, Wish};
use crate::queue::{GroupId, Leg};
use crate::schemes::buffers::{CcfLru, Cflru, LruWsr, PtLru};
use crate::schemes::dlv::last_level::LastLevel;
use crate::schemes::dlv::order::Dlv;
use crate::schemes::dlv::program::ByClass;
use crate::schemes::dlv::sl_tables::SlTables;
use crate::schemes::dlv::small_strong::SmallStrong;
use crate::schemes::hire::always::Always;
use crate::schemes::hire::by_hotness::ByHotness;
use crate::schemes::hire::voltages::Voltages;
use crate::schemes::pa_ssd::hgs::Hgs;
use crate::schemes::pa_ssd::lfs::Lfs;
use crate::schemes::pa_ssd::qds::Qds;
use crate::schemes::pa_ssd::sbs::Sbs;
use crate::schemes::pa_ssd::ubs::Ubs;
use crate::schemes::pa_ssd::us::Us;
use crate::schemes::pa_ssd::wbs::Wbs;
use crate::schemes::pv_read::known_heat::KnownHeat;
use crate::schemes::pv_read::known_level::KnownLevel;
use crate::schemes::pv_read::read_hot::ReadHot;
use crate::schemes::readguard::by_priority::ByPriority;
use crate::schemes::readguard::dual_pool::DualPool;
use crate::schemes::readguard::esra::Esra;
use crate::schemes::readguard::inversions::Inversions;
use crate::schemes::readguard::reuse_vref::ReuseVref;
use crate::schemes::readguard::subpool_gc::SubpoolGc;
use crate::toggle::Toggle;

/// Declares one slot: the names and settings that a config may choose from, the answers
/// themselves, and a macro that calls a method of whichever answer was chosen.
macro_rules! slot {
    (
        $d:tt $each:ident
        $(#[doc = $doc:literal])*
        $Answer:ident from $Choice:ident {
            $($(#[doc = $note:literal])* $name:ident => $Policy:ident),+ $(,)?
        } default $default:ident
    ) => {
        choice! {
            $(#[doc = $doc])*
            pub enum $Choice {
                $($(#[doc = $note])* $name => $Policy(<$Policy as Answer>::Config)),+
            } default $default
        }

        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        pub enum $Answer {
            $($(#[doc = $note])* $Policy($Policy)),+
        }

        impl $Answer {
            /// The chosen answer, set up for this drive.
            pub fn build(choice: &$Choice, setup: &Setup) -> $Answer {
                match choice {
                    $($Choice::$Policy(config) => $Answer::$Policy(Answer::build(config, setup))),+
                }
            }

            /// Whether the chosen answer can be set up for this drive.
            ///
            /// # Errors
            /// What it cannot work with.
            pub fn check(choice: &$Choice, setup: &Setup) -> Result<(), Refusal> {
                match choice {
                    $($Choice::$Policy(config) => <$Policy as Answer>::check(config, setup)),+
                }
            }
        }

        macro_rules! $each {
            ($d answer:expr, $d policy:ident => $d call:expr) => {
                match $d answer { $($Answer::$Policy($d policy) => $d call),+ }
            };
        }
    };
}

slot! { $ each_order
    /// Which request goes to the flash next.
    Order from OrderChoice {
        /// First come, first served on each plane.
        fifo => Fifo,
        /// Reads before writes on each plane.
        read_first => ReadFirst,
        /// Writes before reads on each plane.
        write_first => WriteFirst,
        /// By the priority of the submission queue; for two to five queues (`host.queues`).
        priority => Priority,
        /// The request that is expected to end first, and strong blocks where they help (DLV).
        dlv => Dlv,
    } default fifo
}

slot! { $ each_place
    /// What kind of block and page a write wants; a link of a chain.
    Place from PlaceChoice {
        /// The next page of the plane's open block.
        next_page => NextPage,
        /// Strong blocks for small writes (PV+allocation).
        small_strong => SmallStrong,
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
        known_heat => KnownHeat,
        /// Blocks of the submission queue's priority (ReadGuard).
        by_priority => ByPriority,
        /// Blocks of pages that are mostly read, mostly written, or both (HIRE).
        by_hotness => ByHotness,
    } default next_page
}

slot! { $ each_program
    /// With which voltages or step a page is programmed; a link of a chain.
    Program from ProgramChoice {
        /// The normal voltages.
        normal => Normal,
        /// Each class of blocks with voltages of its own (DLV: a larger step on strong blocks).
        by_class => ByClass,
        /// Every page with the same voltages (HIRE's comparisons).
        always => Always,
        /// Higher voltages for pages that are mostly read, lower ones for what is mostly written (HIRE).
        by_hotness => Voltages,
    } default normal
}

slot! { $ each_read
    /// Where a read starts on the ladder, and how it climbs.
    Read from ReadChoice {
        /// From a fixed rung one at a time.
        climb => Climb,
        /// Always the last rung.
        worst => Worst,
        /// From the rung that tables give by the block's class and the data's age (DLV).
        sl_tables => SlTables,
        /// From the rung at which the page was read last (LaLDPC).
        last_level => LastLevel,
        /// From the rung at which the block was measured (PV-read).
        known_level => KnownLevel,
        /// From the rung at which the same layer of the block was read last (process similarity).
        reuse_vref => ReuseVref,
    } default climb
}

slot! { $ each_preempt
    /// Who may interrupt whom on a die.
    Preempt from PreemptChoice {
        /// Every operation runs to its end.
        nobody => Nobody,
        /// Host reads interrupt programs and erases.
        reads_interrupt => ReadsInterrupt,
        /// Host reads interrupt loops of programs and erases, and retries of lower priorities
        /// (ReadGuard).
        esra => Esra,
    } default nobody
}

slot! { $ each_evict
    /// Which page leaves a full buffer.
    Evict from EvictChoice {
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
macro_rules! tenders {
    ($d:tt $each:ident $($(#[doc = $note:literal])* $name:ident => $Policy:ident $on:ident),+ $(,)?) => {
        /// What is moved, levelled, erased, and by whom: each tender by its name.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct TendChoice {
            $($(#[doc = $note])* pub $name: Toggle<<$Policy as Answer>::Config>),+
        }

        impl Default for TendChoice {
            fn default() -> TendChoice {
                TendChoice { $($name: Toggle::$on()),+ }
            }
        }

        /// A tender.
        #[derive(Clone, Debug)]
        pub enum Tend { $($(#[doc = $note])* $Policy($Policy)),+ }

        impl Tend {
            /// The tenders that are on, in the order in which they are asked.
            pub fn build(choice: &TendChoice, setup: &Setup) -> Vec<Tend> {
                let mut tenders = Vec::new();
                $(if let Some(config) = choice.$name.get() {
                    tenders.push(Tend::$Policy(Answer::build(config, setup)));
                })+
                tenders
            }

            /// Whether the tenders that are on can be set up for this drive.
            ///
            /// # Errors
            /// What they cannot work with.
            pub fn check(choice: &TendChoice, setup: &Setup) -> Result<(), Refusal> {
                $(if let Some(config) = choice.$name.get() {
                    <$Policy as Answer>::check(config, setup)?;
                })+
                Ok(())
            }
        }

        macro_rules! $each {
            ($d answer:expr, $d policy:ident => $d call:expr) => {
                match $d answer { $(Tend::$Policy($d policy) => $d call),+ }
            };
        }
    };
}

tenders! { $ each_tender
    /// Static wear levelling. Off by default.
    static_wear => StaticWear off,
    /// Garbage collection. On by default.
    gc => Gc on,
    /// Pages that are read often move to blocks that are read fast (PV-read). Off by default.
    read_hot => ReadHot off,
    /// Static wear levelling with two pools, within priorities and across them (ReadGuard). Off by default.
    dual_pool => DualPool off,
    /// Garbage collection by subpool (ReadGuard). Off by default.
    subpool_gc => SubpoolGc off,
    /// Blocks of a priority that became worse than those of a lower one are exchanged or refreshed
    /// (ReadGuard). Off by default.
    inversions => Inversions off,
}

/// Passes every question of a slot on to whichever answer was chosen.
macro_rules! asks {
    ($each:ident, $Policy:ident for $Answer:ident {
        $($(#[$hint:meta])? fn $name:ident($me:ident: $Me:ty $(, $given:ident: $Given:ty)*) $(-> $Said:ty)?;)+
    }) => {
        impl $Policy for $Answer {
            $($(#[$hint])? fn $name($me: $Me $(, $given: $Given)*) $(-> $Said)? {
                $each!($me, policy => policy.$name($($given),*))
            })+
        }
    };
}

asks! { each_order, OrderPolicy for Order {
    #[inline] fn rank(self: &mut Self, view: &OrderView) -> u8;
    fn holds(self: &Self) -> bool;
    fn window(self: &Self) -> usize;
    fn estimate(self: &mut Self, view: &HoldView, kind: OpKind, leg: &Leg) -> u64;
    fn goes_at_once(self: &mut Self, view: &HoldView, group: GroupId) -> bool;
    fn next(self: &mut Self, view: &HoldView, plane: PlaneId) -> Option<Next>;
    fn leaves(self: &mut Self, view: &HoldView, going: &Going, classes: &mut Vec<Option<u8>>);
    fn given(self: &mut Self, plane: PlaneId, class: u8, arrival: u64);
    fn goes_elsewhere(self: &mut Self, from: PlaneId, to: PlaneId, arrival: u64);
    fn is_overdue(self: &mut Self, view: &HoldView, plane: PlaneId) -> bool;
    fn steps(self: &mut Self) -> u64;
    fn metadata_bits(self: &Self) -> Vec<(&'static str, u64)>;
} }

asks! { each_place, PlacePolicy for Place {
    #[inline] fn wish(self: &mut Self, view: &PlaceView, wish: &mut Wish);
    fn types(self: &Self) -> Typed;
    #[inline] fn page(self: &mut Self, lpn: Lpn, wish: &mut Wish);
    fn wants_heat(self: &Self) -> bool;
    fn know(self: &mut Self, heat: &Heat);
    fn heeds_hints(self: &Self) -> bool;
} }

asks! { each_program, ProgramPolicy for Program {
    #[inline] fn wish(self: &mut Self, view: &ProgramView, wish: &mut Wish);
} }

asks! { each_read, ReadPolicy for Read {
    #[inline] fn start(self: &mut Self, view: &ReadView) -> u8;
    fn climb(self: &mut Self, view: &ReadView, failed: u8) -> u8;
    fn by_one(self: &Self) -> bool;
    fn learns(self: &Self) -> bool;
    fn decoded(self: &mut Self, view: &ReadView, rung: u8, first_try: bool);
    fn written(self: &mut Self, lpn: Lpn);
    fn erased(self: &mut Self, block: BlockId);
    fn metadata_bits(self: &Self) -> Vec<(&'static str, u64)>;
} }

asks! { each_preempt, PreemptPolicy for Preempt {
    #[inline] fn verdict(self: &mut Self, view: &PreemptView) -> Verdict;
    fn lets_pass(self: &mut Self, view: &ReadsView) -> bool;
    fn most_reads(self: &Self) -> u8;
} }

asks! { each_evict, EvictPolicy for Evict {
    fn insert(self: &mut Self, view: &UseView);
    fn touch(self: &mut Self, view: &UseView);
    fn remove(self: &mut Self, slot: u32);
    fn flushed(self: &mut Self);
    fn victim(self: &mut Self) -> Option<u32>;
} }

asks! { each_tender, TendPolicy for Tend {
    fn content_with(self: &Self) -> u32;
    fn keeps_of_drive(self: &Self) -> u32;
    fn job(self: &mut Self, trigger: Trigger, view: &TendView) -> Option<Job>;
    fn urgent_below(self: &Self) -> u32;
    fn counts_pages(self: &Self) -> bool;
    fn counts_reads(self: &Self) -> u8;
    fn page_read(self: &mut Self, read: &PageRead) -> Option<u8>;
    fn lacks_room(self: &mut Self, plane: PlaneId, class: u8);
    fn minds_all(self: &Self) -> bool;
    fn job_anywhere(self: &mut Self, view: &DriveView) -> Option<Job>;
    fn interval(self: &Self) -> Option<Nanos>;
    fn round(self: &mut Self, full: &[Graded], jobs: &mut Vec<Job>);
    fn may_begin(self: &mut Self, pages: u32) -> bool;
    fn round_left_out(self: &mut Self);
    fn ended(self: &mut Self, ended: &EndedJob);
    fn levels_across(self: &Self) -> bool;
    fn repairs(self: &Self) -> Option<Repairs>;
    fn reset_counts(self: &mut Self);
    fn metadata_bits(self: &Self, apart: u64) -> Vec<(&'static str, u64)>;
} }
