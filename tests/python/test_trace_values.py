"""The types of what functions on traces return have the keys and the kinds of their values."""

import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from command import OFFICE

from ssdlab import traces


def wrong(kind: Any, value: Any, place: str = "") -> list[str]:  # noqa: PLR0911  a case each
    """Return the places at which a value differs from its type."""
    origin, args = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        if not isinstance(value, dict) or set(value) != set(hints):
            return [f"{place}: {value!r}"]
        return [
            one for key, own in hints.items() for one in wrong(own, value[key], f"{place}.{key}")
        ]
    if origin in {Union, types.UnionType}:
        found = [wrong(own, value, place) for own in args]
        return min(found, key=len)
    if origin is Literal:
        return [] if value in args else [f"{place}: {value!r}"]
    if origin in {list, Sequence}:
        if not isinstance(value, list):
            return [f"{place}: {value!r}"]
        return [one for own in value for one in wrong(args[0], own, f"{place}[]")]
    kinds = (int, float) if kind is float else kind
    is_kind = isinstance(value, kinds) and (kind is bool or not isinstance(value, bool))
    return [] if is_kind else [f"{place}: {value!r}"]


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """Return a trace that is too short for most measurements."""
    path = tmp_path / "short.csv"
    path.write_text("time_us,dev,op,offset_bytes,size_bytes\n0,a,R,4096,4096\n7,a,F,0,0\n")
    return path


def test_infos_are_as_their_types_say(short: Path) -> None:
    for info in [*traces.info([OFFICE, short]), *traces.info([short], reuse=False)]:
        assert not wrong(traces.TraceValues, info)


def test_written_traces_and_formats_are_as_their_types_say(short: Path, tmp_path: Path) -> None:
    converted = traces.convert(OFFICE, tmp_path / "other.csv:msr")
    assert not wrong(traces.Converted, converted)
    apps = [traces.App(short, name="one", queue=1), traces.App(OFFICE, name="two")]
    assert not wrong(traces.Mixed, traces.mix(apps, tmp_path / "both.csv"))
    for one in traces.formats():
        assert not wrong(traces.FormatInfo, one)


def test_a_value_of_another_type_is_found(short: Path) -> None:
    [info] = traces.info([short])
    for key, odd in (("reads", 1.5), ("format", None), ("certainty", "sure"), ("remarks", "none")):
        assert wrong(traces.TraceValues, {**info, key: odd})
    assert wrong(traces.TraceValues, {**info, "new": 1})
    assert wrong(traces.TraceValues, {**info, "burstiness": {**info["burstiness"], "hurst": {}}})
