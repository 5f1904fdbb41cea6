//! Arbitrary text as `FILE[:format]`.
#![no_main]

libfuzzer_sys::fuzz_target!(|spec: &str| {
    match ssdlab_workload::parse_spec(spec) {
        Ok((path, None)) => assert_eq!(path.to_str(), Some(spec)),
        Ok((path, Some(_))) => assert!(spec.starts_with(path.to_str().unwrap_or("\0"))),
        Err(fault) => ssdlab_fuzz::check_line(&fault.to_string()),
    }
});
