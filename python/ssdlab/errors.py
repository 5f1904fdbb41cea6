"""The exceptions of ssdlab: an invalid input, an interruption, an internal error."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from ssdlab import escaping

if TYPE_CHECKING:
    from ssdlab.result import Comparison

_VALUE_MOST = 80
"""The maximum length of a value in a message."""
_WORD_MOST = 240
"""The maximum length of a word in a message; a longer word, such as a path, loses its middle."""
_LINE_MOST = 2000
"""The maximum length of a message."""
_LONG_WORD = re.compile(rf"\S{{{_WORD_MOST + 1},}}")


def quoted(value: object) -> str:
    """Return a value as a message shows it: a string in quotes, and a bounded length."""
    try:
        text = repr(os.fspath(value) if isinstance(value, os.PathLike) else value)
    except Exception:  # noqa: BLE001  what fails is the caller's class, or an int of many digits
        text = f"a value of the type {type(value).__name__}"
    return escaping.truncate(escaping.escape_name(text), _VALUE_MOST)


def one_line(text: str) -> str:
    """Return a message on one line of bounded length, whatever names it holds."""
    words = _LONG_WORD.sub(
        lambda word: escaping.truncate(word[0], _WORD_MOST), escaping.escape_name(text)
    )
    return escaping.truncate(words, _LINE_MOST)


class InputError(ValueError):
    """An input is invalid: a config, a trace, an option. The text is one line.

    ``file`` is the file or the option with the mistake. ``line`` and ``column`` count from 1.
    ``message`` is the text without this place. All but ``message`` may be None. ``partial`` holds
    the results of runs that had ended when another run failed, or whose file could not be written.
    It is None if there are none.
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
        """Store the place and the text; keep all arguments, so that the error can be pickled."""
        text = one_line(text)
        message = text if message is None else one_line(message)
        super().__init__(text, file, line, column, message)
        self.file = file
        self.line = line
        self.column = column
        self.message = message

    def __str__(self) -> str:
        """Return the text, which is one line."""
        return str(self.args[0])

    @classmethod
    def at(cls, place: str, message: str) -> InputError:
        """Return an error about an option, or about a file as a whole."""
        return cls(f"{place}: {message}", place, message=message)


class InternalError(RuntimeError):
    """The simulator has an error: please report the text."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended the runs; ``partial`` holds what they had measured, which may be nothing.

    It has no result of a run that was stopped before it began.
    """

    partial: Comparison

    def __init__(self, partial: Comparison) -> None:
        """Store the partial results."""
        super().__init__("interrupted")
        self.partial = partial
