"""The exit codes of the command, besides 0."""

import signal

INPUT = 2
"""An input is invalid."""

INTERNAL = 70
"""The simulator has an error."""

INTERRUPTED = 130
"""Ctrl-C. Commands return it for other signals too; the process then looks up ``OF_SIGNALS``."""

OF_SIGNALS = {
    signal.SIGINT: INTERRUPTED,
    signal.SIGHUP: 129,
    signal.SIGTERM: 143,
    signal.SIGXCPU: 152,
}
"""The exit code of the process, by the first signal that ended it."""
