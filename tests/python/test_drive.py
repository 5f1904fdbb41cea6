"""A drive under somebody's hands."""

import pytest

import ssdlab
from ssdlab.drive import Completion

US = 1000
# One die of flat physics: a read senses for 75 us, a program takes 750 us, a page 10 us on the bus.
ONE = {
    "geometry.channels": 1,
    "geometry.chips": 1,
    "geometry.dies": 1,
    "geometry.planes": 1,
    "geometry.page_size": "8KiB",
    "timing.read": "75us",
    "timing.program": "750us",
    "flash.bus_rate": "819200000B/s",
}


def one(**settings: object) -> ssdlab.Drive:
    return ssdlab.Drive(set={**ONE, **settings})


def test_time_goes_on_only_when_the_drive_is_advanced() -> None:
    drive = one()
    assert (drive.now_ns, drive.next_event_ns) == (0, None)
    assert drive.submit("write", lba=0, sectors=16) == 0
    assert drive.submit("read", lba=0, sectors=16, at_ns=100 * US) == 1
    assert drive.now_ns == 100 * US
    assert drive.advance(until_ns=759 * US) == []
    (write,) = drive.advance(until_ns=760 * US)
    assert write == Completion(
        number=0,
        op="write",
        queue=0,
        lba=0,
        sectors=16,
        arrival_ns=0,
        end_ns=760 * US,
        blame_ns={"transfer": 10 * US, "program": 750 * US},
    )
    (read,) = drive.advance()
    assert (read.number, read.latency_ns) == (1, (760 - 100 + 85) * US)
    assert sum(read.blame_ns.values()) == read.latency_ns
    assert drive.next_event_ns is None
    assert drive.advance(until_ns=900 * US) == []
    assert drive.now_ns == 900 * US


def test_a_drive_whose_blocks_are_its_queues_needs_no_workload() -> None:
    small = {"geometry.channels": 1, "geometry.chips": 1, "geometry.blocks": 64}
    drive = ssdlab.Drive(
        device="readguard-tlc-2t-old",
        scheme="readguard/rgftl",
        set={**small, "ftl.overprovisioning": 0.4},
    )
    # A read of a page takes tR, tDMA and tECC for each attempt.
    drive.submit("read", lba=0, sectors=32)
    (read,) = drive.advance()
    attempt = 45_000 + 10_240 + 10_000
    assert read.latency_ns % attempt == 0
    assert read.latency_ns // attempt > 1


def test_a_full_queue_takes_nothing() -> None:
    drive = one(**{"host.queue_depth": 2})
    numbers = [drive.submit("write", lba=16 * page, sectors=16) for page in range(3)]
    assert numbers == [0, 1, None]
    drive.advance(until_ns=760 * US)
    assert drive.submit("write", lba=32, sectors=16) == 2
    assert drive.counts().unfinished == 2


def test_a_drive_counts_its_operations() -> None:
    drive = one()
    drive.submit("write", lba=0, sectors=32)
    drive.submit("trim", lba=0, sectors=16)
    drive.submit("flush")
    assert {done.op for done in drive.advance()} == {"write", "trim", "flush"}
    counts = drive.counts()
    assert (counts.waf, counts.mapped_pages, counts.unfinished) == (1.0, 1, 0)
    assert counts.ops["program"]["host"] == 2


def test_the_same_calls_give_the_same_ends() -> None:
    def ends() -> list[int]:
        drive = ssdlab.Drive(device="generic-tlc-2t", seed=3, set={"physics": "retries"})
        for n in range(200):
            drive.submit("read" if n % 3 else "write", lba=n * 977 % 5000 * 8, sectors=8)
        return [done.end_ns for done in drive.advance()]

    assert ends() == ends()


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: one().submit("raed"), 'got "raed"'),  # type: ignore[arg-type]
        (lambda: one().submit("read", lba=1 << 60, sectors=1), "does not lie on the drive"),
        (lambda: one().submit("read", lba=0, sectors=0), "at least 1 sector"),
        (lambda: one().submit("read", lba=0, sectors=1, queue=3), "in a queue below 1"),
        (lambda: ssdlab.Drive(workload="zipf"), "the caller submits the requests of this drive"),
        (lambda: ssdlab.Drive(device="x"), "--device: not a device"),
    ],
)
def test_impossible_calls_are_reported_in_one_line(call: object, line: str) -> None:
    with pytest.raises(ssdlab.InputError) as caught:
        call()  # type: ignore[operator]
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_time_does_not_go_back() -> None:
    drive = one()
    drive.advance(until_ns=10)
    with pytest.raises(ssdlab.InputError, match="in the past"):
        drive.advance(until_ns=9)
    with pytest.raises(ssdlab.InputError, match="in the past"):
        drive.submit("read", lba=0, sectors=1, at_ns=9)


def test_impossible_numbers_are_refused() -> None:
    drive = one()
    for wrong, line in (
        ({"lba": -1}, "lba: got -1, expected a whole number from 0"),
        ({"lba": 2**70}, f"lba: got {2**70}, expected at most {2**63 - 1}"),
        ({"at_ns": -5}, "at_ns: got -5, expected a whole number from 0"),
        ({"hint": 9}, "hint: got 9, expected at most 3"),
        ({"hint": 300}, "hint: got 300, expected at most 3"),
        ({"queue": 300}, "queue: got 300, expected at most 255"),
        ({"sectors": 2**32}, f"sectors: got {2**32}, expected at most {2**32 - 1}"),
    ):
        with pytest.raises(ssdlab.InputError) as caught:
            drive.submit("read", **{"sectors": 1, **wrong})
        assert str(caught.value) == line
    with pytest.raises(ssdlab.InputError, match="until_ns: got -1"):
        drive.advance(until_ns=-1)
