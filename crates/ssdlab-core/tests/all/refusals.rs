//! The limits of accepted configs: the last accepted value, and the first refused one.

use ssdlab_core::Resolved;

use crate::support::{Rig, config};

/// Returns the resolved config of these settings over the small drive, or the refused key.
fn resolve(sets: &[&str]) -> Result<Resolved, String> {
    Resolved::new(&config(sets), 1).map_err(|refusal| refusal.key.to_string())
}

/// Asserts that `good` is accepted and `bad` is refused at this key, both over `sets`.
fn gate(key: &str, sets: &[&str], good: &str, bad: &str) {
    let with = |last| resolve(&[sets, &[last]].concat()).map(|_| ());
    assert_eq!(with(good), Ok(()), "{good}");
    assert_eq!(with(bad), Err(key.to_string()), "{bad}");
}

#[test]
fn a_shape_that_is_refused_is_named_by_its_key_and_value() {
    for key in ["channels", "chips", "dies", "planes", "blocks", "pages"] {
        let refusal = Resolved::new(&config(&[&format!("geometry.{key} = 0")]), 1).unwrap_err();
        assert_eq!((&*refusal.key, &*refusal.got), (&*format!("geometry.{key}"), "0"));
    }
    let refused = |sets: &[&str]| {
        let refusal = Resolved::new(&config(sets), 1).unwrap_err();
        (refusal.key.to_string(), refusal.got.to_string())
    };
    let pair = |key: &str, got: &str| (key.to_string(), got.to_string());
    assert_eq!(refused(&["geometry.page_size = \"700B\""]), pair("geometry.page_size", "700B"));
    let all = "geometry = { channels = 1024, chips = 1024, blocks = 4096, pages = 2 }";
    assert_eq!(refused(&[all]), pair("geometry", "8589934592 physical pages"));
}

#[test]
fn numbers_of_queues_and_their_depth() {
    let by_priority = ["scheduler = \"strict_priority\""];
    gate("host.queues", &[], "host.queues = 1", "host.queues = 0");
    gate("host.queues", &by_priority, "host.queues = 2", "host.queues = 1");
    gate("host.queues", &by_priority, "host.queues = 5", "host.queues = 6");
    gate("host.queues", &by_priority, "host.queues = 2", "host.queues = 0");
    gate("host.queue_depth", &[], "host.queue_depth = 1", "host.queue_depth = 0");
    assert!(resolve(&["host.queues = 6"]).is_ok());
}

#[test]
fn chains_have_a_link_and_climbs_a_level() {
    gate("placement", &[], "placement = [\"next_page\"]", "placement = []");
    gate("program_mode", &[], "program_mode = [\"normal\"]", "program_mode = []");
    let climb = |start: u32| format!("read_start = {{ fixed_level = {{ level = {start} }} }}");
    let levels = ["physics = { levels = {} }"];
    gate("read_start.fixed_level.level", &levels, &climb(1), &climb(0));
    gate("read_start.fixed_level.level", &levels, &climb(7), &climb(8));
    gate("read_start.fixed_level.level", &[], &climb(1), &climb(2));
}

#[test]
fn a_draw_is_of_one_block_at_least() {
    let choices = |count: u32| format!("background.gc = {{ victim = \"d_choices\", d = {count} }}");
    gate("background.gc.d", &[], &choices(1), &choices(0));
}

#[test]
fn a_link_comes_once_in_a_chain() {
    gate(
        "placement",
        &[],
        "placement = [\"next_page\"]",
        "placement = [\"next_page\", \"next_page\"]",
    );
    gate(
        "program_mode",
        &[],
        "program_mode = [\"normal\"]",
        "program_mode = [\"normal\", \"normal\"]",
    );
}

const LEVELS: &str = "physics = { levels = {} }";
const CLASSED: &str = "metadata.block_class = \"factory\"";

#[test]
fn shares_of_classes_of_blocks() {
    let shares =
        |shares: &str| format!("metadata.block_class = {{ factory = {{ shares = [{shares}] }} }}");
    let key = "metadata.block_class.factory.shares";
    gate(key, &[LEVELS], &shares("0.5"), &shares(""));
    let roomy = ["geometry.blocks = 40", LEVELS];
    gate(key, &roomy, &shares("0.5, 0.5"), &shares("0.5, 0.51"));
    let many = |count| shares(&vec!["0.1"; count].join(", "));
    gate(key, &roomy, &many(7), &many(8));
}

