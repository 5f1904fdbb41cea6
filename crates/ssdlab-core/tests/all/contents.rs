//! A drive that receives the media of another drive behaves like that drive.

use std::sync::Arc;

use ssdlab_core::Writer;
use ssdlab_core::drive::Media;
use ssdlab_core::{Drive, Op, Resolved};
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::support::{Rig, SPP, config};

const AGEING: &str = "physics = { retries = {} }";
const SECTORS: &str = "ftl.partial_writes = \"sector_bitmap\"";

/// Returns an idle drive of random pages, some of them overwritten, partly written or trimmed.
fn used(sets: &[&str]) -> Rig {
    let mut rig = Rig::new(sets);
    for n in 0..300 {
        let page = ssdlab_base::rng::hash(1, 2, n) % 80;
        rig.wait_below(4).unwrap();
        let (op, first, sectors) = match n % 10 {
            0 => (Op::Trim, 0, SPP),
            1 => (Op::Write, 2, 3),
            _ => (Op::Write, 0, SPP),
        };
        rig.offer(op, page * SPP + first, sectors, 0).unwrap();
    }
    rig.finish();
    rig
}

/// Returns a new drive with these settings that starts with `media`.
fn holding(sets: &[&str], media: Media) -> Option<Rig> {
    let resolved = Resolved::new(&config(sets), 1).unwrap();
    let drive = Drive::with_media(Arc::new(resolved), media).ok()?;
    Some(Rig { drive, done: Vec::new(), tag: 0 })
}

#[test]
fn a_drive_goes_on_with_what_another_held() {
    let sets = [AGEING, SECTORS];
    let mut before = used(&sets);
    let mut after = holding(&sets, before.drive.clone().media().unwrap()).unwrap();
    assert_eq!(after.now(), 0);
    assert_eq!(after.drive.audit(), Ok(()));
    let (old, new) = (before.drive.ftl(), after.drive.ftl());
    for lpn in (0..old.map.logical_pages()).map(Lpn) {
        assert_eq!(old.map.get(lpn), new.map.get(lpn));
        assert_eq!(old.map.sectors(lpn), new.map.sectors(lpn));
        assert_eq!(old.map.was_trimmed(lpn), new.map.was_trimmed(lpn));
    }
    for block in (0..16).map(BlockId) {
        assert_eq!(old.blocks.state(block), new.blocks.state(block));
        assert_eq!(old.blocks.erases(block), new.blocks.erases(block));
    }
    // The same requests now take equally long on both drives.
    let zero = before.now();
    for rig in [&mut before, &mut after] {
        rig.done.clear();
        for page in 0..60 {
            rig.pages(if page % 3 == 0 { Op::Write } else { Op::Read }, page, 1);
        }
        rig.finish();
    }
    let ends = |rig: &Rig, zero| -> Vec<u64> {
        rig.done.iter().map(|completion| completion.end.as_ns() - zero).collect()
    };
    assert_eq!(ends(&before, zero), ends(&after, 0));
}

#[test]
fn open_blocks_of_a_saved_drive_stay_with_their_stream() {
    let sets = [
        "geometry.channels = 2",
        "physics = { levels = {} }",
        "metadata.block_class = \"factory\"",
        "ftl.overprovisioning = 0.4",
    ];
    let open = |rig: &Rig| {
        let alloc = &rig.drive.ftl().alloc;
        let pages = |plane, stream| alloc.open_pages(PlaneId(plane), stream);
        [0, 1].map(|plane| (pages(plane, Writer::Host), pages(plane, Writer::Gc)))
    };
    let mut before = used(&sets);
    // Continue until both writers have blocks open on both planes, with unequal numbers of pages.
    while open(&before).iter().any(|&(host, gc)| host == gc || gc == 0) {
        let page = ssdlab_base::rng::hash(1, 3, before.tag) % 80;
        before.write(page);
        before.finish();
    }
    let after = holding(&sets, before.drive.clone().media().unwrap()).unwrap();
    assert_eq!(open(&after), open(&before));
}

#[test]
fn what_a_drive_of_another_shape_held_is_refused() {
    let media = used(&[AGEING]).drive.clone().media().unwrap();
    assert!(holding(&[AGEING], media.clone()).is_some());
    for other in [
        "geometry.blocks = 17",
        "geometry.pages = 10",
        "ftl.overprovisioning = 0.35",
        SECTORS,
        "physics = \"flat\"",
    ] {
        let sets = if other.starts_with("physics") { vec![other] } else { vec![AGEING, other] };
        assert!(holding(&sets, media.clone()).is_none(), "{other}");
    }
}

/// Strongly programmed pages have so many errors that a read takes several attempts.
const STRONG: [&str; 4] = [
    "physics = { levels = {} }",
    "timing.program_modes = [{ name = \"normal\" }, { name = \"strong\", base_factor = 30.0 }]",
    "metadata.block_class = \"factory\"",
    "program_mode = [{ per_class = { modes = [\"strong\"] } }]",
];

