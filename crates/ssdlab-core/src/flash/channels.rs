//! The channels of a drive. Each has a bus and an ECC engine.

use std::ops::{Index, IndexMut};

use ssdlab_base::SimTime;

use super::link::Link;
use super::units::UnitId;

/// The bus and the ECC engine of a channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Channel {
    pub(super) bus: Link,
    pub(super) engine: Link,
}

/// A part of the back end that works for a time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Server {
    Unit(UnitId),
    /// The bus of this channel.
    Bus(usize),
    /// The ECC engine of this channel.
    Engine(usize),
}

/// All channels. The array units have the first slots of the table of timers, then come the buses,
/// then the engines.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    channels: Box<[Channel]>,
    /// The number of array units.
    units: usize,
}

impl Channels {
    /// Creates idle channels beside this many array units.
    pub(super) fn new(channels: usize, units: usize) -> Channels {
        Channels { channels: vec![Channel::default(); channels].into_boxed_slice(), units }
    }

    /// Returns the number of slots, those of the array units included.
    pub(super) fn slots(&self) -> usize {
        self.units + 2 * self.channels.len()
    }

    /// Returns the slot of a channel's bus.
    pub(super) fn bus_slot(&self, channel: usize) -> usize {
        self.units + channel
    }

    /// Returns the slot of a channel's ECC engine.
    #[inline]
    pub(super) fn engine_slot(&self, channel: usize) -> usize {
        self.units + self.channels.len() + channel
    }

    /// Returns the part that a slot belongs to.
    #[inline(always)]
    pub(super) fn server(&self, slot: usize) -> Server {
        let (units, channels) = (self.units, self.channels.len());
        if slot < units {
            Server::Unit(UnitId(slot as u32))
        } else if slot < units + channels {
            Server::Bus(slot - units)
        } else {
            Server::Engine(slot - units - channels)
        }
    }

    /// Returns the busy nanoseconds of every bus until `now`.
    pub(super) fn busy(&self, now: SimTime) -> Vec<u64> {
        self.channels.iter().map(|channel| channel.bus.busy(now)).collect()
    }

    /// Returns every channel with its number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Channel)> {
        self.channels.iter().enumerate()
    }
}

impl Index<usize> for Channels {
    type Output = Channel;
    fn index(&self, channel: usize) -> &Channel {
        &self.channels[channel]
    }
}

impl IndexMut<usize> for Channels {
    #[inline]
    fn index_mut(&mut self, channel: usize) -> &mut Channel {
        &mut self.channels[channel]
    }
}