#[test]
fn policies_that_need_classes_of_blocks() {
    let strong = "timing.program_modes = [{ name = \"normal\" }, { name = \"strong\", program = \"100us\" }]";
    for (key, set) in [
        ("program_mode", "program_mode = [\"per_class\"]"),
        ("placement", "placement = [\"small_to_strong\"]"),
    ] {
        let sets =
            if key == "program_mode" { vec![LEVELS, strong, set] } else { vec![LEVELS, set] };
        gate(key, &sets, CLASSED, "metadata.block_class = \"none\"");
    }
    let by = |names: &str| format!("program_mode = [{{ per_class = {{ modes = [{names}] }} }}]");
    let key = "program_mode.per_class.modes";
    gate(key, &[LEVELS, CLASSED, strong], &by("\"strong\""), &by(""));
    gate(
        key,
        &[LEVELS, CLASSED, strong],
        &by("\"strong\", \"normal\""),
        &by("\"strong\", \"weak\""),
    );
}

#[test]
fn links_that_have_no_effect_where_they_stand() {
    const ROOM: [&str; 2] = ["geometry.blocks = 128", "ftl.overprovisioning = 0.5"];
    let chain = |links: &str| format!("placement = [{links}]");
    let wrong = chain("\"sepbit\", \"small_to_strong\"");
    let classed = [&ROOM[..], &[LEVELS, CLASSED]].concat();
    gate("placement", &classed, &chain("\"small_to_strong\", \"sepbit\""), &wrong);
    let hotness = "metadata.page_hotness.buffer = { initial = \"none\" }";
    let hot = [&ROOM[..], &["buffer.size = \"8KiB\"", hotness]].concat();
    gate("placement", &hot, &chain("\"hotness\""), &chain("\"hotness\", \"sepbit\""));
}

#[test]
fn links_that_type_pages() {
    let relaxed = "ftl.page_order = \"relaxed\"";
    let chain = |links: &str| format!("placement = [{links}]");
    let refused = |sets: &[&str], fine: &str, wrong: &str| {
        gate("placement", sets, &chain(fine), &chain(wrong));
    };
    refused(&[relaxed], "\"lfs\", \"ubs\"", "\"lfs\", \"us\"");
    refused(&[relaxed], "\"us\", \"ubs\"", "\"ubs\", \"us\"");
    refused(&[relaxed], "\"sbs\", \"qds\", \"us\"", "\"sbs\", \"us\", \"qds\"");
    let below = |size: &str| format!("{{ sbs = {{ below = \"{size}\" }} }}");
    refused(&[relaxed], &below("1B"), &below("0B"));
    gate(
        "placement",
        &[relaxed, "placement = [\"us\"]"],
        "geometry.cell = \"mlc\"",
        "geometry.cell = \"slc\"",
    );
    gate("placement", &["placement = [\"us\"]"], relaxed, "ftl.page_order = \"strict\"");
    gate(
        "ftl.gc_stream",
        &["ftl.gc_stream = \"separate\""],
        "ftl.page_order = \"strict\"",
        relaxed,
    );
}

#[test]
fn several_streams_need_the_strict_order() {
    let room = ["geometry.blocks = 128", "ftl.overprovisioning = 0.5"];
    for config in ["gc = false", "host = false", ""] {
        let placement = format!("placement = [{{ sepbit = {{ {config} }} }}]");
        let sets = [room[0], room[1], &placement];
        gate("placement", &sets, "ftl.page_order = \"strict\"", "ftl.page_order = \"relaxed\"");
    }
    let one = "placement = [{ sepbit = { host = false, gc = false } }]";
    let relaxed = "ftl.page_order = \"relaxed\"";
    assert!(resolve(&[room[0], room[1], one, relaxed]).is_ok(), "one stream is no separation");
    let sets = [room[0], room[1], "placement = [\"sepbit\"]", relaxed];
    let refusal = Resolved::new(&config(&sets), 1).unwrap_err();
    let line = refusal.to_string();
    assert!(!line.contains('\n') && line.contains("placement") && line.contains("ftl.page_order"));
}

