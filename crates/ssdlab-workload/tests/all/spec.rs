//! `FILE` and `FILE:format`.

use crate::names;
use ssdlab_workload::{Format, parse_spec};

#[test]
fn a_path_alone_and_a_path_with_a_format() {
    assert_eq!(parse_spec("a/b.csv"), Ok(("a/b.csv".into(), None)));
    assert_eq!(parse_spec("a/b.csv:msr"), Ok(("a/b.csv".into(), Some(Format::Msr))));
    assert_eq!(parse_spec("a:b/c:SPC"), Ok(("a:b/c".into(), Some(Format::Spc))));
}

#[test]
fn colons_within_a_path_stay_there() {
    for path in ["C:\\traces\\hm_0.csv", "10:30/trace", "at 10:30.csv"] {
        assert_eq!(parse_spec(path), Ok((path.into(), None)));
    }
}

#[test]
fn a_file_that_exists_is_the_file() {
    let folder = std::env::temp_dir().join(format!("ssdlab-spec-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for name in ["at 10:30", "odd:msr"] {
        std::fs::write(path(name), "").unwrap();
        assert_eq!(parse_spec(&path(name)), Ok((path(name).into(), None)));
    }
    assert_eq!(parse_spec(&path("odd:msr:spc")), Ok((path("odd:msr").into(), Some(Format::Spc))));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_format_that_is_none_is_refused_with_the_nearest() {
    assert_eq!(
        parse_spec("a.csv:mrs").unwrap_err().to_string(),
        format!(
            "a.csv:mrs: unknown trace format: got mrs, expected one of {} \
         (did you mean \"msr\"?)",
            names()
        )
    );
    assert_eq!(
        parse_spec("a.csv:").unwrap_err().to_string(),
        format!("a.csv:: unknown trace format: got nothing, expected one of {}", names())
    );
}

#[test]
fn an_empty_trace_name_is_refused() {
    let line = |spec| parse_spec(spec).unwrap_err().to_string();
    assert_eq!(line(""), "no trace is named: got \"\", expected FILE or FILE:format");
    assert_eq!(line(":msr"), "no trace is named: got \":msr\", expected FILE or FILE:format");
    assert_eq!(
        line("a\0b"),
        "a path cannot hold a NUL: got \"a\\0b\", expected FILE or FILE:format"
    );
}
