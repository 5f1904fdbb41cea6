"""Insert ledgers that ``ssdlab reproduce`` wrote into docs/ledger.md, below its introduction.

``make reproduce`` runs this script. A ledger of all papers replaces all results. A ledger of one
paper replaces that paper's part. A ledger of single claims replaces only these claims, and the part
then names them and their build. The commit of the simulator stands beside the build, because the
build differs between machines.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from machine import commit

from ssdlab_reproduction import ledger_text
from ssdlab_reproduction.claim import SYSTEMS, claims
from ssdlab_reproduction.runs import SHORT_HASH, library_hash
from ssdlab_reproduction.tables.common import DOCS, fill, grid

PAGE = DOCS / "ledger.md"
MARK = "<!-- measured: written by `make reproduce` -->\n"
READINGS = "Readings of "
"""The beginning of the caption of a part's readings."""
COUNTS = "counts"
"""The table of the page with the numbers of claims by result."""
PART = re.compile(r"^### ", re.MULTILINE)
OF = re.compile(r"\*{0,2}([A-Z]\d+)\b")
"""The claim with which a paragraph begins."""
NAMED = re.compile(r"^\| \*\*([A-Z]\d+)\*\* \|", re.MULTILINE)
CAME_OUT = re.compile(r"^\| \*\*[A-Z]\d+\*\* \|.*\| \*\*([^|]*)\*\* \|[^|]*\|$", re.MULTILINE)
"""The verdict of a claim, in its first row."""
LATER = re.compile(r" Later ([A-Z0-9, ]+): [^`]*`\w+`\.")
"""The claims of a part that a later build found, and that build."""


def main() -> None:
    """Replace the results below the mark, or parts of them."""
    text, _, results = PAGE.read_text(encoding="utf-8").partition(MARK)
    for file in sys.argv[1:]:
        results = _with(results.strip(), _committed(Path(file).read_text(encoding="utf-8")))
    heads, *lines = ledger_text.counted(came_out(results))
    text = fill(text, COUNTS, grid(heads, lines))
    PAGE.write_text(f"{text}{MARK}\n{results.strip()}\n", encoding="utf-8")


def came_out(results: str) -> dict[str, list[str]]:
    """Return the results of each system's claims, as the page has them below its mark."""
    parts = (part.partition("\n") for part in PART.split(f"{results.strip()}\n")[1:])
    return {title: CAME_OUT.findall(rest) for title, _, rest in parts}


def _committed(ledger: str) -> str:
    """Return a ledger with the simulator's last commit beside the build, if it is this build."""
    build, last = f"(build {library_hash()[:SHORT_HASH]}", commit("crates", "Cargo.lock")
    return ledger if last is None else ledger.replace(f"{build})", f"{build}, commit {last})")


def _with(results: str, ledger: str) -> str:
    """Return the results, in which a ledger's parts replace the old ones."""
    summary, *parts = ledger.split("\n## ")
    before, *old = PART.split(f"{results}\n\n")
    heads = [{part.partition("\n")[0] for part in all_of} for all_of in (parts, old)]
    if len(parts) > 1 and heads[0] >= heads[1] and all(map(_is_whole, parts)):
        # The ledger covers all papers, so its summary stands only once.
        return ledger.replace("## ", "### ")
    for part in parts:
        heading, _, rest = part.partition("\n")
        new = f"{heading}\n\n{summary.strip()}\n{rest.rstrip()}\n\n"
        at = next((n for n, one in enumerate(old) if one.startswith(f"{heading}\n")), len(old))
        own = new if at == len(old) or _is_whole(part) else _merged(old[at], new)
        old[at : at + 1] = [own]
    return before + "".join(f"### {part}" for part in old)


def _is_whole(part: str) -> bool:
    """Tell whether a part has all claims of its paper."""
    heading = part.partition("\n")[0]
    system = next(name for name, title in SYSTEMS.items() if title == heading)
    return {one.id for one in claims([system])} <= set(NAMED.findall(part))


@dataclass(slots=True)
class Part:
    """A system's part: its heading, its provenance, the rows and paragraphs of each claim.

    Its readings stand at the end.
    """

    heading: str
    found: str
    heads: list[str]
    rows: dict[str, list[str]]
    paragraphs: dict[str, list[str]]
    readings: list[str]

    @classmethod
    def parse(cls, text: str) -> Part:
        """Parse a part."""
        heading, found, table, *blocks = text.strip().split("\n\n")
        heads, rows = table.split("\n")[:2], _by_claim(table.split("\n")[2:], "| **")
        end = next((n for n, one in enumerate(blocks) if one.startswith(READINGS)), len(blocks))
        return cls(heading, found, heads, rows, _by_claim(blocks[:end], ""), blocks[end:])

    def written(self) -> str:
        """Return the part as Markdown."""
        table = "\n".join([*self.heads, *(row for rows in self.rows.values() for row in rows)])
        paragraphs = (block for name in self.rows for block in self.paragraphs.get(name, ()))
        pieces = [self.heading, self.found, table, *paragraphs, *self.readings]
        return "\n\n".join(pieces) + "\n\n"


def _by_claim(pieces: list[str], begin: str) -> dict[str, list[str]]:
    """Group pieces by claim; a piece without a claim belongs to the last named one."""
    all_of: dict[str, list[str]] = {}
    name = ""
    for piece in pieces:
        found = OF.match(piece.removeprefix(begin)) if piece.startswith(begin) else None
        name = found[1] if found else name
        all_of.setdefault(name, []).append(piece)
    return all_of


def _merged(old: str, new: str) -> str:
    """Return a part in which the claims of another replace the old ones."""
    part, later = Part.parse(old), Part.parse(new)
    part.rows |= later.rows
    part.rows = dict(sorted(part.rows.items(), key=lambda row: int(row[0][1:])))
    part.paragraphs |= {name: later.paragraphs.get(name, []) for name in later.rows}
    came_out = [rows[0] for rows in part.rows.values()]
    counts = ledger_text.count_outcomes(
        [came for row in came_out for came in CAME_OUT.findall(row)]
    )

    def left(found: re.Match[str]) -> str:
        names = [name for name in found[1].split(", ") if name not in later.rows]
        return found[0].replace(found[1], ", ".join(names)) if names else ""

    _, _, found = LATER.sub(left, part.found).partition("; ")
    _, _, how = later.found.partition("; ")
    names = ", ".join(later.rows)
    part.found = f"{len(came_out)} claims: {counts}; {found} Later {names}: {how}"
    return part.written()


if __name__ == "__main__":
    main()
