"""The page of the ledger, and its tables."""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.render.html.page import render_page
from ssdlab.render.html.tables import Origin, Table
from ssdlab_reproduction import ledger_figures, ledger_text
from ssdlab_reproduction.claim import SYSTEMS
from ssdlab_reproduction.ledger import Ledger, Row

_HEADS = ("claim", "of what", "paper", "ours", "verdict", "runs")


def ledger_page(ledger: Ledger) -> str:
    """Return the page of a ledger."""
    return render_page(
        "sections.html",
        ledger_figures.ledger_figures(ledger),
        title="What five papers claim, recomputed",
        how="How it was made",
        notes=ledger_text.notes(ledger),
        summary=summary(ledger),
        section_tables={},
        origins=list(origins(ledger)),
    )


def summary(ledger: Ledger) -> list[Table]:
    """Return how many claims came out, then those of each system, and the explanations."""
    came = {
        title: [ledger_text.outcome(row) for row in ledger.rows if row.claim.system == system]
        for system, title in SYSTEMS.items()
    }
    heads, *counts = ledger_text.counted({title: own for title, own in came.items() if own})
    tables = [Table("Claims by result", heads, counts, frozenset())]
    for system, title in SYSTEMS.items():
        own = [row for row in ledger.rows if row.claim.system == system]
        if own:
            rows = _plain(ledger_text.rows(ledger, system))
            tables += [
                Table(title, _HEADS, rows, frozenset({1, 4, 5})),
                *_known(ledger, title, own),
            ]
    return tables


def _known(ledger: Ledger, title: str, rows: list[Row]) -> Iterator[Table]:
    read = [[row.claim.id, read] for row in rows if (read := ledger_text.interpretation(row))]
    if read:
        yield Table(f"{title}: as read", ("claim", "how"), _plain(read), frozenset({1}))
    failed = [row for row in rows if row.failed]
    why = [[row.claim.id, ledger_text.explanation(ledger, row), row.claim.settle] for row in failed]
    columns = ["claim", "what was tried", "what would settle it"]
    if not any(tried for _, tried, _ in why):
        why = [[name, settle] for name, _, settle in why]
        del columns[1]
    if why:
        known = frozenset(range(1, len(columns)))
        yield Table(f"{title}: what did not reproduce", columns, _plain(why), known)
    heads, *answers = ledger_text.readings(rows)
    if answers:
        yield Table(f"{title}: readings", heads, _plain(answers), frozenset({0, 1, 2, 3}))
    for row in rows:
        for swept in row.swept:
            [caption], heads, *lines = _plain(
                [
                    [f"{row.claim.id}: {swept.sweep.about}{ledger_text.shortened(row)}"],
                    *ledger_text.sweep(row, swept),
                ]
            )
            yield Table(caption, heads, lines, frozenset({len(heads) - 1}))
        if row.crossed:
            name = f"{row.claim.id}, readings crossed: {ledger_text.depends(row)}"
            [caption], heads, *lines = _plain([[name], *ledger_text.crossed(row)])
            yield Table(caption, heads, lines, frozenset({len(heads) - 1}))


def _plain(rows: list[list[str]]) -> list[list[str]]:
    return [[cell.replace("`", "") for cell in row] for row in rows]


def origins(ledger: Ledger) -> Iterator[Origin]:
    """Yield how the ledger was made."""
    facts = [
        ("runs", f"{ledger.runs:,}"),
        ("seeds", ", ".join(map(str, ledger.seeds))),
        ("version", ledger.version),
        ("digest of all results", ledger.digest),
    ]
    facts += [("real trace", ledger_text.of_trace(one)) for one in ledger.traces]
    yield Origin("The ledger", facts)
