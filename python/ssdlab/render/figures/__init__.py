"""Figures: functions from typed results to Altair charts."""

from ssdlab.room import DRAWING, check_room

# The modules here load Altair, which ends the process if memory is short. So check first.
check_room("drawing", DRAWING)
