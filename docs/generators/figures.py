"""Fill in the figures that prose cites: ``<!-- figure: NAME -->…<!-- / -->`` in root and docs.

A figure comes from the program or from a file that a make target wrote. ``make docs`` fills it in;
``tests/python/test_pages.py`` fails while a page is out of date.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from pyarrow import Table
from pyarrow.parquet import read_table

import ssdlab
from ssdlab import _native
from ssdlab_reproduction.tables.common import DOCS, ROOT, pages_with

FIGURE = re.compile(r"<!-- figure: ([\w.]+) -->.*?<!-- / -->", re.DOTALL)
VERDICT = re.compile(r"^\| \*\*[A-Z]\d+\*\* \|.*\*\*([^*|]*)\*\* \|[^|]*\|$", re.MULTILINE)
"""The verdict in the first row of a claim in the ledger."""
MILLION = 1e6
NEW = "new-cases/raw.json"
"""Cases that the newest complete run of the benchmarks does not have yet."""
LONG_RUN = 100 * MILLION
"""Requests of the long run of `make scale`."""


class UnknownFigureError(Exception):
    """A page cites a figure that this file does not know."""


class UnequalWorkError(Exception):
    """Two simulators that a page compares did not perform the same page operations."""


def _newest(name: str) -> Any:
    """Return a measurement from the newest day under ``benches/runs`` that has it."""
    path = max(ROOT.glob(f"benches/runs/20*/{name}"))
    return json.loads(path.read_text(encoding="utf-8"))


def _of_case(case: str, what: str, file: str = "raw.json") -> float:
    """Return the median of a value over the runs of a benchmark."""
    return median(run[what] for run in _newest(file)["cases"][case]["runs"])


def _millions(case: str, what: str) -> str:
    """Return a rate of a benchmark in millions."""
    return f"{_of_case(case, what) / MILLION:.2f}"


def _requests_on_one_core(case: str) -> str:
    """Return the requests per second of processor time, in millions."""
    runs = _newest("raw.json")["cases"][case]["runs"]
    rates = [run["requests_per_s"] / run["processor_share"] for run in runs]
    return f"{median(rates) / MILLION:.2f}"


def _of_random(file: str) -> str:
    """Return the rates of three systems by the wall clock, relative to ``random`` beside them."""
    cases = _newest(file)["cases"]
    rates = {
        case: median(run["page_ops_per_s"] for run in cases[case]["runs"])
        for case in ("random", "dlv", "readguard", "pa-ssd")
    }
    dlv, readguard, pa_ssd = (
        f"{rates[case] / rates['random']:.2f}" for case in ("dlv", "readguard", "pa-ssd")
    )
    return f"{dlv}, {readguard} and {pa_ssd}"


def _less_time_than(other: str) -> str:
    """Return a simulator's processor time relative to ssdlab's: minimum and maximum over the cases.

    Of each simulator's runs of a case, the fastest counts.
    """
    raw = _newest(f"against_{other}.json")
    cases = [one for one in raw.values() if isinstance(one, dict)]
    times = [
        min(run["processor_s"] for run in case[other])
        / min(run["processor_s"] for run in case["ssdlab"])
        for case in cases
    ]
    return f"{min(times):.1f} to {max(times):.1f}"


def _simplessd_cases() -> list[dict[str, Any]]:
    """Return the runs of each case that SimpleSSD and ssdlab ran."""
    return [one for one in _newest("against_simplessd.json").values() if isinstance(one, dict)]


def _apart_from_simplessd() -> str:
    """Return how far apart the mean responses are at most.

    Raises :class:`UnequalWorkError` if the page operations of a case are not the same.
    """
    firsts = [(case["simplessd"][0], case["ssdlab"][0]) for case in _simplessd_cases()]
    if any(theirs["operations"] != ours["operations"] for theirs, ours in firsts):
        raise UnequalWorkError
    apart = max(abs(theirs["mean_us"] / ours["mean_us"] - 1) for theirs, ours in firsts)
    return f"{100 * apart:.1f} %"


def _spread_against_simplessd() -> str:
    """Return by how much the slowest run of a case exceeds the fastest at most."""
    times = [
        [run["processor_s"] for run in runs]
        for case in _simplessd_cases()
        for runs in case.values()
    ]
    return f"{max(100 * (max(some) / min(some) - 1) for some in times):.0f} %"


def _seconds_of_long_run() -> float:
    """Return the seconds of the run of 100 million requests that `make scale` recorded."""
    raw = json.loads((ROOT / "benches/runs/scale/raw.json").read_text(encoding="utf-8"))
    return sum(raw["long_request_ns"]) / len(raw["long_request_ns"]) * LONG_RUN / 1e9


def _claims(verdict: str = "") -> str:
    """Return how many claims of the ledger have a verdict that begins with ``verdict``."""
    ledger = (DOCS / "ledger.md").read_text(encoding="utf-8")
    return str(sum(found.startswith(verdict) for found in VERDICT.findall(ledger)))


def _newcomer_sources() -> str:
    """Return the most source files that a patch for a new policy touches; tests are others."""
    patches = (ROOT / "tests" / "newcomer").glob("*.patch")
    texts = [patch.read_text(encoding="utf-8") for patch in patches]
    of_source = re.compile(r"^diff --git a/crates/[\w-]+/src/", re.MULTILINE)
    return str(max(len(of_source.findall(text)) for text in texts))


@cache
def _requests() -> Table:
    """Return README's run, a row per request with its latency and the parts of it."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "requests.parquet"
        ssdlab.run(trace=ROOT / "examples" / "office.csv.xz", log=log)
        return read_table(log)