#[test]
fn tables_of_sensing_levels() {
    let key = "read_start.sl_table.pe_bins";
    let bins = |bins: Vec<u32>| format!("read_start = {{ sl_table = {{ pe_bins = {bins:?} }} }}");
    gate(key, &[LEVELS], &bins(vec![1, 2]), &bins(vec![2, 2]));
    gate(key, &[LEVELS], &bins(vec![1, 2]), &bins(vec![2, 1]));
    // Ten tables in all.
    gate(key, &[LEVELS], &bins((1..10).collect()), &bins((1..11).collect()));
    gate(key, &[LEVELS, CLASSED], &bins((1..5).collect()), &bins((1..6).collect()));
    gate("read_start", &["read_start = \"sl_table\""], LEVELS, "physics = \"flat\"");
}

#[test]
fn times_that_a_run_can_sum_up() {
    for key in ["flash.command_time", "flash.suspend_time", "flash.resume_time", "buffer.latency"] {
        let sets = ["suspend = \"program_erase\"", "buffer.size = \"8KiB\""];
        gate(key, &sets, &format!("{key} = \"100s\""), &format!("{key} = \"100000000001ns\""));
    }
    let years = ["physics = { retries = {} }"];
    for key in ["start.dwell", "start.age_max"] {
        gate(key, &years, &format!("{key} = \"36500d\""), &format!("{key} = \"36501d\""));
    }
    // A page of 4 KiB in 100 s is 40.96 bytes a second.
    gate("flash.bus_rate", &[], "flash.bus_rate = \"41B/s\"", "flash.bus_rate = \"40B/s\"");
    let page = ["geometry.page_size = \"12800B\""];
    gate("flash.bus_rate", &page, "flash.bus_rate = \"128B/s\"", "flash.bus_rate = \"127B/s\"");
}

#[test]
fn sizes_of_the_buffer() {
    let size = |bytes: u64| format!("buffer.size = \"{bytes}B\"");
    gate("buffer.size", &[], &size(16 * 8 * 4096), &size(16 * 8 * 4096 + 1));
    gate("buffer.size", &[], &size(4096), &size(4095));
    let pages = |bytes| resolve(&[&size(bytes)]).unwrap().buffer_pages;
    assert_eq!([pages(0), pages(4096), pages(8191), pages(8192)], [0, 1, 1, 2]);
    let free = |pages: u64, share: f64| {
        let share = format!("buffer.keep_free = {share}");
        resolve(&[&size(pages * 4096), &share]).unwrap().buffer_keep_free
    };
    assert_eq!([free(16, 0.25), free(16, 0.99), free(2, 0.9), free(1, 0.9)], [4, 15, 1, 0]);
}

#[test]
fn ages_and_wear_at_the_start() {
    let sets = ["physics = { retries = {} }", "start = { age_max = \"9d\", pe_cycles = 7 }"];
    gate("start.age_min", &sets, "start.age_min = \"9d\"", "start.age_min = \"10d\"");
    gate("start.pe_spread", &sets, "start.pe_spread = 7", "start.pe_spread = 8");
    let letters = |order: &str| format!("ftl.allocation_order = \"{order}\"");
    for bad in ["CWD", "CWDD", "CWDPP", "cwdp"] {
        gate("ftl.allocation_order", &[], &letters("PDWC"), &letters(bad));
    }
}

#[test]
fn what_can_be_outdated_at_the_start() {
    // The host has 89 of 128 pages. Collection begins with fewer than two of sixteen blocks free,
    // so the rest of 14 blocks may be outdated. Without collection three blocks hold no data.
    for (more, fill, most) in [
        ("", 1.0, 0.2053),
        ("", 0.5, 0.6026),
        ("background.gc = false", 1.0, 0.1442),
        ("background.gc = { threshold = 0.25, target = 1 }", 1.0, 0.0729),
        // With four spare blocks, collection keeps at most one block more than the hard limit of
        // two.
        ("background.gc.threshold = 0.25", 1.0, 0.1442),
        // 179 of 256 pages.
        ("geometry.planes = 2", 1.0, 0.2008),
        // 400 of 800 pages; 90 blocks are good, and five of them stay free.
        ("geometry.blocks = 100\nftl = { bad_blocks = 0.1, overprovisioning = 0.5 }", 1.0, 0.4117),
    ] {
        let start = |invalid: f64| format!("start = {{ fill = {fill}, invalid = {invalid} }}");
        gate("start.invalid", &[more], &start(most), &start(most + 1e-4));
    }
}

