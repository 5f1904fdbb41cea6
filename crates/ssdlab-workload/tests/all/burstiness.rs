//! Tests the measured burstiness against processes whose burstiness is known.

use proptest::prelude::*;
use ssdlab_base::math;
use ssdlab_workload::measure::{Burstiness, Measure, Profile, Profiler, WhyLeftOut, Window};
use ssdlab_workload::{Format, Op, Record, TraceOptions, open_with};

use crate::processes::{Draws, b_model, fractional_noise};
use crate::{drain, real_traces, record, trace};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
const HOUR: u64 = 3600 * SECOND;

fn of(records: &[Record]) -> Burstiness {
    let mut measure = Measure::default();
    measure.take(records);
    measure.finish().burstiness
}

/// Measures reads at these times, in nanoseconds.
fn at(times: impl IntoIterator<Item = u64>) -> Burstiness {
    of(&times.into_iter().map(|at| record(at, 0, 8, Op::Read)).collect::<Vec<_>>())
}

/// Measures bins of 2^`width` nanoseconds with so many requests each, evenly spread within a bin.
/// The finest bins of the exponent have 2^16: within wider ones it would see the even spread.
fn in_bins(counts: &[u64], width: u32) -> Burstiness {
    at(counts.iter().enumerate().flat_map(|(bin, &count)| {
        (0..count).map(move |place| ((bin as u64) << width) + (place << width) / count)
    }))
}

/// Asserts that the exponents over some seeds are within 0.05 of `wanted`, and that most of their
/// intervals hold it.
fn assert_exponent(what: &str, wanted: f64, of_seed: impl Fn(u64) -> Burstiness) {
    const SEEDS: u64 = 5;
    let mut held = 0;
    for seed in 1..=SEEDS {
        let hurst = of_seed(seed).hurst.expect("an exponent");
        assert!((hurst.exponent - wanted).abs() < 0.05, "{what} {wanted}, {seed}: {hurst:?}");
        assert!(hurst.low < hurst.exponent && hurst.exponent < hurst.high, "{what}: {hurst:?}");
        held += u64::from((hurst.low..=hurst.high).contains(&wanted));
    }
    assert!(held >= SEEDS - 1, "{what} {wanted}: {held} of {SEEDS} intervals hold it");
}

#[test]
fn fractional_noise_has_its_exponent() {
    for exponent in [0.5, 0.7, 0.9] {
        assert_exponent("noise", exponent, |seed| {
            let noise = fractional_noise(exponent, 17, seed);
            let count = |off: f64| (40.0 + 10.0 * off).round().max(1.0) as u64;
            in_bins(&noise.into_iter().map(count).collect::<Vec<_>>(), 16)
        });
    }
}

#[test]
fn a_poisson_process_has_dispersion_one() {
    let process = |seed| {
        let mut draws = Draws::new(seed);
        let mut time = 0.0;
        let step = |_| {
            time += draws.exponential() * 500_000.0;
            time as u64
        };
        at((0..300_000).map(step))
    };
    assert_exponent("Poisson", 0.5, process);
    for seed in 1..=3 {
        let windows = process(seed).windows;
        assert_eq!(windows.len(), 3, "{windows:?}");
        for window in windows {
            let deviation = (2.0 / window.windows as f64).sqrt();
            assert!((window.dispersion - 1.0).abs() < 4.0 * deviation, "{seed}: {window:?}");
        }
    }
}

#[test]
fn the_b_model_has_its_exponent() {
    // A bin of the b-model is split into shares b and 1 - b. Its halves differ by 2 b - 1 times its
    // mass. Each split multiplies the sum of the squared masses by s = b^2 + (1 - b)^2. The mean
    // square of the differences, over the length of a bin, so grows by 1 / s an octave. That factor
    // is 2^(2 H - 1).
    for b in [0.6f64, 0.7, 0.8] {
        let wanted = 0.5 * (1.0 - math::log2(b * b + (1.0 - b) * (1.0 - b)));
        assert_exponent("b-model", wanted, |seed| in_bins(&b_model(b, 17, 4_000_000, seed), 16));
    }
}

