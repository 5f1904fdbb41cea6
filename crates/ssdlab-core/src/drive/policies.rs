//! The policies of a drive, one for each decision or a list, and what they learn and ask for.

use crate::config::Resolved;
use crate::policy::background::EndedJob;
use crate::policy::event::{Action, Actions, Event, EventMask};
use crate::policy::read_start::ReadStartNeeds;
use crate::slots::{
    AnyBackground, AnyEviction, AnyPlacement, AnyProgramMode, AnyReadStart, AnyScheduler,
    AnySuspend,
};

/// A background policy's place in the list; `None` for a policy of another slot.
pub(super) type BackgroundAt = Option<u8>;

/// The policies that a config has chosen.
#[derive(Clone, Debug)]
pub(super) struct Policies {
    pub(super) scheduler: AnyScheduler,
    pub(super) placement: Vec<AnyPlacement>,
    pub(super) program_mode: Vec<AnyProgramMode>,
    pub(super) read_start: AnyReadStart,
    pub(super) suspend: AnySuspend,
    pub(super) eviction: AnyEviction,
    pub(super) background: Vec<AnyBackground>,
    /// The kinds of event that one of them wants to learn of.
    pub(super) wants: EventMask,
    /// What the policy of reads needs.
    pub(super) reads: ReadStartNeeds,
    /// What was asked for and has not been carried out, each with who asked.
    asked: Vec<(BackgroundAt, Action)>,
    /// A list that is empty between two events; kept for its memory.
    actions: Actions,
}

/// Calls `$act` with each policy of every slot, and its place if it is a background policy.
macro_rules! for_each_policy {
    ($policies:expr, $policy:ident, $at:ident => $act:expr) => {{
        let $at: BackgroundAt = None;
        {
            let $policy = &mut $policies.scheduler;
            $act
        }
        for $policy in &mut $policies.placement {
            $act
        }
        for $policy in &mut $policies.program_mode {
            $act
        }
        {
            let $policy = &mut $policies.read_start;
            $act
        }
        {
            let $policy = &mut $policies.suspend;
            $act
        }
        {
            let $policy = &mut $policies.eviction;
            $act
        }
        for (at, $policy) in (0..).zip(&mut $policies.background) {
            let $at: BackgroundAt = Some(at);
            $act
        }
    }};
}

impl Policies {
    pub(super) fn new(resolved: &Resolved) -> Policies {
        let config = &resolved.config;
        let context = resolved.policy_context();
        let read_start = AnyReadStart::build(&config.read_start, &context);
        let mut policies = Policies {
            scheduler: AnyScheduler::build(&config.scheduler, &context),
            placement: config
                .placement
                .iter()
                .map(|link| AnyPlacement::build(link, &context))
                .collect(),
            program_mode: config
                .program_mode
                .iter()
                .map(|link| AnyProgramMode::build(link, &context))
                .collect(),
            reads: read_start.needs(),
            read_start,
            suspend: AnySuspend::build(&config.suspend, &context),
            eviction: AnyEviction::build(&config.eviction, &context),
            background: AnyBackground::build(&config.background, &context),
            wants: EventMask::NONE,
            asked: Vec::new(),
            actions: Actions::default(),
        };
        let mut wants = EventMask::NONE;
        for_each_policy!(policies, policy, _at => wants = wants.and(policy.events()));
        policies.wants = wants;
        policies
    }

    /// Tells those of an event who want to learn of it.
    pub(super) fn publish(&mut self, event: &Event) {
        let kind = event.kind();
        if !self.wants.has(kind) {
            return;
        }
        for_each_policy!(self, policy, at => if policy.events().has(kind) {
            policy.on_event(event, &mut self.actions);
            self.asked.extend(self.actions.drain().map(|action| (at, action)));
        });
    }

    /// Tells the background policy at a place in the list of an event.
    pub(super) fn publish_to(&mut self, at: u8, event: &Event) {
        self.background[usize::from(at)].on_event(event, &mut self.actions);
        self.asked.extend(self.actions.drain().map(|action| (Some(at), action)));
    }

    /// Tells of a job that has ended those who want to learn of it, and its owner that it was its own.
    pub(super) fn publish_ended(&mut self, ended: EndedJob, owner: BackgroundAt) {
        for_each_policy!(self, policy, at => if policy.events().has(EventMask::JOB_ENDED) {
            let own = at.is_some() && at == owner;
            policy.on_event(&Event::JobEnded(EndedJob { own, ..ended }), &mut self.actions);
            self.asked.extend(self.actions.drain().map(|action| (at, action)));
        });
    }

    /// Whether something was asked for that has not been carried out.
    #[inline]
    pub(super) fn have_asked(&self) -> bool {
        !self.asked.is_empty()
    }

    /// The class to which the page should move that the host has just read, if it was asked for.
    pub(super) fn take_migration(&mut self) -> Option<u8> {
        let mut first = None;
        self.asked.retain(|(_, action)| match *action {
            Action::MigratePage { class } => {
                first.get_or_insert(class);
                false
            }
            Action::Relocate(_) => true,
        });
        first
    }

    /// Takes what was asked for.
    pub(super) fn take_asked(&mut self) -> Vec<(BackgroundAt, Action)> {
        std::mem::take(&mut self.asked)
    }

    /// Bits that a controller needs for what the policies keep, by structure.
    pub(super) fn metadata_bits(&self, blocks_apart: u64) -> Vec<(&'static str, u64)> {
        let background = self.background.iter().flat_map(|one| one.metadata_bits(blocks_apart));
        let scheduler = self.scheduler.metadata_bits(blocks_apart);
        let reads = self.read_start.metadata_bits(blocks_apart);
        let placement = self.placement.iter().flat_map(|one| one.metadata_bits(blocks_apart));
        background.chain(scheduler).chain(reads).chain(placement).collect()
    }
}
