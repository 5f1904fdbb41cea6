"""The ledger as text and in Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ssdlab.confidence import Interval
from ssdlab.render.formatting import NONE, WIDTH, pluralize
from ssdlab.render.text.traces import seconds
from ssdlab_reproduction import crossing
from ssdlab_reproduction.claim import SYSTEMS, Figure, Verdict
from ssdlab_reproduction.ledger import TRACES, TWINS, Ledger, Row, Swept
from ssdlab_reproduction.real_traces import TraceUsed
from ssdlab_reproduction.runs import SHORT_HASH

_INDENT = "    "
_LEFT_OUT = "left out of a quick ledger: its runs are too long"
_SATURATED = (
    "Some of its drives are saturated: how long requests wait there depends on how many there are."
)
MADE = "by construction"
STARTED = "by the start"
CHOSEN = "by a ruling that follows it"
MARKS = (MADE, STARTED, CHOSEN)
"""Why a result is no finding."""
NEVER = "because the event never occurred"
NOT_ALWAYS = "because the event did not occur with each seed"


def ours(figure: Figure, found: Interval) -> str:
    """Return a figure of ours as text, with the half-width of its interval over seeds."""
    if found.half_width_95 is None:
        return figure.written(found.mean)
    unit = f" {figure.unit}" if figure.unit else ""
    width = f"{found.half_width_95:{figure.form.lstrip('+')}}"
    return f"{figure.written(found.mean).removesuffix(unit)} ± {width}{unit}"


def ledger_text(ledger: Ledger) -> str:
    """Return the ledger for a terminal."""
    parts = []
    for system, title in SYSTEMS.items():
        rows = [row for row in ledger.rows if row.claim.system == system]
        if rows:
            parts.append(title)
            parts += ["\n".join(_block(row)) for row in rows]
    parts.append(summary(ledger))
    if ledger.traces:
        lines = [f"--traces: {of_trace(one)}" for one in ledger.traces]
        paragraphs = (textwrap.fill(line, WIDTH, subsequent_indent=_INDENT) for line in lines)
        parts.append("\n".join(paragraphs))
    return "\n\n".join(parts)


def _block(row: Row) -> Iterator[str]:
    head = f"{row.claim.id:<4}{row.claim.what}"
    yield from textwrap.wrap(head, WIDTH, subsequent_indent=_INDENT)
    if row.verdict == Verdict.LEFT_OUT:
        yield f"{_INDENT}{_LEFT_OUT}"
        return
    came = row.verdict if row.why else outcome(row)
    summary_line = f"{came}{f' ({row.loads})' if row.loads else ''}"
    cells = [
        (figure.of, figure.bound(), found, verdict)
        for figure, found, verdict in zip(
            row.claim.figures, _written(row), _verdicts(row), strict=True
        )
    ]
    widths = [max(len(cell[at]) for cell in cells) for at in range(3)]
    for of, paper, found, verdict in cells:
        mark = "" if len(cells) == 1 and verdict == row.verdict else f"  {verdict}"
        line = f"{of:<{widths[0]}}  paper {paper:>{widths[1]}}  ours {found:>{widths[2]}}"
        yield f"{_INDENT}{line}{mark}".rstrip()
    for last in (f"{summary_line}{f': {row.why}' if row.why else ''}", nearest(row)):
        yield from textwrap.wrap(last, WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)


def outcome(row: Row) -> str:
    """Return the result of a claim, and whether it counts as a finding."""
    mark = _mark(row)
    if row.never:
        mark = NEVER if len(row.never) == len(row.seeds) else NOT_ALWAYS
    return f"{row.verdict}, {mark}" if mark else str(row.verdict)


def _mark(row: Row) -> str:
    """Return why a result is no finding. A twin may be made for a claim, a real trace is not."""
    is_real = TRACES in row.loads and TWINS not in row.loads
    bound = {"drive"} if is_real else {"drive", "twin"}
    if row.claim.made in bound and row.verdict == Verdict.REPRODUCED:
        return MADE
    if row.verdict not in (Verdict.REPRODUCED, Verdict.DIRECTION):
        return ""
    if row.claim.chosen == "start":
        return STARTED
    return CHOSEN if row.claim.chosen in bound else ""


def count_outcomes(came: Sequence[str]) -> str:
    """Return the number of claims by result, from the texts of :func:`outcome`."""
    counts = []
    for verdict in Verdict:
        own = [one for one in came if one.partition(", ")[0] == verdict]
        marks = [f"{n} of them {mark}" for mark in MARKS if (n := _ending(own, mark))]
        if own:
            counts.append(f"{len(own)} {verdict}" + f" ({', '.join(marks)})" * bool(marks))
    return ", ".join(counts)


def _ending(came: Sequence[str], mark: str) -> int:
    return sum(one.endswith(mark) for one in came)


def counted(came: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield the number of claims of each system by result, and of results that are no findings.

    First the heads, last the sums. ``came`` are the texts of :func:`outcome` by system.
    """
    verdicts = (Verdict.REPRODUCED, Verdict.DIRECTION, Verdict.NOT)
    yield ["system", "claims", *verdicts, *MARKS]
    every = {**came, "all": [one for own in came.values() for one in own]}
    for system, own in every.items():
        by_verdict = (sum(one.partition(", ")[0] == verdict for one in own) for verdict in verdicts)
        yield [system, *map(str, (len(own), *by_verdict, *(_ending(own, mark) for mark in MARKS)))]


