//! First come, first served.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Decision, DecisionDetails, DispatchMode, HostRank, Occasion, Planes, QueueView,
    SchedulerPolicy, SchedulerView,
};
use crate::account::OpKind;
use crate::{Policy, PolicyContext};

/// Settings of `fifo`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FifoConfig {
    /// Head-of-line blocking: a request waits until all earlier requests are dispatched, and goes
    /// once no operation waits at any of its planes. Default: false, first come, first served on
    /// each plane by itself. Source: DLV (ruled; true is the other reading).
    pub head_of_line: bool,
}

/// First come, first served.
#[derive(Clone, Debug)]
pub struct Fifo {
    head_of_line: bool,
}

impl Policy for Fifo {
    type Config = FifoConfig;

    fn build(config: &Self::Config, _: &PolicyContext) -> Fifo {
        Fifo { head_of_line: config.head_of_line }
    }
}

impl SchedulerPolicy for Fifo {
    fn rank(&mut self, _: &SchedulerView) -> HostRank {
        HostRank::FIRST
    }

    fn window(&self) -> Option<usize> {
        self.head_of_line.then_some(usize::MAX)
    }

    fn next(
        &mut self,
        view: &QueueView<impl Planes>,
        occasion: Occasion,
        _: &mut DecisionDetails,
    ) -> Option<Decision> {
        let Occasion::Plane(_) = occasion else { return None };
        let heads = [OpKind::Read, OpKind::Program].map(|kind| view.queue.arrived(kind).next());
        let group = heads.into_iter().flatten().min_by_key(|&id| view.queue.group(id).seq)?;
        let plane_shares = &view.queue.group(group).plane_shares;
        let is_clear = plane_shares
            .iter()
            .all(|plane_share| view.planes.host_waits(plane_share.plane) == (false, false));
        is_clear.then_some(Decision { group, mode: DispatchMode::Behind })
    }
}