def _parts() -> list[str]:
    """Return the columns of the parts of a latency."""
    names: list[str] = _requests().column_names
    return [name for name in names[names.index("host_queue_ns") :] if name.endswith("_ns")]


def _unexplained_ns() -> int:
    """Return how many nanoseconds of all latencies belong to no part, or to two."""
    rows = _requests().to_pylist()
    return sum(abs(row["latency_ns"] - sum(row[part] for part in _parts())) for row in rows)


def _kept_digests() -> int:
    """Return how many runs `make digests` keeps the digests of."""
    kept = ROOT / "crates/ssdlab-run/tests/all/digests/digests.txt"
    return len(kept.read_text(encoding="utf-8").splitlines())


def _oldest_rust() -> str:
    """Return the oldest version of Rust that the workspace allows."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["rust-version"])


NOT_RECORDED = "not recorded yet"
"""Stands where `make time-first-run` has not run."""


def _first_run() -> dict[str, Any]:
    """Return what `make time-first-run` recorded; nothing if it has not run."""
    path = ROOT / "benches/runs/first-run/raw.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def _first_table() -> str:
    """Return how long it takes from a clone to the first table."""
    raw = _first_run()
    return f"{raw['clone_s'] + raw['table_s']:.0f} s" if raw else NOT_RECORDED


def _edit_to_run() -> str:
    """Return how long it takes from an edit of the core to the end of a short run."""
    raw = _first_run()
    return f"{median(raw['edit_s']):.0f} s" if raw else NOT_RECORDED


def _first_run_machine() -> str:
    """Return on which machine both were measured, and when."""
    raw = _first_run()
    return f"{raw['processor']}, {raw['memory_gb']:.0f} GB, {raw['date']}" if raw else NOT_RECORDED


FIGURES: dict[str, Callable[[], str]] = {
    "page_operations": lambda: f"{_of_case('random', 'page_ops_per_processor_s') / MILLION:.1f}",
    "memory_2t": lambda: f"{_of_case('command-2t', 'command_peak_mb'):.0f}",
    "bench.gc": lambda: _millions("gc", "page_ops_per_processor_s"),
    "bench.gc_whole": lambda: _millions("gc-whole", "page_ops_per_processor_s"),
    "bench.dlv": lambda: _millions("dlv", "page_ops_per_s"),
    "bench.readguard": lambda: _millions("readguard", "page_ops_per_s"),
    "bench.pa_ssd": lambda: _millions("pa-ssd", "page_ops_per_s"),
    "bench.of_random": lambda: _of_random("raw.json"),
    "bench.of_random_in_turn": lambda: _of_random("half/raw.json"),
    "bench.msr_4k": lambda: _requests_on_one_core("msr-4k"),
    "bench.msr_4k_wall": lambda: _millions("msr-4k", "requests_per_s"),
    "bench.msr_16k": lambda: _requests_on_one_core("msr-16k"),
    "bench.msr_16k_wall": lambda: _millions("msr-16k", "requests_per_s"),
    "bench.start_2t_ms": lambda: f"{_of_case('start-2t', 'ready_s') * 1000:.0f}",
    "bench.start_2t_mb": lambda: f"{_of_case('start-2t', 'memory_mb'):.0f}",
    "bench.command_2t_s": lambda: f"{_of_case('command-2t', 'command_s'):.2f}",
    "bench.aged_2t_s": lambda: f"{_of_case('start-2t-aged', 'ready_s'):.1f}",
    "bench.aged_2t_mb": lambda: f"{_of_case('start-2t-aged', 'memory_mb'):.0f}",
    "bench.history_2t_s": lambda: f"{_of_case('start-2t-history', 'ready_s', NEW):.1f}",
    "bench.history_2t_processor_s": lambda: (
        f"{_of_case('start-2t-history', 'ready_processor_s', NEW):.1f}"
    ),
    "bench.history_2t_mb": lambda: f"{_of_case('start-2t-history', 'memory_mb', NEW):.0f}",
    "bench.twin": lambda: f"{_of_case('twin', 'requests_per_processor_s', NEW) / MILLION:.2f}",
    "scale.long_s": lambda: f"{_seconds_of_long_run():.0f}",
    "against_mqsim": lambda: _less_time_than("mqsim"),
    "against_simplessd": lambda: _less_time_than("simplessd"),
    "against_simplessd.apart": _apart_from_simplessd,
    "against_simplessd.spread": _spread_against_simplessd,
    "claims": _claims,
    "claims.reproduced": lambda: _claims("reproduced"),
    "claims.construction": lambda: _claims("reproduced, by construction"),
    "claims.ruled": lambda: _claims("reproduced, by a ruling"),
    "claims.direction": lambda: _claims("direction only"),
    "claims.direction_ruled": lambda: _claims("direction only, by a ruling"),
    "claims.not": lambda: _claims("not reproduced"),
    "digests": lambda: str(_kept_digests()),
    "parts": lambda: str(len(_parts())),
    "unexplained_ns": lambda: str(_unexplained_ns()),
    "first_run": _first_table,
    "edit_to_run": _edit_to_run,
    "first_run_machine": _first_run_machine,
    "rust": _oldest_rust,
    "newcomer_sources": _newcomer_sources,
    "formats": lambda: str(len(_native.formats())),
    "twins": lambda: str(len(json.loads(_native.twins()))),
}


def filled(page: str) -> str:
    """Return a page with the current figures.

    Raises :class:`UnknownFigureError` if the page cites an unknown figure.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in FIGURES:
            message = f"{found[1]}: unknown figure, expected {', '.join(FIGURES)}"
            raise UnknownFigureError(message)
        return f"<!-- figure: {found[1]} -->{FIGURES[found[1]]()}<!-- / -->"

    return FIGURE.sub(value, page)


def main() -> None:
    """Fill in the figures on all pages."""
    for page in pages_with(FIGURE):
        text = page.read_text(encoding="utf-8")
        if (now := filled(text)) != text:
            page.write_text(now, encoding="utf-8")
            print(f"{page.relative_to(ROOT)}: figures that it cites have changed")


if __name__ == "__main__":
    main()
