"""Names in a drawing become numbers: Vega is no safe place for names.

Vega puts names as keys into plain objects of JavaScript, in which ``constructor`` and ``toString``
are there before anything is put in: bars of a run that is called so are stacked onto a function.
It also writes names into programs, for the order of an axis, where U+2028 ends the line. So it is
given the place of a name in a list in place of the name, and looks up there what to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ssdlab import escaping

_LINE, _ENTRY = 28, 52
"""So many characters have room in a line of an axis, and in an entry of a legend."""
_NAMES, _ON_AXES, _IN_LEGENDS = "names", "namesOnAxes", "namesInLegends"
_CHANNELS = {
    **dict.fromkeys(("x", "y"), "axis"),
    **dict.fromkeys(("color", "shape", "strokeDash"), "legend"),
    **dict.fromkeys(("xOffset", "yOffset", "detail"), ""),
}
"""What a name can be drawn as, and what then says which name it is."""
_LOOKED_UP = {"axis": _ON_AXES, "legend": _IN_LEGENDS}
_NUMBER = "number of "

_Dict = dict[str, Any]


def vega_spec(chart: Any) -> _Dict:
    """Return a drawing as Vega-Lite, of which no user's name is a part but as data.

    Rows keep the names, which tooltips show; every character of these and of all texts is visible.
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
    """Put numbers in the place of names; how each name of each field is shown."""
    channels = list(_channels(spec, rows))
    if not channels:
        return {}
    fields = list(dict.fromkeys(channel["field"] for _, channel in channels))
    ordered = [name for _, channel in channels for name in _order(channel)]
    # Names without an order of their own stand in that of the alphabet.
    found = {row[field] for field in fields for row in rows if row.get(field) is not None}
    names = list(dict.fromkeys([*ordered, *sorted(found)]))
    for label_of, channel in channels:
        _number(channel, label_of, {name: number for number, name in enumerate(names)})
    visible = escaping.display_labels(names)
    spec["params"] = [
        {"name": _NAMES, "value": visible},
        {"name": _ON_AXES, "value": escaping.make_distinct([_on_axis(name) for name in visible])},
        {"name": _IN_LEGENDS, "value": escaping.truncate_all(visible, _ENTRY)},
    ]
    spec["transform"] = [*spec.get("transform", ()), *map(_numbered, fields)]
    return {
        (field, name): visible_name
        for field in fields
        for name, visible_name in zip(names, visible, strict=True)
    }


def _on_axis(name: str) -> str:
    """Return a name each line of which has room: an axis breaks it at commas."""
    return ", ".join(escaping.truncate(line, _LINE) for line in name.split(", "))


def _numbered(field: str) -> _Dict:
    """Return what adds the numbers of a field's names to rows."""
    of = f"datum['{field}']"
    return {
        "calculate": f"isValid({of}) ? indexof({_NAMES}, {of}) : null",
        "as": f"{_NUMBER}{field}",
    }


def _channels(spec: _Dict, rows: list[_Dict]) -> Iterator[tuple[str, _Dict]]:
    """Go through what draws names: each with what says which name it is."""
    for part in (spec, *spec.get("layer", ())):
        for name, channel in part.get("encoding", {}).items():
            if name in _CHANNELS and channel.get("type") in {"nominal", "ordinal"}:
                values = [*_order(channel), *(row.get(channel["field"]) for row in rows)]
                if all(value is None or isinstance(value, str) for value in values):
                    yield _CHANNELS[name], channel


def _order(channel: _Dict) -> list[Any]:
    """Return the names that a channel puts into an order."""
    lists = (channel.get("sort"), (channel.get("scale") or {}).get("domain"))
    return [name for names in lists if isinstance(names, list) for name in names]


def _number(channel: _Dict, label_of: str, numbers: dict[str, int]) -> None:
    """Have a channel draw numbers, and write the names on its axis or in its legend."""
    field = channel["field"]
    channel["field"] = f"{_NUMBER}{field}"
    if isinstance(channel.get("sort"), list):
        channel["sort"] = [numbers[name] for name in channel["sort"]]
    if isinstance((channel.get("scale") or {}).get("domain"), list):
        scale = channel["scale"]
        channel["scale"] = {**scale, "domain": [numbers[name] for name in scale["domain"]]}
    if label_of and channel.get(label_of, {}) is not None:
        options = channel.get(label_of, {})
        name = f"{_LOOKED_UP[label_of]}[datum.value]"
        label = options.get("labelExpr", "datum.label").replace("datum.label", name)
        channel[label_of] = {"title": field, **options, "labelExpr": label}
