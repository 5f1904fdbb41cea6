//! The decoder: layered normalised min-sum, a circulant's checks side by side in lanes of eight
//! bits.

use crate::code::{CIRCULANT, COLUMNS, Code, ROWS};
use crate::min_sum::normalised;

type Lanes = [i8; CIRCULANT];
type Sizes = [u8; CIRCULANT];

/// A frame: what is known of each bit, column by column; above 0 for a zero.
pub type Frame = [Lanes; COLUMNS];

/// A decoder with its memory, for frame after frame.
pub struct Decoder {
    code: Code,
    most: u32,
    /// The last messages of the checks to the bits.
    messages: Box<[[Lanes; COLUMNS]; ROWS]>,
    /// What the bits of a row's checks pass on to them, by check.
    inputs: Box<Frame>,
}

impl Decoder {
    /// A decoder that gives up after `most` iterations.
    pub fn new(code: Code, most: u32) -> Decoder {
        let blank = [0; CIRCULANT];
        Decoder {
            code,
            most,
            messages: Box::new([[blank; COLUMNS]; ROWS]),
            inputs: Box::new([blank; COLUMNS]),
        }
    }

    /// Decodes in place; the iterations that it took, `None` if no codeword was found.
    pub fn decode(&mut self, frame: &mut Frame) -> Option<u32> {
        self.messages.iter_mut().flatten().for_each(|lanes| lanes.fill(0));
        for iteration in 0..self.most {
            if self.is_codeword(frame) {
                return Some(iteration);
            }
            for row in 0..ROWS {
                self.row(row, frame);
            }
        }
        self.is_codeword(frame).then_some(self.most)
    }

    /// All checks of a row: each takes its bits less its own last messages, and sends new ones.
    fn row(&mut self, row: usize, frame: &mut Frame) {
        let (mut least, mut second): (Sizes, Sizes) = ([u8::MAX; CIRCULANT], [u8::MAX; CIRCULANT]);
        let mut signs: Lanes = [0; CIRCULANT];
        for (column, bits) in frame.iter().enumerate() {
            let inputs = &mut self.inputs[column];
            turned(bits, self.code.shift(row, column), inputs);
            take_inputs(inputs, &self.messages[row][column], &mut least, &mut second, &mut signs);
        }
        for size in least.iter_mut().chain(&mut second) {
            *size = normalised(*size);
        }
        for (column, bits) in frame.iter_mut().enumerate() {
            let inputs = &mut self.inputs[column];
            send_messages(inputs, &mut self.messages[row][column], &least, &second, &signs);
            turned(inputs, CIRCULANT - self.code.shift(row, column), bits);
        }
    }

    /// Whether every check holds and every bit is decided.
    fn is_codeword(&self, frame: &Frame) -> bool {
        if frame.iter().flatten().any(|&bit| bit == 0) {
            return false;
        }
        (0..ROWS).all(|row| {
            let mut signs: Lanes = [0; CIRCULANT];
            for (column, bits) in frame.iter().enumerate() {
                let (start, rest) = bits.split_at(self.code.shift(row, column));
                let (low, high) = signs.split_at_mut(rest.len());
                low.iter_mut().zip(rest).for_each(|(sign, bit)| *sign ^= bit);
                high.iter_mut().zip(start).for_each(|(sign, bit)| *sign ^= bit);
            }
            signs.iter().all(|&sign| sign >= 0)
        })
    }
}

/// Lanes turned by a shift: lane 0 is what lane `shift` was.
fn turned(lanes: &Lanes, shift: usize, to: &mut Lanes) {
    let (start, rest) = lanes.split_at(shift);
    to[..rest.len()].copy_from_slice(rest);
    to[rest.len()..].copy_from_slice(start);
}

/// Takes the last messages back out of the bits, and notes the two least magnitudes and the product
/// of signs.
fn take_inputs(
    inputs: &mut Lanes,
    messages: &Lanes,
    least: &mut Sizes,
    second: &mut Sizes,
    signs: &mut Lanes,
) {
    for z in 0..CIRCULANT {
        // No sum wraps: see `INPUT_MOST`.
        let bit = inputs[z].wrapping_sub(messages[z]);
        let size = bit.unsigned_abs();
        second[z] = second[z].min(least[z].max(size));
        least[z] = least[z].min(size);
        signs[z] ^= bit;
        inputs[z] = bit;
    }
}

fn send_messages(
    inputs: &mut Lanes,
    messages: &mut Lanes,
    least: &Sizes,
    second: &Sizes,
    signs: &Lanes,
) {
    for z in 0..CIRCULANT {
        let bit = inputs[z];
        // Where a bit is itself the least, the others' least is the second.
        let own = normalised(bit.unsigned_abs()) == least[z];
        let size = if own { second[z] } else { least[z] } as i8;
        let message = if (signs[z] ^ bit) < 0 { -size } else { size };
        messages[z] = message;
        inputs[z] = bit.wrapping_add(message);
    }
}