#[test]
fn a_drive_remembers_how_the_pages_that_it_takes_over_were_programmed() {
    let retries = |media| {
        let mut rig = holding(&STRONG, media)?;
        rig.read(0);
        rig.finish();
        Some(rig.drive.flash().error_counts().0)
    };
    // Only strong blocks are programmed strongly, and no write requests one.
    let mut normal = Rig::new(&[&STRONG[..3], &["program_mode = [\"per_class\"]"]].concat());
    normal.write(0);
    let normal = normal.finish().drive.clone().media().unwrap();
    assert_eq!(retries(normal.clone()), Some(0));
    let mut strong = Rig::new(&STRONG);
    strong.write(0);
    let strong = strong.finish().drive.clone().media().unwrap();
    assert!(retries(strong.clone()).unwrap() > 0);
    // On a drive with one program mode, no page was programmed in another mode.
    assert!(holding(&STRONG[..1], normal).is_some());
    assert!(holding(&STRONG[..1], strong).is_none());
}

#[test]
fn what_was_written_before_the_start_was_written_normally_whatever_lies_there_since() {
    let lazy = "start.unwritten_reads = \"lazy\"";
    let mut rig = Rig::new(&[&STRONG[..], &[lazy]].concat());
    let (written, all) = (70, 89);
    for page in 0..written {
        rig.write(page);
        rig.finish();
    }
    for page in written..all {
        rig.read(page);
        rig.finish();
    }
    assert_eq!(rig.drive.flash().error_counts().0, 0);
}

#[test]
fn blocks_that_were_open_are_filled_in_a_drive_of_other_classes() {
    let alike =
        ["geometry.channels = 2", "physics = { levels = {} }", "ftl.overprovisioning = 0.4"];
    let estimates = [
        alike[0],
        alike[1],
        alike[2],
        "metadata.block_class = { factory = { shares = [0.3, 0.3] } }",
        "placement = [{ small_to_strong = { pages = 1 } }]",
    ];
    let mut before = Rig::new(&estimates);
    // On each plane, one page of a strong block and two pages of a normal block.
    for (first, count) in [(0, 1), (1, 1), (4, 4)] {
        before.pages(Op::Write, first, count);
    }
    before.finish();
    let media = before.drive.clone().media().unwrap();
    let mut after = holding(&alike, media.clone()).unwrap();
    let again = holding(&estimates, after.drive.clone().media().unwrap()).unwrap();
    let open = |rig: &Rig, plane| {
        let mut open = rig.drive.ftl().alloc.open_list(PlaneId(plane));
        open.sort_unstable_by_key(|(block, _)| block.0);
        open
    };
    for plane in 0..2 {
        assert_eq!(open(&before, plane).len(), 2);
        assert_eq!(open(&after, plane), open(&before, plane));
        assert_eq!(open(&again, plane), open(&before, plane));
    }
    let free = |rig: &Rig| [0, 1].map(|plane| rig.drive.ftl().alloc.free_blocks(PlaneId(plane)));
    assert_eq!(after.drive.audit(), Ok(()));
    // Each plane has seven pages left, then six. The second plane's pages arrive first, so that it
    // could take the first plane's block.
    for page in (11..36).step_by(2).chain((10..36).step_by(2)) {
        after.write(page);
        after.finish();
    }
    assert_eq!(free(&after), [14, 14]);
    after.pages(Op::Write, 36, 2);
    after.finish();
    assert_eq!(free(&after), [13, 13]);
    let geometry = after.drive.resolved().geometry();
    for page in 10..38 {
        let ppn = after.drive.ftl().map.get(Lpn(page)).unwrap();
        assert_eq!(geometry.plane_of_page(ppn).0, page % 2, "page {page}");
    }
}

/// Reads that need several levels, policies that learn, and a plane with room for streams.
const LEARNS: [&str; 5] = [
    "geometry = { blocks = 96 }",
    "ftl.overprovisioning = 0.4",
    "physics = { levels = { base = { shares = [1, 1, 1, 1, 1, 1, 1] } } }",
    "placement = [\"sepbit\"]",
    "read_start = \"last_level\"",
];

#[test]
fn policies_go_on_with_what_they_had_learned() {
    let learned = |mut rig: Rig, reads: bool| {
        for page in (0..60).filter(|_| reads) {
            rig.read(page);
        }
        rig.finish();
        rig
    };
    let before = learned(used(&LEARNS), true);
    let policies = |rig: &Rig| rig.drive.clone().media().unwrap().policies().clone();
    let after = holding(&LEARNS, before.drive.clone().media().unwrap()).unwrap();
    assert_eq!(policies(&after), policies(&before));
    // A drive with only one of the policies takes over that policy's state.
    let [.., read_start] = LEARNS;
    let other = [&LEARNS[..3], &[read_start]].concat();
    let of_one = policies(&holding(&other, before.drive.clone().media().unwrap()).unwrap());
    assert_ne!(of_one, policies(&Rig::new(&other)));
    // Reads begin at the remembered levels: no read of a page read before fails.
    let failed = |mut rig: Rig| {
        (0..60).for_each(|page| {
            rig.read(page);
        });
        rig.finish().drive.flash().error_counts().0
    };
    let media = before.drive.clone().media().unwrap();
    let blank = holding(&[&LEARNS[..3], &["read_start = \"lowest_level\""]].concat(), media);
    assert_eq!(failed(after), 0);
    assert!(failed(blank.unwrap()) > 0);
}
