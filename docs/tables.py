"""What the scripts that measure have in common: tables, changes, and runs that are kept."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import Any

import ssdlab
from ssdlab import _native
from ssdlab.api import cores
from ssdlab.claims.sums import percent
from ssdlab.plans import to_json


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


def change(new: float, old: float, places: int = 0) -> str:
    """Write a change in percent."""
    return f"{percent(new, old):+.{places}f}"


def several(numbers: Sequence[float], form: str = "+.0f") -> str:
    """Write numbers one after the other."""
    return " / ".join(f"{number:{form}}" for number in numbers)


def write(page: Path, mark: str, about: str, sections: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Replace what stands below a mark by sections."""
    lines = [line for title, own in sections for line in (f"### {title}", "", *own)]
    text, _, _ = page.read_text(encoding="utf-8").partition(mark)
    page.write_text(f"{text}{mark}\n{about}\n\n" + "\n".join(lines), encoding="utf-8")


class Kept:
    """Finished runs, a file each in a folder: a script that was stopped goes on where it was.

    What is kept is of one build of ssdlab; another one runs anew. The folder can be deleted.
    """

    def __init__(self, name: str) -> None:
        """Keep runs in a folder of this name, in ``build``."""
        self.folder = Path(__file__).parents[1] / "build" / name
        self.folder.mkdir(parents=True, exist_ok=True)
        library = Path(_native.__file__).read_bytes()
        self.build = hashlib.sha256(ssdlab.__version__.encode() + library).hexdigest()

    def _file(self, key: str) -> Path:
        return self.folder / f"{hashlib.sha256((self.build + key).encode()).hexdigest()[:32]}.json"

    def value(self, key: str, make: Callable[[], Any]) -> Any:
        """Return what was made under this key, which is plain data, or make it."""
        file = self._file(key)
        if file.exists():
            return json.loads(file.read_text(encoding="utf-8"))
        made = make()
        whole = file.with_suffix(".part")
        whole.write_text(json.dumps(made), encoding="utf-8")
        whole.rename(file)
        return made

    def compare(self, plans: Sequence[ssdlab.Plan], title: str = "") -> list[ssdlab.Result]:
        """Return the results of some plans, in their order; each is kept as soon as it is there."""
        keys = [to_json(plan) for plan in plans]
        asked = dict(zip(keys, plans, strict=True))
        missing = [key for key in asked if not self._file(key).exists()]
        pool = ThreadPoolExecutor(cores())
        runs = [pool.submit(self.value, key, self._maker(asked[key])) for key in missing]
        try:
            for done, run in enumerate(as_completed(runs), start=len(asked) - len(missing) + 1):
                run.result()
                print(f"{title}: {done} of {len(asked)} runs", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            # What is under way hears no Ctrl-C in its thread, and what has ended is kept.
            os._exit(130)
        return [
            ssdlab.Result.from_dict(json.loads(self._file(key).read_text(encoding="utf-8")))
            for key in keys
        ]

    def groups(
        self, groups: Sequence[Sequence[ssdlab.Plan]], title: str
    ) -> list[list[ssdlab.Result]]:
        """Return the results of groups of plans, group by group."""
        results = iter(self.compare([plan for group in groups for plan in group], title))
        return [list(islice(results, len(group))) for group in groups]

    def _maker(self, plan: ssdlab.Plan) -> Callable[[], dict[str, Any]]:
        return lambda: ssdlab.run(plan).to_dict()