def _written(row: Row) -> list[str]:
    if not row.ours:
        return [NONE] * len(row.claim.figures)
    return [ours(figure, one) for figure, one in zip(row.claim.figures, row.ours, strict=True)]


def _verdicts(row: Row) -> list[str]:
    if not row.verdicts:
        return [""] * len(row.claim.figures)
    return [
        _verdict_text(figure, one, verdict)
        for figure, one, verdict in zip(row.claim.figures, row.ours, row.verdicts, strict=True)
    ]


def _verdict_text(figure: Figure, found: Interval, verdict: Verdict) -> str:
    """Return the verdict on a figure, with a caveat if seeds differ too much to be sure."""
    is_judged = verdict != Verdict.SHOWN
    caveat = _caveat(figure, found, verdict) if found.half_width_95 and is_judged else ""
    return f"{verdict} ({caveat})" if caveat else str(verdict)


def _caveat(figure: Figure, found: Interval, verdict: Verdict) -> str:
    """Return a value in the interval with another verdict, as text; empty if there is none."""
    width, side = found.half_width_95 or 0.0, figure.side

    def holds(value: float) -> bool:
        return abs(found.mean - value) <= width

    if figure.judged != "near" and holds(figure.paper):
        return "bound within the interval"
    is_directed = side is not None and verdict != Verdict.NOT and figure.paper != side
    if side is not None and is_directed and holds(side):
        return f"{side:g} within the interval"
    is_wide = figure.judged == "near" and width > figure.allowed
    return "the interval is wider" if verdict == Verdict.REPRODUCED and is_wide else ""


def summary(ledger: Ledger) -> str:
    """Return the number of claims by result, and how they were found."""
    one = "seed 1"
    if len(ledger.seeds) > 1:
        one = f"seeds 1 to {len(ledger.seeds)}, seed 1 alone where no interval is given"
    how = f"{ledger.runs} runs, {one}, ssdlab {ledger.version} (build {ledger.build})"
    how += ", quick: workloads are cut short, and some left out" if ledger.quick else ""
    notes = "".join(f"\n--traces: {note}" for note in ledger.notes)
    came = count_outcomes([outcome(row) for row in ledger.rows])
    return f"{pluralize(len(ledger.rows), 'claim')}: {came}\n{how}{notes}"


def of_trace(one: TraceUsed) -> str:
    """Return the size of a real trace, and that of its twin."""
    own, twins = (
        f"{requests:,} requests in {seconds(span_s)}"
        for requests, span_s in ((one.requests, one.span_s), (one.twin_requests, one.twin_s))
    )
    file = f"{one.format}, {own}, SHA-256 {one.sha256[:SHORT_HASH]}"
    return f"{one.file} ({file}) for {one.twin} ({twins})"


def notes(ledger: Ledger) -> list[str]:
    """Return the notes that a reader of the figures must know."""
    return summary(ledger).split("\n")


def ledger_markdown(ledger: Ledger) -> str:
    """Return the ledger as a page: the tables, and explanations of what did not reproduce."""
    lines = []
    for system, title in SYSTEMS.items():
        own = [row for row in ledger.rows if row.claim.system == system]
        if not own:
            continue
        lines += [f"## {title}", "", "| claim | of what | paper | ours | verdict | runs |"]
        lines += ["|---" * 6 + "|"]
        for name, *cells, verdict, loads in rows(ledger, system):
            mark = "**" if name else ""
            bold = [f"{mark}{word}{mark}" for word in (name, verdict)]
            lines.append(f"| {bold[0]} | {' | '.join(cells)} | {bold[1]} | {loads} |")
        lines.append("")
        for row in own:
            lines += _why(ledger, row)
        if len(answers := list(readings(own))) > 1:
            lines += [f"Readings of {title}, with their sources:", "", *_table(iter(answers))]
    about = [f"{summary(ledger)}; digest of their results `{ledger.digest}`.".replace("\n", "; ")]
    if ledger.traces:
        about.append(f"Real traces: {'; '.join(map(of_trace, ledger.traces))}.")
    return "\n".join([" ".join(about), "", *lines]).rstrip() + "\n"


def rows(ledger: Ledger, system: str) -> list[list[str]]:
    """Return the rows of a system's table, six cells each; the first row of a claim names it."""
    return [cells for row in ledger.rows if row.claim.system == system for cells in _cells(row)]


def _cells(row: Row) -> Iterator[list[str]]:
    yield [row.claim.id, row.claim.what, "", "", outcome(row), row.loads]
    if row.verdict == Verdict.LEFT_OUT:
        return
    for figure, found, verdict in zip(
        row.claim.figures, _written(row), _verdicts(row), strict=True
    ):
        yield ["", figure.of, figure.bound(), found, verdict, ""]


