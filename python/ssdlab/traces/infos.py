"""The figures of traces, for rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.files import File

Info = Mapping[str, Any]
"""The figures of a trace, which the documentation's page "Traces" explains."""


class TraceInfo(dict[str, Any]):
    """The figures of a trace, and the files that it was read from, by absolute paths."""

    input_files: Sequence[File] = ()


@dataclass(frozen=True, slots=True)
class TraceInfos:
    """The figures of several traces, as :func:`ssdlab.traces.info` returns them."""

    infos: Sequence[Info]
