"""Makes office.csv.xz: one busy minute of an office file server that never was.

The trace is synthetic: every request comes from the random numbers below, none from a real machine.
It has the columns of the MSR Cambridge traces, so that the demo goes the same way as a real one.

    python examples/make_office.py            # writes examples/office.csv.xz again, to the byte

Four things happen on the server. Documents are opened: reads of whole files, a few of them very
often. Documents are saved in bursts of large writes. A mail store writes small blocks all the time.
A virus scanner reads along for twelve seconds.
"""

from __future__ import annotations

import lzma
import math
import random
from collections.abc import Iterator
from pathlib import Path

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SPAN_S = 60.0
# A Windows file time, in units of 100 ns: midnight, 1 January 2024.
EPOCH = 133_485_408_000_000_000
HEAD = "# A synthetic trace in MSR Cambridge's columns, made by examples/make_office.py"

Request = tuple[float, str, int, int]
"""Time in seconds, Read or Write, offset and size in bytes."""


def poisson(chance: random.Random, per_second: float, begin: float, end: float) -> Iterator[float]:
    """Yield the times of events that come independently of one another."""
    now = begin
    while True:
        now -= math.log(1.0 - chance.random()) / per_second
        if now >= end:
            return
        yield now


def opened(chance: random.Random) -> Iterator[Request]:
    """Documents that are opened, 8 to 512 KiB each, the popular ones most of the time."""
    for start in poisson(chance, 120.0, 0.0, SPAN_S):
        document = int(20_000 * chance.random() ** 3)
        size = 8 * KIB << (document * 7 % 7)
        for part in range(0, size, 64 * KIB):
            yield start + part / (400 * MIB), "Read", document * MIB, min(64 * KIB, size - part)


def saved(chance: random.Random) -> Iterator[Request]:
    """Documents that are saved: up to 4 MiB in one go."""
    for start in poisson(chance, 9.0, 0.0, SPAN_S):
        offset = int(20_000 * chance.random() ** 2) * MIB
        size = 256 * KIB << chance.randrange(5)
        for part in range(0, size, 64 * KIB):
            yield start + part / (800 * MIB), "Write", offset + part, 64 * KIB


def mail(chance: random.Random) -> Iterator[Request]:
    """A mail store: small blocks all over 8 GiB, three writes to a read."""
    for now in poisson(chance, 250.0, 0.0, SPAN_S):
        kind = "Write" if chance.random() < 0.75 else "Read"
        size = chance.choice((4, 4, 8, 16)) * KIB
        yield now, kind, 40 * GIB + chance.randrange(8 * GIB // (16 * KIB)) * 16 * KIB, size


def scanned(chance: random.Random) -> Iterator[Request]:
    """A virus scanner: large reads from the start of the disk, for twelve seconds."""
    for number, now in enumerate(poisson(chance, 600.0, 24.0, 36.0)):
        yield now, "Read", number * 128 * KIB, 128 * KIB


def lines() -> Iterator[str]:
    """Yield the trace line by line."""
    yield HEAD
    sources = (opened, saved, mail, scanned)
    requests = [request for make in sources for request in make(random.Random(make.__name__))]
    for time, kind, offset, size in sorted(requests):
        # To the microsecond.
        stamp = EPOCH + round(time * 1e6) * 10
        yield f"{stamp},synthetic,0,{kind},{offset},{size},0"


def main() -> None:
    """Write the trace beside this file."""
    path = Path(__file__).with_name("office.csv.xz")
    text = "\n".join(lines()) + "\n"
    path.write_bytes(lzma.compress(text.encode(), preset=9))
    print(f"{path.name}: {text.count(chr(10)) - 1:,} requests, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
