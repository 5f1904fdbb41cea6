"""Python values that callers pass: read as what is expected, or refused in one line.

Each function takes the name that a message gives the value. NumPy's scalars and arrays count as
the numbers, truths, texts and lists that they hold. All raise :class:`InputError`.
"""

from __future__ import annotations

import math
import numbers
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.errors import InputError, quoted

MAX_INTEGER = (1 << 63) - 1
"""The largest whole number that the Rust side takes."""
MAX_COUNT = (1 << 32) - 1
"""The most requests that can be kept outstanding, and the most replays."""


def invalid(name: str, value: object, expected: str) -> InputError:
    """Return the error about a value."""
    return InputError.at(name, f"got {quoted(value)}, expected {expected}")


def unwrap(value: Any) -> Any:
    """Return what an array or a scalar of NumPy or its like holds; any other value as it is."""
    try:
        tolist = None if isinstance(value, type) else getattr(value, "tolist", None)
        return tolist() if callable(tolist) else value
    except Exception:  # noqa: BLE001  a caller's class may raise anything
        return value


def text(name: str, value: object) -> str:
    """Return a text that can be written as UTF-8."""
    value = unwrap(value)
    if not isinstance(value, str):
        raise invalid(name, value, "a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise invalid(name, value, "a text in UTF-8") from None
    return value


def optional_text(name: str, value: object) -> str | None:
    """Return a text, or None."""
    return None if value is None else text(name, value)


def path(name: str, value: object) -> str:
    """Return a path as text. Bytes are one, too; a path that is no UTF-8 is refused."""
    try:
        found = os.fsdecode(unwrap(value))
    except Exception:  # noqa: BLE001  a caller's class may raise anything
        raise invalid(name, value, "a path") from None
    if "\0" in found:
        raise invalid(name, found, "a path without a null character")
    return text(name, found)


def optional_path(name: str, value: object) -> str | None:
    """Return a path as text, or None."""
    return None if value is None else path(name, value)


def input_file(name: str, value: object) -> str:
    """Return the path of a file to be read: one of no length has no place to blame."""
    found = path(name, value)
    if not found:
        raise invalid(name, found, "a file")
    return found


def boolean(name: str, value: object) -> bool:
    """Return True or False."""
    value = unwrap(value)
    if not isinstance(value, bool):
        raise invalid(name, value, "True or False")
    return value


def integer(name: str, value: object, minimum: int, maximum: int = MAX_INTEGER) -> int:
    """Return a whole number within bounds, both included."""
    found = as_integer(value)
    if found is None or not minimum <= found <= maximum:
        raise invalid(name, value, expected_range(found, minimum, maximum))
    return found


def expected_range(value: int | None, minimum: int, maximum: int) -> str:
    """Return what was expected in place of a number that is too large or too small, or of none."""
    too_large = value is not None and value > maximum
    return f"at most {maximum}" if too_large else f"a whole number from {minimum}"


def optional_integer(name: str, value: object, maximum: int = MAX_INTEGER) -> int | None:
    """Return a whole number from 1, or None."""
    return None if value is None else integer(name, value, 1, maximum)


def as_integer(value: object) -> int | None:
    """Return a whole number as an int; None if the value is none, as a truth is."""
    value = unwrap(value)
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001  a caller's class may raise anything
        return None


def as_number(value: object) -> float | None:
    """Return a finite number as an int or a float; None if the value is no such number."""
    value = unwrap(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        found = value if isinstance(value, int | float) else float(value)
        return found if math.isfinite(found) else None
    except Exception:  # noqa: BLE001  too large for a float, or a caller's class
        return None


def number_between(
    name: str, value: object, minimum: float, maximum: float, expected: str
) -> float:
    """Return a number within bounds, both included; ``expected`` is what a message says."""
    found = as_number(value)
    if found is None or not minimum <= found <= maximum:
        raise invalid(name, value, expected)
    return found


def positive_number(name: str, value: object) -> float:
    """Return a finite number above zero."""
    found = as_number(value)
    if found is None or not found > 0:
        raise invalid(name, value, "a number above 0")
    return found


def sequence(name: str, value: object, expected: str = "a list") -> list[Any]:
    """Return the items of a sequence that is no text; of None none."""
    value = unwrap(value)
    if value is None:
        return []
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence):
        raise invalid(name, value, expected)
    return list(value)


def text_list(name: str, value: object, expected: str = "a list") -> list[str]:
    """Return the items of a sequence of texts; of None none."""
    return [text(name, one) for one in sequence(name, value, expected)]


def mapping(name: str, value: object, expected: str = "a mapping") -> dict[str, Any]:
    """Return a mapping whose keys are texts; of None an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise invalid(name, value, expected)
    return {text(name, key): one for key, one in value.items()}


def callback(name: str, value: Any) -> Any:
    """Return what can be called, or None."""
    if value is not None and not callable(value):
        raise invalid(name, value, "a function")
    return value
