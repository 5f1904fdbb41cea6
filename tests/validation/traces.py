"""Writes the input traces of the comparison with MQSim: ``time_ns device lba sectors op``.

    python tests/validation/traces.py FOLDER

``op`` is 1 for a read and 0 for a write; sectors have 512 bytes. Arrivals are exponential;
addresses are even over the footprint and aligned to the request's size. The random numbers are
those of Python's ``random`` with these seeds: the files are always the same to the byte.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

KIB, GIB = 1 << 10, 1 << 30
SECTOR = 512


@dataclass(frozen=True, kw_only=True)
class Case:
    """One trace."""

    requests: int
    gap_ns: int
    footprint: int = 16 * GIB
    read_share: float
    seed: int
    sizes_kib: tuple[int, ...] = (8,)


CASES = {
    "r-unloaded": Case(requests=20_000, gap_ns=2_000_000, read_share=1.0, seed=1),
    "r-moderate": Case(requests=100_000, gap_ns=20_000, read_share=1.0, seed=2),
    "r-large": Case(requests=100_000, gap_ns=60_000, read_share=1.0, seed=4, sizes_kib=(64,)),
    "w-light": Case(requests=100_000, gap_ns=100_000, read_share=0.0, seed=5),
    "w-moderate": Case(requests=100_000, gap_ns=40_000, read_share=0.0, seed=6),
    "mix-5050": Case(
        requests=100_000, gap_ns=200_000, read_share=0.5, seed=7, sizes_kib=(8, 16, 32, 64)
    ),
}
GC_SMALL = Case(requests=600_000, gap_ns=2_500_000, footprint=3 * GIB // 2, read_share=0.0, seed=11)


def lines(case: Case) -> list[str]:
    """Return the lines of a case that may mix sizes and operations."""
    rng, now, out = random.Random(case.seed), 0.0, []
    for _ in range(case.requests):
        now += rng.expovariate(1 / case.gap_ns)
        sectors = rng.choice(case.sizes_kib) * KIB // SECTOR
        lba = sectors * rng.randrange(0, case.footprint // SECTOR // sectors)
        out.append(f"{int(now)} 0 {lba} {sectors} {1 if rng.random() < case.read_share else 0}\n")
    return out


def gc_lines(case: Case) -> list[str]:
    """Return the lines of a case with single-page writes alone: nothing else is drawn."""
    rng, now, out = random.Random(case.seed), 0.0, []
    sectors = case.sizes_kib[0] * KIB // SECTOR
    for _ in range(case.requests):
        now += rng.expovariate(1 / case.gap_ns)
        lba = sectors * rng.randrange(0, case.footprint // SECTOR // sectors)
        out.append(f"{int(now)} 0 {lba} {sectors} 0\n")
    return out


def write(folder: Path, name: str) -> Path:
    """Write the trace of one case; where it is."""
    path = folder / f"{name}.trace"
    text = gc_lines(GC_SMALL) if name == "gc-small" else lines(CASES[name])
    path.write_text("".join(text), encoding="ascii")
    return path


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    target.mkdir(parents=True, exist_ok=True)
    for each in (*CASES, "gc-small"):
        print(write(target, each))
