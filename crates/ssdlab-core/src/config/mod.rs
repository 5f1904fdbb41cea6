//! The config of a drive: every key with its meaning, unit, default and source.

mod drawn_start;
mod effects;
mod history;
mod host;
mod renamed;
mod resolve;
mod retries;
mod sample;
mod space;
mod start;

pub use history::Rate;
pub use host::{HostConfig, SamePage};
pub use renamed::RENAMED;
pub use resolve::Resolved;
pub use retries::{PipelinedConfig, RetriesChoice, ShorterOn};
pub use sample::SampleSize;
pub(crate) use space::usable_blocks;
pub use space::{RESERVE_BLOCKS, is_bad, spare_blocks};
pub use ssdlab_nand::refusal::Refusal;
pub use ssdlab_schemes::catalog;
pub use start::{
    HistoryConfig, HistoryPolicies, HistoryTenant, StartConfig, StartOwners, StartProgramMode,
    UnwrittenReads,
};

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

/// A drive and its workload: every key of a preset, a scheme, a config file or `--set`.
///
/// The drive never reads its workload: `W` is the type of the program that runs the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveConfig<W: Default + Serialize = NoWorkload> {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// The times of flash operations.
    pub timing: TimingConfig,
    /// The true error behavior of the blocks.
    #[serde(default)]
    pub physics: PhysicsConfig,
    /// The flash back end.
    #[serde(default)]
    pub flash: FlashConfig,
    /// The interface between host and drive.
    #[serde(default)]
    pub host: HostConfig,
    /// The page buffer in the drive's DRAM.
    #[serde(default)]
    pub buffer: BufferConfig,
    /// Mapping and allocation.
    #[serde(default)]
    pub ftl: FtlConfig,
    /// The metadata that the controller keeps about its blocks.
    #[serde(default)]
    pub metadata: MetadataConfig,
    /// Selects the request that goes to the flash next.
    #[serde(default)]
    pub scheduler: SchedulerChoice,
    /// Selects the kind of block and page for a write; a chain whose first link wins.
    #[serde(default = "one::<PlacementChoice>")]
    pub placement: Vec<PlacementChoice>,
    /// Selects the voltages or step that program a page; a chain whose first link wins.
    #[serde(default = "one::<ProgramModeChoice>")]
    pub program_mode: Vec<ProgramModeChoice>,
    /// Selects the level at which a read starts, and the levels that follow.
    #[serde(default)]
    pub read_start: ReadStartChoice,
    /// Selects which operation on a die may interrupt which.
    #[serde(default)]
    pub suspend: SuspendChoice,
    /// Selects the page that leaves a full buffer.
    #[serde(default)]
    pub eviction: EvictionChoice,
    /// Moves data, levels wear and erases blocks.
    #[serde(default)]
    pub background: BackgroundChoice,
    /// The data on the drive when the run begins.
    #[serde(default)]
    pub start: StartConfig,
    /// The requests of the host, if they do not come from a trace.
    #[serde(default)]
    pub workload: W,
}

/// The workload of a drive without one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoWorkload {}

impl<W: Default + Serialize> DriveConfig<W> {
    /// Splits the config into the drive and its workload.
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

/// The unit that performs one array operation at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrayUnit {
    /// Each plane on its own.
    #[default]
    Plane,
    /// A die. Its planes work together, if at all, only on the same operation at equal page
    /// offsets.
    Die,
    /// A chip: one of its dies works at a time. MQSim's scheduler has this effect.
    Chip,
}

/// The data that a channel moves when a request covers part of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransferUnit {
    /// Whole pages.
    #[default]
    Page,
    /// The sectors of the request.
    Sectors,
}

/// The order of transfers that wait for a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BusOrder {
    /// First come, first served.
    #[default]
    Fifo,
    /// Pages that were read go before commands and pages to be programmed.
    DataOutFirst,
}

/// The flash back end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlashConfig {
    /// The unit that performs one array operation at a time: `plane` (independent planes), `die` or
    /// `chip` (one die at a time). Default: `plane`. Source: DLV, section 2.1; MQSim for `chip`.
    pub array: ArrayUnit,
    /// Whether the planes of a die perform the same operation together, at equal page offsets; only
    /// with `array` other than `plane`. Without it a die, or a chip, performs one page operation at
    /// a time. Default: true. Source: MQSim; PA-SSD (ruled) for a chip without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multi_plane: Option<bool>,
    /// Transfer rate of a channel. Default: `800MB/s`. Assumed.
    pub bus_rate: BytesPerSecond,
    /// P/E cycles that each erase counts for, in the cells and in the controller's tables. A value
    /// above 1 wears a drive out within a short run. Default: 1. Source: the meaning of an erase.
    #[schemars(range(min = 1, max = 1000))]
    pub cycles_per_erase: u32,
    /// Factor by which time passes faster in the cells than in the run; the controller's tasks with
    /// intervals in days follow it. It restores the data ages and rest times that a trace with
    /// compressed arrivals lost. Default: 1. Source: ReadGuard, section 6.1 (ruled: 10).
    #[schemars(range(min = 1, max = 1000))]
    pub time_scale: u32,
    /// The data that a channel moves when a request covers part of a page: `page` or `sectors`.
    /// Default: `page`. Assumed.
    pub transfer: TransferUnit,
    /// Time of a command on its channel. A read or an erase begins after its command; the command
    /// of a program precedes its page. With `0ns` commands need no channel. Default: `0ns`. Source:
    /// ONFI (some 0.3 us, which few models count).
    pub command_time: Nanos,
    /// The order of transfers that wait for a channel: `fifo` or `data_out_first` (pages that were
    /// read, before commands and pages to be programmed). Default: `fifo`. Source: MQSim for
    /// `data_out_first`.
    pub bus_order: BusOrder,
    /// Whether a sensed page moves to a cache register, so that the unit senses the next page
    /// during the transfer. Default: false. Assumed.
    pub cache_read: bool,
    /// Whether an array unit holds a page that it has read until the page has decoded; only where
    /// reads may fail to decode. Default: true. Source: ReadGuard, section 2 (tREAD is the sum of
    /// its parts).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_until_decoded: Option<bool>,
    /// Further attempts of a read that failed to decode: `serial`, or `pipelined` (the unit senses
    /// the next attempt while one is transferred and decoded). `pipelined` needs array units that
    /// hold reads until they have decoded. Default: `serial`. Source: Park et al., ASPLOS 2021
    /// (PR2), for `pipelined`.
    pub retries: RetriesChoice,
    /// Loops of a program, all of equal length; only with a suspend policy that drops loops. The
    /// policy drops at most one loop at a time. Default: 5. Source: ReadGuard, section 6.1 (ruled:
    /// of 80 us).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub program_loops: Option<u8>,
    /// Loops of an erase; only with a suspend policy that drops loops. Default: 5. Source:
    /// ReadGuard, section 6.1 (ruled: of 700 us).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub erase_loops: Option<u8>,
    /// Time from the suspend command until the array unit can read; only with a `suspend` that
    /// interrupts. Default: `5us`. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend_time: Option<Nanos>,
    /// Time from the resume command until the interrupted operation continues; only with a
    /// `suspend` that interrupts. Default: `5us`. Assumed.
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

