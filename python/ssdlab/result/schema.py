"""The JSON Schema of the output of ``--json``, made from the declarations of the Rust extension."""

from __future__ import annotations

import json
from typing import Any

from ssdlab import _native

_VARY = {
    "description": "The settings that the comparison varies, with their values in this run.",
    "type": "object",
    "additionalProperties": {"type": "string"},
}
_INTERVAL = {
    "description": "A figure over several seeds.",
    "type": "object",
    "properties": {
        "mean": {"description": "Its mean.", "type": "number"},
        "half_width_95": {
            "description": "Half the width of the mean's 95 % interval, by Student's t.",
            "type": ["number", "null"],
        },
    },
    "required": ["mean", "half_width_95"],
    "additionalProperties": False,
}
_AGGREGATE = {
    "description": "Runs that differ only in their seed, summarized.",
    "type": "object",
    "properties": {
        "label": {"description": "The label of these runs.", "type": "string"},
        "runs": {
            "description": "Their indices in `results`, from 0.",
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
        },
        "seeds": {
            "description": "Their seeds.",
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
        },
        "metrics": {
            "description": "Every number that all of these results have, by its dotted name.",
            "type": "object",
            "additionalProperties": {"$ref": "#/$defs/Interval"},
        },
        "partial": {
            "description": "Whether all of these runs were stopped before they ended.",
            "type": "boolean",
        },
        "left_out": {
            "description": "Indices of stopped runs, left out of the metrics because others ended.",
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
        },
    },
    "required": ["label", "runs", "seeds", "metrics", "partial", "left_out"],
    "additionalProperties": False,
}
_MISSING = {
    "description": "A requested run that was stopped before it measured anything.",
    "type": "object",
    "properties": {
        "label": {"description": "Its label.", "type": "string"},
        "seed": {"description": "Its seed.", "type": "integer", "minimum": 0},
    },
    "required": ["label", "seed"],
    "additionalProperties": False,
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the whole document."""
    # This is a time interval, not a confidence interval.
    text = _native.result_schema().replace("#/$defs/Interval", "#/$defs/SeriesInterval")
    result = json.loads(text)
    parts = result.pop("$defs")
    parts["SeriesInterval"] = parts.pop("Interval")
    dialect = result.pop("$schema")
    result["properties"]["vary"] = _VARY
    result["required"].append("vary")
    parts |= {"RunResult": result, "Aggregate": _AGGREGATE, "Interval": _INTERVAL}
    parts["Missing"] = _MISSING
    for part in parts.values():
        if "properties" in part:
            part["additionalProperties"] = False
    return {
        "$schema": dialect,
        "title": "Results of ssdlab",
        "type": "object",
        "properties": {
            "schema_version": {
                "description": "Increases when a field changes its meaning or is removed.",
                "const": _native.SCHEMA_VERSION,
            },
            "results": {
                "description": "One for each run, in the order in which the runs were requested.",
                "type": "array",
                "items": {"$ref": "#/$defs/RunResult"},
            },
            "aggregates": {
                "description": "One for each group of seeds; only with several seeds.",
                "type": "array",
                "items": {"$ref": "#/$defs/Aggregate"},
            },
            "missing": {
                "description": "Runs that Ctrl-C stopped before they measured anything.",
                "type": "array",
                "items": {"$ref": "#/$defs/Missing"},
            },
        },
        "required": ["schema_version", "results"],
        "additionalProperties": False,
        "$defs": dict(sorted(parts.items())),
    }


def markdown() -> str:
    """Return the tables of the page "Results": every field by its name, with its meaning."""
    schema = json_schema()
    lines = []
    for part, title in [("", "The document"), ("results[].", "A result"), ("aggregates[].", "")]:
        lines += [f"\n## {title or 'An aggregate'}\n", "| field | type | what |", "|---|---|---|"]
        node = schema
        if part:
            node = _resolved(schema["properties"][part.rstrip("[].")]["items"], schema)
        lines += _table_rows(node, "", schema, deep=bool(part))
    return "\n".join(lines).strip() + "\n"


def _table_rows(
    node: dict[str, Any], prefix: str, schema: dict[str, Any], *, deep: bool
) -> list[str]:
    lines = []
    for name, value in node.get("properties", {}).items():
        optional = "" if name in node.get("required", []) else ", may be absent"
        inner = _resolved(value, schema)
        what = " ".join(value.get("description", inner.get("description", "")).split())
        kind = _type_name(value, schema)
        lines.append(f"| `{prefix}{name}` | {kind}{optional} | {what} |")
        if deep and "properties" in inner:
            lines += _table_rows(inner, f"{prefix}{name}.", schema, deep=True)
        elif (
            deep and kind == "list" and "properties" in (item := _resolved(inner["items"], schema))
        ):
            lines += _table_rows(item, f"{prefix}{name}[].", schema, deep=False)
    return lines


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the node that a node refers to, ignoring null."""
    for choice in node.get("anyOf", []):
        if choice.get("type") != "null":
            node = choice
    if "$ref" in node:
        found: dict[str, Any] = schema["$defs"][node["$ref"].rpartition("/")[2]]
        return found
    return node


def _type_name(node: dict[str, Any], schema: dict[str, Any]) -> str:
    kinds = _resolved(node, schema).get("type", "constant" if "const" in node else "any")
    names = {"object": "table", "array": "list", "null": "null", "integer": "whole number"}
    listed: list[str] = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(names.get(kind, str(kind)) for kind in listed)
