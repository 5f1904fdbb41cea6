//! What a drive is, as declared in a config: every key with its meaning, unit, default and source.

mod effects;
mod renamed;
mod resolve;
mod retries;
mod space;

pub use renamed::RENAMED;
pub use resolve::Resolved;
pub use retries::{PipelinedConfig, RetriesChoice, ShorterOn};
pub use space::{RESERVE_BLOCKS, is_bad, spare_blocks, usable_blocks};
pub use ssdlab_nand::refusal::Refusal;
pub use ssdlab_schemes::catalog;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::quantity::Share;
use ssdlab_base::units::BytesPerSecond;
use ssdlab_base::{Bytes, Nanos};
use ssdlab_nand::Geometry;
pub use ssdlab_nand::chip::PhysicsConfig;
pub use ssdlab_nand::measured;
pub use ssdlab_nand::retry_config::RetriesConfig;
pub use ssdlab_nand::temperature::acceleration;
use ssdlab_nand::timing::TimingConfig;

use crate::Toggle;
use crate::ftl::{FreeBlockPolicy, GcStream, PageSequence};
use crate::metadata::MetadataConfig;
use ssdlab_schemes::{
    BackgroundChoice, EvictionChoice, PlacementChoice, ProgramModeChoice, ReadStartChoice,
    SchedulerChoice, SuspendChoice,
};

/// A drive and what it is given to do. Every key of a preset, a scheme, a config file or `--set`.
///
/// The drive never looks at its workload: `W` belongs to whoever runs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveConfig<W: Default + Serialize = NoWorkload> {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// How long the flash takes.
    pub timing: TimingConfig,
    /// What the blocks really are.
    #[serde(default)]
    pub physics: PhysicsConfig,
    /// How the flash back end is built.
    #[serde(default)]
    pub flash: FlashConfig,
    /// How the host reaches the drive.
    #[serde(default)]
    pub host: HostConfig,
    /// The page buffer in the drive's DRAM.
    #[serde(default)]
    pub buffer: BufferConfig,
    /// Mapping and allocation.
    #[serde(default)]
    pub ftl: FtlConfig,
    /// What the controller knows of its blocks.
    #[serde(default)]
    pub metadata: MetadataConfig,
    /// Slot 1: which request goes to the flash next.
    #[serde(default)]
    pub scheduler: SchedulerChoice,
    /// Slot 2: what kind of block and page a write wants; a chain whose first link wins.
    #[serde(default = "one::<PlacementChoice>")]
    pub placement: Vec<PlacementChoice>,
    /// Slot 3: with which voltages or step a page is programmed; a chain whose first link wins.
    #[serde(default = "one::<ProgramModeChoice>")]
    pub program_mode: Vec<ProgramModeChoice>,
    /// Slot 4: where a read starts on the ladder and how it climbs.
    #[serde(default)]
    pub read_start: ReadStartChoice,
    /// Slot 5: who may interrupt whom on a die.
    #[serde(default)]
    pub suspend: SuspendChoice,
    /// Slot 6: which page leaves a full buffer.
    #[serde(default)]
    pub eviction: EvictionChoice,
    /// Slot 7: what is moved, leveled and erased.
    #[serde(default)]
    pub background: BackgroundChoice,
    /// What is on the drive when the run begins.
    #[serde(default)]
    pub start: StartConfig,
    /// What the host asks, if it is not a trace.
    #[serde(default)]
    pub workload: W,
}

/// The workload of a drive that is not told of any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoWorkload {}

impl<W: Default + Serialize> DriveConfig<W> {
    /// The drive alone, and its workload.
    pub fn split(self) -> (DriveConfig, W) {
        let drive = DriveConfig {
            geometry: self.geometry,
            timing: self.timing,
            physics: self.physics,
            flash: self.flash,
            host: self.host,
            buffer: self.buffer,
            ftl: self.ftl,
            metadata: self.metadata,
            scheduler: self.scheduler,
            placement: self.placement,
            program_mode: self.program_mode,
            read_start: self.read_start,
            suspend: self.suspend,
            eviction: self.eviction,
            background: self.background,
            start: self.start,
            workload: NoWorkload {},
        };
        (drive, self.workload)
    }
}

fn one<T: Default>() -> Vec<T> {
    vec![T::default()]
}

