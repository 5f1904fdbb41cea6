//! The policies of a drive, their events and their actions.

use ssdlab_base::{CellTime, SimTime};
use ssdlab_nand::{BlockId, Level, Lpn};

use super::reassessments::Reassessments;
use crate::account::BlockProbe;
use crate::config::Resolved;
use crate::metadata::{self, ComponentId, Metadata};
use crate::policy::allocation::{BlockClass, StreamId};
use crate::policy::background::EndedJob;
use crate::policy::columns::{self, Column, SavedColumns};
use crate::policy::component::Components;
use crate::policy::counters::Counters;
use crate::policy::event::{Action, Actions, Event, EventContext, EventMask, FreedBlock, Probe};
use crate::policy::placement::PlacementNeeds;
use crate::policy::read_start::{ReadStartNeeds, ReadStartView};
use crate::policy::{Learner, PolicyContext};
use ssdlab_schemes::{
    AnyBackground, AnyEviction, AnyPlacement, AnyProgramMode, AnyReadStart, AnyScheduler,
    AnySuspend,
};

/// The policies of the config.
#[derive(Clone, Debug)]
pub(in crate::drive) struct Policies {
    pub(in crate::drive) scheduler: AnyScheduler,
    pub(in crate::drive) placement: Vec<AnyPlacement>,
    pub(in crate::drive) program_mode: Vec<AnyProgramMode>,
    pub(in crate::drive) read_start: AnyReadStart,
    pub(in crate::drive) suspend: AnySuspend,
    pub(in crate::drive) eviction: AnyEviction,
    pub(in crate::drive) background: Vec<AnyBackground>,
    /// The metadata components, which learn before the policies.
    pub(in crate::drive) metadata: Metadata,
    /// The kinds of event that at least one listener wants.
    pub(in crate::drive) subscribed: EventMask,
    /// The listeners of each kind of event.
    listeners: [Box<[Listener]>; EventMask::KINDS],
    /// Whether the placement chain fills in hints page by page.
    pub(in crate::drive) asks_pages: bool,
    /// Whether a link of the placement chain needs a metadata component.
    pub(super) sees_components: bool,
    /// The needs of the read-start policy.
    pub(in crate::drive) reads: ReadStartNeeds,
    /// The requested actions that have not been carried out, each with its requester.
    pending: Vec<(Listener, Action)>,
    /// New classes and ranks of blocks that are not free yet.
    reassessments: Reassessments,
    /// A list that is empty between two events, kept to reuse its memory.
    actions: Actions,
    /// How many times as fast as simulated time the cells' clock runs.
    time_scale: u32,
    /// The kinds of event that are recorded, and the record.
    recorded: (EventMask, Vec<String>),
    /// The action that the record requests at each recorded event of these kinds.
    response: Option<(EventMask, Action)>,
}

/// The kinds of event that are recorded from the start on. The unit tests see the first event.
#[cfg(test)]
const RECORDED: EventMask = EventMask::DRIVE_STARTED;
#[cfg(not(test))]
const RECORDED: EventMask = EventMask::NONE;

/// A component or policy that subscribes to events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::drive) enum Listener {
    Metadata(ComponentId),
    Scheduler,
    Placement(u8),
    ProgramMode(u8),
    ReadStart,
    Suspend,
    Eviction,
    Background(u8),
    Record,
}

impl Listener {
    /// Returns the place in the list of background policies, if the listener is one.
    pub(in crate::drive) fn background(self) -> Option<u8> {
        match self {
            Listener::Background(at) => Some(at),
            _ => None,
        }
    }
}

