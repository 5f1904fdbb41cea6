//! The recorded activities of every part of the back end, and the recorded period.

use ssdlab_base::SimTime;
use ssdlab_core::account::{Cause, OpKind};
use ssdlab_core::{Act, Span};

use crate::support::{BUS, ERASE, PROGRAM, READ, Rig, written};

const US: u64 = 1000;
const UNIT: u32 = 0;
const THE_BUS: u32 = 1;

/// Returns the activity of a part for the host's request to a page, with times relative to `zero`.
fn span(zero: u64, part: u32, act: Act, lpn: u32, start: u64, end: u64) -> Span {
    let (start, end) = (SimTime::from_ns(zero + start), SimTime::from_ns(zero + end));
    Span { part, act, cause: Cause::Host, lpn: Some(lpn), start, end }
}

/// Returns the recorded activities of a part, in order.
fn seen(rig: &Rig, part: u32) -> Vec<Span> {
    let spans = rig.drive.flash().timeline.spans(rig.drive.now());
    spans.filter(|span| span.part == part).collect()
}

#[test]
fn every_part_is_seen_doing_one_thing_after_another() {
    let sets = ["flash.command_time = \"1us\"", "timing.decode = \"10us\""];
    let two = "geometry.channels = 2";
    let (mut rig, zero) = written(&[sets[0], sets[1], two], 2);
    rig.drive.record(SimTime::NEVER);
    // Odd pages lie on the second channel: the second of two units, two buses and two engines.
    let (unit, bus, engine) = (1, 3, 5);
    rig.write(3);
    rig.finish();
    let read = rig.now() - zero;
    rig.read(1);
    rig.finish();
    let programmed = BUS + US + PROGRAM;
    assert_eq!(read, programmed);
    let sensed = programmed + US + READ;
    let out = sensed + BUS;
    assert_eq!(
        seen(&rig, unit),
        [
            span(zero, unit, Act::TakeIn, 3, 0, BUS + US),
            span(zero, unit, Act::Program, 3, BUS + US, programmed),
            span(zero, unit, Act::Commanded, 1, programmed, programmed + US),
            span(zero, unit, Act::Sense, 1, programmed + US, sensed),
            span(zero, unit, Act::GiveOut, 1, sensed, out),
        ]
    );
    assert_eq!(
        seen(&rig, bus),
        [
            span(zero, bus, Act::DataIn, 3, 0, BUS + US),
            span(zero, bus, Act::Command, 1, programmed, programmed + US),
            span(zero, bus, Act::DataOut, 1, sensed, out),
        ]
    );
    assert_eq!(seen(&rig, engine), [span(zero, engine, Act::Decode, 1, out, out + 10 * US)]);
    assert_eq!(
        rig.drive.flash().timeline.spans(rig.drive.now()).count(),
        9,
        "the other channel is idle"
    );
}

#[test]
fn spans_that_begin_before_recording_ends_are_recorded_in_full() {
    for (until, parts) in [(BUS, 1), (BUS + 1, 2)] {
        let (mut rig, zero) = written(&[], 1);
        rig.drive.record(SimTime::from_ns(zero + until));
        rig.write(1);
        rig.finish();
        let both = [
            span(zero, UNIT, Act::TakeIn, 1, 0, BUS),
            span(zero, UNIT, Act::Program, 1, BUS, BUS + PROGRAM),
        ];
        assert_eq!(seen(&rig, UNIT), &both[..parts], "until {until}");
        assert_eq!(seen(&rig, THE_BUS), [span(zero, THE_BUS, Act::DataIn, 1, 0, BUS)]);
    }
}

#[test]
fn what_is_under_way_is_seen_from_when_recording_begins_until_now() {
    let sets = ["geometry.channels = 2", "timing.decode = \"10us\""];
    // The second of two units, two buses and two engines.
    let (unit, bus, engine) = (1, 3, 5);
    let (mut rig, zero) = written(&sets, 2);
    rig.write(3);
    rig.until(zero + BUS / 2).drive.record(SimTime::NEVER);
    rig.until(zero + BUS + US);
    assert_eq!(
        seen(&rig, unit),
        [
            span(zero, unit, Act::TakeIn, 3, BUS / 2, BUS),
            span(zero, unit, Act::Program, 3, BUS, BUS + US),
        ]
    );
    assert_eq!(seen(&rig, bus), [span(zero, bus, Act::DataIn, 3, BUS / 2, BUS)]);

    let (mut rig, zero) = written(&sets, 2);
    rig.read(1);
    let (out, decoded) = (READ + BUS, READ + BUS + 10 * US);
    rig.until(zero + out + US).drive.record(SimTime::NEVER);
    assert_eq!(
        rig.drive.flash().timeline.spans(rig.drive.now()).count(),
        1,
        "nothing else is under way"
    );
    rig.finish();
    assert_eq!(seen(&rig, engine), [span(zero, engine, Act::Decode, 1, out + US, decoded)]);
}

#[test]
fn a_program_that_is_interrupted_is_seen_in_two_parts() {
    let (mut rig, zero) = written(&["suspend = { program_erase = {} }"], 2);
    rig.drive.record(SimTime::NEVER);
    rig.write(1);
    let begun = BUS + 20 * US;
    rig.until(zero + begun).read(0);
    rig.finish();
    let suspended = begun + 5 * US;
    let gone = suspended + READ + BUS;
    assert_eq!(
        seen(&rig, UNIT),
        [
            span(zero, UNIT, Act::TakeIn, 1, 0, BUS),
            span(zero, UNIT, Act::Program, 1, BUS, begun),
            span(zero, UNIT, Act::Suspend, 1, begun, suspended),
            span(zero, UNIT, Act::Sense, 0, suspended, suspended + READ),
            span(zero, UNIT, Act::GiveOut, 0, suspended + READ, gone),
            span(zero, UNIT, Act::Program, 1, gone, gone + 5 * US + PROGRAM - 20 * US),
        ]
    );
}

#[test]
fn an_erase_is_seen_as_one_of_no_page_though_a_read_interrupts_it() {
    let sets = ["geometry = { blocks = 8, pages = 4 }", "ftl.overprovisioning = 0.5"];
    let mut rig = Rig::new(&[sets[0], sets[1], "suspend = { program_erase = {} }"]);
    rig.drive.record(SimTime::NEVER);
    while rig.ops(OpKind::Erase, Cause::Gc) == 0 {
        rig.write(0);
        rig.wait_below(1).unwrap();
        let left = rig.drive.next_event().map_or(0, |next| next.as_ns() - rig.now());
        if left == ERASE {
            rig.read(0);
        }
        rig.finish();
    }
    let mut erases = seen(&rig, UNIT);
    erases.retain(|span| span.act == Act::Erase);
    let [before, after] = &erases[..] else { panic!("{erases:?}") };
    for span in [before, after] {
        assert_eq!((span.cause, span.lpn), (Cause::Gc, None));
    }
    assert_eq!(before.start, before.end, "interrupted as it began");
    assert_eq!((after.end - after.start).as_ns(), 5 * US + ERASE);
}

#[test]
fn every_act_has_a_name_of_its_own() {
    let acts = [Act::Sense, Act::Program, Act::Erase, Act::Suspend, Act::Command];
    let acts = [&acts[..], &[Act::DataOut, Act::DataIn, Act::Decode, Act::Commanded]].concat();
    let acts = [&acts[..], &[Act::Held, Act::GiveOut, Act::TakeIn]].concat();
    for (n, act) in acts.iter().enumerate() {
        assert!(!act.name().is_empty());
        assert!(acts[..n].iter().all(|other| other.name() != act.name()), "{act:?}");
    }
}