#[test]
fn energies_off_a_line_widen_the_interval() {
    // Independent within 2^8 bins, whose load is drawn anew: flat, then a step of energy.
    let mut draws = Draws::new(1);
    let mut load = 0.0;
    let bin = |n: u64| {
        if n.is_multiple_of(256) {
            load = 10.0 + 20.0 * draws.unit();
        }
        1 + (load + 10.0 * draws.unit()) as u64
    };
    let found = in_bins(&(0..1 << 16).map(bin).collect::<Vec<_>>(), 16).hurst.unwrap();
    assert!(found.exponent > 0.6, "the coarse octaves count, too: {found:?}");
    assert!(found.high - found.low > 0.1, "{found:?}");
}

#[test]
fn rare_batches_stay_independent() {
    // Independent bins; one in 500 has a batch: far from Gaussian.
    let process = |seed| {
        let mut draws = Draws::new(seed);
        let bin = |_| if draws.unit() < 0.002 { 1 + (1000.0 * draws.unit()) as u64 } else { 1 };
        in_bins(&(0..1 << 14).map(bin).collect::<Vec<_>>(), 16).hurst.unwrap()
    };
    let found: Vec<_> = (1..=40).map(process).collect();
    let held = found.iter().filter(|each| (each.low..=each.high).contains(&0.5)).count();
    assert!(held >= 36, "{held} of {} intervals hold 0.5", found.len());
    let mean = found.iter().map(|each| each.exponent).sum::<f64>() / found.len() as f64;
    assert!((mean - 0.5).abs() < 0.03, "{mean}");
}

#[test]
fn windows_by_hand() {
    // 40 windows of 10 ms with 3, 0, 1 and 0 requests in turn, and a last request at 405 ms.
    let times = (0..10).flat_map(|n| [0, 1, 2, 20].map(|ms| n * 40 * MS + ms * MS));
    let found = at(times.chain([405 * MS]));
    // The squares have the mean 2.5; the variance is unbiased.
    let dispersion = 1.5 * 40.0 / 39.0;
    let [Window { window_s, windows, mean_requests, dispersion: got }] = found.windows[..] else {
        panic!("{:?}", found.windows)
    };
    assert_eq!((window_s, windows, mean_requests), (0.01, 40, 1.0));
    assert!((got - dispersion).abs() < 1e-12, "{got}");
}

#[test]
fn windows_need_twenty_in_the_span() {
    let lengths = |span: u64| -> Vec<f64> {
        at([0, MS, span]).windows.iter().map(|window| window.window_s).collect()
    };
    assert!(lengths(200 * MS - 1).is_empty());
    assert_eq!(lengths(200 * MS), [0.01]);
    assert_eq!(lengths(20 * SECOND - 1), [0.01, 0.1]);
    assert_eq!(lengths(2000 * SECOND), [0.01, 0.1, 1.0, 10.0, 100.0]);
}

/// Returns the lengths of the windows that are left out for this reason.
fn left_out_for(found: &Burstiness, why: WhyLeftOut) -> Vec<f64> {
    let all = found.left_out.iter().filter(|left_out| left_out.why == why);
    all.map(|left_out| left_out.window_s).collect()
}

/// Returns the times of a Poisson process that begins at 0, in nanoseconds.
fn poisson(mean_gap: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut draws = Draws::new(seed);
    let mut time = 0.0;
    let step = |_| {
        time += draws.exponential() * mean_gap as f64;
        time as u64
    };
    std::iter::once(0).chain((1..count).map(step)).collect()
}

