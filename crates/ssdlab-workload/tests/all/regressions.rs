//! Failures that a fuzzer or a property test found, each named as a fact.

use ssdlab_workload::{Format, TraceOptions, parse_spec};

use crate::{drain_by, names, trace};

#[test]
fn a_request_refused_for_its_stamp_is_not_counted_as_read() {
    let text = "485 0 1302 1 1\n0 0 1302 1 1\n";
    let mut t = trace(text, Some(Format::Mqsim), &TraceOptions::default()).unwrap();
    let (records, _, fault) = drain_by(&mut t, 10);
    assert_eq!(fault.unwrap().line, Some(2));
    assert_eq!((records.len(), t.counts().requests), (1, 1));
}

#[test]
fn a_control_character_in_a_path_does_not_reach_the_message() {
    assert_eq!(
        parse_spec("a\n\u{2}b:sXc").unwrap_err().to_string(),
        format!(
            "a\u{fffd}\u{fffd}b:sXc: unknown trace format: got sXc, \
         expected one of {} (did you mean \"spc\"?)",
            names()
        )
    );
    let fault = ssdlab_workload::open("no\nsuch".as_ref(), None).err().unwrap();
    assert_eq!(fault.to_string(), "no\u{fffd}such: no such file");
}
