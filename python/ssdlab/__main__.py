"""``python -m ssdlab`` is the command ``ssdlab``."""

from ssdlab.cli.main import main

main()