#[test]
fn windows_shorter_than_the_steps_of_the_stamps_are_left_out() {
    let times = poisson(SECOND / 5, 20_000, 1);
    let fine = at(times.iter().copied());
    assert!(fine.stamp_step_s.unwrap() < 1e-3 && fine.windows.len() == 5, "{fine:?}");
    // Stamps in whole seconds: every shorter window would hold five requests or none.
    let coarse = at(times.iter().map(|time| time / SECOND * SECOND));
    assert_eq!(coarse.stamp_step_s, Some(1.0));
    assert_eq!(left_out_for(&coarse, WhyLeftOut::ShorterThanStampStep), [0.01, 0.1]);
    // Longer windows lose nothing.
    assert_eq!(coarse.windows, fine.windows[2..]);
    // Bins of 0.27 s hold a request on average, but they are shorter than the steps, too.
    let [fine, coarse] = [&fine, &coarse].map(|found| found.hurst.unwrap());
    assert!(fine.from_s < 0.3 && (1.0..2.0).contains(&coarse.from_s), "{fine:?} {coarse:?}");
    assert_eq!(fine.to_s, coarse.to_s);
}

#[test]
fn steps_of_the_stamps_of_real_traces_are_found() {
    let Some(folder) = real_traces::folder() else { return };
    for (name, step_s, left_out) in [
        ("msr_web_2_first1000", 1.0, &[0.01, 0.1][..]),
        ("diskmon_mayun", 0.015_625, &[0.01]),
        ("spc_financial1_10k", 0.006_515_625, &[]),
        ("msr_hm_0_7k", 2e-6, &[]),
    ] {
        let path = folder.join(name).join("trace.csv.zst");
        let mut read = open_with(&path, None, &TraceOptions::default()).unwrap();
        let found = of(&drain(&mut read).unwrap());
        assert_eq!(found.stamp_step_s, Some(step_s), "{name}");
        assert_eq!(left_out_for(&found, WhyLeftOut::ShorterThanStampStep), left_out, "{name}");
    }
}

#[test]
fn steps_of_stamps_may_be_rounded_themselves() {
    // Steps of 13,107.2 µs as whole microseconds have no common divisor but 1 µs.
    let step = |time: u64| time / 13_107_200 * 131_072 / 10 * 1000;
    let found = at(poisson(SECOND / 50, 5000, 2).into_iter().map(step));
    assert_eq!(found.stamp_step_s, Some(0.013_107));
    assert_eq!(left_out_for(&found, WhyLeftOut::ShorterThanStampStep), [0.01]);
    assert_eq!(found.windows[0].window_s, 0.1);
}

#[test]
fn windows_have_no_figure_if_the_last_one_holds_a_burst_that_they_lack() {
    // One request each 100 ms for 40 s, then a burst of 401 within 40 ms.
    let even = (0..400).map(|n| n * 100 * MS);
    let burst = (0..401).map(|n| 40 * SECOND + n * MS / 10);
    let found = at(even.clone().chain(burst.clone()));
    assert_eq!(left_out_for(&found, WhyLeftOut::BurstAtEnd), [0.1, 1.0]);
    assert_eq!(left_out_for(&found, WhyLeftOut::FewWindows), [10.0, 100.0]);
    // All of the burst but one request lies in complete windows of 10 ms.
    assert_eq!(found.windows.len(), 1);
    // One request later, the windows that hold the burst are complete.
    let found = at(even.chain(burst).chain([41 * SECOND]));
    assert_eq!(found.windows.len(), 3);
    assert!(found.windows[2].dispersion > 100.0, "{found:?}");
}

#[test]
fn windows_begin_with_the_first_request() {
    let times = || (0..5000u64).map(|n| n * n % 7919 + n * 3 * MS);
    assert_eq!(at(times().map(|time| time + 123_456_789)), at(times()));
}

