"""The common parts of the measuring scripts: tables, changes, and kept runs."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab import _native
from ssdlab_reproduction import ledger, runs
from ssdlab_reproduction.statistics import percent

ROOT = Path(__file__).parents[3]
"""The checkout, to whose pages the scripts write."""
DOCS = ROOT / "docs"


def pages_with(pattern: re.Pattern[str]) -> list[Path]:
    """Return the pages of the root and of the docs that contain a pattern."""
    pages = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("**/*.md"))]
    return [page for page in pages if pattern.search(page.read_text(encoding="utf-8"))]


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


def load(twin: str) -> tuple[float, float]:
    """Return the requests per second of a whole twin, and its share of reads."""
    (own,) = (one for one in json.loads(_native.twins()) if one["name"] == twin)
    return own["requests"] / own["span_s"], own["read_ratio"]


def change(new: float, old: float, places: int = 0) -> str:
    """Return a change in percent as text."""
    return f"{percent(new, old):+.{places}f}"


def several(numbers: Sequence[float], form: str = "+.0f") -> str:
    """Return numbers as text, separated by slashes."""
    return " / ".join(f"{number:{form}}" for number in numbers)


def write(page: Path, mark: str, about: str, sections: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Replace the text below a mark by sections."""
    lines = [line for title, own in sections for line in (f"### {title}", "", *own)]
    text, _, _ = page.read_text(encoding="utf-8").partition(mark)
    page.write_text(f"{text}{mark}\n{about}\n\n" + "\n".join(lines), encoding="utf-8")


class UnmarkedError(Exception):
    """A page has no place for a table that a generator writes."""


def _place(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(<!-- {name}: written by [^\n]* -->\n).*?(<!-- end of {name} -->)", re.DOTALL
    )


def fill(text: str, name: str, lines: Sequence[str]) -> str:
    """Return a page whose table of this name consists of these lines.

    The table stands between ``<!-- NAME: written by … -->`` and ``<!-- end of NAME -->``. Raises
    :class:`UnmarkedError` if the page does not have both once.
    """
    body = "\n".join(lines).strip("\n")
    text, count = _place(name).subn(lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text)
    if count != 1:
        message = f"{name}: got {count} places, expected one"
        raise UnmarkedError(message)
    return text


class Kept(runs.RunStore):
    """Finished runs, shared with ``make reproduce``, so that a stopped script can be resumed."""

    def __init__(self) -> None:
        """Keep runs where ``make reproduce`` keeps its own."""
        super().__init__(ROOT / "build" / "reproduction" / ledger.KEPT)

    def compare(self, plans: Sequence[ssdlab.Plan | runs.Job], title: str) -> list[Any]:
        """Return the results of plans and jobs, in their order."""
        jobs = [runs.as_job(one) for one in plans]
        print(f"{title}: {len(jobs)} runs", file=sys.stderr, flush=True)
        try:
            self.make(jobs)
        except KeyboardInterrupt:
            message = "stopped; what has ended is kept, and the same command goes on from there"
            print(message, file=sys.stderr)
            raise SystemExit(128 + signal.SIGINT) from None
        return [self.read(job) for job in jobs]

    def groups(
        self, groups: Sequence[Sequence[ssdlab.Plan]], title: str
    ) -> list[list[ssdlab.Result]]:
        """Return the results of groups of plans, group by group."""
        results = iter(self.compare([plan for group in groups for plan in group], title))
        return [list(islice(results, len(group))) for group in groups]
