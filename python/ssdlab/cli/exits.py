"""The exit codes of the command, besides 0."""

INPUT = 2
"""An input was wrong."""

INTERNAL = 70
"""The simulator itself is at fault."""

INTERRUPTED = 130
"""Ctrl-C; commands end so on SIGTERM too, which the process then tells apart."""

TERMINATED = 143
"""SIGTERM."""
