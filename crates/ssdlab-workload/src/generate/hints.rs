//! The latency hints of generated requests.

use rand::Rng;
use ssdlab_base::Fault;
use ssdlab_base::rng::{Stream, below};

use crate::draw::Draw;
use crate::record::MAX_HINT;

/// The most hints that a workload may list.
const MAX_HINTS: usize = 256;

/// Draws the latency hints of requests.
#[derive(Debug)]
pub(crate) struct Hints {
    choices: Vec<u8>,
    stream: Stream,
}

impl Hints {
    /// Returns hints drawn with equal probability; `workload` names their random stream.
    pub(crate) fn new(choices: &[u8], workload: &str, draw: Draw) -> Result<Hints, Fault> {
        let fault = || Fault::new("", "workload.hints");
        if choices.is_empty() || choices.len() > MAX_HINTS {
            return Err(fault()
                .got(format!("a list of {}", choices.len()))
                .expected(format!("from 1 to {MAX_HINTS} hints")));
        }
        if let Some(wrong) = choices.iter().find(|hint| **hint > MAX_HINT) {
            return Err(fault().got(wrong).expected(format!("0 (none) to {MAX_HINT} (long)")));
        }
        let stream = draw.stream(&format!("{workload}/hints"));
        Ok(Hints { choices: choices.to_vec(), stream })
    }

    /// Returns the hint of the next request.
    pub(crate) fn draw(&mut self) -> u8 {
        match self.choices[..] {
            [only] => only,
            _ => self.choices[below(self.stream.next_u64(), self.choices.len() as u64) as usize],
        }
    }
}
