"""``python -m ssdlab`` runs the command ``ssdlab``."""

from ssdlab_command import main

main()
