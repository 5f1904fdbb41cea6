"""Real traces in the place of twins: whose each is, and how much of it there is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ssdlab import _native, traces
from ssdlab.errors import InputError
from ssdlab.files import check_named
from ssdlab.plan import Plan

_TITLE = re.compile(r"twin of (?:MSPS )?(.*) \(")
"""The trace of which a twin is; those of Microsoft's servers are called so without their source."""
_WHOLE = 0.9
"""A file of fewer than so many times a twin's requests is a part of the trace."""


@dataclass(frozen=True, slots=True)
class RealTraces:
    """The files of a folder that take the place of twins, by the twin's name.

    ``notes`` say what else is there, and which mixes lack a member's file and run as twins.
    """

    traces: Mapping[str, Path] = field(default_factory=dict)
    notes: Sequence[str] = ()


def find_traces(folder: str | Path) -> RealTraces:
    """Return the real traces of a folder.

    A file is called as the trace is (``hm_0.csv.gz``, ``Financial1.spc``) or as its twin
    (``fin1.csv``); case and punctuation do not matter. Raises :class:`InputError` if there is no
    such folder, nothing in it has such a name, or two files are the same trace.
    """
    check_named("--traces", str(folder))
    try:
        files = sorted(path for path in Path(folder).iterdir() if not path.is_dir())
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError.at("--traces", f"cannot read {str(folder)!r}: {reason}") from None
    named: dict[str, list[Path]] = {}
    for path in files:
        named.setdefault(_plain(path.name.partition(".")[0]), []).append(path)
    found = {}
    for twin in twins():
        own = [path for name in dict.fromkeys(_names(twin)) for path in named.get(name, ())]
        if len(own) > 1:
            names = " and ".join(path.name for path in own)
            raise InputError.at(
                "--traces", f"{names} are both {twin['name']}: expected one of them"
            )
        if own and not twin["members"]:
            found[twin["name"]] = own[0]
    if not found:
        expected = "files called as the traces are, such as hm_0.csv.gz or Financial1.spc"
        raise InputError.at("--traces", f"no trace in {str(folder)!r}: expected {expected}")
    others = [path.name for path in files if path not in found.values()]
    notes = [f"not used, for no twin has its name: {', '.join(others)}"] if others else []
    for mix, parts in members().items():
        lacking = [member for member in parts if member not in found]
        if 0 < len(lacking) < len(parts):
            notes.append(f"{mix} runs as a twin: no file for {', '.join(lacking)}")
    return RealTraces(found, notes)


@dataclass(frozen=True, slots=True)
class TraceUsed:
    """A real trace as it was read, and the twin whose place it takes.

    ``twin_requests`` and ``twin_s`` are what the twin would have asked, and in how many seconds.
    """

    twin: str
    file: str
    sha256: str
    format: str
    requests: int
    span_s: float
    twin_requests: int
    twin_s: float


def measure_trace(plan: Plan) -> dict[str, Any]:
    """Read a real trace from end to end; its format, its requests, and in how many seconds."""
    assert plan.trace is not None
    (found,) = traces.info([Path(plan.trace)], reuse=False)
    return {key: found[key] for key in ("format", "requests", "span_s")}


def trace_used(twin: str, file: Path, sha256: str, measured: Mapping[str, Any]) -> TraceUsed:
    """Return what was found in a file beside the twin's."""
    (own,) = (one for one in twins() if one["name"] == twin)
    twin_figures = {"twin_requests": own["requests"], "twin_s": own["span_s"]}
    return TraceUsed(twin, file.name, sha256, **measured, **twin_figures)


def is_part(read: Sequence[TraceUsed], limit: int | None) -> bool:
    """Tell whether any file has fewer requests than a run would read of its twin.

    Of the requests to which a run of a mix is held, each member has as large a part as of all.
    """
    twin_requests = sum(one.twin_requests for one in read)
    part = 1.0 if limit is None else min(1.0, limit / twin_requests)
    return any(one.requests < _WHOLE * part * one.twin_requests for one in read)


@cache
def twins() -> Sequence[Mapping[str, Any]]:
    """Return what is known of each twin."""
    return tuple(json.loads(_native.twins()))


@cache
def members() -> Mapping[str, Sequence[str]]:
    """Return the twins of which each mix consists, a queue each."""
    return {twin["name"]: twin["members"] for twin in twins() if twin["members"]}


def _names(twin: Mapping[str, Any]) -> list[str]:
    """Return what a file of a twin's trace may be called: as any twin of that trace, or as it."""
    trace = _trace_of(twin)
    alike = [one["name"].partition("/")[2] for one in twins() if _trace_of(one) == trace]
    return [_plain(name) for name in (*alike, trace)]


def _trace_of(twin: Mapping[str, Any]) -> str:
    title = _TITLE.match(twin["title"])
    assert title is not None
    return title[1]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
