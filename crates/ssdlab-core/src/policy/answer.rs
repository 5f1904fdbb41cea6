//! How an answer is made from its config.

use ssdlab_nand::Geometry;

/// What a policy may know of the drive when it is set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The shape of the flash.
    pub geometry: Geometry,
    /// Pages that the buffer holds.
    pub buffer_pages: u32,
    /// Blocks of a plane that hold no data even when the drive is full.
    pub spare_blocks: u32,
    /// The seed of the drive's chance.
    pub seed: u64,
}

/// A policy with a config of its own.
pub trait Answer: Sized {
    /// Its settings.
    type Config;

    /// The policy with these settings.
    fn build(config: &Self::Config, setup: &Setup) -> Self;
}
