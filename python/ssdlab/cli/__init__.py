"""The command ``ssdlab``."""
