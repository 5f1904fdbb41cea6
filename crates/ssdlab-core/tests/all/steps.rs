//! The steps of an operation: commands, transfers, decoding and further attempts.

use ssdlab_core::account::{Cause, OpKind, Part};
use ssdlab_core::{Drive, Op};
use ssdlab_nand::{PageInBlock, ProgramMode};

use crate::support::{BUS, ERASE, PROGRAM, READ, Rig, written};

const US: u64 = 1000;
const COMMAND: &str = "flash.command_time = \"1us\"";

/// Returns the ends of requests, counted from `zero`.
fn ends(rig: &mut Rig, zero: u64, tags: &[u64]) -> Vec<u64> {
    rig.finish();
    tags.iter().map(|&tag| rig.end_of(tag).unwrap() - zero).collect()
}

/// Returns the nanoseconds that requests of a kind spent in a part.
fn spent(rig: &Rig, op: Op, part: Part) -> u128 {
    rig.drive.stats().latencies[0][op as usize].blame_ns[part as usize]
}

#[test]
fn a_command_goes_over_the_bus_before_a_read_and_with_the_page_of_a_write() {
    let (mut rig, zero) = written(&[COMMAND], 1);
    let read = rig.read(0);
    assert_eq!(ends(&mut rig, zero, &[read]), [US + READ + BUS]);
    assert_eq!(spent(&rig, Op::Read, Part::Transfer), u128::from(US + BUS));
    let (mut rig, zero) = written(&[COMMAND], 1);
    let write = rig.write(0);
    assert_eq!(ends(&mut rig, zero, &[write]), [BUS + US + PROGRAM]);
}

#[test]
fn planes_read_together_have_a_command_each() {
    let sets = [COMMAND, "geometry.planes = 2", "flash.array = \"die\""];
    let (mut rig, zero) = written(&sets, 4);
    // The first read runs alone; the others wait for it and run together.
    let tags = [0, 2, 3].map(|page| rig.read(page));
    let first = US + READ + BUS;
    let both = first + 2 * US + READ;
    assert_eq!(ends(&mut rig, zero, &tags), [first, both + BUS, both + 2 * BUS]);
    // The second of the two waits while the bus carries the first one's command and page. Its wait
    // for the bus counts its share of the commands and the first one's page.
    let die = u128::from(2 * first);
    assert_eq!(spent(&rig, Op::Read, Part::DieHost), die);
    assert_eq!(spent(&rig, Op::Read, Part::Bus), u128::from(2 * US + BUS));
}

#[test]
fn an_erase_is_commanded_too() {
    for (command, more) in [("flash.command_time = \"0us\"", 0), (COMMAND, US)] {
        let sets = ["geometry = { blocks = 8, pages = 4 }", "ftl.overprovisioning = 0.5", command];
        let mut rig = Rig::new(&sets);
        let mut write = 0;
        while rig.ops(OpKind::Erase, Cause::Gc) == 0 {
            write = rig.write(0);
            rig.finish();
        }
        // The block held no valid page.
        assert_eq!(rig.now() - rig.end_of(write).unwrap(), ERASE + more);
    }
}

#[test]
fn pages_that_were_read_may_go_before_pages_to_be_programmed() {
    // The bus carries a write's page when the page to read is sensed; a second write's page waits.
    let busy = READ - 2 * US;
    for (order, read, write) in [("fifo", 3, 2), ("data_out_first", 2, 3)] {
        let order = format!("flash.bus_order = \"{order}\"");
        let (mut rig, zero) = written(&["geometry.planes = 3", &order], 3);
        let out = rig.read(0);
        rig.until(zero + busy);
        let tags = [out, rig.write(1), rig.write(2)];
        let expected = [read * BUS, BUS + PROGRAM, write * BUS + PROGRAM].map(|span| busy + span);
        assert_eq!(ends(&mut rig, zero, &tags), expected, "{order}");
    }
}

/// Reads that fail four times: no codeword has so few errors.
const FAILING: &str =
    "physics = { retries = { retries = 3, fresh_errors = 900.0, correctable = 1.0 } }";

#[test]
fn a_unit_that_holds_its_page_until_it_is_decoded_senses_again_at_once() {
    let sets = ["geometry.cell = \"slc\"", FAILING, "timing.decode = \"10us\""];
    let (mut rig, zero) = written(&sets, 2);
    let tags = [rig.read(0), rig.read(1)];
    let once = READ + BUS + 10 * US;
    assert_eq!(ends(&mut rig, zero, &tags), [4 * once, 8 * once]);
    assert_eq!(rig.drive.flash().error_counts(), (6, 2, 0));
    assert_eq!(spent(&rig, Op::Read, Part::Retry), u128::from(2 * 3 * once));
    assert_eq!(spent(&rig, Op::Read, Part::Sense), u128::from(2 * READ));
    assert_eq!(spent(&rig, Op::Read, Part::Decode), u128::from(2 * 10 * US));
}

