//! The decoder: layered normalized min-sum. The checks of a circulant run side by side in lanes of
//! eight bits.

use crate::code::{CIRCULANT, COLUMNS, Code, ROWS};
use crate::min_sum::normalized;

type Lanes = [i8; CIRCULANT];
type Sizes = [u8; CIRCULANT];

/// A frame: the ratio of each bit, column by column. A ratio above 0 stands for a zero.
pub type Frame = [Lanes; COLUMNS];

/// A decoder with its memory, for many frames.
pub struct Decoder {
    code: Code,
    most: u32,
    /// The last messages from the checks to the bits.
    messages: Box<[[Lanes; COLUMNS]; ROWS]>,
    /// The messages from the bits to the checks of a row, by check.
    inputs: Box<Frame>,
}

impl Decoder {
    /// Returns a decoder that stops after `most` iterations.
    pub fn new(code: Code, most: u32) -> Decoder {
        let blank = [0; CIRCULANT];
        Decoder {
            code,
            most,
            messages: Box::new([[blank; COLUMNS]; ROWS]),
            inputs: Box::new([blank; COLUMNS]),
        }
    }

    /// Decodes `frame` in place. Returns the iterations that it took, or `None` if it found no
    /// codeword.
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

    /// Updates all checks of a row: each subtracts its last messages from its bits and sends new
    /// ones.
    fn row(&mut self, row: usize, frame: &mut Frame) {
        let (mut least, mut second): (Sizes, Sizes) = ([u8::MAX; CIRCULANT], [u8::MAX; CIRCULANT]);
        let mut signs: Lanes = [0; CIRCULANT];
        for (column, bits) in frame.iter().enumerate() {
            let inputs = &mut self.inputs[column];
            turned(bits, self.code.shift(row, column), inputs);
            take_inputs(inputs, &self.messages[row][column], &mut least, &mut second, &mut signs);
        }
        for size in least.iter_mut().chain(&mut second) {
            *size = normalized(*size);
        }
        for (column, bits) in frame.iter_mut().enumerate() {
            let inputs = &mut self.inputs[column];
            send_messages(inputs, &mut self.messages[row][column], &least, &second, &signs);
            turned(inputs, CIRCULANT - self.code.shift(row, column), bits);
        }
    }

    /// Returns whether every check holds and every bit is decided.
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

/// Copies `lanes` to `to`, rotated by `shift`: lane 0 takes the value of lane `shift`.
fn turned(lanes: &Lanes, shift: usize, to: &mut Lanes) {
    let (start, rest) = lanes.split_at(shift);
    to[..rest.len()].copy_from_slice(rest);
    to[rest.len()..].copy_from_slice(start);
}

/// Subtracts the last messages from the bits. Notes the two least magnitudes and the product of the
/// signs.
fn take_inputs(
    inputs: &mut Lanes,
    messages: &Lanes,
    least: &mut Sizes,
    second: &mut Sizes,
    signs: &mut Lanes,
) {
    for z in 0..CIRCULANT {
        // No sum wraps: see `MAX_INPUT`.
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
        // If this bit has the least magnitude, the least of the others is the second.
        let own = normalized(bit.unsigned_abs()) == least[z];
        let size = if own { second[z] } else { least[z] } as i8;
        let message = if (signs[z] ^ bit) < 0 { -size } else { size };
        messages[z] = message;
        inputs[z] = bit.wrapping_add(message);
    }
}