/// What performs one array operation at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrayUnit {
    /// Each plane on its own.
    #[default]
    Plane,
    /// A die: its planes work together only with the same operation at equal page offsets, if at
    /// all.
    Die,
    /// A chip: one of its dies at a time, as the scheduler of MQSim has it in effect.
    Chip,
}

/// What moves over a channel when a request covers a page in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransferUnit {
    /// Whole pages.
    #[default]
    Page,
    /// The sectors asked for.
    Sectors,
}

/// Who goes first when several need a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BusOrder {
    /// Who asked first.
    #[default]
    Fifo,
    /// Pages that were read, before commands and pages to be programmed.
    DataOutFirst,
}

/// How the flash back end is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlashConfig {
    /// What performs one array operation at a time: `plane` (independent planes), `die`
    /// or `chip` (one die at a time). Default: `plane`. Source: DLV, section 2.1; MQSim for `chip`.
    pub array: ArrayUnit,
    /// Whether the planes of a die do the same operation together, at equal page offsets; only with
    /// `array` other than `plane`. Without it a die, or a chip, does one thing at a time. Default:
    /// true. Source: MQSim; PA-SSD (ruled) for a chip without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multi_plane: Option<bool>,
    /// Transfer rate of a channel. Default: `800MB/s`. Assumed.
    pub bus_rate: BytesPerSecond,
    /// P/E cycles that each erase counts for, in the cells and in the controller's books: with more
    /// than 1, wear runs forward to the end of a drive's life in a run of minutes. Default: 1.
    /// Source: what an erase is.
    #[schemars(range(min = 1, max = 1000))]
    pub cycles_per_erase: u32,
    /// Time that passes in the cells, and for what the controller does by days, for each unit of
    /// the run's: data ages and blocks rest as they would if the arrivals of a trace had not been
    /// compressed. Default: 1. Source: ReadGuard, section 6.1 (ruled: 10).
    #[schemars(range(min = 1, max = 1000))]
    pub time_scale: u32,
    /// What moves over a channel when a request covers a page in part: `page` or `sectors`.
    /// Default: `page`. Assumed.
    pub transfer: TransferUnit,
    /// Time of a command on its channel: a read or an erase begins once its command went over it, a
    /// program's command goes before its page. With `0ns` commands need no channel. Default: `0ns`.
    /// Source: ONFI (some 0.3 us, which few models count).
    pub command_time: Nanos,
    /// Who goes first when several need a channel: `fifo` or `data_out_first` (pages that were
    /// read, before commands and pages to be programmed). Default: `fifo`. Source: MQSim for
    /// `data_out_first`.
    pub bus_order: BusOrder,
    /// Whether a sensed page moves to a cache register, so that the next can be sensed while it is
    /// transferred. Default: false. Assumed.
    pub cache_read: bool,
    /// Whether an array unit holds a page that it has read until it has decoded; only where reads
    /// may fail to decode. Default: true. Source: ReadGuard, section 2 (tREAD is the sum of its
    /// parts).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_until_decoded: Option<bool>,
    /// How further attempts of a read that failed to decode follow one another: `serial`, or
    /// `pipelined` (the next is sensed while one is transferred and decoded); the latter only where
    /// array units hold reads until they have decoded. Default: `serial`. Source: Park et al.,
    /// ASPLOS 2021 (PR2), for `pipelined`.
    pub retries: RetriesChoice,
    /// Loops of which a program consists, each as long as the others: a suspend policy that drops
    /// loops drops at most one; only with such a policy. Default: 5. Source: ReadGuard, section 6.1
    /// (ruled: of 80 us).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub program_loops: Option<u8>,
    /// Loops of which an erase consists; only with a suspend policy that drops loops. Default: 5.
    /// Source: ReadGuard, section 6.1 (ruled: of 700 us).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub erase_loops: Option<u8>,
    /// From the command to suspend until the array unit can read; only with a `suspend` that
    /// interrupts. Default: `5us`. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend_time: Option<Nanos>,
    /// From the command to resume until the interrupted operation goes on; only with a `suspend`
    /// that interrupts. Default: `5us`. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_time: Option<Nanos>,
}