#[test]
fn long_idle_times_are_empty_windows() {
    // Ten requests in a millisecond every 40,000 hours: an idle time of 1.4e13 windows of 10 ms.
    let idle = 40_000 * HOUR;
    let found = at((0..5).flat_map(|n| (0..10).map(move |place| n * idle + place * MS / 10)));
    for window in &found.windows {
        let windows = (4 * idle) as f64 / 1e9 / window.window_s;
        assert_eq!(window.windows as f64, windows, "{window:?}");
        // Four windows have ten requests: their squares are ten times their sum.
        assert!((window.dispersion / 10.0 - 1.0).abs() < 1e-6, "{window:?}");
    }
    assert_eq!(found.windows.len(), 5);
    assert_eq!(found.phases, None);
}

#[test]
fn idle_times_of_hours_leave_the_exponent() {
    // One request a bin on average, all at its start: the octaves begin with these bins, however
    // long they are. The most uneven bins leave most others empty.
    let counts = b_model(0.7, 17, 1 << 17, 1);
    let stretched = |width: u32| {
        let bins = (0u64..).zip(&counts);
        at(bins.flat_map(|(bin, &count)| (0..count).map(move |_| bin << width))).hurst.unwrap()
    };
    let short = stretched(16);
    assert!((short.exponent - 0.893).abs() < 0.05, "{short:?}");
    for width in [17, 30, 44] {
        let long = stretched(width);
        let factor = (1u64 << (width - 16)) as f64;
        assert!((long.exponent - short.exponent).abs() < 1e-9, "{long:?}, {short:?}");
        assert!((long.high - short.high).abs() < 1e-9, "{long:?}, {short:?}");
        assert_eq!((long.from_s, long.to_s), (short.from_s * factor, short.to_s * factor));
    }
}

#[test]
fn the_exponent_needs_energy_in_four_octaves() {
    let steady = |requests: u64| at((0..requests).map(|n| n << 16)).hurst;
    assert_eq!(steady(100_000), None);
    // Of 2 bins in turn, one has two requests and one has none: only the finest octave varies.
    assert_eq!(in_bins(&[2, 0].repeat(10_000), 16).hurst, None);
    // 128 pairs of the finest bins are 16 of the fourth octave.
    let noisy = |bins: u64| (0..bins).map(|bin| 1 + bin * bin % 7).collect::<Vec<_>>();
    assert_eq!(in_bins(&noisy(256), 16).hurst, None);
    assert_eq!(in_bins(&noisy(257), 16).hurst.unwrap().octaves, 4);
}

#[test]
fn one_request_has_one_run_and_nothing_else() {
    let found = at([7]);
    let runs = found.read_runs.clone().expect("a run");
    assert_eq!((runs.runs, runs.mean_requests, runs.p99_requests), (1, 1.0, 1.0));
    assert_eq!(runs.points, [[1.0, 1.0]]);
    let (read_runs, left_out) = (found.read_runs.clone(), found.left_out.clone());
    assert_eq!(found, Burstiness { read_runs, left_out, ..Burstiness::default() });
    assert_eq!(left_out_for(&found, WhyLeftOut::FewWindows), [0.01, 0.1, 1.0, 10.0, 100.0]);
    assert_eq!(at([]), Burstiness::default());
}

#[test]
fn equal_stamps_are_one_instant() {
    let found = at([5 * SECOND; 5003]);
    assert_eq!((found.windows.len(), found.hurst, found.phases), (0, None, None));
    let runs = found.read_runs.unwrap();
    assert_eq!((runs.mean_requests, runs.p99_requests), (5003.0, 5003.0));
}

