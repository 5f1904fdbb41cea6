//! The seven slots: every answer that a drive can be given, by name. The only file that names
//! them all; a new policy is one file and one line here.

use ssdlab_base::{Nanos, choice};
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::account::OpKind;
use crate::policy::evict::{EvictPolicy, Lru, UseView};
use crate::policy::order::{
    Fifo, Going, HoldView, Next, OrderPolicy, OrderView, Priority, ReadFirst,
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

impl OrderPolicy for Order {
    #[inline]
    fn rank(&mut self, view: &OrderView) -> u8 {
        each_order!(self, policy => policy.rank(view))
    }

    fn holds(&self) -> bool {
        each_order!(self, policy => policy.holds())
    }

    fn window(&self) -> usize {
        each_order!(self, policy => policy.window())
    }

    fn estimate(&mut self, view: &HoldView, kind: OpKind, leg: &Leg) -> u64 {
        each_order!(self, policy => policy.estimate(view, kind, leg))
    }

    fn goes_at_once(&mut self, view: &HoldView, group: GroupId) -> bool {
        each_order!(self, policy => policy.goes_at_once(view, group))
    }

    fn next(&mut self, view: &HoldView, plane: PlaneId) -> Option<Next> {
        each_order!(self, policy => policy.next(view, plane))
    }

    fn leaves(&mut self, view: &HoldView, going: &Going, classes: &mut Vec<Option<u8>>) {
        each_order!(self, policy => policy.leaves(view, going, classes));
    }

    fn given(&mut self, plane: PlaneId, class: u8, arrival: u64) {
        each_order!(self, policy => policy.given(plane, class, arrival));
    }

    fn goes_elsewhere(&mut self, from: PlaneId, to: PlaneId, arrival: u64) {
        each_order!(self, policy => policy.goes_elsewhere(from, to, arrival));
    }

    fn is_overdue(&mut self, view: &HoldView, plane: PlaneId) -> bool {
        each_order!(self, policy => policy.is_overdue(view, plane))
    }

    fn steps(&mut self) -> u64 {
        each_order!(self, policy => policy.steps())
    }

    fn metadata_bits(&self) -> Vec<(&'static str, u64)> {
        each_order!(self, policy => policy.metadata_bits())
    }
}

impl PlacePolicy for Place {
    #[inline]
    fn wish(&mut self, view: &PlaceView, wish: &mut Wish) {
        each_place!(self, policy => policy.wish(view, wish))
    }

    fn types(&self) -> Typed {
        each_place!(self, policy => policy.types())
    }

    #[inline]
    fn page(&mut self, lpn: Lpn, wish: &mut Wish) {
        each_place!(self, policy => policy.page(lpn, wish))
    }

    fn wants_heat(&self) -> bool {
        each_place!(self, policy => policy.wants_heat())
    }

    fn know(&mut self, heat: &Heat) {
        each_place!(self, policy => policy.know(heat))
    }

    fn heeds_hints(&self) -> bool {
        each_place!(self, policy => policy.heeds_hints())
    }
}

impl ProgramPolicy for Program {
    #[inline]
    fn wish(&mut self, view: &ProgramView, wish: &mut Wish) {
        each_program!(self, policy => policy.wish(view, wish))
    }
}

impl ReadPolicy for Read {
    #[inline]
    fn start(&mut self, view: &ReadView) -> u8 {
        each_read!(self, policy => policy.start(view))
    }

    fn climb(&mut self, view: &ReadView, failed: u8) -> u8 {
        each_read!(self, policy => policy.climb(view, failed))
    }

    fn by_one(&self) -> bool {
        each_read!(self, policy => policy.by_one())
    }

    fn learns(&self) -> bool {
        each_read!(self, policy => policy.learns())
    }

    fn decoded(&mut self, view: &ReadView, rung: u8, first_try: bool) {
        each_read!(self, policy => policy.decoded(view, rung, first_try));
    }

    fn written(&mut self, lpn: Lpn) {
        each_read!(self, policy => policy.written(lpn));
    }

    fn erased(&mut self, block: BlockId) {
        each_read!(self, policy => policy.erased(block));
    }

    fn metadata_bits(&self) -> Vec<(&'static str, u64)> {
        each_read!(self, policy => policy.metadata_bits())
    }
}

impl PreemptPolicy for Preempt {
    #[inline]
    fn verdict(&mut self, view: &PreemptView) -> Verdict {
        each_preempt!(self, policy => policy.verdict(view))
    }

    fn lets_pass(&mut self, view: &ReadsView) -> bool {
        each_preempt!(self, policy => policy.lets_pass(view))
    }

    fn most_reads(&self) -> u8 {
        each_preempt!(self, policy => policy.most_reads())
    }
}

impl EvictPolicy for Evict {
    fn insert(&mut self, view: &UseView) {
        each_evict!(self, policy => policy.insert(view))
    }

    fn touch(&mut self, view: &UseView) {
        each_evict!(self, policy => policy.touch(view))
    }

    fn remove(&mut self, slot: u32) {
        each_evict!(self, policy => policy.remove(slot))
    }

    fn flushed(&mut self) {
        each_evict!(self, policy => policy.flushed())
    }

    fn victim(&mut self) -> Option<u32> {
        each_evict!(self, policy => policy.victim())
    }
}

impl TendPolicy for Tend {
    fn content_with(&self) -> u32 {
        each_tender!(self, policy => policy.content_with())
    }

    fn job(&mut self, trigger: Trigger, view: &TendView) -> Option<Job> {
        each_tender!(self, policy => policy.job(trigger, view))
    }

    fn urgent_below(&self) -> u32 {
        each_tender!(self, policy => policy.urgent_below())
    }

    fn counts_pages(&self) -> bool {
        each_tender!(self, policy => policy.counts_pages())
    }

    fn counts_reads(&self) -> u8 {
        each_tender!(self, policy => policy.counts_reads())
    }

    fn page_read(&mut self, read: &PageRead) -> Option<u8> {
        each_tender!(self, policy => policy.page_read(read))
    }

    fn lacks_room(&mut self, plane: PlaneId, class: u8) {
        each_tender!(self, policy => policy.lacks_room(plane, class))
    }

    fn minds_all(&self) -> bool {
        each_tender!(self, policy => policy.minds_all())
    }

    fn job_anywhere(&mut self, view: &DriveView) -> Option<Job> {
        each_tender!(self, policy => policy.job_anywhere(view))
    }

    fn interval(&self) -> Option<Nanos> {
        each_tender!(self, policy => policy.interval())
    }

    fn round(&mut self, full: &[Graded], jobs: &mut Vec<Job>) {
        each_tender!(self, policy => policy.round(full, jobs))
    }

    fn may_begin(&mut self, pages: u32) -> bool {
        each_tender!(self, policy => policy.may_begin(pages))
    }

    fn round_left_out(&mut self) {
        each_tender!(self, policy => policy.round_left_out())
    }

    fn ended(&mut self, ended: &EndedJob) {
        each_tender!(self, policy => policy.ended(ended))
    }

    fn levels_across(&self) -> bool {
        each_tender!(self, policy => policy.levels_across())
    }

    fn repairs(&self) -> Option<Repairs> {
        each_tender!(self, policy => policy.repairs())
    }

    fn reset_counts(&mut self) {
        each_tender!(self, policy => policy.reset_counts());
    }

    fn metadata_bits(&self, apart: u64) -> Vec<(&'static str, u64)> {
        each_tender!(self, policy => policy.metadata_bits(apart))
    }
}
