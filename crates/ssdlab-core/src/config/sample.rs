//! The scaled drive that lives through the history of a start.

use ssdlab_base::Bytes;
use ssdlab_base::quantity::Share;
use ssdlab_nand::Geometry;
use ssdlab_nand::refusal::Refusal;

use super::{DriveConfig, HistoryPolicies, Resolved, usable_blocks};
use crate::Toggle;
use ssdlab_schemes::{AnyBackground, SchedulerChoice};

/// The largest size of a sample, and of its load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSize {
    /// Number of planes.
    pub planes: u32,
    /// Blocks of a plane, unless its free blocks need more.
    pub blocks: u32,
    /// Page writes. If the tenants wrote more, each writes its last overwrites alone, as often as
    /// this allows.
    pub writes: u32,
    /// Page reads. If the tenants read more, each read stands for several.
    pub reads: u32,
}

impl Default for SampleSize {
    /// Four planes rank blocks about as finely as a plane of a drive of 2 TB has blocks.
    fn default() -> SampleSize {
        SampleSize { planes: 4, blocks: 256, writes: 1_000_000, reads: 500_000 }
    }
}

/// Rounds in which the space of a sample settles.
const ROUNDS: u32 = 3;

impl Resolved {
    /// Returns the free blocks of a plane that the background policies keep.
    pub(crate) fn free_blocks_of_plane(&self) -> f64 {
        let policies = AnyBackground::build(&self.config.background, &self.policy_context());
        let most = |of: &dyn Fn(&AnyBackground) -> u32| policies.iter().map(of).max().unwrap_or(0);
        let own = most(&|policy| policy.needs().free_page_target);
        let own = own.div_ceil(self.geometry().pages);
        let of_drive = f64::from(most(&|policy| policy.needs().free_blocks_of_drive));
        f64::from(own).max(of_drive / f64::from(self.geometry().plane_count()))
    }

    /// Returns the blocks of a plane that can be full of data: those that are neither kept free nor
    /// open, where open blocks count half.
    fn for_data(&self) -> f64 {
        let open = self.classes_of_blocks() * usize::from(self.config.streams().count);
        f64::from(usable_blocks(&self.config)) - self.free_blocks_of_plane() - open as f64
    }

    /// Returns the parts of the history that the start depends on, besides its section of the
    /// config: the drive's config meanwhile, and the free blocks of a plane. `None` without a
    /// history.
    pub(crate) fn history_config(&self) -> Option<(DriveConfig, f64)> {
        let drive = || history_drive(&self.config, self.geometry(), 1.0);
        self.history().map(|_| (drive(), self.free_blocks_of_plane()))
    }

    /// Returns the scaled drive that lives through the history of the start: at most this large, as
    /// full, and with the same share of outdated data in its full blocks.
    ///
    /// # Errors
    /// If no such drive works.
    pub fn sample(&self, most: SampleSize) -> Result<Resolved, Refusal> {
        let (geometry, mut blocks) = (self.geometry(), most.blocks);
        loop {
            let sample = self.sample_of(&shape(geometry, most.planes, blocks));
            if sample.is_ok() || blocks >= geometry.blocks {
                return sample;
            }
            blocks = blocks.saturating_mul(2);
        }
    }

    fn sample_of(&self, shape: &Geometry) -> Result<Resolved, Refusal> {
        let own = self.geometry();
        let part = f64::from(shape.page_count()) / f64::from(own.page_count());
        let mut config = history_drive(&self.config, shape, part);
        let [planes, own_planes] = [shape, own].map(|geometry| f64::from(geometry.plane_count()));
        if shape.blocks == own.blocks {
            return Resolved::typed(&config, self.seed, &|_| false);
        }
        let all = f64::from(self.logical_pages);
        let data = all / own_planes / self.for_data();
        let pages = f64::from(shape.page_count()) / planes;
        let mut room = f64::from(shape.blocks) - (f64::from(own.blocks) - self.for_data());
        for _ in 0..ROUNDS {
            let spare = 1.0 - data * room / pages;
            config.ftl.overprovisioning = Share::new(spare.clamp(0.0, 1.0));
            // The buffer holds the same share of the data.
            config.buffer.size = part_of_buffer(&self.config, data * room * planes / all);
            room = Resolved::typed(&config, self.seed, &|_| false)?.for_data();
        }
        Resolved::typed(&config, self.seed, &|_| false)
    }
}

/// Returns the shape of a sample: one die with its planes, then further channels.
fn shape(geometry: &Geometry, max_planes: u32, blocks: u32) -> Geometry {
    let blocks = blocks.min(geometry.blocks);
    if geometry.plane_count() <= max_planes {
        return Geometry { blocks, ..geometry.clone() };
    }
    let planes = geometry.planes.min(max_planes);
    let channels = geometry.channels.min(max_planes / planes).max(1);
    Geometry { channels, chips: 1, dies: 1, planes, blocks, ..geometry.clone() }
}

/// Returns the size of a part of the buffer: at least a page, if there is a buffer.
fn part_of_buffer(config: &DriveConfig, part: f64) -> Bytes {
    let (page, buffer) = (config.geometry.page_size.get(), config.buffer.size.get());
    Bytes::new(if buffer > 0 { ((buffer as f64 * part) as u64).max(page) } else { 0 })
}

/// Returns the config of a drive of this shape, a part of the whole, while it lives.
fn history_drive(config: &DriveConfig, shape: &Geometry, part: f64) -> DriveConfig {
    let mut drive = config.clone();
    drive.geometry = shape.clone();
    drive.buffer.size = part_of_buffer(config, part);
    drive.start.history = Toggle::off();
    let history = config.start.history.get();
    if history.is_some_and(|history| history.policies == HistoryPolicies::Conventional) {
        drive.background = drive.background.conventional();
        drive.scheduler = SchedulerChoice::default();
    }
    let planes = f64::from(shape.plane_count()) / f64::from(config.geometry.plane_count());
    drive.background = drive.background.for_part(planes);
    drive
}
