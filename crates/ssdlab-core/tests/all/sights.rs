//! What does a drive tell whoever looks at it from outside, and take from who sets it up?

use ssdlab_core::stats::Ended;
use ssdlab_nand::{BlockId, Lpn, PlaneId};

use crate::support::{BUS, READ, Rig};

#[test]
fn an_order_that_holds_requests_back_says_so() {
    let holds = |order: &str| Rig::new(&[order]).drive.holds_back();
    assert!(holds("order = \"dlv\""));
    assert!(holds("order = { fifo = { hol = true } }"));
    assert!(!holds("order = \"fifo\""));
}

#[test]
fn array_units_are_told_with_their_planes_and_their_channels() {
    let units = |array: &str| -> Vec<(u32, u32, u16)> {
        let array = format!("flash.array = \"{array}\"");
        let rig = Rig::new(&["geometry = { channels = 2, dies = 2, planes = 2 }", &array]);
        let units = rig.drive.flash().planes_of_units();
        units.map(|(first, planes, channel)| (first.0, planes, channel)).collect()
    };
    assert_eq!(units("chip"), [(0, 4, 0), (4, 4, 1)]);
    assert_eq!(units("die"), [(0, 2, 0), (2, 2, 0), (4, 2, 1), (6, 2, 1)]);
    let planes = (0..8).map(|plane| (plane, 1, u16::from(plane >= 4)));
    assert_eq!(units("plane"), planes.collect::<Vec<_>>());
}

#[test]
fn a_log_goes_on_when_statistics_begin_anew_and_without_what_came_before() {
    let mut rig = Rig::new(&[]);
    let take = |rig: &mut Rig| -> Vec<u64> {
        let mut rows: Vec<Ended> = Vec::new();
        rig.drive.take_log(&mut rows);
        rows.iter().map(|row| row.request.tag).collect()
    };
    rig.write(0);
    rig.finish();
    rig.drive.keep_log();
    rig.write(1);
    rig.finish();
    assert_eq!(take(&mut rig), [1]);
    rig.write(2);
    rig.finish();
    rig.drive.reset_stats();
    rig.write(3);
    rig.finish();
    assert_eq!(take(&mut rig), [3]);
    assert!(take(&mut rig).is_empty());
}

#[test]
fn a_page_laid_down_before_the_start_is_there_once_and_is_read_as_any() {
    let mut rig = Rig::new(&["geometry.channels = 2"]);
    for page in [3, 5, 3] {
        assert!(rig.drive.lay_down(page));
    }
    assert_eq!(rig.drive.stats().preloaded, 2);
    let lies = |page| rig.drive.ftl().map.get(Lpn(page)).map(|ppn| ppn.0);
    let plane = rig.drive.resolved().geometry().page_count() / 2;
    assert_eq!([3, 5, 4].map(lies), [Some(plane), Some(plane + 1), None]);
    let read = rig.read(5);
    rig.finish();
    assert_eq!(rig.end_of(read), Some(READ + BUS));
    assert_eq!(rig.drive.stats().unmapped_reads, 0);
}

#[test]
fn a_page_is_not_laid_down_where_there_is_no_room() {
    // Pages of the host that were overwritten fill the plane; nobody collects them.
    let mut rig = Rig::new(&["tend.gc = false"]);
    for n in 0..14 * 8 {
        rig.write(n % 8);
        rig.finish();
    }
    let room = 16 * 8 - 14 * 8 - 8;
    let laid: Vec<bool> = (8..8 + room + 2).map(|page| rig.drive.lay_down(page)).collect();
    let (there, beyond) = laid.split_at(room as usize);
    assert!(there.iter().all(|&laid| laid), "but for a block that is kept: {laid:?}");
    assert!(!beyond.iter().any(|&laid| laid));
}

#[test]
fn a_drive_that_is_given_what_another_held_sorts_the_blocks_by_what_it_believes_itself() {
    let levels = ["physics = { levels = {} }", "belief.grade = \"factory\""];
    let media = Rig::new(&levels[..1]).drive.media().unwrap();
    let graded = Rig::new(&levels);
    let resolved = std::sync::Arc::new(graded.drive.resolved().clone());
    let given = ssdlab_core::Drive::with_media(resolved, media).unwrap();
    let classes = |drive: &ssdlab_core::Drive| -> Vec<u8> {
        (0..16).map(|block| drive.ftl().blocks.class(BlockId(block))).collect()
    };
    assert_eq!(classes(&given), classes(&graded.drive));
    assert!(classes(&given).contains(&0) && classes(&given).contains(&1));
    let free = |drive: &ssdlab_core::Drive| drive.ftl().alloc.free_blocks(PlaneId(0));
    assert_eq!(free(&given), free(&graded.drive));
}
