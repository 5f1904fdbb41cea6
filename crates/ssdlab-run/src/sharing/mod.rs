//! What plans that run side by side have in common: their traces are parsed once ([`traces`]), their drives
//! begun once ([`starts`]).

pub mod starts;
pub mod traces;

use crate::prepare::Prepared;

/// The plans that want something and have it in common with another, by what they have in common.
fn groups(
    prepared: &[Prepared],
    wants: impl Fn(&Prepared) -> bool,
    same: impl Fn(&Prepared, &Prepared) -> bool,
) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for (at, plan) in prepared.iter().enumerate().filter(|(_, plan)| wants(plan)) {
        match all.iter_mut().find(|group| same(&prepared[group[0]], plan)) {
            Some(group) => group.push(at),
            None => all.push(vec![at]),
        }
    }
    all.retain(|group| group.len() > 1);
    all
}
