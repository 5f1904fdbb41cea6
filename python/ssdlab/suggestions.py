"""The known name nearest to a mistyped one."""

from __future__ import annotations

from collections.abc import Iterable

from ssdlab import _native


def nearest(typed: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to a typed one, or None if all differ too much."""
    # The typed text may not be UTF-8, which the Rust extension does not accept.
    return _native.nearest(typed.encode(errors="replace").decode(), list(known))


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """Return `` (did you mean …?)`` if a known name is near to the typed one, else nothing."""
    near = nearest(typed, known)
    return f' (did you mean "{near}"?)' if near else ""
