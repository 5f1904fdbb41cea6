//! The activity of an operation while another one waited for it on their page.

use crate::account::{Blame, Op, Part};

/// The operation for which a request waited on their page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Behind {
    /// The request of the operation: its kind and its tag. `None` if the buffer programmed the
    /// page.
    pub request: Option<(Op, u64)>,
    /// The time of the operation during the wait, in nanoseconds; the parts sum to the wait.
    pub blame: Blame,
}

/// The parts of an operation's time, the last to come first. Parts of one group alternate.
const LATEST_FIRST: [&[Part]; 11] = [
    &[Part::Program],
    &[Part::Retry],
    &[Part::Decode],
    &[Part::Transfer],
    &[Part::Bus],
    &[Part::Sense],
    &[
        Part::DieHost,
        Part::DieGc,
        Part::DieWl,
        Part::DieMigration,
        Part::DieMapping,
        Part::DieRmw,
        Part::DieRefresh,
    ],
    &[Part::Map],
    &[Part::Buffer],
    &[Part::Page],
    &[Part::HostQueue],
];

/// Returns the parts of the last `span` nanoseconds of an operation's time. `read` is the time of a
/// partial write until it had read its page. If the span begins during the waits for a die, these
/// are divided in proportion.
pub(crate) fn last_parts(blame: &Blame, read: Option<&Blame>, span: u64) -> Blame {
    let (mut parts, mut left) = ([0; Part::COUNT], span);
    let mut late = *blame;
    let early = read.copied().unwrap_or([0; Part::COUNT]);
    late.iter_mut().zip(early).for_each(|(late, early)| *late -= early);
    for (stage, group) in [late, early].iter().flat_map(|stage| LATEST_FIRST.map(|g| (stage, g))) {
        let sum: u64 = group.iter().map(|&part| stage[part as usize]).sum();
        let taken = sum.min(left);
        left -= taken;
        let scaled = |ns: u64| (u128::from(ns) * u128::from(taken) / u128::from(sum.max(1))) as u64;
        let mut before = 0;
        for &part in group {
            let upto = before + stage[part as usize];
            parts[part as usize] += scaled(upto) - scaled(before);
            before = upto;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blame(parts: &[(Part, u64)]) -> Blame {
        let mut blame = [0; Part::COUNT];
        parts.iter().for_each(|&(part, ns)| blame[part as usize] += ns);
        blame
    }

    #[test]
    fn the_last_time_of_an_operation_is_cut_from_its_end() {
        let whole = blame(&[
            (Part::HostQueue, 5),
            (Part::DieHost, 30),
            (Part::DieGc, 10),
            (Part::Transfer, 7),
            (Part::Program, 100),
        ]);
        assert_eq!(last_parts(&whole, None, 152), whole);
        assert_eq!(last_parts(&whole, None, 60), blame(&[(Part::Program, 60)]));
        let cut =
            [(Part::DieHost, 15), (Part::DieGc, 5), (Part::Transfer, 7), (Part::Program, 100)];
        assert_eq!(last_parts(&whole, None, 127), blame(&cut));
        for span in 0..=152 {
            assert_eq!(last_parts(&whole, None, span).iter().sum::<u64>(), span);
        }
    }

    #[test]
    fn a_partial_write_reads_before_it_waits_for_its_program() {
        let read = blame(&[(Part::DieHost, 20), (Part::Sense, 50), (Part::Transfer, 5)]);
        let own = [(Part::DieGc, 40), (Part::Transfer, 5), (Part::Program, 100)];
        let mut whole = blame(&own);
        whole.iter_mut().zip(read).for_each(|(sum, ns)| *sum += ns);
        assert_eq!(last_parts(&whole, Some(&read), 145), blame(&own));
        let more = [&own[..], &[(Part::Transfer, 5), (Part::Sense, 3)]].concat();
        assert_eq!(last_parts(&whole, Some(&read), 153), blame(&more));
    }
}