impl Default for FlashConfig {
    fn default() -> FlashConfig {
        FlashConfig {
            array: ArrayUnit::default(),
            multi_plane: None,
            bus_rate: BytesPerSecond::new(800_000_000),
            cycles_per_erase: 1,
            time_scale: 1,
            transfer: TransferUnit::default(),
            command_time: Nanos::ZERO,
            bus_order: BusOrder::default(),
            cache_read: false,
            hold_until_decoded: None,
            retries: RetriesChoice::default(),
            program_loops: None,
            erase_loops: None,
            suspend_time: None,
            resume_time: None,
        }
    }
}

/// How the host reaches the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// Submission queues; the first has the highest priority. Default: 1. Assumed.
    pub queues: u8,
    /// Requests of one queue that the drive accepts before the first of them has ended. Default:
    /// 65535. Source: NVMe's largest queue.
    pub queue_depth: u32,
}

impl Default for HostConfig {
    fn default() -> HostConfig {
        HostConfig { queues: 1, queue_depth: 65_535 }
    }
}

/// The page buffer in the drive's DRAM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BufferConfig {
    /// Its size; `0B` for none. Default: `0B`. Assumed.
    pub size: Bytes,
    /// Time to move a page into or out of it; only with a buffer. Default: `1us`. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Nanos>,
    /// Whether pages that are read from flash stay in it; only with a buffer. Default: true.
    /// Source: HIRE, section 3 (reads and writes both cached).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<bool>,
    /// Share of its pages that are kept free: as long as fewer are, the next to leave are
    /// programmed ahead of need, and writes wait only if they outrun that. With 0 a page leaves
    /// when another needs its place; only with a buffer. Default: 0. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_free: Option<Share>,
}

impl Default for BufferConfig {
    fn default() -> BufferConfig {
        BufferConfig { size: Bytes::new(0), latency: None, reads: None, keep_free: None }
    }
}

/// What becomes of a write that covers a page in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialWrites {
    /// The rest of the page is read first.
    #[default]
    ReadModifyWrite,
    /// The page is written without its rest.
    Pad,
    /// The drive knows which sectors of a page were written, and reads first only if some of them
    /// are not written now.
    SectorBitmap,
}

/// Where a page is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Allocation {
    /// On the plane that the page's number gives in the order of `allocation_order`.
    #[default]
    Static,
    /// On the plane with the least work, the first in the order of `allocation_order` after the
    /// last one written.
    Dynamic,
}

/// The part of the page map that the controller holds: translation pages, the least recently used
/// of which leave first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MapCacheConfig {
    /// Share of the entries that it holds; not beside `size`. Default: 0.1. Source: PV-read,
    /// section IV.D.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// Its size, in place of a share. Default: as `share` says. Source: PV-read, section IV.D.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Bytes of an entry: a translation page is a flash page full of them. Default: `4B`. Assumed.
    pub entry: Bytes,
}

/// Share of the entries that a map cache holds if nothing is said. Source: PV-read, section IV.D.
pub const MAP_SHARE: f64 = 0.1;

impl Default for MapCacheConfig {
    fn default() -> MapCacheConfig {
        MapCacheConfig { share: None, size: None, entry: Bytes::new(4) }
    }
}

/// Mapping and allocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FtlConfig {
    /// Share of the physical pages that the host cannot address. Default: 0.07. Source: DLV,
    /// Table II.
    pub overprovisioning: Share,
    /// `static` or `dynamic` allocation of planes. Default: `static`. Source: DLV, Table II.
    pub allocation: Allocation,
    /// The order in which pages are dealt to channels (C), chips or ways (W), dies (D) and planes
    /// (P), the fastest-changing first: one of the 24. Default: `CWDP`. Source: DLV, Table II.
    pub allocation_order: String,
    /// The order in which a block's pages are programmed: `strict` (the conventional one) or
    /// `relaxed` (each page type by itself behind the next lower one, and several blocks of a plane
    /// at a time). Default: `strict`. Source: PA-SSD, section 4.3.1 for `relaxed`.
    pub page_order: PageSequence,
    /// The blocks that take what garbage collection moves, where `page_order` is `strict`:
    /// `separate` (their own) or `shared` (those that the host writes: a plane has one open block).
    /// Default: `separate`. Source: PA-SSD, section 2.2 for `shared`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc_stream: Option<GcStream>,
    /// Writes that cover a page in part: `read_modify_write`, `pad` or `sector_bitmap`. Default:
    /// `read_modify_write`. Source: PA-SSD (ruled).
    pub partial_writes: PartialWrites,
    /// How much of the page map the controller holds; the rest lies on the flash and is read when
    /// it is needed: `true`, `false` or a table with its settings. Default: false, all of it.
    pub map_cache: Toggle<MapCacheConfig>,
    /// Dynamic wear leveling: the free block that is written next. `longest_free` (no leveling),
    /// `least_erased`, or as blocks were measured (`metadata.block_class.measured`) `fewest_errors`
    /// (RBER-based) or `healthiest` (health-binning: the longest predicted life); with these two,
    /// what collection moves, being colder, gets blocks of its own from the other end. Default:
    /// `least_erased`. Source: DLV, Table II; PV-read, section III for the measured.
    pub free_block_policy: FreeBlockPolicy,
    /// Share of blocks that are bad when the drive leaves the factory. Default: 0. Assumed.
    pub bad_blocks: Share,
}

