//! The policies of a drive, one for each decision or a list.

use crate::config::Resolved;
use crate::slots::{
    AnyBackground, AnyEviction, AnyPlacement, AnyProgramMode, AnyReadStart, AnyScheduler,
    AnySuspend,
};

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
}

impl Policies {
    pub(super) fn new(resolved: &Resolved) -> Policies {
        let config = &resolved.config;
        let context = resolved.policy_context();
        Policies {
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
            read_start: AnyReadStart::build(&config.read_start, &context),
            suspend: AnySuspend::build(&config.suspend, &context),
            eviction: AnyEviction::build(&config.eviction, &context),
            background: AnyBackground::build(&config.background, &context),
        }
    }
}
