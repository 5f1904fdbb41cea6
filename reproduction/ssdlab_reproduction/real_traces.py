"""Real traces in place of twins: which file replaces which twin, and how long each is."""

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
"""The trace that a twin imitates; traces of Microsoft's servers are named without their source."""
_WHOLE = 0.9
"""A file with fewer requests than this share of its twin's is a part of the trace."""


@dataclass(frozen=True, slots=True)
class RealTraces:
    """The files of a folder that replace twins, by the twin's name.

    ``notes`` name the unused files, and the mixes that run as twins because a member lacks a file.
    """

    traces: Mapping[str, Path] = field(default_factory=dict)
    notes: Sequence[str] = ()


def find_traces(folder: str | Path) -> RealTraces:
    """Return the real traces of a folder.

    A file has the name of its trace (``hm_0.csv.gz``, ``Financial1.spc``) or of its twin
    (``fin1.csv``); case and punctuation do not matter. Raises :class:`InputError` if the folder
    does not exist, no file has such a name, or two files are the same trace.
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
    notes = [f"not used, because no twin has this name: {', '.join(others)}"] if others else []
    for mix, parts in members().items():
        lacking = [member for member in parts if member not in found]
        if 0 < len(lacking) < len(parts):
            notes.append(f"{mix} runs as a twin: no file for {', '.join(lacking)}")
    return RealTraces(found, notes)


@dataclass(frozen=True, slots=True)
class TraceUsed:
    """A real trace that was read, and the twin that it replaces.

    ``twin_requests`` and ``twin_s`` are the twin's number of requests and their time in seconds.
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
    """Read a real trace to its end; return its format, its requests, and its length in seconds."""
    assert plan.trace is not None
    (found,) = traces.info([Path(plan.trace)], reuse=False)
    return {key: found[key] for key in ("format", "requests", "span_s")}


def trace_used(twin: str, file: Path, sha256: str, measured: Mapping[str, Any]) -> TraceUsed:
    """Return the figures of a file beside those of its twin."""
    (own,) = (one for one in twins() if one["name"] == twin)
    twin_figures = {"twin_requests": own["requests"], "twin_s": own["span_s"]}
    return TraceUsed(twin, file.name, sha256, **measured, **twin_figures)


def is_part(read: Sequence[TraceUsed], limit: int | None) -> bool:
    """Tell whether any file has fewer requests than a run would read of its twin.

    If a run of a mix has a limit, each member has the same share of the limit as of the whole mix.
    """
    twin_requests = sum(one.twin_requests for one in read)
    part = 1.0 if limit is None else min(1.0, limit / twin_requests)
    return any(one.requests < _WHOLE * part * one.twin_requests for one in read)


@cache
def twins() -> Sequence[Mapping[str, Any]]:
    """Return the description of each twin."""
    return tuple(json.loads(_native.twins()))


@cache
def members() -> Mapping[str, Sequence[str]]:
    """Return the member twins of each mix, one per queue."""
    return {twin["name"]: twin["members"] for twin in twins() if twin["members"]}


def _names(twin: Mapping[str, Any]) -> list[str]:
    """Return the accepted names of a file of a twin's trace: that of the trace, or of its twins."""
    trace = _trace_of(twin)
    alike = [one["name"].partition("/")[2] for one in twins() if _trace_of(one) == trace]
    return [_plain(name) for name in (*alike, trace)]


def _trace_of(twin: Mapping[str, Any]) -> str:
    title = _TITLE.match(twin["title"])
    assert title is not None
    return title[1]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
