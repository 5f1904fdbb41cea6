"""Dataclasses made from plain data: the JSON that the Rust side writes."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from ssdlab.errors import InputError, quoted

T = TypeVar("T")


def from_dict(kind: type[T], data: Mapping[str, Any]) -> T:
    """Make a dataclass of plain data; what it does not declare stays in the plain data alone.

    Raises :class:`InputError` where something is missing, or a table or a list is none.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"no {kind.__name__}: got {quoted(data)}, expected a table")
    values = {}
    for name, make, needed in _slots(typing.cast(Hashable, kind)):
        if name in data:
            value = data[name]
            values[name] = value if make is None or value is None else make(value)
        elif needed:
            raise InputError(f"no {kind.__name__}: got none of {name!r}, expected one")
    return kind(**values)


_Make = Callable[[Any], Any]


@cache
def _slots(kind: type) -> list[tuple[str, _Make | None, bool]]:
    """Return the fields of a dataclass: how each is made, and whether it must be there."""
    hints = typing.get_type_hints(kind)
    return [
        (
            slot.name,
            _maker(hints[slot.name]),
            slot.default is MISSING and slot.default_factory is MISSING,
        )
        for slot in fields(kind)
    ]


def _listed(values: object) -> Iterable[Any]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"no list: got {quoted(values)}, expected one")
    return values


def _maker(hint: Any) -> _Make | None:
    """Return what makes a value of this type of a plain one; None if that stays as it is."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        return _maker(arguments[0])
    if origin is Sequence:
        make = _maker(arguments[0])
        return None if make is None else lambda values: [make(value) for value in _listed(values)]
    if is_dataclass(hint) and isinstance(hint, type):
        return lambda data: from_dict(hint, data)
    return None
