"""Write the sweeps of docs/systems/dlv.md: queue depth, chips, buffers, overhead.

``make dlv`` runs this program after ``tables.dlv``: ``python -m
ssdlab_reproduction.tables.dlv_sweeps [REQUESTS]``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean

import pyarrow.compute as pc
import pyarrow.parquet as pq

import ssdlab
from ssdlab_reproduction.tables.dlv import PAGE, SWEPT, change, mean_us

WORKLOADS = ["rsrch0", "fin1", "src12", "proj3", "hm0"]
WAYS = {"64 outstanding": 64, "at their times": None}
DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
CHIPS = [4, 8, 16, 32, 64, 128]
CHANNELS = 4
# NVMe's largest queue.
NO_LIMIT = 65_535
BUFFERS = ["none", "lru", "cflru", "lru_wsr", "ccf_lru", "pt_lru"]
BUFFER_SIZE = "50MB"
# The nanoseconds in which a controller examines one expected end: a load, a sum and a comparison on
# a core of some hundred megahertz.
STEP_NS = 10


def plan(
    requests: int,
    workload: str,
    scheme: str = "dlv",
    closed: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> ssdlab.Plan:
    """Return one run; addresses are folded into drives that are too small for them."""
    return ssdlab.Plan(
        device="dlv-mlc-128g",
        workload=f"dlv/{workload}",
        scheme=scheme,
        limit=requests,
        closed=closed,
        wrap=True,
        set=settings or {},
    )


def table(head: str, columns: Iterable[object], rows: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Return the lines of a table."""
    names = [str(name) for name in columns]
    lines = [f"| {head} | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    return lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in rows]


def against_first(
    requests: int, settings: list[dict[str, str]], closed: int | None
) -> list[tuple[str, list[str]]]:
    """Return each workload's mean response under DLV, relative to that with the first settings."""
    plans = [
        plan(requests, name, closed=closed, settings=one) for name in WORKLOADS for one in settings
    ]
    means = [mean_us(result) for result in ssdlab.compare(plans)]
    rows = []
    for at, name in enumerate(WORKLOADS):
        own = means[at * len(settings) : (at + 1) * len(settings)]
        rows.append((name, [change(mean, own[0]) for mean in own[1:]]))
    return rows


def of_depth(requests: int) -> list[str]:
    """Return the table of the device's queue depth."""
    settings = [{"host.queue_depth": str(depth)} for depth in DEPTHS]
    return table("depth", DEPTHS[1:], against_first(requests, settings, None))


def of_window(requests: int) -> list[str]:
    """Return the table of the number of waiting requests that DLV chooses from, both ways."""
    settings = [{"scheduler.dlv.window": str(depth)} for depth in DEPTHS]
    rows = []
    for way, closed in {"512 outstanding": DEPTHS[-1], "at their times": None}.items():
        deep = [one | {"host.queue_depth": str(closed or NO_LIMIT)} for one in settings]
        found = against_first(requests, deep, closed)
        rows += [(f"{name}, {way}", cells) for name, cells in found]
    return table("window", DEPTHS[1:], rows)


def of_chips(requests: int) -> list[str]:
    """Return the table of the number of chips, both ways."""
    settings = [{"geometry.chips": str(chips // CHANNELS)} for chips in CHIPS]
    rows = []
    for way, closed in WAYS.items():
        found = against_first(requests, settings, closed)
        rows += [(f"{name}, {way}", cells) for name, cells in found]
    return table("chips", CHIPS[1:], rows)


def of_buffers(requests: int) -> list[str]:
    """Return the table of DLV against the baseline behind the same buffer."""
    rows = []
    for way, closed in WAYS.items():
        by_buffer: dict[str, list[float]] = {}
        hits: dict[str, list[float]] = {}
        for name in WORKLOADS:
            plans = []
            for buffer in BUFFERS:
                own = {} if buffer == "none" else {"buffer.size": BUFFER_SIZE, "eviction": buffer}
                plans += [plan(requests, name, of, closed, own) for of in ("baseline", "dlv")]
            results = ssdlab.compare(plans)
            for at, buffer in enumerate(BUFFERS):
                base, dlv = results[2 * at], results[2 * at + 1]
                by_buffer.setdefault(buffer, []).append(mean_us(dlv) / mean_us(base))
                found = dlv.buffer.hit_ratio if dlv.buffer else None
                hits.setdefault(buffer, []).append(found or 0)
        cells = [change(fmean(by_buffer[buffer]), 1) for buffer in BUFFERS]
        rows.append((f"dlv, {way}", cells))
        shares = [f"{100 * fmean(hits[buffer]):.0f} %" for buffer in BUFFERS]
        rows.append((f"pages found, {way}", shares))
    return table("buffer", BUFFERS, rows)


def of_hm0(requests: int) -> list[str]:
    """Return the table of the shares of hm0's requests that end in time."""
    schemes = ["baseline", "woo", "roo", "dlv"]
    rows = []
    for way, closed in WAYS.items():
        cells = []
        for scheme in schemes:
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "log.parquet"
                ssdlab.run(plan(requests, "hm0", scheme, closed), log=log)
                rows_of = pq.read_table(log, columns=["op", "latency_ns"])
            within = []
            for op, limit_ns in (("write", 2_000_000), ("read", 200_000)):
                of_op = rows_of.filter(pc.equal(rows_of["op"], op))
                within.append(100 * pc.mean(pc.less_equal(of_op["latency_ns"], limit_ns)).as_py())
            cells.append(f"{within[0]:.1f} %, {within[1]:.1f} %")
        rows.append((way, cells))
    return table("writes within 2 ms, reads within 0.2 ms", schemes, rows)


def of_overhead(requests: int) -> list[str]:
    """Return the table of the work of choosing."""
    rows = []
    for way, closed in WAYS.items():
        results = ssdlab.compare([plan(requests, name, closed=closed) for name in WORKLOADS])
        steps = [(result.scheduling_steps or 0) / result.requests for result in results]
        rows.append((f"steps a request, {way}", [f"{count:.1f}" for count in steps]))
        shares = [
            100 * STEP_NS / 1000 * count / mean_us(result)
            for count, result in zip(steps, results, strict=True)
        ]
        label = f"of the response at {STEP_NS} ns a step, {way}"
        rows.append((label, [f"{share:.3f} %" for share in shares]))
    return table("", WORKLOADS, rows)


def main() -> None:
    """Measure and write the sweeps."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    parts = [
        ("The depth of the device's queue", "against a depth of 1, at their times", of_depth),
        ("Size of the window", "against a window of 1, in a deep queue", of_window),
        ("Chips", f"against {CHIPS[0]} chips", of_chips),
        ("Buffers", f"of {BUFFER_SIZE}, against the baseline behind the same buffer", of_buffers),
        ("hm0's requests in time", "shares", of_hm0),
        ("The work of choosing", "under DLV", of_overhead),
    ]
    lines = [
        f"The first {requests:,} requests of each twin, seed 1, ssdlab {ssdlab.__version__};",
        "changes of the mean response over reads and writes in percent, if nothing else is said.",
        "",
    ]
    for title, about, measure in parts:
        lines += [f"### {title}", "", f"{about[0].upper()}{about[1:]}.", "", *measure(requests), ""]
        print(f"{title}: done", file=sys.stderr)
    head = PAGE.read_text(encoding="utf-8").split(SWEPT)[0]
    PAGE.write_text(f"{head}{SWEPT}\n" + "\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
