"""How fast the simulator is: page operations a second, and the time until a 2 TB drive is ready.

    python benches/speed.py [--save]

A page operation is a completed flash page read or program of any cause, retries not counted, per
second of the event loop. Each case runs several times on one core; the fastest run counts, since
everything else on the machine can only slow a run down. ``--save`` keeps the figures in
benches/runs/.
"""

from __future__ import annotations

import datetime as dt
import json
import platform
import sys
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab.text import amount, digits

TIMES = 5
CASES: dict[str, dict[str, Any]] = {
    "random": {"device": "generic-mlc-512g", "workload": "random"},
    "random, reads alone": {
        "device": "generic-mlc-512g",
        "workload": "random",
        "set": {"workload.read_share": 1},
    },
    "zipf": {"device": "generic-mlc-512g", "workload": "zipf"},
    "sequential": {"device": "generic-mlc-512g", "workload": "sequential"},
    "random, 2 TB": {"device": "generic-tlc-2t", "workload": "random"},
}


def measure(case: dict[str, Any]) -> ssdlab.Result:
    """Run a case several times; the fastest."""
    results = [ssdlab.run(**case) for _ in range(TIMES)]
    return max(results, key=lambda result: result.sim.page_ops_per_s)


def main() -> None:
    """Measure every case and print it."""
    print(f"{'case':<20} {'page ops/s':>10} {'requests/s':>10} {'ready':>8}")
    figures = {}
    for name, case in CASES.items():
        sim = measure(case).sim
        figures[name] = {"page_ops_per_s": sim.page_ops_per_s, "ready_s": sim.ready_s}
        ready = f"{digits(sim.ready_s * 1e3)} ms"
        speeds = f"{amount(sim.page_ops_per_s):>10} {amount(sim.requests_per_s):>10}"
        print(f"{name:<20} {speeds} {ready:>8}")
    if "--save" in sys.argv:
        save(figures)


def save(figures: dict[str, dict[str, float]]) -> None:
    """Keep the figures, with the day and the machine that they are from."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    machine = {"system": platform.platform(), "processor": processor()}
    whole = {"date": today, "version": ssdlab.__version__, **machine, "figures": figures}
    path = Path(__file__).with_name("runs") / f"{today}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    print(f"saved as benches/runs/{path.name}")


def processor() -> str:
    """Return the name of the processor, where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