#[test]
fn space_that_is_reserved() {
    // Three of sixteen blocks, one more with wear leveling, two more that are bad.
    let op = |share: f64| format!("ftl.overprovisioning = {share}");
    let (key, level) = ("ftl.overprovisioning", "background.static_wear_leveling = {}");
    gate(key, &[], &op(3.0 / 16.0), &op(3.0 / 16.0 - 1e-2));
    gate(key, &[level], &op(4.0 / 16.0), &op(4.0 / 16.0 - 1e-2));
    // Each class but one has one more open block, and another one with wear leveling.
    let three = "metadata.block_class = { factory = { shares = [0.3, 0.3] } }";
    let reserved = |share: f64| [op(share / 16.0), op(share / 16.0 - 1e-2)];
    let [good, bad] = reserved(5.0);
    gate(key, &[LEVELS, three], &good, &bad);
    let [good, bad] = reserved(8.0);
    gate(key, &[LEVELS, three, level], &good, &bad);
    gate(key, &["geometry = { channels = 3, planes = 2 }"], &op(3.0 / 16.0), &op(0.18));
    gate(key, &[], &op(0.99), &op(0.9999));
    gate("geometry.blocks", &[&op(0.9)], "geometry.blocks = 4", "geometry.blocks = 3");
    let pages = |share| resolve(&[&op(share)]).unwrap().logical_pages;
    assert_eq!([pages(0.25), pages(0.5), pages(0.99)], [96, 64, 1]);
    assert_eq!(resolve(&[&op(0.25)]).unwrap().sectors(), 96 * 8);
}

#[test]
fn the_plane_with_most_bad_blocks_decides_how_much_is_reserved() {
    let sets = ["geometry = { channels = 4, blocks = 40 }", "ftl.bad_blocks = 0.1"];
    for seed in 0..20 {
        let drive = Rig::seeded(&[sets[0], sets[1], "ftl.overprovisioning = 0.9"], seed).unwrap();
        let blocks = &drive.drive.ftl().blocks;
        let is_bad = |block: &u32| {
            let state = blocks.state(ssdlab_nand::BlockId(*block));
            state == ssdlab_core::BlockState::Bad
        };
        let on = |plane: u32| (plane * 40..(plane + 1) * 40).filter(is_bad).count() as u32;
        let worst = (0..4).map(on).max().unwrap();
        assert!(worst > 0);
        let tried = |reserved: f64| {
            let set = format!("ftl.overprovisioning = {}", reserved / 40.0);
            Resolved::new(&config(&[sets[0], sets[1], &set]), seed).is_ok()
        };
        let reserved = f64::from(worst + 3);
        assert_eq!((tried(reserved), tried(reserved - 0.1)), (true, false), "seed {seed}");
    }
}

#[test]
fn a_back_end_is_built_as_the_config_says() {
    let planes = |array: &str| {
        let array = format!("flash.array = \"{array}\"");
        let sets = ["geometry = { dies = 3, planes = 2 }", &array];
        resolve(&sets).unwrap().flash.planes_per_unit
    };
    assert_eq!([planes("plane"), planes("die"), planes("chip")], [1, 2, 6]);
    let holds = |sets: &[&str]| resolve(sets).unwrap().flash.hold_until_decoded;
    let levels = "physics = { levels = {} }";
    assert!(!holds(&[]), "flat pages decode at once");
    assert!(holds(&[levels]));
    assert!(holds(&[levels, "flash.hold_until_decoded = true"]));
    assert!(!holds(&[levels, "flash.hold_until_decoded = false"]));
    let transfer = |unit: &str| {
        let unit = format!("flash.transfer = \"{unit}\"");
        let moves = resolve(&[&unit]).unwrap().flash.moves;
        moves.iter().map(|moved| (moved.bytes, moved.time.as_ns())).collect::<Vec<_>>()
    };
    assert_eq!(transfer("page"), [(4096, 5000); 9]);
    assert!(transfer("sectors").into_iter().eq((0..9).map(|wanted| (wanted * 512, wanted * 625))));
}

