"""The tables of a page about what papers claim."""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.claims import SYSTEMS, Ledger, words
from ssdlab.page.physics_tables import Origin
from ssdlab.page.tables import Table

_HEADS = ("claim", "of what", "paper", "ours", "verdict", "runs")


def summary(ledger: Ledger) -> list[Table]:
    """Return the claims of each system beside what came of them."""
    return [
        Table(title, _HEADS, _plain(words.rows(ledger, system)), frozenset({1, 4, 5}))
        for system, title in SYSTEMS.items()
        if any(row.claim.system == system for row in ledger.rows)
    ]


def _plain(rows: list[list[str]]) -> list[list[str]]:
    return [[cell.replace("`", "") for cell in row] for row in rows]


def origins(ledger: Ledger) -> Iterator[Origin]:
    """Say of what the ledger is made."""
    facts = [
        ("runs", f"{ledger.runs:,}"),
        ("seeds", ", ".join(map(str, ledger.seeds))),
        ("version", ledger.version),
        ("digest of all results", ledger.digest),
    ]
    facts += [("traces", ", ".join(ledger.traces.values()))] if ledger.traces else []
    yield Origin("The ledger", facts)
