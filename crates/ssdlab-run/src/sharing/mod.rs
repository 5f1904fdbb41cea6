//! What plans that run side by side have in common: their traces are parsed once ([`traces`]),
//! their drives begun once ([`starts`]).

pub mod starts;
pub mod traces;

/// Those of so many plans that want something and have it in common with another, by what they have
/// in common.
fn groups(
    plans: usize,
    wants: impl Fn(usize) -> bool,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for at in (0..plans).filter(|&at| wants(at)) {
        match all.iter_mut().find(|group| same(group[0], at)) {
            Some(group) => group.push(at),
            None => all.push(vec![at]),
        }
    }
    all.retain(|group| group.len() > 1);
    all
}
