//! A drive that begins with a history is as a drive that really ran, within the spread over seeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::RngExt;
use ssdlab_base::{SimTime, math, rng};
use ssdlab_core::config::SampleSize;
use ssdlab_core::drive::Start;
use ssdlab_core::{BlockState, Drive, DriveConfig, Op, Request, Resolved, Tenant, Toggle};
use ssdlab_nand::{BlockId, Lpn, Ppn};

const DAY: f64 = 86_400e9;
/// Length of the history.
const DAYS: f64 = 60.0;
const SEEDS: u64 = 8;

/// Six planes of 320 blocks that differ; the sample has four of 256.
const DRIVE: &str = r#"
    flash.time_scale = 100
    host = { queues = 3 }
    [geometry]
    channels = 6
    chips = 1
    dies = 1
    planes = 1
    blocks = 320
    pages = 24
    page_size = "4KiB"
    cell = "tlc"
    [timing]
    read = "50us"
    program = "200us"
    erase = "2ms"
    [physics.retries]
    fresh_errors = 38.0
    wear = { errors = 74.0, worn_exponent = 1.2 }
    retention = { errors = 17.0, worn_errors = 10.0 }
    disturb = { errors = 20.0, scale = 2000.0 }
    spread = { quality = 0.06, wear = 0.05 }
"#;

/// The tenants: the share of the drive's pages, and the overwrites and reads of each page in a
/// history with the usual load.
const TENANTS: [(f64, f64, f64); 3] = [(0.15, 3.0, 20.0), (0.25, 0.7, 5.0), (0.2, 0.1, 40.0)];

/// A drive by its policies, and the load of its history.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    sets: &'static str,
    /// Overwrites and reads, as a multiple of the usual ones.
    load: [f64; 2],
    /// Pages of each write.
    pages: u32,
}

const fn case(name: &'static str, sets: &'static str, load: [f64; 2]) -> Case {
    Case { name, sets, load, pages: 1 }
}

