"""The exit codes of the command, besides 0."""

import signal

INPUT = 2
"""An input was wrong."""

INTERNAL = 70
"""The simulator itself is at fault."""

INTERRUPTED = 130
"""Ctrl-C; commands end so on other signals too, which the process then tells apart."""

OF_SIGNALS = {
    signal.SIGINT: INTERRUPTED,
    signal.SIGHUP: 129,
    signal.SIGTERM: 143,
    signal.SIGXCPU: 152,
}
"""What the process ends with, by the first signal that ended it."""
