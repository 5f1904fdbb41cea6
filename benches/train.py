"""Run short plans of every kind for profile-guided optimization (``make fast``).

The plans resemble what users run. ``random`` is the beginning of the run that the docs quote.
"""

from __future__ import annotations

from pathlib import Path

import ssdlab
from ssdlab import Plan

OFFICE = Path(__file__).parents[1] / "examples/office.csv.xz"
PLAIN = "generic-mlc-512g"
STEADY = ["geometry.blocks=64", "start.fill=1", "start.steady_state=true"]
PLANS = [
    Plan(device=PLAIN, workload="random", limit=150_000),
    Plan(device=PLAIN, workload="zipf", limit=50_000, closed=64),
    Plan(device=PLAIN, workload="random", limit=60_000, wrap=True, set=STEADY),
    *(
        Plan(device=PLAIN, trace=OFFICE, wrap=True, set=[f"geometry.page_size={size}"])
        for size in ("4KiB", "16KiB")
    ),
    Plan(device="generic-tlc-2t", workload="hotcold", limit=50_000, set=["physics=retries"]),
    Plan(device="dlv-mlc-128g", scheme="dlv/dlv", workload="dlv/hm0", limit=60_000),
    Plan(device="pa-ssd-tlc-288g", scheme="qds+ubs", workload="bursty", limit=60_000),
    Plan(device="pv-read-mlc-128g", scheme="pv-read/pv-read", workload="stg0", limit=60_000),
    *(
        Plan(
            device="readguard-tlc-500g-old",
            scheme=f"readguard/{scheme}",
            workload="mix-c",
            time_scale=0.1,
            limit=100_000,
        )
        for scheme in ("rgftl", "baseline+")
    ),
    Plan(device="hire-mlc-128g", scheme="hire/hire", workload="fin1", limit=60_000),
    Plan(device="five-tlc-512g", scheme="all-five", workload="random", limit=40_000),
]


def main() -> None:
    """Run all plans."""
    for plan in PLANS:
        result = ssdlab.run(plan)
        print(f"{result.device} · {result.scheme} · {result.workload}")


if __name__ == "__main__":
    main()
