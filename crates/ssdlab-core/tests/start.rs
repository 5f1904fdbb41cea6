//! A drive with a drawn start state behaves like a drive that was really written.

use std::sync::Arc;

use rand::RngExt;
use ssdlab_base::{SimTime, math, rng};
use ssdlab_core::account::OpKind;
use ssdlab_core::{BlockState, Writer};
use ssdlab_core::{Drive, DriveConfig, Op, Request, Resolved};
use ssdlab_nand::{BlockId, PlaneId};

const DRIVE: &str = r#"
    [geometry]
    channels = 2
    chips = 2
    dies = 1
    planes = 1
    blocks = 512
    pages = 64
    page_size = "4KiB"
    cell = "mlc"
    [timing]
    read = "50us"
    program = "200us"
    erase = "2ms"
    [ftl]
    overprovisioning = 0.2
    [background.gc]
    threshold = 0.02
    mode = "foreground"
"#;

fn drive(start: &str, seed: u64) -> Drive {
    let config: DriveConfig = toml::from_str(&format!("{DRIVE}\n[start]\n{start}")).unwrap();
    Drive::new(Arc::new(Resolved::new(&config, seed).unwrap()))
}

/// Writes random whole pages below `pages`, far enough apart that garbage collection keeps up;
/// returns the latencies in nanoseconds.
fn write(drive: &mut Drive, count: u64, mean_ns: f64, seed: u64, pages: u64) -> Vec<u64> {
    let mut random = rng::stream(seed, "test");
    let (mut done, mut latencies) = (Vec::new(), Vec::new());
    let mut now = drive.now().as_ns() as f64;
    for tag in 0..count {
        now -= math::ln(1.0 - random.random::<f64>()) * mean_ns;
        let at = SimTime::from_ns(now as u64);
        drive.advance(at, &mut done);
        let sectors = drive.resolved().geometry().sectors_per_page();
        let lba = random.random_range(0..pages) * u64::from(sectors);
        let request = Request { tag, arrival: at, op: Op::Write, lba, sectors, queue: 0, hint: 0 };
        drive.submit(at, request).unwrap();
    }
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
    }
    latencies.extend(done.iter().map(|c| (c.end - c.arrival).as_ns()));
    latencies
}

/// Returns the valid pages of every full block.
fn fillings(drive: &Drive) -> Vec<u16> {
    let blocks = (0..drive.resolved().geometry().block_count()).map(BlockId);
    let table = &drive.ftl().blocks;
    let closed = blocks.filter(|&block| table.state(block) == BlockState::Closed);
    closed.map(|block| table.valid(block)).collect()
}

/// Returns the Kolmogorov–Smirnov distance of two samples.
fn distance(a: &[u16], b: &[u16]) -> f64 {
    let share = |sample: &[u16], x: u16| {
        sample.iter().filter(|&&value| value <= x).count() as f64 / sample.len() as f64
    };
    (0..=64).map(|x| (share(a, x) - share(b, x)).abs()).fold(0.0, f64::max)
}

/// Returns the distance that two samples of one distribution exceed with a probability of 0.1 %.
fn critical(a: usize, b: usize) -> f64 {
    1.95 * ((a + b) as f64 / (a * b) as f64).sqrt()
}

fn waf_and_p99(drive: &mut Drive, count: u64, pages: u64) -> (f64, f64) {
    drive.reset_stats();
    let mut latencies = write(drive, count, 400_000.0, 99, pages);
    latencies.sort_unstable();
    let p99 = latencies[latencies.len() * 99 / 100] as f64;
    (drive.write_amplification().unwrap(), p99)
}

fn written_for_real(fill: f64, overwrites: f64, seed: u64) -> (Drive, u64) {
    let mut written = drive("", seed);
    let pages = (f64::from(written.resolved().logical_pages) * fill).round() as u64;
    let mut prefill = written.prefill();
    for page in 0..pages as u32 {
        assert!(written.prefill_page(&mut prefill, page));
    }
    let count = (pages as f64 * overwrites) as u64;
    write(&mut written, count, 400_000.0, seed + 1, pages);
    (written, pages)
}

fn compare(drawn: &mut Drive, written: &mut Drive, pages: u64, count: u64) {
    let (a, b) = (fillings(drawn), fillings(written));
    let (far, most) = (distance(&a, &b), critical(a.len(), b.len()));
    assert!(far < most, "valid counts differ by {far}, {most} would do");
    let (waf, p99) = waf_and_p99(drawn, count, pages);
    let (real_waf, real_p99) = waf_and_p99(written, count, pages);
    println!("WAF {waf:.4} drawn, {real_waf:.4} written; p99 {p99} drawn, {real_p99} written");
    assert!((waf / real_waf - 1.0).abs() < 0.03, "WAF {waf} drawn, {real_waf} written");
    assert!((p99 / real_p99 - 1.0).abs() < 0.03, "p99 {p99} drawn, {real_p99} written");
}

#[test]
fn a_steady_drive_is_as_one_that_was_overwritten_six_times() {
    let (mut written, pages) = written_for_real(1.0, 6.0, 3);
    compare(&mut drive("fill = 1.0\nsteady_state = true", 4), &mut written, pages, 1_000_000);
}

#[test]
fn an_overwritten_drive_is_as_one_that_was_overwritten_to_the_same_share() {
    // Half of the pages, then enough random writes to make three tenths of the written pages
    // outdated.
    let (mut written, pages) = written_for_real(0.5, 0.3 / 0.7, 5);
    let mut drawn = drive("fill = 0.5\ninvalid = 0.3", 6);
    compare(&mut drawn, &mut written, pages, 1_000_000);
}

#[test]
fn planes_that_were_overwritten_are_not_in_step() {
    for start in ["fill = 1.0\nsteady_state = true", "fill = 0.9\ninvalid = 0.1"] {
        let text = DRIVE.replace("chips = 2", "chips = 64").replace("blocks = 512", "blocks = 64");
        let config: DriveConfig = toml::from_str(&format!("{text}\n[start]\n{start}")).unwrap();
        let drive = Drive::new(Arc::new(Resolved::new(&config, 1).unwrap()));
        let open = (0..128).map(|plane| drive.ftl().alloc.open_pages(PlaneId(plane), Writer::Host));
        let mut eighths = [0; 8];
        // At least one of the 64 pages of an open block is written, and at least one is not.
        open.for_each(|left| eighths[left as usize / 8] += 1);
        // Sixteen on average; uniform planes leave these bounds once in some ten thousand drives.
        assert!(eighths.iter().all(|count| (3..=33).contains(count)), "{eighths:?}");
    }
}

#[test]
fn the_drawn_tables_hold_what_the_config_sets() {
    let drive = drive("fill = 0.6\ninvalid = 0.25", 1);
    let logical = drive.resolved().logical_pages;
    assert_eq!(drive.ftl().map.mapped(), (f64::from(logical) * 0.6).round() as u32);
    let blocks = || (0..drive.resolved().geometry().block_count()).map(BlockId);
    let table = &drive.ftl().blocks;
    let written: u32 = blocks().map(|block| u32::from(table.written(block))).sum();
    let valid: u32 = blocks().map(|block| u32::from(table.valid(block))).sum();
    assert_eq!(valid, drive.ftl().map.mapped());
    let invalid = 1.0 - f64::from(valid) / f64::from(written);
    assert!((invalid - 0.25).abs() < 0.01, "{invalid}");
    assert!((0..4).all(|plane| drive.ftl().alloc.free_blocks(PlaneId(plane)) > 10));
    assert_eq!(drive.flash().counts.ops()[OpKind::Program as usize].iter().sum::<u64>(), 0);
}