impl Policies {
    pub(in crate::drive) fn new(resolved: &Resolved, metadata: Metadata) -> Policies {
        let config = &resolved.config;
        let context = resolved.policy_context();
        let read_start = AnyReadStart::build(&config.read_start, &context);
        let placement_needs = |is_needed: fn(&PlacementNeeds) -> bool| {
            config.placement.iter().any(|link| is_needed(&AnyPlacement::needs(link)))
        };
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
            asks_pages: placement_needs(|needs| needs.pages),
            sees_components: (config.placement.iter())
                .any(|link| !AnyPlacement::components(link).is_empty()),
            reads: read_start.needs(),
            read_start,
            suspend: AnySuspend::build(&config.suspend, &context),
            eviction: AnyEviction::build(&config.eviction, &context),
            background: AnyBackground::build(&config.background, &context),
            metadata,
            subscribed: EventMask::NONE,
            listeners: std::array::from_fn(|_| Box::default()),
            pending: Vec::new(),
            reassessments: Reassessments::default(),
            actions: Actions::default(),
            time_scale: config.flash.time_scale,
            recorded: (RECORDED, Vec::new()),
            response: None,
        };
        policies.listen();
        policies
    }

    /// Records events of these kinds from now on.
    pub(in crate::drive) fn record(&mut self, kinds: EventMask) {
        self.recorded.0 = kinds;
        self.listen();
    }

    /// Requests an action at each recorded event of these kinds.
    pub(in crate::drive) fn respond(&mut self, kinds: EventMask, action: Action) {
        self.response = Some((kinds, action));
    }

    /// Returns the recorded events and empties the record.
    pub(in crate::drive) fn take_recorded(&mut self) -> Vec<String> {
        std::mem::take(&mut self.recorded.1)
    }

    /// Builds the list of listeners of each kind of event.
    fn listen(&mut self) {
        let placement = (0..).zip(&self.placement);
        let program_mode = (0..).zip(&self.program_mode);
        let background = (0..).zip(&self.background);
        let metadata = self.metadata.components();
        // Policies read the components, so the components learn first.
        let all = metadata
            .map(|(id, component)| (component.events(), Listener::Metadata(id)))
            .chain([(self.scheduler.events(), Listener::Scheduler)])
            .chain(placement.map(|(at, link)| (link.events(), Listener::Placement(at))))
            .chain(program_mode.map(|(at, link)| (link.events(), Listener::ProgramMode(at))))
            .chain([
                (self.read_start.events(), Listener::ReadStart),
                (self.suspend.events(), Listener::Suspend),
                (self.eviction.events(), Listener::Eviction),
            ])
            .chain(background.map(|(at, one)| (one.events(), Listener::Background(at))))
            .chain([(self.recorded.0, Listener::Record)]);
        let all: Vec<(EventMask, Listener)> = all.collect();
        self.subscribed = all.iter().fold(EventMask::NONE, |mask, (events, _)| mask.and(*events));
        for (kind, listeners) in EventMask::all().zip(&mut self.listeners) {
            let who = all.iter().filter(|(events, _)| events.has(kind));
            *listeners = who.map(|(_, listener)| *listener).collect();
        }
    }

    /// Passes an event to its listeners.
    #[inline(always)]
    pub(in crate::drive) fn publish(&mut self, now: SimTime, event: &Event) {
        if self.subscribed.has(event.kind()) {
            self.publish_to_all(now, event);
        }
    }

    /// Passes an event to its listeners; it has at least one.
    #[inline(always)]
    pub(super) fn publish_to_all(&mut self, now: SimTime, event: &Event) {
        let kind = event.kind().index();
        // Most kinds have a single listener.
        match *self.listeners[kind] {
            [only] => self.notify(now, only, event),
            _ => self.publish_to_each(now, kind, event),
        }
    }

    #[inline(never)]
    fn publish_to_each(&mut self, now: SimTime, kind: usize, event: &Event) {
        for at in 0..self.listeners[kind].len() {
            self.notify(now, self.listeners[kind][at], event);
        }
    }

    /// Passes an event to one listener, and keeps the actions that it returns.
    #[inline(never)]
    fn notify(&mut self, now: SimTime, listener: Listener, event: &Event) {
        let cell_time = CellTime::at(now, self.time_scale);
        let actions = &mut self.actions;
        if let Listener::Metadata(id) = listener {
            let components = Components::NONE;
            let context = &mut EventContext { now, cell_time, components, actions };
            self.metadata.on_event(id, event, context);
        } else {
            let components = Components::new(&self.metadata);
            let context = &mut EventContext { now, cell_time, components, actions };
            match listener {
                Listener::Metadata(_) => unreachable!("components learn above"),
                Listener::Scheduler => self.scheduler.on_event(event, context),
                Listener::Placement(at) => self.placement[usize::from(at)].on_event(event, context),
                Listener::ProgramMode(at) => {
                    self.program_mode[usize::from(at)].on_event(event, context);
                }
                Listener::ReadStart => self.read_start.on_event(event, context),
                Listener::Suspend => self.suspend.on_event(event, context),
                Listener::Eviction => self.eviction.on_event(event, context),
                Listener::Record => keep(&mut self.recorded.1, self.response, event, context),
                Listener::Background(at) => {
                    self.background[usize::from(at)].on_event(event, context);
                }
            }
        }
        if !self.actions.as_slice().is_empty() {
            self.keep_actions(listener);
        }
    }

    /// Keeps the actions that a listener has just requested.
    #[cold]
    fn keep_actions(&mut self, listener: Listener) {
        self.pending.extend(self.actions.drain().map(|action| (listener, action)));
    }

    /// Returns the level at which a read starts.
    #[inline(always)]
    pub(in crate::drive) fn start_level(&mut self, view: ReadStartView) -> Level {
        let components = Components::new(&self.metadata);
        self.read_start.start(&ReadStartView { components, ..view })
    }

    /// Returns the level that follows the failed one.
    #[inline(always)]
    pub(in crate::drive) fn level_after(&mut self, view: ReadStartView, failed: Level) -> Level {
        let components = Components::new(&self.metadata);
        self.read_start.climb(&ReadStartView { components, ..view }, failed)
    }

    /// Returns whether the jobs of a policy mix blocks of different classes now.
    pub(in crate::drive) fn across_classes(&self) -> bool {
        self.background.iter().any(|policy| policy.needs().across_classes)
    }

    /// Passes an event to the components that subscribe to it.
    pub(in crate::drive) fn publish_to_components(&mut self, now: SimTime, event: &Event) {
        for at in 0..self.listeners[event.kind().index()].len() {
            let listener = self.listeners[event.kind().index()][at];
            if matches!(listener, Listener::Metadata(_)) {
                self.notify(now, listener, event);
            }
        }
    }

    /// Passes an event to one listener alone.
    pub(in crate::drive) fn publish_to(&mut self, now: SimTime, listener: Listener, event: &Event) {
        self.notify(now, listener, event);
    }

    /// Returns the listeners of a kind of event.
    pub(in crate::drive) fn listeners_of(&self, kind: EventMask) -> Vec<Listener> {
        self.listeners[kind.index()].to_vec()
    }

    /// Publishes that a block is about to join the free blocks. Components may learn of its worst
    /// page; policies may not.
    pub(super) fn publish_freed(&mut self, now: SimTime, freed: &FreedBlock) {
        let seen = |cycles| BlockProbe { worst: None, ..(freed.probe.0)(cycles) };
        let to_policies = FreedBlock { probe: Probe(&seen), ..*freed };
        let kind = EventMask::BLOCK_FREED.index();
        for at in 0..self.listeners[kind].len() {
            let listener = self.listeners[kind][at];
            let is_component = matches!(listener, Listener::Metadata(_));
            let freed = if is_component { freed } else { &to_policies };
            self.notify(now, listener, &Event::BlockFreed(freed));
        }
    }

    /// Publishes that a job has ended; its owner learns that the job was its own.
    pub(in crate::drive) fn publish_ended(
        &mut self,
        now: SimTime,
        ended: EndedJob,
        owner: Listener,
        waiting: impl Fn(Listener) -> u64,
    ) {
        let kind = EventMask::JOB_ENDED.index();
        for at in 0..self.listeners[kind].len() {
            let listener = self.listeners[kind][at];
            let own = listener == owner;
            let waiting = waiting(listener);
            self.notify(now, listener, &Event::JobEnded(EndedJob { own, waiting, ..ended }));
        }
    }

    /// Keeps an action that [`Drive::ask`](crate::Drive::ask) requests.
    pub(in crate::drive) fn ask(&mut self, action: Action) {
        self.pending.push((Listener::Record, action));
    }

    /// Returns whether a requested action has not been carried out.
    pub(in crate::drive) fn have_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Removes the requests to move the page that the host has just read. Returns the class and the
    /// stream of the first.
    pub(in crate::drive) fn take_migration(
        &mut self,
        read: Lpn,
    ) -> Option<(BlockClass, Option<StreamId>)> {
        let mut first = None;
        self.pending.retain(|(_, action)| match *action {
            Action::MigratePage { lpn, class, stream } if lpn == read => {
                first.get_or_insert((class, stream));
                false
            }
            _ => true,
        });
        first
    }

    /// Returns whether any new class or rank may wait for its block.
    pub(super) fn have_reassessments(&self) -> bool {
        !(self.pending.is_empty() && self.reassessments.is_empty())
    }

    /// Keeps a new class or rank of a block until the block is free.
    pub(in crate::drive) fn reassess_later(&mut self, action: Action) {
        self.reassessments.push(action);
    }

    /// Removes and returns the new classes and ranks of a block that is about to join the free
    /// blocks. Earlier requests come first, so that an answer to the event overrides them.
    pub(super) fn take_reassessments(&mut self, freed: BlockId) -> Vec<Action> {
        let is_of = |action: &Action| match *action {
            Action::SetClass { block, .. } | Action::SetFreeRank { block, .. } => block == freed,
            _ => false,
        };
        let mut all = self.reassessments.take(is_of);
        let ready = self.pending.extract_if(.., |(_, action)| is_of(action));
        all.extend(ready.map(|(_, action)| action));
        all
    }

    /// Removes and returns the requested actions.
    pub(in crate::drive) fn take_pending(&mut self) -> Vec<(Listener, Action)> {
        std::mem::take(&mut self.pending)
    }

    /// Returns each component and policy with its place in the config.
    fn learners(&mut self) -> Vec<(Listener, String, &mut dyn Learner)> {
        fn of<'a>(
            id: Listener,
            slot: &str,
            policy: &'a mut dyn Learner,
        ) -> (Listener, String, &'a mut dyn Learner) {
            (id, format!("{slot}/{}", policy.name()), policy)
        }
        fn each<'a, P: Learner>(
            id: impl Fn(u8) -> Listener,
            slot: &'static str,
            chain: &'a mut [P],
        ) -> impl Iterator<Item = (Listener, String, &'a mut dyn Learner)> {
            (0..).zip(chain).map(move |(at, link)| {
                (id(at), format!("{slot}/{}/{at}", link.name()), link as &mut dyn Learner)
            })
        }
        let components = self.metadata.components();
        let components = components
            .map(|(id, component)| of(Listener::Metadata(id), metadata::PLACE, component));
        let mut all: Vec<_> = components.collect();
        let background = (0..).zip(&mut self.background);
        all.extend(
            background.map(|(at, policy)| of(Listener::Background(at), "background", policy)),
        );
        all.push(of(Listener::Scheduler, "scheduler", &mut self.scheduler));
        all.push(of(Listener::ReadStart, "read_start", &mut self.read_start));
        all.extend(each(Listener::Placement, "placement", &mut self.placement));
        all.extend(each(Listener::ProgramMode, "program_mode", &mut self.program_mode));
        all.push(of(Listener::Suspend, "suspend", &mut self.suspend));
        all.push(of(Listener::Eviction, "eviction", &mut self.eviction));
        all
    }

    /// Returns the place in the config of each component and policy. The record of events has the
    /// place `record`.
    pub(in crate::drive) fn places(&mut self) -> Vec<(Listener, String)> {
        let all = self.learners().into_iter().map(|(listener, place, _)| (listener, place));
        all.chain([(Listener::Record, "record".to_owned())]).collect()
    }

    /// Returns the columns of each component and policy with its place in the config.
    pub(in crate::drive) fn columns(&mut self) -> impl Iterator<Item = (String, Vec<Column<'_>>)> {
        self.learners().into_iter().map(|(_, place, learner)| (place, learner.columns()))
    }

    /// Checks that every column has the same number of values for each thing that it describes.
    ///
    /// # Errors
    /// The first column of another length, with its place in the config.
    pub(in crate::drive) fn check_columns(
        &mut self,
        context: &PolicyContext,
        host_pages: u32,
    ) -> Result<(), String> {
        self.columns().try_for_each(|(place, columns)| {
            let mut checks = columns.iter().map(|column| column.check(context, host_pages));
            checks.try_for_each(|check| check.map_err(|error| format!("{place}: {error}")))
        })
    }

    /// Returns the state of each component and policy as text, with its place in the config.
    pub(in crate::drive) fn states(&mut self) -> Vec<(String, String)> {
        let all = self.learners().into_iter();
        all.map(|(_, place, learner)| (place, format!("{learner:?}"))).collect()
    }

    /// Returns the counters of each component and policy, with its place in the config.
    pub(in crate::drive) fn counters(&mut self) -> impl Iterator<Item = (String, Counters)> {
        let all = self.learners().into_iter();
        all.map(|(_, place, learner)| (place, learner.counters().into_iter().collect()))
    }

    /// Returns the bits that a controller needs for all columns, by name, with `reserved_blocks`
    /// blocks reserved.
    pub(in crate::drive) fn metadata_bits(
        &mut self,
        reserved_blocks: u64,
    ) -> Vec<(&'static str, u64)> {
        let columns = self.columns().flat_map(|(_, columns)| columns);
        columns::metadata_bits(columns, reserved_blocks)
    }

    /// Returns the columns for a state file. `shape` holds the numbers of blocks and of classes.
    pub(in crate::drive) fn saved(&mut self, shape: (usize, usize)) -> SavedColumns {
        let mut saved = SavedColumns::default();
        self.columns().for_each(|(place, columns)| saved.add(&place, &columns));
        self.reassessments.save(shape, &mut saved);
        saved
    }

    /// Restores the columns of a state file. Returns the place in the config of each component and
    /// policy that continues: its columns were restored, or it has none.
    ///
    /// # Errors
    /// If a value is outside the range of its column.
    pub(in crate::drive) fn restore(
        &mut self,
        shape: (usize, usize),
        saved: &SavedColumns,
    ) -> Result<Vec<(Listener, String)>, String> {
        let mut places = self.places();
        for (place, mut columns) in self.columns() {
            let has_values = columns.iter().any(Column::is_saved);
            if !saved.restore(&place, &mut columns)? && has_values {
                places.retain(|(_, it)| *it != place);
            }
        }
        self.reassessments.restore(shape, saved)?;
        Ok(places)
    }
}

/// Adds an event to the record, and requests the action that answers it.
#[cold]
fn keep(
    record: &mut Vec<String>,
    response: Option<(EventMask, Action)>,
    event: &Event,
    context: &mut EventContext,
) {
    let (now, cells) = (context.now.as_ns(), context.cell_time.as_ns());
    record.push(format!("{event:?} at {now} ns, {cells} ns for the cells"));
    let response = response.filter(|(kinds, _)| kinds.has(event.kind()));
    response.into_iter().for_each(|(_, action)| context.actions.push(action));
}
