"""What ssdlab raises when an input is wrong, when it is interrupted, and when it is at fault."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from ssdlab import escaping

if TYPE_CHECKING:
    from ssdlab.result import Comparison

_VALUE_MOST = 80
"""Characters of a value in a message."""
_WORD_MOST = 240
"""Characters without a space in a message: a longer path is cut in its middle."""
_LINE_MOST = 2000
"""Characters of a message."""
_LONG_WORD = re.compile(rf"\S{{{_WORD_MOST + 1},}}")


def quoted(value: object) -> str:
    """Return a value as a message shows it: quoted if it is a text, and of a bounded length."""
    try:
        text = repr(os.fspath(value) if isinstance(value, os.PathLike) else value)
    except Exception:  # noqa: BLE001  what fails is the caller's class, or an int of many digits
        text = f"a value of the type {type(value).__name__}"
    return escaping.truncate(escaping.escape_name(text), _VALUE_MOST)


def one_line(text: str) -> str:
    """Return a message on one line of a length fit to print, whatever names it holds."""
    words = _LONG_WORD.sub(
        lambda word: escaping.truncate(word[0], _WORD_MOST), escaping.escape_name(text)
    )
    return escaping.truncate(words, _LINE_MOST)


class InputError(ValueError):
    """An input is wrong: a config, a trace, an option. Its text is one line, fit to be shown.

    ``file`` is the file or the option that holds the mistake, ``line`` and ``column`` count from 1,
    ``message`` is the text without that place. Each but ``message`` may be None. ``partial`` holds
    the results of runs that had ended when another failed, or of which only a file could not be
    written; None if there are none.
    """

    file: str | None
    line: int | None
    column: int | None
    message: str
    partial: Comparison | None = None

    def __init__(
        self,
        text: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        message: str | None = None,
    ) -> None:
        """Keep the place beside the text; all arguments are kept so that it can be pickled."""
        text = one_line(text)
        message = text if message is None else one_line(message)
        super().__init__(text, file, line, column, message)
        self.file = file
        self.line = line
        self.column = column
        self.message = message

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
