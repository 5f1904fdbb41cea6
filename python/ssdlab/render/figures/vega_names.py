"""Replaces names in a drawing by numbers, because Vega does not handle all names safely.

Vega uses names as keys of plain JavaScript objects, which already have ``constructor`` and
``toString``. The bars of a run with such a name are stacked onto a function. Vega also writes names
into programs, for the order of an axis, and U+2028 ends a line there. So Vega gets the position of
a name in a list, and looks up the text to write there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ssdlab import escaping
from ssdlab.render.figures.base import SAME

_LINE, _ENTRY = 28, 52
"""The number of characters that fit into a line of an axis, and into an entry of a legend."""
_NAMES, _ON_AXES, _IN_LEGENDS = "names", "namesOnAxes", "namesInLegends"
_CHANNELS = {
    **dict.fromkeys(("x", "y"), "axis"),
    **dict.fromkeys(("color", "shape", "strokeDash"), "legend"),
    **dict.fromkeys(("xOffset", "yOffset", "detail"), ""),
}
"""The channels that can draw a name, and the property that labels the names."""
_LOOKED_UP = {"axis": _ON_AXES, "legend": _IN_LEGENDS}
_NUMBER = "number of "

_Dict = dict[str, Any]


def vega_spec(chart: Any) -> _Dict:
    """Return a drawing as Vega-Lite, in which user-given names occur only as data.

    Rows keep the names, which tooltips show. Every character of the names and of all texts is
    visible.
    """
    spec: _Dict = chart.to_dict()
    ((dataset, rows),) = spec.pop("datasets").items()
    shown_as = _number_names(spec, rows)
    visible = [
        {
            field: shown_as[field, value] if (field, value) in shown_as else _visible(value)
            for field, value in row.items()
        }
        for row in rows
    ]
    return {**_visible(spec), "datasets": {dataset: visible}}


def _visible(part: Any) -> Any:
    if isinstance(part, str):
        return escaping.escape(part)
    if isinstance(part, list):
        return [_visible(each) for each in part]
    return {key: _visible(each) for key, each in part.items()} if isinstance(part, dict) else part


def _number_names(spec: _Dict, rows: list[_Dict]) -> dict[tuple[str, Any], str]:
    """Replace names by numbers; return the displayed text of each name of each field."""
    channels = list(_channels(spec, rows))
    if not channels:
        return {}
    fields = list(dict.fromkeys(channel["field"] for _, channel in channels))
    ordered = [name for _, channel in channels for name in _order(channel)]
    # Names without an explicit order are sorted alphabetically.
    found = {row[field] for field in fields for row in rows if row.get(field) is not None}
    names = list(dict.fromkeys([*ordered, *sorted(found)]))
    for label_of, channel in channels:
        _number(channel, label_of, {name: number for number, name in enumerate(names)})
    most = escaping.MAX_LENGTH * max(1 + name.count(SAME) for name in names)
    visible = escaping.display_labels(names, most)
    spec["params"] = [
        {"name": _NAMES, "value": visible},
        {"name": _ON_AXES, "value": escaping.make_distinct([_on_axis(name) for name in visible])},
        {"name": _IN_LEGENDS, "value": escaping.make_distinct([_in_legend(n) for n in visible])},
    ]
    spec["transform"] = [*spec.get("transform", ()), *map(_numbered, fields)]
    return {
        (field, name): visible_name
        for field in fields
        for name, visible_name in zip(names, visible, strict=True)
    }


def _on_axis(name: str) -> str:
    """Return a name whose every line fits; an axis breaks it at commas."""
    return ", ".join(escaping.truncate(line, _LINE) for line in name.split(", "))


def _in_legend(name: str) -> str:
    """Return a name each line of which has room: a legend breaks it between runs."""
    return SAME.join(escaping.truncate(line, _ENTRY) for line in name.split(SAME))


def _numbered(field: str) -> _Dict:
    """Return the transform that adds the numbers of a field's names to the rows."""
    of = f"datum['{field}']"
    return {
        "calculate": f"isValid({of}) ? indexof({_NAMES}, {of}) : null",
        "as": f"{_NUMBER}{field}",
    }


def _channels(spec: _Dict, rows: list[_Dict]) -> Iterator[tuple[str, _Dict]]:
    """Yield the channels that draw names, each with the property that labels the names."""
    for part in (spec, *spec.get("layer", ())):
        for name, channel in part.get("encoding", {}).items():
            if name in _CHANNELS and channel.get("type") in {"nominal", "ordinal"}:
                values = [*_order(channel), *(row.get(channel["field"]) for row in rows)]
                if all(value is None or isinstance(value, str) for value in values):
                    yield _CHANNELS[name], channel


def _order(channel: _Dict) -> list[Any]:
    """Return the names that a channel sorts."""
    lists = (channel.get("sort"), (channel.get("scale") or {}).get("domain"))
    return [name for names in lists if isinstance(names, list) for name in names]


def _number(channel: _Dict, label_of: str, numbers: dict[str, int]) -> None:
    """Make a channel draw numbers, and write the names on its axis or in its legend."""
    field = channel["field"]
    channel["field"] = f"{_NUMBER}{field}"
    if isinstance(channel.get("sort"), list):
        channel["sort"] = [numbers[name] for name in channel["sort"]]
    if isinstance((channel.get("scale") or {}).get("domain"), list):
        scale = channel["scale"]
        channel["scale"] = {**scale, "domain": [numbers[name] for name in scale["domain"]]}
    if label_of and channel.get(label_of, {}) is not None:
        options = dict(channel.get(label_of, {}))
        if "values" in options:
            options["values"] = [numbers[name] for name in options["values"]]
        name = f"{_LOOKED_UP[label_of]}[datum.value]"
        label = options.get("labelExpr", "datum.label").replace("datum.label", name)
        channel[label_of] = {"title": field, **options, "labelExpr": label}
