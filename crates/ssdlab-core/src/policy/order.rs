//! `order`: which request goes to the flash next?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Setup};
use crate::account::OpKind;

/// What an order may look at.
#[derive(Clone, Copy, Debug)]
pub struct OrderView {
    /// Read or program.
    pub kind: OpKind,
    /// The submission queue's priority, 0 the highest.
    pub priority: u8,
    /// The latency that the host hints at: 0 none, 1 short, 2 medium, 3 long.
    pub hint: u8,
}

/// An order of service.
pub trait OrderPolicy {
    /// The rank of a page operation in the queues of its plane: the lower goes first, the earlier
    /// among equals.
    fn rank(&mut self, view: &OrderView) -> u8;
}

/// `fifo` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FifoConfig {}

/// First come, first served, on each plane.
#[derive(Clone, Debug)]
pub struct Fifo;

impl Answer for Fifo {
    type Config = FifoConfig;

    fn build(_: &Self::Config, _: &Setup) -> Fifo {
        Fifo
    }
}

impl OrderPolicy for Fifo {
    #[inline]
    fn rank(&mut self, _: &OrderView) -> u8 {
        0
    }
}

/// `read_first` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFirstConfig {}

/// Reads before writes on each plane: a read keeps the host waiting, a write seldom does.
#[derive(Clone, Debug)]
pub struct ReadFirst;

impl Answer for ReadFirst {
    type Config = ReadFirstConfig;

    fn build(_: &Self::Config, _: &Setup) -> ReadFirst {
        ReadFirst
    }
}

impl OrderPolicy for ReadFirst {
    #[inline]
    fn rank(&mut self, view: &OrderView) -> u8 {
        u8::from(view.kind != OpKind::Read)
    }
}

/// `priority` has no settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityConfig {}

/// Strictly by the priority of the submission queue.
#[derive(Clone, Debug)]
pub struct Priority;

impl Answer for Priority {
    type Config = PriorityConfig;

    fn build(_: &Self::Config, _: &Setup) -> Priority {
        Priority
    }
}

impl OrderPolicy for Priority {
    #[inline]
    fn rank(&mut self, view: &OrderView) -> u8 {
        view.priority
    }
}
