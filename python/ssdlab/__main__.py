"""``python -m ssdlab`` is the command ``ssdlab``."""

from ssdlab_command import main

main()
