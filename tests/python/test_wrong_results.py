"""A result of which a value is of another type is refused in a line that says where it is."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from example_results import busy, one, prioritized, typed

import ssdlab as lab
from ssdlab.result import Result, flat_figures

WRONG: tuple[Any, ...] = (
    *(None, True, 1, -1, 2.5, 1e300, 10**30, 10**400, float("nan"), float("inf"), "x", "", "5"),
    *("\ud800", b"x", [], [1], ["x"], [None], {}, {"a": 1}, {1: 2}, (), {1}, object(), int),
)
EVERY_VALUE = "SSDLAB_EVERY_VALUE" in os.environ
"""Whether each place gets all of these, as by ``make faults``; else a fifth of them in turn."""
Keys = tuple[str | int, ...]


def leaves(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Go through every value of a result: tables and lists, too, of a long list the first."""
    if keys:
        yield keys, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*keys, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value[:1]):
            yield from leaves(inner, (*keys, at))


def changed(data: dict[str, Any], keys: Keys, value: Any) -> dict[str, Any]:
    """Return the data with another value at a place; what is not on the way there is shared."""
    top = copy.copy(data)
    inner: Any = top
    for key in keys[:-1]:
        inner[key] = copy.copy(inner[key])
        inner = inner[key]
    inner[keys[-1]] = value
    return top


def is_like(known: Any, value: Any) -> bool:
    """Tell whether a simple value may stand for another, as far as their types say."""
    if isinstance(known, bool) or isinstance(value, bool):
        return isinstance(known, bool) and isinstance(value, bool)
    if isinstance(known, int) and isinstance(value, int):
        return abs(value) < 1 << 63
    if isinstance(known, float) and isinstance(value, int | float):
        return abs(value) <= 1e300 and value != 10**30
    return isinstance(known, str) and isinstance(value, str)


def is_json(value: object) -> bool:
    """Tell whether a value of :data:`WRONG` is one that the Rust side may write."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value is None or isinstance(value, bool | str | list | tuple)
    return value in (1, -1, 2.5, 1e300)


def refusal(data: dict[str, Any]) -> str | None:
    """Return the line that refuses a result; None if it is one, and what JSON can hold."""
    try:
        result = Result.from_dict(data)
    except lab.InputError as error:
        return str(error)
    assert json.loads(result.to_json()) == json.loads(json.dumps(data))
    return None


RESULTS: Mapping[str, Callable[[], Result]] = {
    "one": one,
    "busy": busy,
    "typed": typed,
    "prioritized": lambda: prioritized()[1],
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_value_of_another_type_is_refused_by_its_place(name: str) -> None:
    data = RESULTS[name]().to_dict()
    refused = tried = 0
    for at, (keys, known) in enumerate(leaves(data)):
        place = ".".join(map(str, keys))
        for value in WRONG if EVERY_VALUE else WRONG[at % 5 :: 5]:
            tried += 1
            message = refusal(changed(data, keys, value))
            if message is not None:
                refused += 1
                line = rf"no Result: {re.escape(place)}(\.[^\n:]+)?: got [^\n]+, expected [^\n]+"
                assert re.fullmatch(line, message), (place, value)
                assert not is_like(known, value), (place, value)
    assert refused > tried / 2


def test_a_line_says_what_is_accepted() -> None:
    data = one().to_dict()
    for keys, value, line in (
        (("iops",), "fast", "iops: got 'fast', expected a number"),
        (("iops",), [1.0], "iops: got [1.0], expected a number"),
        (("iops",), True, "iops: got True, expected a number"),
        (("iops",), None, "iops: got None, expected a number"),
        (("iops",), float("nan"), "iops: got nan, expected a finite number"),
        (("waf",), "x", "waf: got 'x', expected a number or null"),
        (("requests",), 1.5, "requests: got 1.5, expected a whole number"),
        (("requests",), 1 << 64, f"requests: got {1 << 64}, expected a whole number of 64 bits"),
        (("partial",), 0, "partial: got 0, expected true or false"),
        (("label",), 7, "label: got 7, expected a text or null"),
        (("remarks",), "none", "remarks: got 'none', expected a list"),
        (("ops", "read"), 3, "ops.read: got 3, expected a table"),
        (("read", "latency_us", "p99"), {}, "read.latency_us.p99: got {}, expected a number"),
        (("provenance", "plan", "set"), {1}, "provenance.plan.set: got {1}, expected a value of"),
        (("detail", "series", 0, "mb"), "x", "detail.series.0.mb: got 'x', expected a number"),
    ):
        with pytest.raises(lab.InputError) as raised:
            Result.from_dict(changed(data, keys, value))
        assert str(raised.value).startswith(f"no Result: {line}")
    del data["sim"]
    with pytest.raises(lab.InputError, match=r"^no Result: sim: got nothing, expected a value$"):
        Result.from_dict(data)


def test_what_is_nested_without_end_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["inner"] = endless
    line = r"^no Result: provenance\.config\.x\.inner\.[a-z.…]*inner: got .*, expected at most"
    with pytest.raises(lab.InputError, match=line):
        Result.from_dict(changed(one().to_dict(), ("provenance", "config", "x"), endless))


@pytest.mark.parametrize("value", [value for value in WRONG if is_json(value)])
def test_what_is_not_declared_may_be_any_json(value: Any) -> None:
    data = {**one().to_dict(), "priorities": value, "each": value, "raw": value}
    assert json.loads(Result.from_dict(data).to_json()) == json.loads(json.dumps(data))
    assert flat_figures(data)["iops"] == data["iops"]


@pytest.mark.parametrize("key", ["raw", "input_files", "another", "each"])
def test_what_is_not_declared_may_be_nothing_else(key: str) -> None:
    for value in WRONG:
        if not is_json(value):
            with pytest.raises(lab.InputError, match=rf"^no Result: {key}[.a0-9]*: got .*expected"):
                Result.from_dict({**one().to_dict(), key: [value]})
    with pytest.raises(lab.InputError, match=r"^no Result: got 7, expected a text$"):
        Result.from_dict({**one().to_dict(), 7: 1})  # type: ignore[dict-item]


def test_a_result_that_was_written_is_read_again() -> None:
    for make in RESULTS.values():
        result = make()
        again = Result.from_dict(json.loads(result.to_json()))
        assert again == result
        assert again.to_json() == result.to_json()
