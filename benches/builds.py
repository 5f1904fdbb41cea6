"""Run the same plans in two builds of ssdlab, in turn, and print how much faster the second is.

    python benches/builds.py PYTHON PYTHON [--runs N]

Each PYTHON is the interpreter of an environment that has ssdlab. Rates are those of the event loop;
of each build, the best run counts. Both builds must produce bit-identical results.
docs/project/performance.md says how much ``make fast`` gains.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

PLAIN = "generic-mlc-512g"
TRACE = "msr.csv"
CASES: Mapping[str, Mapping[str, Any]] = {
    "random": {"device": PLAIN, "workload": "random", "limit": 1_000_000},
    "gc": {
        "device": PLAIN,
        "workload": "random",
        "wrap": True,
        "limit": 150_000,
        "set": [
            "geometry.blocks=64",
            "ftl.overprovisioning=0.12",
            "start.fill=1",
            "start.steady_state=true",
            "workload.read_share=0.3",
            "workload.interarrival=1ms",
        ],
    },
    "msr-4k": {"device": PLAIN, "trace": TRACE, "set": ["geometry.page_size=4KiB"]},
    "msr-16k": {"device": PLAIN, "trace": TRACE, "set": ["geometry.page_size=16KiB"]},
    "dlv": {
        "device": "dlv-mlc-128g",
        "scheme": "dlv/dlv",
        "workload": "random",
        "limit": 200_000,
        "set": ["workload.footprint=1GiB"],
    },
    "pa-ssd": {
        "device": "pa-ssd-tlc-288g",
        "scheme": "qds+ubs",
        "workload": "random",
        "limit": 300_000,
        "set": ["workload.footprint=1GiB"],
    },
    **{
        f"readguard-{stage}": {
            "device": f"readguard-tlc-2t-{stage}",
            "scheme": "readguard/rgftl",
            "workload": "mix-a",
            "time_scale": 0.1,
            "limit": 2_000_000,
        }
        for stage in ("young", "old")
    },
}
ONE = """
import json, sys, ssdlab
result = ssdlab.run(**json.loads(sys.argv[1]))
figures = json.loads(result.to_json())
sim = figures["sim"]
print(json.dumps([sim["page_ops_per_s"], sim["requests_per_s"], figures["results_digest"]]))
"""


class Wrong(click.ClickException):
    """An argument is not a Python interpreter with ssdlab."""

    exit_code = 2


def trace(path: Path, requests: int = 500_000) -> None:
    """Write an MSR trace: requests of 4 to 64 KiB over 16 GiB, half of them reads."""
    draw, now = random.Random(1), 128_166_372_000_000_000
    with path.open("w") as file:
        for _ in range(requests):
            now += round(draw.expovariate(1 / 2_000))
            kind = "Read" if draw.random() < 0.5 else "Write"
            at = draw.randrange(4 * 2**20 - 16) * 4096
            file.write(f"{now},made,0,{kind},{at},{draw.choice((4, 8, 16, 32, 64)) * 1024},0\n")


def rates(python: str, plan: Mapping[str, Any], folder: Path) -> tuple[float, float, str]:
    """Run a plan once; return page operations per second, requests per second, and the digest.

    Raises :class:`Wrong` if the interpreter has no working ssdlab.
    """
    command = [python, "-c", ONE, json.dumps(plan)]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        page_ops, requests, digest = json.loads(done.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        reason = getattr(error, "stderr", "") or getattr(error, "strerror", "")
        got = reason.strip().splitlines()[-1] if reason.strip() else "no result"
        raise Wrong(f"{python}: got {got}, expected a Python with ssdlab") from None
    return page_ops, requests, digest


@click.command(help=__doc__.split("\n\n")[0])
@click.argument("first", type=click.Path(exists=True, dir_okay=False))
@click.argument("second", type=click.Path(exists=True, dir_okay=False))
@click.option("--runs", type=click.IntRange(1), default=3, help="Runs of each, in turn.")
def main(first: str, second: str, runs: int) -> None:
    """Measure both builds and print a Markdown table."""
    head = ("case", "page ops/s", "requests/s", "page ops/s", "requests/s", "time")
    print(f"| {' | '.join(head)} |", "|---" * len(head) + "|", sep="\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace(folder / TRACE)
        pythons = [str(Path(python).absolute()) for python in (first, second)]
        for case, plan in CASES.items():
            found = [[rates(python, plan, folder) for python in pythons] for _ in range(runs)]
            digests = {of[2] for turn in found for of in turn}
            if len(digests) > 1:
                raise SystemExit(f"{case}: results differ")
            best = [max(turn[at] for turn in found) for at in range(2)]
            cells = [f"{value / 1e6:.2f} M" for of in best for value in of[:2]]
            ratio = f"{best[0][0] / best[1][0]:.2f}"
            print(f"| `{case}` | {' | '.join([*cells, ratio])} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
