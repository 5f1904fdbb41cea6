"""Conversion of Python values that callers pass, with a one-line error for an invalid value.

``name`` is the name that an error message gives the value. Functions with a ``name`` raise
:class:`InputError`. NumPy scalars and arrays count as the numbers, booleans, strings and lists that
they hold.
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
"""The largest integer that the Rust extension takes."""
MAX_COUNT = (1 << 32) - 1
"""The maximum of outstanding requests, of replays, and of ``max_runs``."""


def invalid(name: str, value: object, expected: str) -> InputError:
    """Return the error for an invalid value."""
    return InputError.at(name, f"got {quoted(value)}, expected {expected}")


def unwrap(value: Any) -> Any:
    """Return the content of a NumPy scalar, array or similar object; any other value unchanged."""
    try:
        tolist = None if isinstance(value, type) else getattr(value, "tolist", None)
        return tolist() if callable(tolist) else value
    except Exception:  # noqa: BLE001  a caller's class may raise anything
        return value


def text(name: str, value: object) -> str:
    """Return a string that can be written as UTF-8."""
    value = unwrap(value)
    if not isinstance(value, str):
        raise invalid(name, value, "a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise invalid(name, value, "a text in UTF-8") from None
    return value


def optional_text(name: str, value: object) -> str | None:
    """Return a string, or None."""
    return None if value is None else text(name, value)


def path(name: str, value: object) -> str:
    """Return a path as a string. Accept bytes; refuse a path that is not UTF-8."""
    try:
        found = os.fsdecode(unwrap(value))
    except Exception:  # noqa: BLE001  a caller's class may raise anything
        raise invalid(name, value, "a path") from None
    if "\0" in found:
        raise invalid(name, found, "a path without a null character")
    return text(name, found)


def optional_path(name: str, value: object) -> str | None:
    """Return a path as a string, or None."""
    return None if value is None else path(name, value)


def input_file(name: str, value: object) -> str:
    """Return the path of an input file. Refuse an empty path: no message could point to it."""
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
    """Return an integer within bounds, both included."""
    found = as_integer(value)
    if found is None or not minimum <= found <= maximum:
        raise invalid(name, value, expected_range(found, minimum, maximum))
    return found


def expected_range(value: int | None, minimum: int, maximum: int) -> str:
    """Return the accepted range: the maximum if the value exceeds it, else the minimum."""
    too_large = value is not None and value > maximum
    return f"at most {maximum}" if too_large else f"a whole number from {minimum}"


def optional_integer(name: str, value: object, maximum: int = MAX_INTEGER) -> int | None:
    """Return an integer of at least 1, or None."""
    return None if value is None else integer(name, value, 1, maximum)


def as_integer(value: object) -> int | None:
    """Return a value as an int; None if it is not an integer. A boolean is not an integer."""
    value = unwrap(value)
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001  a caller's class may raise anything
        return None


def as_number(value: object) -> float | None:
    """Return a finite number as an int or a float; None for any other value."""
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
    """Return a number within bounds, both included; a message uses ``expected``."""
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
    """Return the items of a sequence that is not a string; an empty list for None."""
    value = unwrap(value)
    if value is None:
        return []
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence):
        raise invalid(name, value, expected)
    return list(value)


def text_list(name: str, value: object, expected: str = "a list") -> list[str]:
    """Return the items of a sequence of strings; an empty list for None."""
    return [text(name, one) for one in sequence(name, value, expected)]


def mapping(name: str, value: object, expected: str = "a mapping") -> dict[str, Any]:
    """Return a mapping with string keys; an empty one for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise invalid(name, value, expected)
    return {text(name, key): one for key, one in value.items()}


def callback(name: str, value: Any) -> Any:
    """Return a callable, or None."""
    if value is not None and not callable(value):
        raise invalid(name, value, "a function")
    return value
