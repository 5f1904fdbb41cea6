"""A result's JSON, kept as text."""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, Mapping
from typing import Any


class RawResult(Mapping[str, Any]):
    """A result as it stands in JSON, parsed anew at each access.

    The text takes a quarter of the memory of its objects, which matters for many results.
    """

    __slots__ = ("_added", "_text")

    def __init__(self, text: str, added: Mapping[str, Any]) -> None:
        """Store a text, and what to add to its table."""
        self._text = text.encode()
        self._added = dict(added)

    def load(self) -> dict[str, Any]:
        """Return the table, parsed from the text."""
        return {**json.loads(self._text), **self._added}

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key."""
        return self.load()[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the keys."""
        return iter(self.load())

    def __len__(self) -> int:
        """Count the keys."""
        return len(self.load())

    def items(self) -> ItemsView[str, Any]:
        """Return keys and values; parse the text only once."""
        return self.load().items()
