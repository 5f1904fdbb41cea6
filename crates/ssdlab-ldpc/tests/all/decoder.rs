//! The fast decoder against a plain one, and the code that it decodes.

use rand::Rng;
use ssdlab_base::rng;
use ssdlab_ldpc::code::{BITS, CIRCULANT, COLUMNS, Code, ROWS};
use ssdlab_ldpc::decode::{Decoder, Frame};
use ssdlab_ldpc::min_sum::normalized;

const ITERATIONS: u32 = 20;

/// Decodes by the same rule, one check and one bit at a time, in 32-bit integers.
fn plain(code: &Code, bits: &mut [i32]) -> Option<u32> {
    let checks: Vec<[usize; COLUMNS]> = (0..ROWS)
        .flat_map(|row| (0..CIRCULANT).map(move |check| (row, check)))
        .map(|(row, check)| code.bits_of(row, check))
        .collect();
    let holds = |bits: &[i32], check: &[usize; COLUMNS]| {
        check.iter().filter(|&&bit| bits[bit] < 0).count() % 2 == 0
    };
    let is_codeword = |bits: &[i32]| {
        bits.iter().all(|&bit| bit != 0) && checks.iter().all(|check| holds(bits, check))
    };
    let mut messages = vec![[0i32; COLUMNS]; checks.len()];
    for iteration in 0..ITERATIONS {
        if is_codeword(bits) {
            return Some(iteration);
        }
        for (check, messages) in checks.iter().zip(&mut messages) {
            let inputs: Vec<i32> = (0..COLUMNS).map(|j| bits[check[j]] - messages[j]).collect();
            for j in 0..COLUMNS {
                let others = (0..COLUMNS).filter(|&k| k != j).map(|k| inputs[k]);
                let least = others.clone().map(i32::abs).min().unwrap();
                let wrong = others.filter(|&other| other < 0).count();
                let size = i32::from(normalized(least as u8));
                messages[j] = if wrong % 2 == 1 { -size } else { size };
                bits[check[j]] = inputs[j] + messages[j];
                assert!(bits[check[j]].abs() <= 127, "a sum fits eight bits");
            }
        }
    }
    is_codeword(bits).then_some(ITERATIONS)
}

/// Returns a frame with ratios of these sizes. About `wrong` in 100,000 have the wrong sign.
fn drawn(seed: u64, sizes: &[i8], wrong: u32) -> Box<Frame> {
    let mut stream = rng::stream(seed, "a frame");
    let mut frame: Box<Frame> = Box::new([[0; CIRCULANT]; COLUMNS]);
    for bit in frame.iter_mut().flatten() {
        let size = sizes[stream.next_u32() as usize % sizes.len()];
        *bit = if stream.next_u32() % 100_000 < wrong { -size } else { size };
    }
    frame
}

#[test]
fn the_decoder_equals_a_plain_one_bit_for_bit() {
    let code = Code::flash();
    let mut decoder = Decoder::new(code.clone(), ITERATIONS);
    let cases: [(&[i8], u32); 4] = [
        (&[19], 750),
        (&[19], 1_100),
        (&[31, 31, 31, 31, 17, 9, 3, 0], 900),
        (&[31, 8, 2, 1, 0], 1_500),
    ];
    let mut decoded = 0;
    for (case, (sizes, wrong)) in cases.into_iter().enumerate() {
        for seed in 0..3 {
            let mut fast = drawn(seed * 10 + case as u64, sizes, wrong);
            let mut bits: Vec<i32> = fast.iter().flatten().map(|&bit| bit.into()).collect();
            let expected = plain(&code, &mut bits);
            assert_eq!(decoder.decode(&mut fast), expected);
            assert!(fast.iter().flatten().map(|&bit| i32::from(bit)).eq(bits));
            decoded += u32::from(expected.is_some());
        }
    }
    // Some frames decode and some fail, so that the test covers both results.
    assert!((3..=9).contains(&decoded), "{decoded} of 12");
}

