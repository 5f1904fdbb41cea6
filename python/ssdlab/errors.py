"""What ssdlab raises when an input is wrong, when it is interrupted, and when it is at fault."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.results import Comparison


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _in_one_line(text: str) -> str:
    """Return a text with its line ends and other control characters escaped."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class InputError(ValueError):
    """An input is wrong: a config, a trace, an option. Its text is one line, fit to be shown.

    ``file`` is the file or the option that holds the mistake, ``line`` and ``column`` count from 1,
    ``message`` is the text without that place. Each but ``message`` may be None.
    """

    file: str | None
    line: int | None
    column: int | None
    message: str

    def __init__(
        self,
        text: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        message: str | None = None,
    ) -> None:
        """Keep the place beside the text; all arguments are kept so that it can be pickled."""
        text = _in_one_line(text)
        message = None if message is None else _in_one_line(message)
        super().__init__(text, file, line, column, message)
        self.file = file
        self.line = line
        self.column = column
        self.message = text if message is None else message

    def __str__(self) -> str:
        """Return the one line."""
        return str(self.args[0])

    @classmethod
    def at(cls, place: str, message: str) -> InputError:
        """Blame an option or a file as a whole."""
        return cls(f"{place}: {message}", place, message=message)


class InternalError(RuntimeError):
    """The simulator itself is at fault: please report what its text says."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended the runs; ``partial`` holds what they had measured by then: maybe nothing.

    A run that was stopped before it began has no result in it.
    """

    partial: Comparison

    def __init__(self, partial: Comparison) -> None:
        """Keep what was measured."""
        super().__init__("interrupted")
        self.partial = partial