def interpretation(row: Row) -> str:
    """Return how a claim was interpreted, and which of several ways is nearest to the paper."""
    parts = (row.claim.ruled, nearest(row), _SATURATED if row.saturated else "")
    return " ".join(part for part in parts if part)


def nearest(row: Row) -> str:
    """Return the ways by distance from the paper; an empty string unless they differ."""
    offs = {way: f"{off:.2f}" for way, off in row.ways}
    if len(set(offs.values())) <= 1:
        return ""
    ranked = ", then ".join(f"{way} (off by {off})" for way, off in offs.items())
    return f"Nearest to the paper is: {ranked}."


def explanation(ledger: Ledger, row: Row) -> str:
    """Return what was tried for a claim that did not reproduce, and the event that never happened.

    What was tried was found with whole twins, so it explains no other result.
    """
    never = f"{row.why[:1].upper()}{row.why[1:]}." if row.why else ""
    is_theirs = not ledger.quick and TRACES not in row.loads
    return " ".join(part for part in (never, row.claim.tried if is_theirs else "") if part)


def _why(ledger: Ledger, row: Row) -> Iterator[str]:
    claim, read = row.claim, interpretation(row)
    if read:
        yield from [f"*{claim.id}, as read*: {read}", ""]
    if row.failed:
        settle = f"*What would settle it*: {claim.settle}" if claim.settle else ""
        reason = " ".join(part for part in (explanation(ledger, row), settle) if part)
        yield from [f"**{claim.id}**: {reason}", ""] if reason else []
    for swept in row.swept:
        yield from [f"{claim.id}, {swept.sweep.about}{shortened(row)}:", ""]
        yield from _table(sweep(row, swept))
    if row.crossed:
        yield from [f"{claim.id}, readings crossed: {depends(row)}", ""]
        yield from _table(crossed(row))


def _table(rows: Iterator[list[str]]) -> Iterator[str]:
    heads, *lines = rows
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    yield from (f"| {' | '.join(cells)} |" for cells in lines)
    yield ""


def readings(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Yield the answers to the open points that claims cross: the heads, then a line for each."""
    yield ["open point", "answer", "settings", "source"]
    every = {reading.name: reading for row in rows for reading in row.claim.readings}
    for reading in every.values():
        for option in reading.options:
            marks = ["ruled"] * (not option.settings) + ["the texts"] * option.favored
            settings = " ".join(f"`{one}`" for one in option.settings.split())
            yield [
                reading.about,
                f"{option.name} ({', '.join(marks)})" if marks else option.name,
                settings or NONE,
                option.source,
            ]


def depends(row: Row) -> str:
    """Return how far the verdict on a claim depends on its readings, as a sentence."""
    counted = ", ".join(f"{number} {verdict}" for verdict, number in crossing.counts(row.crossed))
    return f"of {len(row.crossed)} combinations {counted}{shortened(row)}."


def shortened(row: Row) -> str:
    """Return the settings that shorten the runs of sweeps, as the end of a caption."""
    return f", with `{row.claim.short}`" if row.claim.short else ""


def crossed(row: Row) -> Iterator[list[str]]:
    """Yield a claim's figures under every combination of answers: the heads, then the lines."""
    judged = [not row.claim.is_shown(figure) for figure in row.claim.figures]
    figures = [one for one, keep in zip(row.claim.figures, judged, strict=True) if keep]
    about = [reading.about for reading in row.claim.readings]
    yield [*about, *(figure.of for figure in figures), "off by", "verdict"]
    nearest_one, favored = crossing.nearest(row.crossed), crossing.favored(row.claim)
    for one in row.crossed:
        marks = ["ruled"] * one.is_ruled + ["the texts"] * (tuple(one.options) == favored)
        marks += ["nearest"] * (one is nearest_one)
        ours = [of for of, keep in zip(one.ours, judged, strict=True) if keep] if one.ours else []
        cells = [figure.written(of) for figure, of in zip(figures, ours, strict=bool(ours))]
        off = NONE if one.off is None else f"{one.off:.2f}"
        yield [
            *(option.name for option in one.options),
            *(cells or [NONE] * len(figures)),
            f"{off} ({', '.join(marks)})" if marks else off,
            one.verdict,
        ]


def sweep(row: Row, swept: Swept) -> Iterator[list[str]]:
    """Yield a claim's figures under alternatives to a ruling: the heads, then a line for each."""
    figures = row.claim.figures
    yield ["settings", *(figure.of for figure in figures), "off by", "verdict"]
    every = (swept.ruled, *swept.variants)
    offs = [NONE if one.off is None else f"{one.off:.2f}" for one in every]
    least = min((one for one in offs if one != NONE), key=float, default=NONE)
    for variant, off in zip(every, offs, strict=True):
        pairs = zip(figures, variant.ours, strict=True) if variant.ours else ()
        cells = [figure.written(one) for figure, one in pairs] or [NONE] * len(figures)
        settings = " ".join(f"`{one}`" for one in variant.settings.split())
        mark = " (nearest)" if off == least and len(set(offs)) > 1 else ""
        settings = (settings or "as ruled") + " (saturated)" * variant.saturated
        yield [settings, *cells, f"{off}{mark}", variant.verdict]