#[test]
fn runs_by_hand() {
    let ops = |text: &str| -> Vec<Record> {
        let op = |letter| match letter {
            'r' => Op::Read,
            'w' => Op::Write,
            't' => Op::Trim,
            _ => Op::Flush,
        };
        text.chars().enumerate().map(|(n, letter)| record(n as u64, 0, 8, op(letter))).collect()
    };
    // Runs of 2, 1 and 3 reads, and of 1 and 4 writes: trims and flushes end none.
    let found = of(&ops("rtrwrwwfwwrrr"));
    let (reads, writes) = (found.read_runs.unwrap(), found.write_runs.unwrap());
    assert_eq!((reads.runs, reads.mean_requests, reads.median_requests), (3, 2.0, 2.0));
    assert_eq!((reads.p90_requests, reads.p99_requests), (3.0, 3.0));
    assert_eq!(reads.points, [[1.0, 1.0 / 3.0], [2.0, 2.0 / 3.0], [3.0, 1.0]]);
    assert_eq!((writes.runs, writes.mean_requests, writes.median_requests), (2, 2.5, 1.0));
    assert_eq!(of(&ops("www")).read_runs, None);
}

#[test]
fn long_runs_are_exact_to_their_buckets() {
    let kind = |n: u64| if n % 10_000 < 9_000 { Op::Read } else { Op::Write };
    let found = of(&(0..100_000).map(|n| record(n, 0, 8, kind(n))).collect::<Vec<_>>());
    let reads = found.read_runs.unwrap();
    assert_eq!((reads.runs, reads.mean_requests), (10, 9000.0));
    assert!((reads.median_requests / 9000.0 - 1.0).abs() < 0.016, "{reads:?}");
}

/// Measures ten requests in each second, with these numbers of reads.
fn seconds(reads: impl IntoIterator<Item = u64>) -> Burstiness {
    let mut records = Vec::new();
    for (second, reads) in (0..).zip(reads) {
        let op = |n| if n < reads { Op::Read } else { Op::Write };
        records.extend((0..10).map(|n| record(second * SECOND + n * MS, 0, 8, op(n))));
    }
    of(&records)
}

#[test]
fn phases_by_hand() {
    // Ten seconds of reads alone and ten with one read in ten; the last second is incomplete.
    let found = seconds((0..121).map(|n| if n % 20 < 10 { 10 } else { 1 })).phases.unwrap();
    assert_eq!((found.seconds, found.read_share, found.write_share), (120, 0.5, 0.5));
    // Of 119 pairs, 11 change. Pearson's correlation of the table (54, 6; 5, 54).
    let wanted = (54.0 * 54.0 - 6.0 * 5.0) / (60.0f64 * 59.0 * 59.0 * 60.0).sqrt();
    assert!((found.correlation.unwrap() - wanted).abs() < 1e-9, "{found:?}");
    let alternating = seconds((0..100).map(|n| n % 2 * 8)).phases.unwrap();
    assert_eq!((alternating.read_share, alternating.write_share), (0.0, 50.0 / 99.0));
    assert!((alternating.correlation.unwrap() + 1.0).abs() < 1e-9, "{alternating:?}");
}

#[test]
fn phases_need_seconds_that_vary() {
    let steady = seconds([5; 100]).phases.unwrap();
    assert_eq!((steady.seconds, steady.correlation), (99, None));
    assert_eq!((steady.read_share, steady.write_share), (0.0, 0.0));
    assert_eq!(seconds([5; 20]).phases, None);
    assert_eq!(seconds([5; 21]).phases.unwrap().seconds, 20);
    // No second with requests follows another, so there is no pair.
    let separate = |gap: u64| {
        let two = (0..100u64).flat_map(|n| {
            let op = if n % 3 == 0 { Op::Read } else { Op::Write };
            [0, gap].map(|more| record(2 * n * SECOND + more, 0, 8, op))
        });
        of(&two.collect::<Vec<_>>()).phases
    };
    let found = separate(MS).unwrap();
    assert_eq!((found.seconds, found.correlation), (99, None));
    // Stamps in steps of 2 s do not show seconds.
    assert_eq!(separate(0), None);
}

