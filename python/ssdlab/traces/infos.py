"""What traces are like, to be rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.files import File

Info = Mapping[str, Any]
"""What a trace is like: docs/reference/traces.md says what every figure means."""


class TraceInfo(dict[str, Any]):
    """What a trace is like, and the files it was read from, by paths that hold in any folder."""

    input_files: Sequence[File] = ()


@dataclass(frozen=True, slots=True)
class TraceInfos:
    """What several traces are like, as :func:`ssdlab.traces.info` returns it."""

    infos: Sequence[Info]