/// A config in which a failed read may be suspended for another read.
const PASSING: &str = "suspend = { esra = {} }\nphysics.retries = {}\nscheduler = \"strict_priority\"\nhost.queues = 2";

#[test]
fn loops_and_suspended_reads() {
    let esra = ["suspend = \"esra\""];
    for key in ["flash.program_loops", "flash.erase_loops", "suspend.esra.max_aborts"] {
        gate(key, &esra, &format!("{key} = 1"), &format!("{key} = 0"));
    }
    let key = "suspend.esra.max_suspended_reads";
    gate(key, &[PASSING], &format!("{key} = 1"), &format!("{key} = 0"));
    let key = "flash.retries.pipelined.reset_time";
    let (good, bad) = (format!("{key} = \"100s\""), format!("{key} = \"100000000001ns\""));
    gate(key, &["physics.retries = {}"], &good, &bad);
    let key = "read_start.last_vref.layers";
    let physics = ["physics = { levels = {} }"];
    for (good, bad) in [(8, 9), (1, 0)] {
        gate(key, &physics, &format!("{key} = {good}"), &format!("{key} = {bad}"));
    }
}

#[test]
fn settings_without_effect() {
    let (levels, retries) = ("physics = { levels = {} }", "physics = { retries = {} }");
    for (key, value, with, without) in [
        ("flash.hold_until_decoded", "true", levels, ""),
        (
            "flash.hold_until_decoded",
            "true",
            levels,
            "flash.cache_read = true\nphysics = { levels = {} }",
        ),
        ("flash.suspend_time", "\"1us\"", "suspend = \"program_erase\"", ""),
        ("flash.resume_time", "\"1us\"", "suspend = \"program_erase\"", ""),
        ("flash.retries", "\"pipelined\"", levels, ""),
        (
            "flash.retries",
            "\"pipelined\"",
            levels,
            "flash.cache_read = true\nphysics = { levels = {} }",
        ),
        (
            "flash.retries",
            "\"pipelined\"",
            levels,
            "flash.hold_until_decoded = false\nphysics = { levels = {} }",
        ),
        ("flash.program_loops", "3", "suspend = \"esra\"", "suspend = \"program_erase\""),
        ("flash.erase_loops", "3", "suspend = \"esra\"", ""),
        ("suspend.esra.reads", "true", PASSING, "suspend = \"esra\""),
        ("suspend.esra.max_suspended_reads", "1", PASSING, "suspend = \"esra\""),
        (
            "suspend.esra.max_suspended_reads",
            "1",
            PASSING,
            "suspend.esra.reads = false\nphysics.retries = {}\nscheduler = \"strict_priority\"\nhost.queues = 2",
        ),
        ("read_start", "\"last_vref\"", levels, ""),
        ("buffer.latency", "\"1us\"", "buffer.size = \"8KiB\"", ""),
        ("buffer.reads", "false", "buffer.size = \"8KiB\"", ""),
        ("buffer.keep_free", "0.1", "buffer.size = \"8KiB\"", ""),
        ("eviction", "\"cflru\"", "buffer.size = \"8KiB\"", ""),
        ("metadata.block_class", "\"factory\"", levels, ""),
        (
            "background.gc.d",
            "3",
            "background.gc.victim = \"d_choices\"",
            "background.gc.victim = \"random\"",
        ),
        ("read_start", "\"highest_level\"", levels, ""),
        ("read_start", "\"highest_level\"", levels, retries),
        ("start.age_max", "\"1d\"", retries, levels),
        ("start.dwell", "\"1d\"", retries, levels),
        ("start.invalid", "0.1", "start.fill = 0.5", ""),
        ("start.invalid", "0.1", "start.fill = 0.5", "start = { fill = 0.5, steady_state = true }"),
        ("start.steady_state", "true", "start.fill = 0.5", ""),
        (
            "start.steady_state",
            "true",
            "start.fill = 0.5",
            "start.fill = 0.5\nbackground.gc = false",
        ),
    ] {
        let set = format!("{key} = {value}");
        assert_eq!(resolve(&[with, &set]).map(|_| ()), Ok(()), "{set} with {with:?}");
        let refused = resolve(&[without, &set]).err();
        assert_eq!(refused.as_deref(), Some(key), "{set} with {without:?}");
        assert!(resolve(&[without]).is_ok());
    }
}
