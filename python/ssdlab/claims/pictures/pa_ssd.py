"""PA-SSD's figures."""

from __future__ import annotations

from collections.abc import Callable

from ssdlab.claims.pa_ssd import (
    BASE,
    LFS,
    QDS_UBS,
    QDS_US,
    SCHEMES,
    WORKLOADS,
    Part,
    changes,
    dominated,
    quarters,
    success,
    under,
)
from ssdlab.claims.rules import Rows, picture
from ssdlab.claims.runs import Runs
from ssdlab.claims.sums import reads, relative, writes
from ssdlab.names import PAGE_TYPES

_OF_CONVENTIONAL = "Of the conventional drive's"
_HOUR_S = 3600.0


def _relative(runs: Runs, figure: Callable[[Part], float]) -> Rows:
    found = {scheme: changes(runs, scheme, figure) for scheme in SCHEMES}
    # The lightest workload first.
    return relative(
        {
            scheme: {name: each[name] for name in WORKLOADS if name in each}
            for scheme, each in found.items()
        }
    )


@picture("pa-ssd", "Fig. 9a", "Writes", under(BASE, *SCHEMES), kind="bars", y=_OF_CONVENTIONAL)
def fig_9a(runs: Runs) -> Rows:
    """Mean response of writes under each scheme, over the conventional drive's."""
    return _relative(runs, writes)


@picture("pa-ssd", "Fig. 9b", "Reads", under(BASE, *SCHEMES), kind="bars", y=_OF_CONVENTIONAL)
def fig_9b(runs: Runs) -> Rows:
    """Mean response of reads under each scheme, over the conventional drive's."""
    return _relative(runs, reads)


@picture(
    "pa-ssd",
    "Fig. 10",
    "DAP's writes by their slowest page",
    under(BASE, *SCHEMES, on=["dap"]),
    kind="shares",
    y="Share of the writes",
    number="~%",
)
def fig_10(runs: Runs) -> Rows:
    """Shares of the writes of DAP whose slowest page is of each type."""
    return [
        (scheme, name, share / 100)
        for scheme in (BASE, *SCHEMES)
        for name, share in zip(PAGE_TYPES[3], dominated(runs, scheme), strict=True)
    ]


@picture(
    "pa-ssd",
    "Fig. 11",
    "Success of typed allocation",
    under(*SCHEMES, whole=True),
    kind="bars",
    y="Pages of the type wished",
    number="~%",
)
def fig_11(runs: Runs) -> Rows:
    """Share of the pages of all workloads that got the type that was wished for them."""
    return [(scheme, "all workloads", success(runs, scheme) / 100) for scheme in SCHEMES]


@picture(
    "pa-ssd",
    "Fig. 12",
    "MSFS's writes over time",
    under(BASE, LFS, QDS_US, QDS_UBS, on=["msfs"], whole=True),
    kind="lines",
    x="Hours",
    y="Mean response of writes (ms)",
)
def fig_12(runs: Runs) -> Rows:
    """Mean response of the writes of MSFS, quarter of an hour by quarter."""
    return [
        (one.start_s / _HOUR_S, scheme, one.write_mean_us / 1e3)
        for scheme in runs.names(0)
        for one in quarters(runs[scheme, "msfs"])
        if one.write_mean_us is not None
    ]


@picture(
    "pa-ssd",
    "Fig. 13",
    "MSFS three times",
    under(BASE, LFS, QDS_US, QDS_UBS, on=["msfs"], whole=True),
    kind="bars",
    y="Of the conventional drive's",
)
def fig_13(runs: Runs) -> Rows:
    """Mean response of writes in each replay, over the conventional drive's in the same."""
    base = runs[BASE, "msfs"].replays
    return [
        (f"replay {nth}", scheme, writes(one) / writes(other))
        for scheme in runs.names(0)
        for nth, (one, other) in enumerate(
            zip(runs[scheme, "msfs"].replays, base, strict=True), start=1
        )
    ]
