"""The error rates that codes correct, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ssdlab.ldpc import Ldpc, Level
from ssdlab.render.formatting import NONE
from ssdlab.render.text.table import Column, TitledTable


def ldpc_text(ldpc: Ldpc) -> str:
    """Return the text that ``ssdlab ldpc`` prints."""
    tables = [
        corrected_table(ldpc),
        threshold_table(ldpc),
        hard_decision_table(ldpc),
        early_stop_table(ldpc),
        page_table(ldpc),
    ]
    parts = [
        ldpc.heading,
        *(str(each) for each in tables),
        nearest_decoder_line(ldpc),
        bch_line(ldpc),
    ]
    parts += [str(each) for each in measured_tables(ldpc)]
    return "\n\n".join([*parts, *ldpc.notes()])


def rber_text(value: float | None) -> str:
    """Return a raw bit error rate as text."""
    return NONE if value is None else f"{value:.5f}"


def difference_text(value: float | None) -> str:
    """Return a relative difference as text."""
    return NONE if value is None else f"{100 * value:+.1f} %"


def _level_cells(ldpc: Ldpc, write: Callable[[Level], str]) -> list[str]:
    return [write(level) for level in ldpc.levels]


def _level_column(ldpc: Ldpc) -> Column:
    return Column("levels", _level_cells(ldpc, lambda level: str(level.levels)))


def corrected_table(ldpc: Ldpc) -> TitledTable:
    """Return the rates that levels correct at this length, beside the published rates."""
    columns = [
        Column("any code", _level_cells(ldpc, lambda level: rber_text(level.limit.corrected))),
        Column(
            "sum-product", _level_cells(ldpc, lambda level: rber_text(level.sum_product.corrected))
        ),
        Column("min-sum", _level_cells(ldpc, lambda level: rber_text(level.min_sum.corrected))),
        Column("published", _level_cells(ldpc, lambda level: rber_text(level.published))),
        Column(
            "min-sum differs", _level_cells(ldpc, lambda level: difference_text(level.difference))
        ),
    ]
    title = f"raw bit error rate at which frames fail with {ldpc.failure:.0e}"
    return TitledTable(title, _level_column(ldpc), columns)


def threshold_table(ldpc: Ldpc) -> TitledTable:
    """Return the rates that levels correct in infinitely long codes, and the transferred bits."""
    columns = [
        Column("any code", _level_cells(ldpc, lambda level: rber_text(level.limit.threshold))),
        Column(
            "sum-product", _level_cells(ldpc, lambda level: rber_text(level.sum_product.threshold))
        ),
        Column("min-sum", _level_cells(ldpc, lambda level: rber_text(level.min_sum.threshold))),
        Column("bits a cell", _level_cells(ldpc, lambda level: str(level.transfer_bits))),
    ]
    return TitledTable(
        "thresholds: the same of infinitely long codes", _level_column(ldpc), columns
    )


def hard_decision_table(ldpc: Ldpc) -> TitledTable:
    """Return the rates that decoders correct from hard decisions."""
    columns = [
        Column("threshold", [rber_text(each.threshold) for each in ldpc.hard]),
        Column("at this length", [rber_text(each.corrected) for each in ldpc.hard]),
        Column("published", [rber_text(ldpc.levels[0].published)] * len(ldpc.hard)),
        Column("differs", [difference_text(each.difference) for each in ldpc.hard]),
    ]
    return TitledTable(
        "one level", Column("decoder", [each.decoder for each in ldpc.hard]), columns
    )


def early_stop_table(ldpc: Ldpc) -> TitledTable:
    """Return the rates that min-sum corrects in few iterations."""
    columns = [
        Column("1 level", [rber_text(each.hard) for each in ldpc.hurried]),
        Column("differs", [difference_text(each.hard_difference) for each in ldpc.hurried]),
        Column("7 levels", [rber_text(each.soft) for each in ldpc.hurried]),
        Column("differs", [difference_text(each.soft_difference) for each in ldpc.hurried]),
    ]
    labels = Column("iterations", [str(each.iterations) for each in ldpc.hurried])
    return TitledTable("min-sum that is stopped early, against the published", labels, columns)


def nearest_decoder_line(ldpc: Ldpc) -> str:
    """Return the decoder that comes nearest to the published rate of hard decisions."""
    last = ldpc.levels[-1]
    found = [(abs(one.difference), one.decoder, one.corrected, "") for one in ldpc.hard]
    for one in ldpc.hurried:
        soft = f";\nat {last.levels} levels it decodes {rber_text(one.soft)}"
        soft += f", published {rber_text(last.published)} ({difference_text(one.soft_difference)})"
        words = f"min-sum of {one.iterations} iterations"
        found.append((abs(one.hard_difference), words, one.hard, soft))
    _, words, value, soft = min(found)
    published = ldpc.levels[0].published
    assert published is not None
    differs = difference_text(value / published - 1)
    near = f"nearest to {rber_text(published)} of one level"
    return f"{near}: {words}, {rber_text(value)} ({differs}){soft}"


def page_table(ldpc: Ldpc) -> TitledTable:
    """Return the rates that min-sum corrects on each page of a cell."""
    labels = Column("boundaries", [str(page.boundaries) for page in ldpc.pages])
    columns = [
        Column(str(at + 1), [rber_text(page.corrected[at]) for page in ldpc.pages])
        for at in range(len(ldpc.levels))
    ]
    return TitledTable("min-sum by page and levels", labels, columns)


def bch_line(ldpc: Ldpc) -> str:
    """Return the rate that BCH corrects."""
    found = ldpc.bch
    return (
        f"BCH that corrects {found.corrects} bits: {rber_text(found.rber)},"
        f" published {rber_text(found.published)}, {difference_text(found.difference)}"
    )


def measured_tables(ldpc: Ldpc) -> Iterator[TitledTable]:
    """Yield the measurements, a table for each number of sensing levels."""
    for curve in ldpc.measured:
        if not curve.points:
            continue
        points = curve.points
        columns = [
            Column("frames", [f"{point.frames:,}" for point in points]),
            Column("failed", [f"{point.failures:,}" for point in points]),
            Column("rate", [f"{point.rate:.1e}" for point in points]),
            Column("95 % interval", [f"{p.least:.1e} – {p.most:.1e}" for p in points]),
            Column("approximation", [f"{aim:.0e}" for aim in curve.predicted]),
        ]
        noun = "level" if curve.levels == 1 else "levels"
        title = f"measured, {curve.levels} {noun}"
        if curve.carried_on is not None:
            title += f": carried on, {ldpc.failure:.0e} at {rber_text(curve.carried_on)}"
        yield TitledTable(
            title, Column("RBER", [rber_text(point.rber) for point in points]), columns
        )
