//! The physics against the anchor points of the papers, and against properties of any flash.

mod config;
mod flat;
mod invariants;
mod levels;
mod measured;
mod retries;

use ssdlab_base::{Bytes, Nanos};
use ssdlab_nand::levels::SensingConfig;
use ssdlab_nand::program_mode::ProgramModeConfig;
use ssdlab_nand::transfer::TransferConfig;
use ssdlab_nand::variation::BaseConfig;
use ssdlab_nand::{BlockId, Cell, Chip, Conditions, Geometry, Level, LevelsConfig};
use ssdlab_nand::{
    PageInBlock, PageType, PhysicsConfig, ProgramMode, Refusal, RetriesConfig, TimingConfig,
};

const fn us(count: u64) -> Nanos {
    Nanos::from_us(count)
}

fn days(count: f64) -> Nanos {
    Nanos::from_ns((count * 86_400e9).round() as u64)
}

/// Returns a drive of 16,384 blocks on 64 dies.
fn geometry(cell: Cell) -> Geometry {
    Geometry {
        channels: 8,
        chips: 4,
        dies: 2,
        planes: 2,
        blocks: 128,
        pages: 576,
        page_size: Bytes::from_kib(4),
        cell,
    }
}

fn blocks() -> impl Iterator<Item = BlockId> {
    (0..geometry(Cell::Tlc).block_count()).map(BlockId)
}

/// Returns DLV's times.
fn fixed() -> TimingConfig {
    TimingConfig::fixed(us(90), us(600), us(3_000))
}

fn levels(config: LevelsConfig) -> PhysicsConfig {
    PhysicsConfig::Levels(Box::new(config))
}

fn retries(config: RetriesConfig) -> PhysicsConfig {
    PhysicsConfig::Retries(Box::new(config))
}

fn resolve(timing: &TimingConfig, physics: &PhysicsConfig, seed: u64) -> Result<Chip, Refusal> {
    Chip::resolve(&geometry(Cell::Tlc), timing, physics, seed)
}

/// Returns a chip with DLV's times.
fn chip(physics: &PhysicsConfig) -> Chip {
    resolve(&fixed(), physics, 1).expect("valid physics")
}

/// Returns the conditions of the first page of a block, just programmed.
fn fresh(cycles: f32) -> Conditions {
    Conditions::fresh(PageInBlock(0), PageType(0), cycles)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    (squares.sum::<f64>() / values.len() as f64).sqrt()
}
