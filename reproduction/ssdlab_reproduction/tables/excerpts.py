"""Write the table of docs/ledger.md that has each system's headline on excerpts of real traces.

``make excerpts SSDLAB_TRACES=DIR`` runs this program: DIR has a folder for each excerpt, with a
``trace.csv.zst``. A twin runs as many requests as its excerpt has: once at its own rate, which is
that of the whole trace, and once at the excerpt's. An excerpt is the beginning of a trace or a part
of it, so that the figures are a check of the twin and no claim of a paper. Finished runs are kept
in ``build/reproduction``, so that a stopped run can be resumed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab import traces
from ssdlab.confidence import interval
from ssdlab_reproduction.claim import SYSTEMS
from ssdlab_reproduction.scope import Scope
from ssdlab_reproduction.statistics import percent, reads, writes
from ssdlab_reproduction.systems import dlv_runs, hire, pa_ssd, pv_read
from ssdlab_reproduction.tables.common import DOCS, Kept, fill, grid, load

TRACES = "SSDLAB_TRACES"
SEEDS = (1, 2, 3)
PAGE = DOCS / "ledger.md"
NAME = "excerpts"
FILE = "trace.csv.zst"

EXCERPTS: Mapping[str, str] = {
    "hm0": "msr_hm_0_7k",
    "fin1": "spc_financial1_10k",
    "fin": "spc_financial1_10k",
    "fin2": "spc_sub_financial2_a",
    "dtr": "msps_dtrs_5min",
}
"""The folder of the excerpt of each workload's trace."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A system's headline: a figure under a scheme, against another scheme, on some workloads."""

    system: str
    claim: str
    device: str
    base: str
    scheme: str
    of: str
    figure: Callable[[ssdlab.Result], float]
    workloads: Sequence[str]


def everything(result: ssdlab.Result) -> float:
    """Return the mean latency of all requests, in microseconds."""
    return result.all.latency_us.mean


HEADLINES = (
    Headline(
        *("dlv", "D3", dlv_runs.DEVICE, "dlv/baseline", "dlv/dlv", "response", everything),
        ("hm0", "fin1", "fin2"),
    ),
    *(
        Headline(
            *("pa-ssd", claim, pa_ssd.DEVICE, pa_ssd.BASE, "pa-ssd/qds+us", of, figure),
            ("dtr", "fin"),
        )
        for claim, of, figure in (("P4", "writes", writes), ("P4", "reads", reads))
    ),
    Headline(
        *("pv-read", "V3", pv_read.DEVICE, "pv-read/pv-unaware", "pv-read/pv-read", "reads"),
        reads,
        ("hm0",),
    ),
    Headline(
        *("hire", "H1", hire.DEVICE, "hire/baseline", "hire/hire", "reads", reads),
        ("hm0", "fin1", "fin2"),
    ),
)


HEADS = (
    *("system", "of what", "workload", "requests", "load of twin", "load of excerpt"),
    *("twin", "twin, at the excerpt's rate", "excerpt"),
)


def changed(
    kept: Kept, line: Headline, scopes: Sequence[Scope], workload: str, **options: Any
) -> str:
    """Return the change of a headline's figure on a workload as text, over the seeds."""
    plans = [
        scope.plan(line.device, scheme, f"{line.system}/{workload}", **options)
        for scope in scopes
        for scheme in (line.scheme, line.base)
    ]
    results = kept.compare(plans, f"{line.claim} on {workload}")
    pairs = zip(results[::2], results[1::2], strict=True)
    found = interval([percent(line.figure(own), line.figure(base)) for own, base in pairs])
    assert found.half_width_95 is not None
    return f"{found.mean:+.1f} ± {found.half_width_95:.1f} %".replace("-", "−")


def lines(kept: Kept, folder: Path) -> list[str]:
    """Return the table."""
    rows = []
    for line in HEADLINES:
        for workload in line.workloads:
            file = folder / EXCERPTS[workload] / FILE
            (measured,) = traces.info([file], reuse=False)
            cut = measured["requests"]
            twin = f"{line.system}/{workload}"
            rate = measured["rate_per_s"]
            assert rate is not None, f"{file}: all requests come at one time"
            loads = load(twin), (rate, measured["read_ratio"])
            scale = loads[0][0] / rate
            own = [Scope(seed) for seed in SEEDS]
            real = [Scope(seed, traces={twin: file}) for seed in SEEDS]
            rows.append(
                [
                    f"{SYSTEMS[line.system]} ({line.claim})",
                    f"{line.of} under `{line.scheme.partition('/')[2]}`",
                    workload,
                    f"{cut:,}",
                    *(f"{each:.1f}/s, {100 * share:.0f} % reads" for each, share in loads),
                    changed(kept, line, own, workload, limit=cut),
                    changed(kept, line, own, workload, limit=cut, time_scale=scale),
                    changed(kept, line, real, workload, limit=cut),
                ]
            )
    return grid(HEADS, rows)


def main() -> None:
    """Measure and write the table."""
    folder = os.environ.get(TRACES)
    if folder is None:
        raise SystemExit(f"{TRACES}: got nothing, expected a folder of excerpts")
    made = lines(Kept(), Path(folder))
    about = f"Means of seeds {', '.join(map(str, SEEDS))} with their 95 % intervals. "
    about += f"ssdlab {ssdlab.__version__}."
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(fill(text, NAME, [about, "", *made]), encoding="utf-8")


if __name__ == "__main__":
    main()
