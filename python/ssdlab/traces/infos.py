"""What traces are like, to be rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Info = Mapping[str, Any]
"""What a trace is like: docs/traces.md says what every figure means."""


@dataclass(frozen=True, slots=True)
class TraceInfos:
    """What several traces are like, as :func:`ssdlab.traces.info` returns it."""

    infos: Sequence[Info]
