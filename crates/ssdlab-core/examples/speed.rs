use ssdlab_base::{SimTime, rng};
use ssdlab_core::*;
use std::sync::Arc;
use rand::RngExt;
fn main() {
    let text = include_str!("../src/config/presets/generic-mlc-512g.toml");
    let config: DriveConfig = toml::from_str(text).unwrap();
    let t0 = std::time::Instant::now();
    let resolved = Arc::new(Resolved::new(&config, 1).unwrap());
    let mut drive = Drive::new(resolved);
    println!("ready in {:?}", t0.elapsed());
    let mut r = rng::stream(1, "w");
    let n = 1_000_000;
    let mut reqs = Vec::new();
    let mut t = 0.0f64;
    for i in 0..n {
        t += -ssdlab_base::math::ln(1.0 - r.random::<f64>()) * 200_000.0;
        let kib = [4u64, 8, 16, 32, 64][r.random_range(0..5)];
        let s = kib * 2;
        let lba = r.random_range(0..(16u64 << 30) / 512 / s) * s;
        let op = if r.random::<bool>() { Op::Read } else { Op::Write };
        reqs.push(Request { tag: i, arrival: SimTime::from_ns(t as u64), op, lba, sectors: s as u32, queue: 0, hint: 0 });
    }
    let t0 = std::time::Instant::now();
    let mut done = Vec::new();
    let mut count = 0;
    for q in &reqs {
        drive.advance(q.arrival, &mut done);
        drive.submit(q.arrival, *q).unwrap();
        count += done.len();
        done.clear();
    }
    while let Some(t) = drive.next_event() { drive.advance(t, &mut done); }
    count += done.len();
    let e = t0.elapsed().as_secs_f64();
    let ops: u64 = drive.flash().ops()[..2].iter().flatten().sum();
    println!("{count} requests {e:.3}s  {:.2} M requests/s {:.2} M page ops/s", n as f64 / e / 1e6, ops as f64 / e / 1e6);
    for k in 0..2 {
        let l = &drive.stats().latencies[0][k];
        println!("{} mean {:.1} p99 {} blame {:?}", Op::NAMES[k], l.sum_ns as f64 / l.count() as f64 / 1e3, l.histogram.value_at_quantile(0.99), l.blame_ns.map(|b| b / l.count() as u128));
    }
    println!("{:?} {:x}", drive.flash().ops(), drive.stats().digest);
}
