//! The sizes of generated requests.

use rand::Rng;
use ssdlab_base::rng::{Stream, below};
use ssdlab_base::{Bytes, Fault, units::SECTOR_BYTES};

use super::config::SizeChoice;
use crate::record::MAX_REQUEST;

/// The most sizes that a workload may list.
const MAX_SIZES: usize = 1024;

/// Draws the sizes of requests.
#[derive(Debug)]
pub(crate) struct Sizes {
    /// Each size in sectors, with the sum of the weights up to and including its own.
    table: Vec<(u32, u64)>,
    total: u64,
    stream: Stream,
}

impl Sizes {
    pub(crate) fn new(
        choices: &[SizeChoice],
        footprint: Bytes,
        stream: Stream,
    ) -> Result<Sizes, Fault> {
        let fault = || Fault::new("", "workload.sizes");
        if choices.is_empty() || choices.len() > MAX_SIZES {
            return Err(fault()
                .got(format!("a list of {}", choices.len()))
                .expected(format!("from 1 to {MAX_SIZES} sizes")));
        }
        let mut table = Vec::with_capacity(choices.len());
        let mut total = 0;
        for SizeChoice { size, weight } in choices.iter().copied() {
            let bytes = size.get();
            let sectors = u32::try_from(bytes / SECTOR_BYTES).ok();
            let fits = bytes > 0 && bytes.is_multiple_of(SECTOR_BYTES) && size <= MAX_REQUEST;
            let Some(sectors) = sectors.filter(|_| fits) else {
                let expected = format!("multiples of 512 B from 512 B to {MAX_REQUEST}");
                return Err(fault().got(size).expected(expected));
            };
            if bytes > footprint.get() {
                return Err(fault()
                    .got(size)
                    .expected(format!("at most the footprint {footprint}")));
            }
            if weight == 0 {
                return Err(fault().got("a weight of 0").expected("weights of at least 1"));
            }
            total += u64::from(weight);
            table.push((sectors, total));
        }
        Ok(Sizes { table, total, stream })
    }

    /// Returns the size of the next request in sectors.
    pub(crate) fn draw(&mut self) -> u32 {
        if let [(only, _)] = self.table[..] {
            return only;
        }
        let drawn = below(self.stream.next_u64(), self.total);
        let place = self.table.partition_point(|(_, upto)| *upto <= drawn);
        self.table[place].0
    }

    /// Returns the least common multiple of all sizes in sectors, or `None` if it exceeds 64 bits.
    pub(crate) fn common_multiple(&self) -> Option<u64> {
        self.table.iter().try_fold(1u64, |so_far, (sectors, _)| {
            let sectors = u64::from(*sectors);
            (so_far / common_divisor(so_far, sectors)).checked_mul(sectors)
        })
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
