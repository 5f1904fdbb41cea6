//! Arbitrary bytes as a trace whose compression and format are recognized.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ssdlab_fuzz::read_trace(data, None);
});
