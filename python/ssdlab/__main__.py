"""``python -m ssdlab`` is the command ``ssdlab``."""

from ssdlab.cli import main

main()
