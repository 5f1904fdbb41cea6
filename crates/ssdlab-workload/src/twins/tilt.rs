//! Adjusts a mix of sizes to a given mean, as near as possible to a given mix.

use ssdlab_base::{Bytes, Fault, math};

use crate::generate::config::SizeChoice;

/// The total of the stored weights: fine enough that rounding does not change the mean.
const WHOLE: f64 = 1e9;

/// Sizes and their probabilities.
pub(crate) type Mix = Vec<(Bytes, f64)>;

/// Returns the mix nearest to `base` (in relative entropy) whose mean is `mean` bytes. It
/// multiplies each weight by e^(c size), with the right c.
pub(crate) fn to_mean(base: &[(Bytes, f64)], mean: f64) -> Result<Mix, Fault> {
    let sizes = || base.iter().map(|(size, _)| size.get() as f64);
    let (least, most) = (sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, f64::max));
    // A mean of 0 means that there are no requests.
    if mean == 0.0 || (mean - least).abs() < 0.5 && least == most {
        return Ok(tilted(base, 0.0, most));
    }
    if !(least..=most).contains(&mean) {
        return Err(Fault::new("", "a mean size")
            .got(format!("{mean:.0} B"))
            .expected(format!("between the least and the largest size, {least} and {most} B")));
    }
    let (mut low, mut high) = (-3000.0, 3000.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if mean_of(&tilted(base, middle, most)) < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(tilted(base, 0.5 * (low + high), most))
}

/// Returns a mix like [`to_mean`], in which sizes above `limit` have probability `large`.
pub(crate) fn to_mean_and_large(
    base: &[(Bytes, f64)],
    mean: f64,
    large: f64,
    limit: u64,
) -> Result<Mix, Fault> {
    let (big, small): (Mix, Mix) = base.iter().copied().partition(|(size, _)| size.get() > limit);
    if big.is_empty() || small.is_empty() {
        return Err(Fault::new("", "sizes").expected(format!("some above {limit} B, some not")));
    }
    let range = |mix: &Mix| {
        let sizes = || mix.iter().map(|(size, _)| size.get() as f64);
        (sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, f64::max))
    };
    // The small sizes keep the mean of the base, unless the large sizes could not then give the
    // total mean.
    let within = |value: f64, (least, most): (f64, f64)| {
        value.clamp(least + 0.02 * (most - least), most - 0.02 * (most - least))
    };
    let small_mean = mean_of(&normalized(small.clone()));
    let big_mean = within((mean - (1.0 - large) * small_mean) / large, range(&big));
    let small_mean = within((mean - large * big_mean) / (1.0 - large), range(&small));
    let part = |mix: Mix, share: f64| mix.into_iter().map(move |(size, p)| (size, p * share));
    let both = part(to_mean(&small, small_mean)?, 1.0 - large);
    Ok(both.chain(part(to_mean(&big, big_mean)?, large)).collect())
}

/// Returns a mix in the form for a generator.
pub(crate) fn choices(mix: &Mix) -> Vec<SizeChoice> {
    let weight = |p: f64| (p * WHOLE).round() as u32;
    let each = mix.iter().map(|(size, p)| SizeChoice::new(*size, weight(*p)));
    each.filter(|choice| choice.weight > 0).collect()
}

/// Returns the mean of a mix, in bytes.
pub(crate) fn mean_of(mix: &Mix) -> f64 {
    mix.iter().map(|(size, p)| size.get() as f64 * p).sum()
}

fn tilted(base: &[(Bytes, f64)], tilt: f64, most: f64) -> Mix {
    // Divide sizes by the largest one, and subtract the largest exponent: nothing overflows.
    let exponent = |size: &Bytes| tilt * (size.get() as f64 / most);
    let peak = base.iter().map(|(size, _)| exponent(size)).fold(f64::MIN, f64::max);
    let weigh = |(size, weight): &(Bytes, f64)| {
        (*size, weight * math::exp((exponent(size) - peak).max(-700.0)))
    };
    normalized(base.iter().map(weigh).collect())
}

fn normalized(mix: Mix) -> Mix {
    let whole: f64 = mix.iter().map(|(_, weight)| weight).sum();
    mix.into_iter().map(|(size, weight)| (size, weight / whole)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Mix {
        [4, 8, 16, 64].map(|kib| (Bytes::from_kib(kib), 1.0)).into()
    }

    #[test]
    fn the_mean_is_met() {
        for mean in [4200.0, 9000.0, 23_000.0, 60_000.0] {
            let got = mean_of(&to_mean(&base(), mean).unwrap());
            assert!((got - mean).abs() < 1.0, "{mean}: {got}");
        }
        assert!(to_mean(&base(), 2048.0).is_err());
    }

    #[test]
    fn the_share_of_large_ones_is_met() {
        let mix = to_mean_and_large(&base(), 12_000.0, 0.3, 8192).unwrap();
        let large: f64 = mix.iter().filter(|(size, _)| size.get() > 8192).map(|(_, p)| p).sum();
        assert!((large - 0.3).abs() < 1e-9 && (mean_of(&mix) - 12_000.0).abs() < 1.0, "{mix:?}");
    }
}