impl Default for FtlConfig {
    fn default() -> FtlConfig {
        FtlConfig {
            overprovisioning: Share::new(0.07),
            allocation: Allocation::default(),
            allocation_order: "CWDP".into(),
            page_order: PageSequence::default(),
            gc_stream: None,
            partial_writes: PartialWrites::default(),
            map_cache: Toggle::off(),
            free_block_policy: FreeBlockPolicy::default(),
            bad_blocks: Share::new(0.0),
        }
    }
}

/// What becomes of reads of pages that were never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnwrittenReads {
    /// They count as written before the start: on the plane of static allocation, in a block and
    /// of an age drawn for each page.
    #[default]
    Lazy,
    /// A first pass over the workload lays them down.
    Footprint,
    /// They are answered without the flash.
    None,
}

/// How the data on the drive was programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartProgramMode {
    /// With the normal voltages.
    #[default]
    Normal,
    /// As it would be if it were written now.
    Policy,
}

/// What is on the drive when the run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StartConfig {
    /// Reads of pages that were never written: `lazy`, `footprint` or `none`. Default: `lazy`.
    /// Assumed.
    pub unwritten_reads: UnwrittenReads,
    /// Share of the host's pages that hold data. Default: 0. Assumed.
    pub fill: Share,
    /// Share of each plane's blocks that are full of outdated data; not beside `fill`. What is laid
    /// down by `unwritten_reads = "footprint"` lies in them. Default: 0. Source: PA-SSD, section
    /// 5.1 (aged to 70 %; ruled).
    pub used: Share,
    /// Share of the written pages whose data is outdated, by random overwriting; only with `fill`.
    /// Default: 0. Assumed.
    pub invalid: Share,
    /// Whether the data was overwritten at random, under the drive's own garbage collection, until
    /// the drive was steady; only with `fill`, not beside `invalid`. Default: false. Assumed.
    pub steady_state: bool,
    /// P/E cycles of each block; they add bit errors with `physics.levels.wear` or
    /// `physics.retries`. Default: 0. Assumed.
    #[schemars(range(max = 1_000_000))]
    pub pe_cycles: u32,
    /// The P/E cycles of each block are drawn from `pe_cycles` ± this. Default: 0. Source:
    /// ReadGuard (ruled: 15).
    pub pe_spread: u32,
    /// Mean time between a block's erases before the start; only with `physics.retries`. Default:
    /// `0ns`. Assumed.
    pub dwell: Nanos,
    /// Ages of the data on the drive are drawn evenly from this to `age_max`. Default: `0ns`.
    /// Assumed.
    pub age_min: Nanos,
    /// The oldest data on the drive; only with `physics.levels.retention` or `physics.retries`.
    /// Default: `0ns`. Source: DLV and ReadGuard (ruled: 90d).
    pub age_max: Nanos,
    /// How the data on the drive was programmed: with the `normal` voltages, or as the `policy` of
    /// `program_mode` would; not beside a state that is taken up. Default: `normal`. Source: HIRE
    /// (ruled).
    pub program_mode: StartProgramMode,
}

impl Default for StartConfig {
    fn default() -> StartConfig {
        StartConfig {
            unwritten_reads: UnwrittenReads::default(),
            fill: Share::new(0.0),
            used: Share::new(0.0),
            invalid: Share::new(0.0),
            steady_state: false,
            pe_cycles: 0,
            pe_spread: 0,
            dwell: Nanos::ZERO,
            age_min: Nanos::ZERO,
            age_max: Nanos::ZERO,
            program_mode: StartProgramMode::default(),
        }
    }
}
