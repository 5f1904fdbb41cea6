"""Tables as text, for 80 columns without a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab import escaping
from ssdlab.render.formatting import WIDTH

_MAX_LABEL = 60
"""The maximum length of a row's label; a longer one loses its middle, to leave room for figures."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its head and its cells."""

    head: str
    cells: Sequence[str]

    def width(self) -> int:
        """Return the width of the column in characters."""
        return max(len(self.head), *(len(cell) for cell in self.cells))

    def lines(self, align: Callable[[str, int], str]) -> list[str]:
        """Return head and cells, each padded to the same width."""
        return [align(text, self.width()) for text in (self.head, *self.cells)]


def format_table(labels: Column, columns: Sequence[Column], gap: str = "  ") -> str:
    """Return columns beside their labels, in several blocks if they are too wide for one."""
    labels = Column(labels.head, escaping.truncate_all(labels.cells, _MAX_LABEL))
    blocks: list[list[Column]] = [[]]
    room = WIDTH - labels.width()
    for column in columns:
        taken = sum(len(gap) + other.width() for other in blocks[-1])
        if blocks[-1] and taken + len(gap) + column.width() > room:
            blocks.append([])
        blocks[-1].append(column)
    return "\n\n".join(_block(labels, block, gap) for block in blocks)


def _block(labels: Column, columns: Sequence[Column], gap: str) -> str:
    sides = [labels.lines(str.ljust), *(column.lines(str.rjust) for column in columns)]
    return escaping.escape("\n".join(gap.join(row).rstrip() for row in zip(*sides, strict=True)))


@dataclass(frozen=True, slots=True)
class TitledTable:
    """A table with a title; ``words`` says that its last column holds words."""

    title: str
    labels: Column
    columns: Sequence[Column]
    words: bool = False

    def __str__(self) -> str:
        """Return the table as text."""
        columns = list(self.columns)
        if self.words:
            width = columns[-1].width()
            cells = [cell.ljust(width) for cell in columns[-1].cells]
            columns[-1] = Column(columns[-1].head.ljust(width), cells)
        return f"{self.title}\n{format_table(self.labels, columns)}"
