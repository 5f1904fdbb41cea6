//! The two-sample Kolmogorov–Smirnov statistic.

/// Returns the largest distance between the distributions of two samples, and its critical value.
/// If both samples come from the same distribution, chance exceeds the critical value once in
/// twenty. Sorts the samples.
///
/// The critical value is 1.358 √((n + m) / nm). With many requests it becomes so small that any two
/// hours of a real trace exceed it. Judge the distance itself then.
pub fn kolmogorov_smirnov(one: &mut [f64], other: &mut [f64]) -> (f64, f64) {
    one.sort_unstable_by(f64::total_cmp);
    other.sort_unstable_by(f64::total_cmp);
    let (n, m) = (one.len() as f64, other.len() as f64);
    if one.is_empty() || other.is_empty() {
        return (1.0, 1.0);
    }
    let (mut i, mut j, mut largest) = (0, 0, 0f64);
    while i < one.len() && j < other.len() {
        let value = one[i].min(other[j]);
        i += one[i..].iter().take_while(|next| **next == value).count();
        j += other[j..].iter().take_while(|next| **next == value).count();
        largest = largest.max((i as f64 / n - j as f64 / m).abs());
    }
    (largest, 1.358 * ((n + m) / (n * m)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::kolmogorov_smirnov;

    #[test]
    fn known_distances() {
        let distance = |one: &[f64], other: &[f64]| {
            kolmogorov_smirnov(&mut one.to_vec(), &mut other.to_vec()).0
        };
        assert_eq!(distance(&[1.0, 2.0, 2.0, 3.0], &[3.0, 2.0, 2.0, 1.0]), 0.0);
        assert_eq!(distance(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
        assert_eq!(distance(&[0.0, 0.0, 0.0, 1.0], &[0.0, 1.0]), 0.25);
    }
}