/// The page buffer in the drive's DRAM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BufferConfig {
    /// Size of the buffer; `0B` for none. Default: `0B`. Assumed.
    pub size: Bytes,
    /// Time to move a page into or out of the buffer; only with a buffer. Default: `1us`. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Nanos>,
    /// Whether pages read from the flash stay in the buffer; only with a buffer. Default: true.
    /// Source: HIRE, section 3 (reads and writes both cached).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<bool>,
    /// Share of the buffer's pages to keep free; only with a buffer. While fewer are free, the
    /// buffer programs the next pages to leave ahead of need, and writes wait only if they are
    /// faster. With 0 a page leaves when another page needs its slot. Default: 0. Assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_free: Option<Share>,
}

impl Default for BufferConfig {
    fn default() -> BufferConfig {
        BufferConfig { size: Bytes::new(0), latency: None, reads: None, keep_free: None }
    }
}

/// The handling of a write that covers part of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartialWrites {
    /// The drive reads the rest of the page first.
    #[default]
    ReadModifyWrite,
    /// The drive writes the page without its rest.
    Pad,
    /// The drive records which sectors of a page were written. It reads first only if the write
    /// leaves some of them out.
    SectorBitmap,
}

/// The choice of the plane for a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Allocation {
    /// The page number selects the plane, in the order of `allocation_order`.
    #[default]
    Static,
    /// The plane with the least work; of equals the next one in the order of `allocation_order`
    /// after the plane written last.
    Dynamic,
}

/// The part of the page map that the controller holds, in translation pages. The least recently
/// used page leaves first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MapCacheConfig {
    /// Share of the map entries that the controller holds; not beside `size`. Default: 0.1. Source:
    /// PV-read, section IV.D.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// Size of the held part, in place of a share. Default: as `share` says. Source: PV-read,
    /// section IV.D.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Bytes of an entry; entries fill a translation page, which is one flash page. Default: `4B`.
    /// Assumed.
    pub entry: Bytes,
}

/// Default share of the entries that a map cache holds. Source: PV-read, section IV.D.
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
    /// The order in which a block's pages are programmed: `strict` (the conventional order) or
    /// `relaxed`. In the relaxed order each page type advances by itself behind the next lower one,
    /// and a plane has several open blocks. Default: `strict`. Source: PA-SSD, section 4.3.1 for
    /// `relaxed`.
    pub page_order: PageSequence,
    /// The blocks for pages that garbage collection moves: `separate` (blocks of their own) or
    /// `shared` (the host's blocks: a plane has one open block). Only where `page_order` is
    /// `strict`. Default: `separate`. Source: PA-SSD, section 2.2 for `shared`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gc_stream: Option<GcStream>,
    /// The handling of writes that cover part of a page: `read_modify_write`, `pad` or
    /// `sector_bitmap`. Default: `read_modify_write`. Source: PA-SSD (ruled).
    pub partial_writes: PartialWrites,
    /// How much of the page map the controller holds: `false` for all of it, `true` or a table with
    /// settings for a part. The rest lies on the flash and is read on demand. Default: false.
    pub map_cache: Toggle<MapCacheConfig>,
    /// Dynamic wear leveling: selects the free block to write next. Choices: `longest_free` (no
    /// leveling), `least_erased`, and `fewest_retries` (with `metadata.retry_estimate`).
    /// `lowest_rank` takes the ranks that a policy sets by an action, 0 without one. With measured
    /// blocks (`metadata.block_class.measured`) also `fewest_errors` (RBER-based) or `healthiest`
    /// (health-binning: the longest predicted life). With the last two, garbage collection writes
    /// its colder data to separate blocks from the other end. Default: `least_erased`. Source: DLV,
    /// Table II; PV-read, section III for the measured.
    pub free_block_policy: FreeBlockPolicy,
    /// Share of the blocks that are bad when the drive leaves the factory. Default: 0. Assumed.
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
