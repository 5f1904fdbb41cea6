"""Put ledgers that ``ssdlab reproduce`` wrote below what docs/reproduction.md says of them.

Run by ``make reproduce``.
"""

from __future__ import annotations

import sys
from pathlib import Path

PAGE = Path(__file__).with_name("reproduction.md")
MARK = "<!-- measured: written by `make reproduce` -->\n"


def main() -> None:
    """Replace what stands below the mark."""
    text, _, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    ledgers = [Path(file).read_text(encoding="utf-8") for file in sys.argv[1:]]
    told = "\n".join(_below_heading(ledger) for ledger in ledgers).replace("## ", "### ")
    PAGE.write_text(f"{text}{MARK}\n{told}", encoding="utf-8")


def _below_heading(ledger: str) -> str:
    """Put what a ledger comes to below its heading, if it is of one paper."""
    summary, *parts = ledger.split("\n## ")
    if len(parts) != 1:
        return ledger
    heading, _, rest = parts[0].partition("\n")
    return f"## {heading}\n\n{summary.strip()}\n{rest}"


if __name__ == "__main__":
    main()
