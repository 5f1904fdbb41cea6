//! A code that a controller could hold: quasi-cyclic, of 4 × 36 circulants.

use rand::RngExt;
use ssdlab_base::rng;

/// Rows and columns of a circulant. 36 circulants hold 36,864 bits, 32 the 4 KiB of data.
pub const CIRCULANT: usize = 1024;
/// Circulants in a row, which are also the bits in a check.
pub const COLUMNS: usize = 36;
/// Circulants in a column, which are also the checks on a bit.
pub const ROWS: usize = 4;
/// Bits of a codeword.
pub const BITS: usize = COLUMNS * CIRCULANT;

/// Draws of shifts for each column. The code keeps the draw that closes the fewest cycles of six.
const TRIED: usize = 2_000;

/// The cyclic shifts of a parity-check matrix of circulant permutation matrices.
///
/// Check `z` of row `i` holds bit `(z + shifts[i][j]) mod 1024` of each column `j`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    shifts: [[usize; COLUMNS]; ROWS],
}

/// Returns the ordered choices of three rows.
fn triples() -> impl Iterator<Item = [usize; 3]> {
    let all =
        (0..ROWS).flat_map(|a| (0..ROWS).flat_map(move |b| (0..ROWS).map(move |c| [a, b, c])));
    all.filter(|[a, b, c]| a != b && b != c && a != c)
}

fn less(a: usize, b: usize) -> usize {
    (CIRCULANT + a - b) % CIRCULANT
}

impl Code {
    /// Returns the one code behind all figures. It is drawn column by column, without cycles of
    /// four (girth at least 6) and with few of six.
    pub fn flash() -> Code {
        let mut stream = rng::stream(0, "ldpc code");
        let mut code = Code { shifts: [[0; COLUMNS]; ROWS] };
        // For each three rows and each shift: the number of pairs of earlier columns that lead back
        // by it.
        let mut paths = vec![vec![0u32; CIRCULANT]; triples().count()];
        for column in 0..COLUMNS {
            let mut best: Option<(u32, [usize; ROWS])> = None;
            for _ in 0..TRIED {
                let drawn = std::array::from_fn(|_| stream.random_range(0..CIRCULANT));
                if !code.is_free_of_fours(column, &drawn) {
                    continue;
                }
                let closed = triples().zip(&paths);
                let closed = closed.map(|([a, b, _], paths)| paths[less(drawn[b], drawn[a])]).sum();
                if best.is_none_or(|(least, _)| closed < least) {
                    best = Some((closed, drawn));
                }
            }
            let (_, taken) = best.expect("1,024 shifts leave room for 36 columns");
            for (row, shift) in taken.into_iter().enumerate() {
                code.shifts[row][column] = shift;
            }
            code.add_paths(column, &mut paths);
        }
        code
    }

    fn is_free_of_fours(&self, columns: usize, drawn: &[usize; ROWS]) -> bool {
        (0..ROWS).all(|a| {
            (0..a).all(|b| {
                let difference = less(drawn[a], drawn[b]);
                (0..columns).all(|j| less(self.shifts[a][j], self.shifts[b][j]) != difference)
            })
        })
    }

    /// Adds the pairs of `column` and each earlier column.
    fn add_paths(&self, column: usize, paths: &mut [Vec<u32>]) {
        for ([a, b, c], paths) in triples().zip(paths) {
            for other in 0..column {
                for (first, second) in [(column, other), (other, column)] {
                    let out = less(self.shifts[b][first], self.shifts[c][first]);
                    let back = less(self.shifts[c][second], self.shifts[a][second]);
                    paths[(out + back) % CIRCULANT] += 1;
                }
            }
        }
    }

    /// Returns the shift of the circulant in this row and column.
    pub fn shift(&self, row: usize, column: usize) -> usize {
        self.shifts[row][column]
    }

    /// Returns the bits of a check, one for each column.
    pub fn bits_of(&self, row: usize, check: usize) -> [usize; COLUMNS] {
        std::array::from_fn(|column| {
            column * CIRCULANT + (check + self.shifts[row][column]) % CIRCULANT
        })
    }

    /// Returns the number of cycles of six. Cycles that a rotation of the circulants maps to each
    /// other count once.
    pub fn sixes(&self) -> usize {
        let mut found = 0;
        for [a, b, c] in triples() {
            for i in 0..COLUMNS {
                for j in (0..COLUMNS).filter(|&j| j != i) {
                    let there = less(self.shifts[a][i], self.shifts[b][i])
                        + less(self.shifts[b][j], self.shifts[c][j]);
                    let third = (0..COLUMNS).filter(|&k| k != i && k != j);
                    let back = |k: usize| less(self.shifts[c][k], self.shifts[a][k]);
                    found += third.filter(|&k| (there + back(k)).is_multiple_of(CIRCULANT)).count();
                }
            }
        }
        // The loops meet each cycle six times: from three rows, in two directions.
        found / 6
    }
}
