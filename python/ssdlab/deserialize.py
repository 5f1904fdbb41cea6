"""Dataclasses from plain data: the JSON that the Rust extension writes."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Any, TypeVar

from ssdlab.errors import InputError, quoted

T = TypeVar("T")

_LEAST_INTEGER, _MOST_INTEGER = -(1 << 63), (1 << 64) - 1
"""The range of integers that the Rust extension writes."""
_MOST_LEVELS = 50
"""The maximum depth of nested tables and lists in a value of any type."""


def from_dict(kind: type[T], data: Mapping[str, Any], **preset: Any) -> T:
    """Return a dataclass made from plain data.

    Keys that the dataclass does not declare are only checked. The fields in ``preset`` are used
    unchanged, and not read from the data. Raises :class:`InputError`, which names the place, if a
    value is missing, has another type, or is not JSON.
    """
    try:
        return _dataclass(kind, data, preset)
    except _MismatchError as found:
        where = f"{'.'.join(reversed(found.place))}: " if found.place else ""
        message = f"{where}got {found.found}, expected {found.expected}"
        raise InputError(f"no {kind.__name__}: {message}") from None


class _MismatchError(Exception):
    """A value is not accepted; ``place`` holds the keys that lead to it, the innermost first."""

    def __init__(self, found: str, expected: str, place: Sequence[str] = ()) -> None:
        super().__init__()
        self.found, self.expected, self.place = found, expected, list(place)


_Make = Callable[[Any], Any]


def _wrong(value: object, expected: str) -> _MismatchError:
    return _MismatchError(quoted(value), expected)


def _dataclass(kind: type[T], data: Any, preset: Mapping[str, Any]) -> T:
    if not isinstance(data, Mapping):
        raise _wrong(data, "a table")
    found = dict(preset)
    slots = _slots(typing.cast(Hashable, kind))
    for slot in slots.values():
        if slot.name in preset:
            continue
        if slot.name in data:
            found[slot.name] = _at(slot.name, slot.make, data[slot.name])
        elif slot.needed:
            raise _MismatchError("nothing", "a value", [slot.name])
    for key in data:
        if key in preset or key not in slots:
            _at(_text(key), _any, data[key])
    return kind(**found)


def _at(name: str, make: _Make, value: Any) -> Any:
    """Convert a value; an error gets the value's name as a part of its place."""
    try:
        return make(value)
    except _MismatchError as found:
        found.place.append(name)
        raise


@dataclass(frozen=True, slots=True)
class _Slot:
    """A field of a dataclass: how to convert it, and whether the data must have it."""

    name: str
    make: _Make
    needed: bool


@cache
def _slots(kind: type) -> dict[str, _Slot]:
    hints = typing.get_type_hints(kind)
    return {
        slot.name: _Slot(
            slot.name,
            _maker(hints[slot.name]),
            slot.default is MISSING and slot.default_factory is MISSING,
        )
        for slot in fields(kind)
    }


def _maker(hint: Any) -> _Make:
    """Return a function that converts a plain value to this type, or raises."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        return partial(_or_null, _maker(arguments[0]))
    if origin in {Sequence, list}:
        return partial(_list, _maker(arguments[0]))
    if origin is Mapping:
        return partial(_table, _maker(arguments[1]))
    if origin is typing.Literal:
        return _text
    if is_dataclass(hint) and isinstance(hint, type):
        return partial(_dataclass, hint, preset={})
    return _SIMPLE.get(hint, _as_it_is)


def _or_null(make: _Make, value: Any) -> Any:
    if value is None:
        return None
    try:
        return make(value)
    except _MismatchError as found:
        if not found.place:
            found.expected += " or null"
        raise


def _list(make: _Make, values: Any) -> list[Any]:
    if not isinstance(values, list | tuple):
        raise _wrong(values, "a list")
    return [_at(str(at), make, value) for at, value in enumerate(values)]


def _table(make: _Make, values: Any) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise _wrong(values, "a table")
    return {_text(key): _at(key, make, value) for key, value in values.items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(value, "a text")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(value, "a whole number")
    if not _LEAST_INTEGER <= value <= _MOST_INTEGER:
        raise _wrong(value, "a whole number of 64 bits")
    return value


def _number(value: Any) -> float:
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer(value)
    if not isinstance(value, float):
        raise _wrong(value, "a number")
    if not math.isfinite(value):
        raise _wrong(value, "a finite number")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong(value, "true or false")
    return value


def _any(value: Any, levels: int = _MOST_LEVELS) -> Any:
    """Check and return a value of any JSON type."""
    if isinstance(value, Mapping | list | tuple):
        if not levels:
            raise _wrong(value, f"at most {_MOST_LEVELS} levels of nested tables")
        make = partial(_any, levels=levels - 1)
        return _table(make, value) if isinstance(value, Mapping) else _list(make, value)
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return _SIMPLE[kind](value)
    if value is not None:
        raise _wrong(value, "a value of JSON")
    return value


def _as_it_is(value: Any) -> Any:
    return value


_SIMPLE: Mapping[Any, _Make] = {
    str: _text,
    int: _integer,
    float: _number,
    bool: _boolean,
    Any: _any,
}
