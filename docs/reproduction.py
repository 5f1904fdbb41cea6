"""Put a ledger that ``ssdlab reproduce`` wrote below what docs/reproduction.md says of it.

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
    ledger = Path(sys.argv[1]).read_text(encoding="utf-8").replace("## ", "### ")
    PAGE.write_text(f"{text}{MARK}\n{ledger}", encoding="utf-8")


if __name__ == "__main__":
    main()
