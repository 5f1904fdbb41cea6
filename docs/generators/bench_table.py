"""Fill in the tables of docs/project/performance.md: ``make bench``, and other simulators.

``make docs`` runs this script on the newest raw figures under ``benches/runs``.
``tests/python/test_pages.py`` fails while the page is out of date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ssdlab_reproduction.tables.common import DOCS, ROOT, fill

PAGE = DOCS / "project" / "performance.md"
RATES = (
    *("random", "gc", "gc-whole", "saturated", "msr-4k", "msr-16k", "levels", "retries"),
    *("dlv", "pa-ssd", "readguard", "deep", "deep-woo", "deep-dlv"),
)
"""The cases that measure a speed, in the page's order."""
MEMORY = ("start-2t", "start-2t-aged", "memory-in-order", "memory-scattered", "command-2t")
"""The cases that measure a start, memory or the whole command."""
MQSIM = {
    "mixed": "4 to 64 KiB, half of them reads, over 16 GiB",
    "writes": "pages of 8 KiB, written over 1.5 of 2 GiB: collection throughout",
}
"""The cases that MQSim and ssdlab run, by the names in the raw figures."""
SIMPLESSD = {
    "mixed": "8 to 64 KiB, half of them reads, over 16 GiB",
    "pages": "pages of 8 KiB, 70 % of them reads, over 512 MiB",
}
"""The cases that SimpleSSD and ssdlab run."""
REDESIGN = "instructions.json"
"""The instructions of some cases before policies had events and actions, and today."""
MILLION = 1e6
Case = Mapping[str, Any]


def _newest(name: str) -> Any:
    """Return the newest raw figures of this name."""
    path = max(ROOT.glob(f"benches/runs/20*/{name}"))
    return json.loads(path.read_text(encoding="utf-8"))


def _median(case: Case, what: str) -> float:
    return median(run[what] for run in case["runs"])


def _optional(case: Case, what: str, form: str) -> str:
    return "–" if case[what] is None else f"{case[what]:{form}}"


def rates(cases: Mapping[str, Case]) -> list[str]:
    """Return the table of speeds, by processor time."""
    head = (
        *("case", "drive and workload", "page ops/s", "in bare operations", "instructions"),
        *("cache misses", "requests/s"),
    )
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in RATES:
        case = cases[name]
        requests = median(one["requests_per_s"] / one["processor_share"] for one in case["runs"])
        cells = [
            f"`{name}`",
            case["about"],
            f"{_median(case, 'page_ops_per_processor_s') / MILLION:.2f} M",
            f"{_median(case, 'page_op_in_bare_ops'):.2f}",
            _optional(case, "instructions_per_page_op", ",.0f"),
            _optional(case, "cache_misses_per_page_op", ".2f"),
            f"{requests / MILLION:.2f} M",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def memory(cases: Mapping[str, Case]) -> list[str]:
    """Return the table of starts, of memory and of the whole command."""
    lines = ["| case | drive | result |", "|---|---|---|"]
    for name in MEMORY:
        case = cases[name]
        if "command_s" in case["runs"][0]:
            peak = _median(case, "command_peak_mb")
            result = f"{_median(case, 'command_s'):.2f} s, {peak:.0f} MB"
        elif "ready_s" in case["runs"][0]:
            ready = f"{_median(case, 'ready_s'):.3f} s"
            result = f"ready in {ready}, {_median(case, 'memory_mb'):.0f} MB"
        else:
            result = f"{_median(case, 'bytes_per_page'):.1f} bytes a page"
        lines.append(f"| `{name}` | {case['about']} | {result} |")
    return lines


def redesign(raw: Mapping[str, Any]) -> list[str]:
    """Return the table of instructions for a page operation before the redesign and after."""
    before, after = raw["before"], raw["after"]
    lines = [f"| case | {before['commit']} | {after['commit']} | ratio |", "|---" * 4 + "|"]
    for name, old in before["instructions_per_page_op"].items():
        new = after["instructions_per_page_op"][name]
        lines.append(f"| `{name}` | {old:,.0f} | {new:,.0f} | {new / old:.3f} |")
    return lines


def _response(microseconds: float) -> str:
    return f"{microseconds:.0f} µs" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def against(raw: Mapping[str, Any], loads: Mapping[str, str], title: str) -> list[str]:
    """Return the table of both simulators: of each, the run with the least processor time."""
    lines = [
        "| requests | simulator | processor | memory | mean response |",
        "|---|---|---|---|---|",
    ]
    other = title.lower()
    for load, about in loads.items():
        fastest = {
            name: min(raw[load][name], key=lambda run: run["processor_s"])
            for name in (other, "ssdlab")
        }
        ratio = fastest[other]["processor_s"] / fastest["ssdlab"]["processor_s"]
        for name, shown, more in (
            (other, title, ""),
            ("ssdlab", "ssdlab", f": {ratio:.1f} times less"),
        ):
            run = fastest[name]
            cells = [
                about if name == other else "",
                shown,
                f"{run['processor_s']:.2f} s{more}",
                f"{run['peak_mb']:,.0f} MB",
                _response(run["mean_us"]),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def filled(text: str) -> str:
    """Return the page with the newest figures in its tables."""
    cases = _newest("raw.json")["cases"]
    tables: dict[str, Sequence[str]] = {
        "rates": rates(cases),
        "memory": memory(cases),
        "redesign": redesign(_newest(REDESIGN)),
        "mqsim": against(_newest("against_mqsim.json"), MQSIM, "MQSim"),
        "simplessd": against(_newest("against_simplessd.json"), SIMPLESSD, "SimpleSSD"),
    }
    for name, lines in tables.items():
        text = fill(text, name, lines)
    return text


def main() -> None:
    """Fill in the tables."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
