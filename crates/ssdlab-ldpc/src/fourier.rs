//! Sums of independent log-likelihood ratios: convolutions by a Fourier transform. The transform is
//! our own, since libraries that select code by processor give other bits on another machine.

/// A Fourier transform of a power of two of values.
#[derive(Debug)]
pub(crate) struct Fourier {
    size: usize,
    /// e^(−2πi k/size), for the first half of k.
    roots: Vec<(f64, f64)>,
}

impl Fourier {
    /// Returns the transform of sequences of `size`, a power of two.
    pub(crate) fn new(size: usize) -> Fourier {
        let root = |k: usize| {
            let angle = -std::f64::consts::TAU * k as f64 / size as f64;
            ssdlab_base::math::cos_sin(angle)
        };
        Fourier { size, roots: (0..size / 2).map(root).collect() }
    }

    /// Transforms `values` in place. The inverse omits the factor 1/size.
    pub(crate) fn transform(&self, values: &mut [(f64, f64)], inverse: bool) {
        self.reorder(values);
        let mut half = 1;
        while half < self.size {
            let step = self.size / (2 * half);
            for block in values.chunks_exact_mut(2 * half) {
                let (left, right) = block.split_at_mut(half);
                for (k, (a, b)) in left.iter_mut().zip(right).enumerate() {
                    let (re, im) = self.roots[k * step];
                    let im = if inverse { -im } else { im };
                    let turned = (b.0 * re - b.1 * im, b.0 * im + b.1 * re);
                    *b = (a.0 - turned.0, a.1 - turned.1);
                    *a = (a.0 + turned.0, a.1 + turned.1);
                }
            }
            half *= 2;
        }
    }

    fn reorder(&self, values: &mut [(f64, f64)]) {
        let bits = self.size.trailing_zeros();
        for at in 0..self.size {
            let other = at.reverse_bits() >> (usize::BITS - bits);
            if at < other {
                values.swap(at, other);
            }
        }
    }
}
