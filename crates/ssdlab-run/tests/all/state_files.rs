//! Checks that every altered state file is refused in one line.

use std::io::Write;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use ssdlab_core::drive::Media;
use ssdlab_run::state::Header;
use ssdlab_run::{
    Control, Plan, load_state, read_state, run_uninterrupted, save_state, write_state,
};

/// Returns a plan of a drive with a few kilobytes of tables.
fn plan() -> Plan {
    let set = [
        "geometry.channels=1",
        "geometry.chips=1",
        "geometry.dies=1",
        "geometry.planes=1",
        "geometry.blocks=12",
        "geometry.pages=8",
        "ftl.overprovisioning=0.4",
        "start.fill=0.5",
        "workload.footprint=128KiB",
        "workload.requests=200",
    ];
    Plan {
        device: "dlv-mlc-128g".into(),
        set: set.map(String::from).to_vec(),
        paranoid: true,
        ..Plan::default()
    }
}

/// Returns the bytes of a state file of that drive.
fn file() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    save_state(&plan(), &path, &Control::new(1)).unwrap().unwrap();
    std::fs::read(path).unwrap()
}

fn read(bytes: &[u8]) -> Result<(Header, Media), String> {
    let read = read_state("s", bytes, &Control::new(0));
    read.map(|read| read.expect("nobody stops it")).map_err(|fault| fault.to_string())
}

fn refused(bytes: &[u8], what: impl std::fmt::Display) -> String {
    let line = read(bytes).err().unwrap_or_else(|| panic!("{what} is taken for a state"));
    assert!(!line.contains('\n') && line.starts_with("s: "), "{what}: {line:?}");
    line
}

/// Runs a plan from the bytes of a state file.
fn run_from(bytes: &[u8]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    std::fs::write(&path, bytes).unwrap();
    let from = Plan { state: Some(path), ..plan() };
    run_uninterrupted(&[from], 1).map(drop).map_err(|fault| fault.to_string())
}

/// Returns the offset of the frame, after the lines at the beginning of a file.
fn frame(file: &[u8]) -> usize {
    let ends = file.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(at, _)| at + 1).nth(2).unwrap()
}

fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let hash = Sha256::digest(&file);
    for byte in hash {
        write!(file, "{byte:02x}").unwrap();
    }
    file.push(b'\n');
    file
}

/// Returns a file with this header, valid or not, and this frame, with matching hashes.
fn crafted(header: &Value, frame: &[u8]) -> Vec<u8> {
    let file = [b"ssdlab state 12\n", &serde_json::to_vec(header).unwrap()[..], b"\n"].concat();
    sealed([sealed(file), frame.to_vec()].concat())
}

#[test]
fn a_file_of_which_any_bit_was_flipped_is_refused() {
    let mut file = file();
    read(&file).unwrap();
    for bit in 0..file.len() * 8 {
        file[bit / 8] ^= 1 << (bit % 8);
        refused(&file, format_args!("bit {bit} flipped"));
        file[bit / 8] ^= 1 << (bit % 8);
    }
    read(&file).unwrap();
}

#[test]
fn a_file_that_ends_early_or_goes_on_is_refused() {
    let file = file();
    for left in 0..file.len() {
        let line = refused(&file[..left], format_args!("{left} bytes"));
        let messages = ["is damaged", "is no state file", "of another layout", "is empty"];
        assert!(messages.iter().any(|message| line.contains(message)), "{left}: {line}");
    }
    let begins = frame(&file);
    for more in [&b"\0"[..], b"\n", &file, &file[begins..]] {
        refused(&[&file, more].concat(), "a file that goes on");
    }
    // Another frame is refused even if the hash is right.
    let contents = &file[begins..file.len() - 65];
    for more in [contents, &[0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7], b"x"] {
        let file = sealed([&file[..file.len() - 65], more].concat());
        let line = refused(&file, "a second frame");
        assert!(line.contains("is inconsistent: extra bytes follow the contents"), "{line}");
    }
}

