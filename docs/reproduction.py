"""Put ledgers that ``ssdlab reproduce`` wrote below what docs/reproduction.md says of them.

Run by ``make reproduce``. A ledger of all papers takes the place of all that is there, that of one
paper the place of its part.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("reproduction.md")
MARK = "<!-- measured: written by `make reproduce` -->\n"
PART = re.compile(r"^### ", re.MULTILINE)


def main() -> None:
    """Replace what stands below the mark, or parts of it."""
    text, _, told = PAGE.read_text(encoding="utf-8").partition(MARK)
    for file in sys.argv[1:]:
        told = _with(told.strip(), Path(file).read_text(encoding="utf-8"))
    PAGE.write_text(f"{text}{MARK}\n{told.strip()}\n", encoding="utf-8")


def _with(told: str, ledger: str) -> str:
    """Return what is told with a ledger in its place."""
    summary, *parts = ledger.split("\n## ")
    if len(parts) != 1:
        return ledger.replace("## ", "### ")
    heading, _, rest = parts[0].partition("\n")
    own = f"{heading}\n\n{summary.strip()}\n{rest.rstrip()}\n\n"
    before, *old = PART.split(f"{told}\n\n")
    at = next((n for n, part in enumerate(old) if part.startswith(f"{heading}\n")), len(old))
    return before + "".join(f"### {part}" for part in [*old[:at], own, *old[at + 1 :]])


if __name__ == "__main__":
    main()