#[test]
fn sorted_stamps_give_the_same() {
    let line = |n: u64| {
        let kind = if n % 7 < 3 { "Read" } else { "Write" };
        let stamp = 128_166_372_000_000_000 + n * n % 30_011 * 100 + n * 40_000;
        (stamp, format!("{stamp},usr,1,{kind},{},4096,77\n", n * 4096))
    };
    let mut lines: Vec<(u64, String)> = (0..20_000).map(line).collect();
    let measured = |lines: &[(u64, String)]| {
        let text: String = lines.iter().map(|(_, line)| line.as_str()).collect();
        let mut read = trace(text, Some(Format::Msr), &TraceOptions::default()).unwrap();
        of(&drain(&mut read).unwrap())
    };
    let unsorted = measured(&lines);
    assert!(!lines.is_sorted_by_key(|(stamp, _)| *stamp));
    lines.sort_by_key(|(stamp, _)| *stamp);
    assert_eq!(unsorted, measured(&lines));
    assert!(unsorted.hurst.is_some() && unsorted.phases.is_some());
}

fn profile(pieces: &[&[Record]]) -> Profile {
    let mut profiler = Profiler::new(false);
    pieces.iter().for_each(|piece| profiler.take(piece, |_| None));
    profiler.finish()
}

proptest! {
    #[test]
    fn pieces_of_any_size_give_the_same(
        steps in prop::collection::vec((0u32..48, any::<u64>(), any::<bool>()), 1..400),
        sizes in prop::collection::vec(1usize..60, 1..20),
    ) {
        let mut at = 0u64;
        let records: Vec<Record> = steps
            .into_iter()
            .map(|(bits, gap, read)| {
                at += gap & ((1 << bits) - 1);
                record(at, 0, 8, if read { Op::Read } else { Op::Write })
            })
            .collect();
        let mut pieces = Vec::new();
        let mut rest = &records[..];
        for size in sizes.iter().cycle() {
            let (piece, more) = rest.split_at(rest.len().min(*size));
            pieces.push(piece);
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
        let whole = profile(&[&records]);
        prop_assert_eq!(&whole.burstiness, &profile(&pieces).burstiness);
        prop_assert_eq!(&whole.burstiness, &of(&records));
        prop_assert_eq!(&whole.burstiness.windows, &by_counting(&records));
    }
}

/// Counts the requests of each window in one array, so for a short span alone.
fn by_counting(records: &[Record]) -> Vec<Window> {
    let times: Vec<u64> = records.iter().map(|record| record.at.as_ns()).collect();
    let span = times[times.len() - 1] - times[0];
    let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
    let step = steps.filter(|step| *step > 0).min().unwrap_or(0);
    let lengths = [10 * MS, 100 * MS, SECOND, 10 * SECOND, 100 * SECOND];
    let window = |length: u64| {
        let windows = span / length;
        let mut counts = std::collections::BTreeMap::<u64, u64>::new();
        for time in &times {
            *counts.entry((time - times[0]) / length).or_default() += 1;
        }
        let of = |windows: u64| {
            let counted = || counts.range(..windows).map(|(_, count)| *count);
            let (sum, squares): (u64, u64) =
                (counted().sum(), counted().map(|count| count * count).sum());
            let mean = sum as f64 / windows as f64;
            let spread = u128::from(windows) * u128::from(squares) - u128::from(sum).pow(2);
            let variance = spread as f64 / (windows as f64 * (windows - 1) as f64);
            Window {
                window_s: length as f64 / 1e9,
                windows,
                mean_requests: mean,
                dispersion: variance / mean,
            }
        };
        let [without, with] = [windows, windows + 1].map(of);
        let limit = without.dispersion + 0.1 * without.dispersion.max(1.0);
        let last = counts.get(&windows).copied().unwrap_or(0) as f64;
        (last <= without.mean_requests || with.dispersion <= limit).then_some(without)
    };
    let usable = |length: &u64| span / length >= 20 && *length >= step;
    lengths.into_iter().filter(usable).filter_map(window).collect()
}