#[test]
fn the_code_is_regular_without_cycles_of_four() {
    let code = Code::flash();
    let mut checks_of = vec![Vec::new(); BITS];
    for row in 0..ROWS {
        for check in 0..CIRCULANT {
            for bit in code.bits_of(row, check) {
                checks_of[bit].push(row * CIRCULANT + check);
            }
        }
    }
    assert!(checks_of.iter().all(|checks| checks.len() == ROWS));
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for checks in &checks_of {
        for (at, &a) in checks.iter().enumerate() {
            pairs.extend(checks[..at].iter().map(|&b| (a, b)));
        }
    }
    let all = pairs.len();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), all, "no two bits share two checks");
    assert_eq!(Code::flash(), code, "the same each time");
    // Columns drawn without selection would close about 150 cycles.
    assert!(code.sixes() < 40, "{}", code.sixes());
}

/// Returns a random codeword, by elimination, and the dimension of the code.
fn codeword(code: &Code, seed: u64) -> (Vec<bool>, usize) {
    let words = BITS / 64;
    let mut rows: Vec<Vec<u64>> = Vec::new();
    for row in 0..ROWS {
        for check in 0..CIRCULANT {
            let mut held = vec![0u64; words];
            code.bits_of(row, check).iter().for_each(|bit| held[bit / 64] |= 1 << (bit % 64));
            rows.push(held);
        }
    }
    let mut pivots: Vec<usize> = Vec::new();
    for bit in (0..BITS).rev() {
        let rank = pivots.len();
        let has = |held: &Vec<u64>| held[bit / 64] >> (bit % 64) & 1 == 1;
        let Some(found) = (rank..rows.len()).find(|&at| has(&rows[at])) else { continue };
        rows.swap(rank, found);
        let pivot = rows[rank].clone();
        for (at, other) in rows.iter_mut().enumerate() {
            if at != rank && has(other) {
                other.iter_mut().zip(&pivot).for_each(|(word, by)| *word ^= by);
            }
        }
        pivots.push(bit);
        if pivots.len() == rows.len() {
            break;
        }
    }
    let mut stream = rng::stream(seed, "a codeword");
    let mut bits: Vec<bool> = (0..BITS).map(|_| stream.next_u32() & 1 == 1).collect();
    pivots.iter().for_each(|&bit| bits[bit] = false);
    for (held, &bit) in rows.iter().zip(&pivots) {
        let set = |&at: &usize| bits[at] && held[at / 64] >> (at % 64) & 1 == 1;
        bits[bit] = (0..BITS).filter(set).count() % 2 == 1;
    }
    (bits, BITS - pivots.len())
}

#[test]
fn any_codeword_decodes_as_the_one_of_zeros() {
    let code = Code::flash();
    let mut decoder = Decoder::new(code.clone(), ITERATIONS);
    let (word, dimension) = codeword(&code, 1);
    println!("dimension {dimension}");
    assert!((32_768..=32_780).contains(&dimension), "4 KiB of data: {dimension}");
    let ones = word.iter().filter(|&&bit| bit).count();
    assert!((18_000..19_000).contains(&ones), "{ones}");
    let mut failures = 0;
    for seed in 0..6 {
        let mut zeros = drawn(seed, &[19], 600 + 80 * seed as u32);
        let mut other = zeros.clone();
        let negate = |frame: &mut Frame| {
            let bits = frame.iter_mut().flatten().zip(&word);
            bits.filter(|(_, one)| **one).for_each(|(bit, _)| *bit = -*bit);
        };
        negate(&mut other);
        let expected = decoder.decode(&mut zeros);
        failures += u32::from(expected.is_none());
        assert_eq!(decoder.decode(&mut other), expected);
        negate(&mut other);
        assert!(other == zeros);
    }
    assert!((1..6).contains(&failures), "some decode, some do not: {failures}");
}
