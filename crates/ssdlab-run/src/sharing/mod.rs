//! Resources that plans share when they run side by side: parsed traces ([`traces`]) and start
//! states of drives ([`starts`]).

pub(crate) mod starts;
pub(crate) mod traces;

/// Groups the plans that `is_shared` selects by equality under `same`. Returns the groups of two
/// plans or more.
fn groups(
    plans: usize,
    is_shared: impl Fn(usize) -> bool,
    same: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    for at in (0..plans).filter(|&at| is_shared(at)) {
        match all.iter_mut().find(|group| same(group[0], at)) {
            Some(group) => group.push(at),
            None => all.push(vec![at]),
        }
    }
    all.retain(|group| group.len() > 1);
    all
}
