"""Submission queues with priorities, from the trace to the figures of each queue."""

import json
from pathlib import Path

from command import Ssdlab

HEADER = "time_us,dev,op,offset_bytes,size_bytes,resp_us,queue\n"


def two_queues(folder: Path) -> Path:
    """Writes a trace in which both queues ask one die for more than it can do, in turn."""
    rows = [f"{n * 20},0,R,{n * 7919 % 4000 * 8192},8192,0,{n % 2}\n" for n in range(4000)]
    path = folder / "two.csv"
    path.write_text(HEADER + "".join(rows))
    return path


def test_the_first_queue_goes_before_the_second(ssdlab: Ssdlab, tmp_path: Path) -> None:
    small = [
        *("--set", "geometry.channels=1", "--set", "geometry.chips=1", "--set", "geometry.dies=1"),
        *("--set", "geometry.planes=1", "--set", "host.queues=2", "--set", "host.queue_depth=64"),
    ]
    trace = two_queues(tmp_path)

    def means(order: str) -> tuple[float, float]:
        arguments = ("--trace", trace, "--json", "-", "--set", f"scheduler={order}", *small)
        done = ssdlab("run", *arguments)
        assert done.code == 0, done.err
        (result,) = json.loads(done.out)["results"]
        first, second = (queue["read"] for queue in result["queues"])
        assert (first["requests"], second["requests"]) == (2000, 2000)
        return first["latency_us"]["mean"], second["latency_us"]["mean"]

    fair, strict = means("fifo"), means("strict_priority")
    assert abs(fair[0] / fair[1] - 1) < 0.02
    assert strict[0] < 0.6 * strict[1]
    assert strict[0] < fair[0] < strict[1]


def test_a_queue_that_the_drive_lacks_is_named_with_its_line(
    ssdlab: Ssdlab, tmp_path: Path
) -> None:
    done = ssdlab("run", "--trace", two_queues(tmp_path))
    assert done.code == 2
    assert "two.csv:3" in done.err
    assert "a queue below host.queues, 1" in done.err
