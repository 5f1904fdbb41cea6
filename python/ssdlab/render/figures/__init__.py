"""Figures: functions from typed results to Altair charts."""

from ssdlab.room import DRAWING, check_room

# Before the modules here load Altair, which ends the process where memory is short.
check_room("drawing", DRAWING)
