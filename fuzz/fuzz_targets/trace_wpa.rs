//! Arbitrary bytes as a trace in the format `wpa`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ssdlab_fuzz::read_trace(data, Some(ssdlab_workload::Format::Wpa));
});