#[test]
fn a_file_of_another_layout_is_refused() {
    assert!(
        refused(b"not a state", "a text").contains("is no state file: expected a file written")
    );
    assert!(refused(b"", "nothing").contains("is no state file"));
    let before = [&[0x28, 0xb5, 0x2f, 0xfd][..], &[7; 200]].concat();
    let line = refused(&before, "an old one");
    assert!(line.contains("layout 6 or before") && line.contains("save it again"), "{line}");
    let mut later = file();
    later[13] = b'8';
    let line = refused(&later, "a later one");
    assert!(line.contains("another layout: got 82, expected 12"), "{line}");
    let folder = tempfile::tempdir().unwrap();
    let of = |path: &Path| load_state(path, &Control::new(0)).unwrap_err().to_string();
    assert!(of(folder.path()).contains("is a folder: expected a state in a file"));
    assert!(of(Path::new("/dev/null")).contains("is a pipe or a device"));
    assert!(of(&folder.path().join("none")).contains("cannot be read"));
}

#[test]
fn a_run_says_what_is_wrong_with_its_state_in_the_header_or_behind_it() {
    let file = file();
    run_from(&file).unwrap();
    for at in [20, frame(&file) + 30, file.len() - 10] {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        assert!(run_from(&damaged).unwrap_err().contains("is damaged"), "byte {at}");
    }
}

#[test]
fn a_header_with_right_hashes_that_cannot_be_is_refused() {
    let file = file();
    let begins = frame(&file);
    let line = file.split(|byte| *byte == b'\n').nth(1).unwrap();
    let header: Value = serde_json::from_slice(line).unwrap();
    let frame = &file[begins..file.len() - 65];
    read(&crafted(&header, frame)).unwrap();
    let cases: [(&str, Value, &str); 10] = [
        ("/mapped_pages", 1.into(), "pages hold data, and 1 are counted"),
        ("/logical_pages", 0.into(), "0 of "),
        ("/logical_pages", 1.into(), "1 of "),
        ("/config/start/fill", 0.75.into(), "is inconsistent: the hash of its config is another"),
        ("/contents_sha256", "0".repeat(64).into(), "its contents are not those of its header"),
        ("/config/geometry/blocks", 0.into(), "got geometry.blocks, expected 1 to 16777216"),
        ("/config/geometry/blocks", 13.into(), "is inconsistent"),
        ("/config/geometry/pages", 65_534.into(), "is inconsistent"),
        ("/config", Value::Null, "is damaged: its header"),
        ("/seed", "x".into(), "is damaged: its header"),
    ];
    for (key, value, what) in cases {
        let mut header = header.clone();
        *header.pointer_mut(key).unwrap() = value.clone();
        if key.starts_with("/config/geometry") {
            header["config_hash"] = ssdlab_config::hash_of(&header["config"]).into();
        }
        let line = refused(&crafted(&header, frame), key);
        assert!(line.contains(what), "{key} = {value}: {line}");
    }
}

#[test]
fn lengths_that_are_claimed_take_no_memory() {
    let file = file();
    let line = file.split(|byte| *byte == b'\n').nth(1).unwrap();
    let mut header: Value = serde_json::from_slice(line).unwrap();
    let contents = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    // Maps of 2^40 pages, of the most pages of a drive, and of 97 pages.
    for length in [1u64 << 40, 1 << 32, 97] {
        let claimed = postcard::to_allocvec(&length).unwrap();
        let line = refused(&crafted(&header, &contents(&claimed)), length);
        assert!(line.contains("it holds no contents of its drive"), "{line}");
    }
    for (key, count) in [("blocks", 1 << 24), ("pages", 254)] {
        header["config"]["geometry"][key] = count.into();
    }
    header["config_hash"] = ssdlab_config::hash_of(&header["config"]).into();
    let zeros = [postcard::to_allocvec(&4_000_000_000u64).unwrap(), vec![0; 1 << 20]].concat();
    let line = refused(&crafted(&header, &contents(&zeros)), "a bomb");
    let is_refused =
        line.contains("holds no contents") || line.contains("than there is memory for");
    assert!(is_refused, "{line}");
    // A compression window of 128 MiB.
    let mut wide = zstd::Encoder::new(Vec::new(), 1).unwrap();
    wide.window_log(27).unwrap();
    wide.long_distance_matching(true).unwrap();
    wide.write_all(&zeros).unwrap();
    refused(&crafted(&header, &wide.finish().unwrap()), "a window");
}

#[test]
fn what_is_written_is_what_is_read() {
    let bytes = file();
    let (header, media) = read(&bytes).unwrap();
    let mut again = Vec::new();
    write_state(&mut again, header, &media).unwrap();
    assert_eq!(again, bytes);
}
