//! Arbitrary bytes as a trace in the format `parquet`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    ssdlab_fuzz::read_table(data);
});