const CASES: [Case; 9] = [
    case("garbage collection alone", "ftl.overprovisioning = 0.25", [1.0; 2]),
    // A tenant overwrites its pages more often than a sample runs, and each read of the sample
    // stands for two.
    case("more load than a sample runs", "ftl.overprovisioning = 0.25", [5.0, 3.0]),
    case(
        "program modes",
        "ftl = { overprovisioning = 0.25, gc_stream = \"shared\" }
               buffer = { size = \"6MiB\" }
               metadata.page_hotness.buffer.threshold = 0.6
               placement = [\"hotness\"]
               program_mode = [\"per_hotness\"]
               timing.program_modes = [
                   { name = \"normal\", transfer = \"80us\" },
                   { name = \"boosted\", sense = \"30us\", transfer = \"40us\" },
                   { name = \"reduced\", sense = \"210us\", transfer = \"100us\" },
               ]",
        [1.0; 2],
    ),
    case(
        "pages that are read often",
        "ftl = { overprovisioning = 0.35, free_block_policy = \"fewest_retries\" }
               metadata = { block_class.predicted = {}, retry_estimate = \"oracle\" }
               placement = [\"priority\"]
               background = { subpool_gc = true, read_hot_migration = { threshold = 4 } }",
        [1.0; 2],
    ),
    case(
        "blocks by priority",
        "ftl = { overprovisioning = 0.35, free_block_policy = \"fewest_retries\" }
               metadata = { block_class.predicted = {}, retry_estimate = \"oracle\" }
               placement = [\"priority\"]
               background = { subpool_gc = true, inversion_repair = { interval = \"7d\" } }",
        [1.0; 2],
    ),
    case(
        "data without an owner",
        "ftl = { overprovisioning = 0.35, free_block_policy = \"fewest_retries\" }
               metadata = { block_class.predicted = {}, retry_estimate = \"oracle\" }
               placement = [\"priority\"]
               background = { subpool_gc = true }
               start.owners = \"unowned\"",
        [1.0; 2],
    ),
    Case { pages: 12, ..case("writes of several pages", "ftl.overprovisioning = 0.25", [1.0; 2]) },
    case("streams", "ftl.overprovisioning = 0.35\nplacement = [\"sepbit\"]", [1.0; 2]),
    case(
        "wear leveling",
        "ftl.overprovisioning = 0.3
               background.static_wear_leveling = { threshold = 6 }",
        [1.0; 2],
    ),
];

fn resolved(case: &Case, history: bool, seed: u64) -> Resolved {
    let mut table: toml::Table = DRIVE.parse().expect("a config");
    let begins = r#"start = { fill = 0.95, invalid = 0.05, pe_cycles = 1500, pe_spread = 20,
                    age_min = "1d", age_max = "30d", dwell = "1d" }"#;
    for own in [case.sets, begins] {
        merge(&mut table, own.parse().expect("settings"));
    }
    let config: DriveConfig = toml::Value::Table(table.clone()).try_into().expect("a drive");
    let plain = Resolved::new(&config, seed).expect("a drive");
    if !history {
        return plain;
    }
    let of = |page: f64| format!("\"{}B\"", (page * 4096.0).round());
    let tenants = tenants(&plain).into_iter().enumerate().map(|(queue, tenant)| {
        let pages = f64::from(tenant.pages);
        let [writes, reads] = case.accesses(queue);
        format!(
            "{{ queue = {queue}, footprint = {}, writes_per_day = {}, reads_per_day = {}, \
             write_size = {} }}",
            of(pages),
            of(writes * pages / DAYS),
            of(reads * pages / DAYS),
            of(case.pages.into())
        )
    });
    let tenants = tenants.collect::<Vec<_>>().join(", ");
    let history = format!("start.history = {{ span = \"{DAYS}d\", tenants = [{tenants}] }}");
    merge(&mut table, history.parse().expect("a history"));
    let config: DriveConfig = toml::Value::Table(table).try_into().expect("a drive");
    Resolved::new(&config, seed).expect("a drive with a history")
}

impl Case {
    /// Returns the overwrites and the reads of each page of a tenant in the history.
    fn accesses(&self, tenant: usize) -> [f64; 2] {
        let (_, writes, reads) = TENANTS[tenant];
        [writes * self.load[0], reads * self.load[1]]
    }
}

fn merge(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => merge(under, over),
            (_, value) => drop(under.insert(key, value)),
        }
    }
}

fn tenants(resolved: &Resolved) -> Vec<Tenant> {
    let mut first = 0;
    let own = (0u8..).zip(TENANTS).map(|(queue, (share, ..))| {
        let pages = (share * f64::from(resolved.logical_pages)) as u32;
        first += pages;
        Tenant { first: first - pages, pages, queue, ..Tenant::default() }
    });
    own.collect()
}

/// Returns a drive that really ran: tenants write and read at random times.
fn ran(case: &Case, seed: u64) -> Drive {
    let resolved = resolved(case, false, seed);
    let tenants = tenants(&resolved);
    let mut drive = Drive::for_tenants(Arc::new(resolved), &tenants);
    let mut random = rng::stream(seed, "test.history");
    let span = DAYS * DAY / 100.0;
    let mut submitted = Vec::new();
    for (at, tenant) in tenants.iter().enumerate() {
        for (op, times) in [Op::Write, Op::Read].into_iter().zip(case.accesses(at)) {
            let pages = if op == Op::Write { case.pages } else { 1 };
            let mean = span * f64::from(pages) / (times * f64::from(tenant.pages));
            let mut at = 0.0;
            loop {
                at -= math::ln(1.0 - random.random::<f64>()) * mean;
                if at > span {
                    break;
                }
                let last = tenant.first + tenant.pages - pages;
                let page = random.random_range(tenant.first..=last);
                submitted.push((at as u64, op, (page, pages), tenant.queue));
            }
        }
    }
    submitted.sort_by_key(|submitted| submitted.0);
    let mut done = Vec::new();
    for (tag, (at, op, (page, pages), queue)) in (0..).zip(submitted) {
        drive.advance(SimTime::from_ns(at).max(drive.now()), &mut done);
        while !drive.has_room(queue) {
            drive.advance_once(drive.next_event().expect("requests"), &mut done);
        }
        done.clear();
        let (arrival, lba) = (drive.now(), u64::from(page) * 8);
        let request = Request { tag, arrival, op, lba, sectors: pages * 8, queue, hint: 0 };
        drive.submit(arrival, request).expect("room");
    }
    drive.advance(SimTime::from_ns(span as u64).max(drive.now()), &mut done);
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut done);
    }
    drive
}

/// The measures of a drive: numbers, and values by block.
#[derive(Default)]
struct Measures {
    numbers: BTreeMap<String, f64>,
    by_block: BTreeMap<&'static str, Vec<f64>>,
}

fn measure(drive: &Drive) -> Measures {
    let mut measures = Measures::default();
    let mut config = drive.resolved().config.clone();
    config.start.history = Toggle::off();
    let new = Drive::new(Arc::new(Resolved::new(&config, drive.resolved().seed).expect("a drive")));
    let (blocks, cells) = (&drive.ftl().blocks, &drive.flash().cells);
    let resolved = drive.resolved();
    let all = || (0..blocks.len() as u32).map(BlockId);
    let full: Vec<BlockId> =
        all().filter(|&block| blocks.state(block) == BlockState::Closed).collect();
    let now = cells.time(drive.now()).as_ns();
    let age = |block| (now - cells.stamp(block).expect("data").as_ns()) as f64 / DAY;
    let (began, cells_began) = (&new.ftl().blocks, &new.flash().cells);
    let lists: [(&'static str, Vec<f64>); 5] = [
        ("valid", full.iter().map(|&block| f64::from(blocks.valid(block))).collect()),
        ("age", full.iter().map(|&block| age(block)).collect()),
        ("reads", full.iter().map(|&block| f64::from(cells.reads(block))).collect()),
        ("erases", all().map(|it| f64::from(blocks.erases(it) - began.erases(it))).collect()),
        ("wear", all().map(|it| f64::from(cells.wear(it) - cells_began.wear(it))).collect()),
    ];
    for (name, list) in lists {
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        let square = list.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        measures.numbers.insert(format!("{name}, mean"), mean);
        measures.numbers.insert(format!("{name}, spread"), (square / list.len() as f64).sqrt());
        measures.by_block.insert(name, list);
    }
    let free = all().filter(|&block| blocks.state(block) == BlockState::Free).count();
    measures.numbers.insert("free blocks".into(), free as f64);
    for class in 0..resolved.classes.count as u8 {
        let own = full.iter().filter(|&&block| blocks.class(block).0 == class).count();
        measures.numbers.insert(format!("blocks of class {class}"), own as f64);
    }
    for tenant in tenants(resolved) {
        measure_pages(drive, &tenant, age, &mut measures.numbers);
    }
    measures
}

/// Adds the measures of a tenant's pages: their age, their errors, and where they lie.
fn measure_pages(
    drive: &Drive,
    tenant: &Tenant,
    age: impl Fn(BlockId) -> f64,
    numbers: &mut BTreeMap<String, f64>,
) {
    let (blocks, cells) = (&drive.ftl().blocks, &drive.flash().cells);
    let (resolved, geometry) = (drive.resolved(), drive.resolved().geometry());
    let pages = || (tenant.first..tenant.first + tenant.pages).map(Lpn);
    let place = |page| drive.ftl().map.get(page).expect("data");
    let mean = |of: &dyn Fn(Ppn) -> f64| {
        pages().map(|page| of(place(page))).sum::<f64>() / f64::from(tenant.pages)
    };
    let rber = |at| {
        let block = geometry.block_of(at);
        let plane = geometry.plane_of(block);
        let within = block.0 - geometry.first_block(plane).0;
        let now = drive.block(plane.0, within, drive.now());
        now.and_then(|block| block.rber).expect("data")
    };
    let mut add = |name: String, of: &dyn Fn(Ppn) -> f64| {
        numbers.insert(format!("{name} of queue {}", tenant.queue), mean(of));
    };
    add("age of the pages".into(), &|at| age(geometry.block_of(at)));
    add("errors".into(), &rber);
    let share = |is: bool| f64::from(u8::from(is));
    for mode in 0..resolved.chip.program_modes().len() as u8 {
        add(format!("pages in mode {mode}"), &|at| share(cells.program_mode(at).0 == mode));
    }
    for class in 0..resolved.classes.count as u8 {
        let of_class = |at| share(blocks.class(geometry.block_of(at)).0 == class);
        add(format!("pages in class {class}"), &of_class);
    }
}

/// Returns the Kolmogorov–Smirnov distance of two samples.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let sorted = |sample: &[f64]| {
        let mut sample = sample.to_vec();
        sample.sort_by(f64::total_cmp);
        sample
    };
    let (a, b) = (sorted(a), sorted(b));
    let share = |sample: &[f64], x: f64| {
        sample.partition_point(|&value| value <= x) as f64 / sample.len() as f64
    };
    a.iter().chain(&b).map(|&x| (share(&a, x) - share(&b, x)).abs()).fold(0.0, f64::max)
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (square / (count - 1.0) / count).sqrt())
}

/// Returns the differences between drawn drives and drives that ran.
fn differences(drawn: &[Measures], ran: &[Measures]) -> Vec<String> {
    let mut wrong = Vec::new();
    for name in drawn[0].numbers.keys() {
        let of = |all: &[Measures]| all.iter().map(|one| one.numbers[name]).collect::<Vec<f64>>();
        let ((own, error), (real, real_error)) =
            (mean_and_error(&of(drawn)), mean_and_error(&of(ran)));
        // Three errors would reject some of so many figures by chance.
        let most = 4.0 * (error * error + real_error * real_error).sqrt();
        let line = format!("{name}: {own:.4} drawn, {real:.4} ran, {most:.4} apart at most");
        println!("    {line}");
        // Half a percent, where seeds do not differ at all.
        if (own - real).abs() > most.max(real.abs() * 0.005) {
            wrong.push(line);
        }
    }
    for name in drawn[0].by_block.keys() {
        let pooled = |measures: &[&Measures]| -> Vec<f64> {
            measures.iter().flat_map(|measures| measures.by_block[name].clone()).collect()
        };
        let far = distance(
            &pooled(&drawn.iter().collect::<Vec<_>>()),
            &pooled(&ran.iter().collect::<Vec<_>>()),
        );
        let spread = (0..ran.len()).map(|one| {
            let others: Vec<&Measures> =
                ran.iter().enumerate().filter(|(at, _)| *at != one).map(|(_, own)| own).collect();
            distance(&ran[one].by_block[name], &pooled(&others))
        });
        // No farther than the farthest drive that ran is from the others.
        let spread = spread.fold(0.0, f64::max);
        let line = format!("{name}: distributions {far:.4} apart, a single drive {spread:.4}");
        println!("    {line}");
        if far > spread {
            wrong.push(line);
        }
    }
    wrong
}

#[test]
fn a_drive_with_a_history_is_as_one_that_ran() {
    let mut wrong = Vec::new();
    for case in CASES {
        let name = case.name;
        println!("{name}");
        let begun = (0..SEEDS).map(|seed| {
            let resolved = Arc::new(resolved(&case, true, seed));
            let drive = Drive::new(resolved);
            assert_eq!(drive.audit(), Ok(()), "{name}, seed {seed}");
            measure(&drive)
        });
        let begun: Vec<Measures> = begun.collect();
        let ran: Vec<Measures> = (0..SEEDS).map(|seed| measure(&ran(&case, seed + 100))).collect();
        wrong.extend(differences(&begun, &ran).into_iter().map(|line| format!("{name}: {line}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_drive_with_a_history_is_drawn_alike_each_time_and_can_be_saved() {
    for case in CASES {
        let name = case.name;
        let resolved = Arc::new(resolved(&case, true, 3));
        let drive = || Drive::new(resolved.clone());
        assert!(format!("{:?}", drive()) == format!("{:?}", drive()), "{name}");
        let began = drive();
        let blocks = &began.ftl().blocks;
        let media = began.clone().media().expect("an idle drive");
        media.audit(resolved.geometry()).expect(name);
        let restored = Drive::with_media(resolved.clone(), media).expect(name);
        let all = (0..blocks.len() as u32).map(BlockId);
        for block in all.filter(|&block| blocks.written(block) > 0) {
            assert_eq!(restored.ftl().blocks.class(block), blocks.class(block), "{name}");
            let cells = &restored.flash().cells;
            assert_eq!(cells.reads(block), began.flash().cells.reads(block), "{name}");
            assert_eq!(cells.stamp(block), began.flash().cells.stamp(block), "{name}");
        }
    }
}

/// Returns measures of drives whose samples have this size, each with another seed.
fn sampled(case: &Case, most: SampleSize) -> Vec<Measures> {
    let drive = |seed| {
        let resolved = Arc::new(resolved(case, true, seed));
        let start = Start::draw_after(&resolved, &[], most);
        let drive = Drive::begin(resolved, start);
        assert_eq!(drive.audit(), Ok(()), "{}, seed {seed}", case.name);
        measure(&drive)
    };
    (0..SEEDS).map(drive).collect()
}

/// Returns the mean of a number over drives.
fn mean_of(drives: &[Measures], name: &str) -> f64 {
    drives.iter().map(|drive| drive.numbers[name]).sum::<f64>() / drives.len() as f64
}

#[test]
fn writes_that_a_sample_leaves_out_wear_blocks_all_the_same() {
    // A third and a thirteenth of the writes run. The fewer cannot tell how blocks will differ.
    let case = Case { load: [12.0, 0.1], ..CASES[0] };
    let whole = sampled(&case, SampleSize::default());
    for (writes, [mean, spread]) in [(40_000, [0.05, 0.3]), (10_000, [0.05, 1.0])] {
        let part = sampled(&case, SampleSize { writes, ..SampleSize::default() });
        for (name, near) in [("erases, mean", mean), ("erases, spread", spread)] {
            let (own, real) = (mean_of(&part, name), mean_of(&whole, name));
            println!("{writes} writes, {name}: {own:.3}, of all writes {real:.3}");
            assert!((own / real - 1.0).abs() < near, "{writes}, {name}: {own} and {real}");
        }
    }
}

#[test]
fn a_read_that_stands_for_several_moves_pages_and_disturbs_blocks_as_often() {
    let case = CASES.into_iter().find(|case| case.sets.contains("migration")).expect("a case");
    let case = Case { load: [1.0, 3.0], ..case };
    let of = |reads| sampled(&case, SampleSize { reads, ..SampleSize::default() });
    let (whole, part) = (of(10_000_000), of(200_000));
    for name in ["pages in class 0 of queue 1", "pages in class 0 of queue 2", "reads, mean"] {
        let (own, real) = (mean_of(&part, name), mean_of(&whole, name));
        println!("{name}: {own:.3}, of all reads {real:.3}");
        assert!((own / real - 1.0).abs() < 0.15, "{name}: {own} and {real}");
    }
}

#[test]
fn histories_that_no_drive_can_have_are_refused() {
    let refused = |own: &str| {
        let mut table: toml::Table = DRIVE.parse().expect("a config");
        let start = "start = { fill = 0.9 }\nftl.overprovisioning = 0.4";
        for set in [start, "start.history = {}", own] {
            merge(&mut table, set.parse().expect("settings"));
        }
        let config: DriveConfig = toml::Value::Table(table).try_into().expect("a drive");
        Resolved::new(&config, 1).map(drop).map_err(|refusal| refusal.to_string())
    };
    assert_eq!(refused(""), Ok(()));
    for (own, key, expected) in [
        ("start.fill = 0", "start.history", "without start.fill"),
        ("start.history.span = \"0d\"", "start.history.span", "more than 0ns"),
        ("start.history.span = \"9999d\"", "start.history.span", "at most 3650d"),
        ("ftl.map_cache = {}", "start.history", "a drive without ftl.map_cache"),
        ("metadata.block_class.measured = {}", "start.history", "without metadata.block_class"),
        (
            "start.history.tenants = [{ footprint = \"1MiB\", writes_per_day = \"100TB\" }]",
            "tenants[0].writes_per_day",
            "all planes program no more",
        ),
        (
            "start.history.tenants = [{ footprint = \"1MiB\", reads_per_day = \"100TB\" }]",
            "tenants[0].reads_per_day",
            "all planes read no more",
        ),
        (
            "start.history.tenants = [{ footprint = \"1MiB\", queue = 3 }]",
            "start.history.tenants[0].queue",
            "below host.queues, 3",
        ),
        (
            "start.history.tenants = [{ footprint = \"1MiB\" }, { footprint = \"1TiB\" }]",
            "start.history.tenants[1].footprint",
            "that are left",
        ),
        ("start.history.tenants = [{ footprint = \"0B\" }]", "tenants[0].footprint", "at least 1B"),
        (
            "start.history.tenants = [{ footprint = \"1MiB\", write_size = \"2MiB\" }]",
            "tenants[0].write_size",
            "at most the footprint of 1MiB",
        ),
    ] {
        let line = refused(own).expect_err(own);
        assert!(line.contains(key) && line.contains(expected) && !line.contains('\n'), "{line}");
    }
}