#[test]
fn a_unit_that_releases_its_page_serves_another_during_decoding() {
    let dispatched = "flash.hold_until_decoded = false";
    let sets = ["geometry.cell = \"slc\"", FAILING, "timing.decode = \"10us\"", dispatched];
    let (mut rig, zero) = written(&sets, 2);
    let tags = [rig.read(0), rig.read(1)];
    // Sensing and transfer alternate; a failed read returns before its turn.
    let once = READ + BUS;
    assert_eq!(ends(&mut rig, zero, &tags), [7 * once + 10 * US, 8 * once + 10 * US]);
    assert_eq!(rig.drive.flash().error_counts(), (6, 2, 0));
    // The second read waits for the first one's first attempt; every turn after a failure is a
    // retry.
    assert_eq!(spent(&rig, Op::Read, Part::DieHost), u128::from(once));
    assert_eq!(spent(&rig, Op::Read, Part::Retry), u128::from(2 * 6 * once));
}

#[test]
fn an_engine_decodes_pages_in_the_order_in_which_they_come() {
    // Decoding takes longer than sensing and transfer: pages queue at the engine.
    let sets = ["geometry.planes = 4", "timing.decode = \"100us\""];
    let (mut rig, zero) = written(&sets, 4);
    let tags = [0, 1, 2, 3].map(|page| rig.read(page));
    let first = READ + BUS;
    let expected = [1, 2, 3, 4].map(|place| first + place * 100 * US);
    assert_eq!(ends(&mut rig, zero, &tags), expected);
}

#[test]
fn with_a_cache_register_a_unit_senses_while_pages_are_transferred_and_decoded() {
    // The unit senses the second page while the first is transferred and decoded.
    let sets = ["flash.cache_read = true", "timing.decode = \"30us\""];
    let (mut rig, zero) = written(&sets, 3);
    let tags = [0, 1, 2].map(|page| rig.read(page));
    let expected = [1, 2, 3].map(|place| place * READ + BUS + 30 * US);
    assert_eq!(ends(&mut rig, zero, &tags), expected);
}

#[test]
fn a_page_is_programmed_and_read_in_the_time_of_its_type() {
    let times = "timing = { read = [\"40us\", \"80us\"], program = [\"100us\", \"300us\"] }";
    let mut rig = Rig::new(&[times]);
    let order = rig.drive.resolved().page_order.clone();
    let types = [0, 1, 2, 3, 4, 5, 6, 7].map(|page| order.page_type(PageInBlock(page)).0 as usize);
    assert!(types.contains(&0) && types.contains(&1));
    for (page, of_type) in (0..).zip(types) {
        let began = rig.now();
        let write = rig.write(page);
        rig.finish();
        let written = rig.end_of(write).unwrap();
        assert_eq!(written - began, BUS + [100, 300][of_type] * US, "page {page}");
        let read = rig.read(page);
        rig.finish();
        let taken = rig.end_of(read).unwrap() - written;
        assert_eq!(taken, [40, 80][of_type] * US + BUS, "page {page}");
    }
    // The expected time of a page without a type yet is the mean.
    assert_eq!(rig.drive.flash().nominal_program(ProgramMode::NORMAL).as_ns(), BUS + 200 * US);
}

#[test]
fn sectors_take_their_share_of_the_time_that_is_stated_for_a_page_and_whole_pages_all_of_it() {
    let stated = "timing.program_modes = [{ name = \"normal\", transfer = \"20us\" }]";
    let saved = |moved: &str| {
        let moved = format!("flash.transfer = \"{moved}\"");
        let taken = |sectors: u64| {
            let (mut rig, zero) = written(&["physics = { levels = {} }", stated, &moved], 1);
            let read = rig.offer(Op::Read, 0, sectors, 0).unwrap();
            ends(&mut rig, zero, &[read])[0]
        };
        [2, 5].map(|sectors| taken(8) - taken(sectors))
    };
    assert_eq!(saved("sectors"), [15 * US, 7 * US + 500]);
    assert_eq!(saved("page"), [0, 0]);
}

#[test]
fn the_default_policies_ignore_hints() {
    let rig = Rig::new(&[]);
    assert!(!Drive::heeds_hints(rig.drive.resolved()));
}
