"""A fit as text."""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab import escaping
from ssdlab.calibration import Fit
from ssdlab.render.formatting import NONE
from ssdlab.render.text.table import Column, TitledTable


def fit_text(fit: Fit) -> str:
    """Return the text that ``ssdlab fit`` prints."""
    tables = [
        coefficient_table(fit),
        claim_table(fit),
        error_table(fit),
        ablation_table(fit),
        spread_table(fit),
    ]
    tables += [variation_table(fit)]
    parts = [f"{fit.heading}\n{split_line(fit)}", *(str(each) for each in tables)]
    return escaping.escape("\n\n".join([*parts, "\n".join(fit_notes(fit))]))


def split_line(fit: Fit) -> str:
    """Return how the chips were divided."""
    counts = ", ".join(f"{part.chips} to {part.name}" for part in fit.parts)
    return f"chips: {counts}; {sum(part.rows for part in fit.parts):,} rows"


def fit_notes(fit: Fit) -> Iterator[str]:
    """Yield what the user should know beyond the figures, one line each."""
    missed = sum(claim.holds is False for claim in fit.claims)
    if missed:
        yield f"{missed} of {len(fit.claims)} claims do not hold"
    yield f"retries met exactly {fit.exact:.1%}, within one {fit.within_one:.1%}"
    if fit.ageless:
        yield (
            f"{fit.ageless} times a block at some P/E cycles has no two ages that tell of a year: "
            "left out where ages are fitted and judged"
        )
    if fit.simulated:
        yield f"{fit.parts[2].chips} chips are kept for simulation"
    if fit.unfit:
        yield f"no chips for simulation: {fit.unfit}"


_UNITS = {
    "age": (
        "",
        "per P/E cycle",
        "per µs of an erase",
        "per error of the first page",
        "per ln(days)",
    ),
    "initial": ("errors per age", "errors"),
    "growth": ("errors per age and ln(days)", "age", "per page read"),
}


VERDICTS = {True: "yes", False: "NO", None: "not tested"}
"""The verdict on a claim, in words."""


def coefficient_table(fit: Fit) -> TitledTable:
    """Return the table of coefficients."""
    found = fit.coefficients
    values = [*found.age, *found.initial, *found.growth]
    units = [unit for each in _UNITS.values() for unit in each]
    labels = Column("coefficient", [f"c{at}" for at in range(len(values))])
    columns = [Column("value", [f"{value:.6g}" for value in values]), Column("unit", units)]
    steps = found.thresholds
    title = f"coefficients; {len(steps)} thresholds from {steps[0]:g} to {steps[-1]:g} errors"
    return TitledTable(title, labels, columns, words=True)


def claim_table(fit: Fit, *, whole: bool = False) -> TitledTable:
    """Return the paper's claims beside the values found, in short or ``whole`` words."""
    labels = Column("what", [claim.what if whole else claim.short for claim in fit.claims])
    columns = [
        Column("paper", [claim.paper for claim in fit.claims]),
        Column("here", [claim.found for claim in fit.claims]),
        Column("met", [VERDICTS[claim.holds] for claim in fit.claims]),
    ]
    return TitledTable("what the paper says", labels, columns)


def error_table(fit: Fit) -> TitledTable:
    """Return the prediction errors by age."""
    labels = Column("age", [f"{one.age:g}" for one in fit.errors])
    columns = [
        Column("over", [one.over for one in fit.errors]),
        Column("found at", [f"{one.center:.2f}" for one in fit.errors]),
        Column("rows", [f"{one.rows:,}" for one in fit.errors]),
        Column("%RMSE", [f"{one.percent:.2f}" for one in fit.errors]),
    ]
    whole = f"errors: %RMSE {fit.errors_percent:.2f} over all, of ages {fit.age_percent:.2f}"
    return TitledTable(whole, labels, columns)


def ablation_table(fit: Fit) -> TitledTable:
    """Return the errors of predictors with less input."""
    labels = Column("model", [one.name for one in fit.ablations])
    columns = [
        Column("%RMSE", [f"{one.percent:.2f}" for one in fit.ablations]),
        Column("knows", [one.what for one in fit.ablations]),
    ]
    return TitledTable("predictors that know less", labels, columns, words=True)


def spread_table(fit: Fit) -> TitledTable:
    """Return the measured retries by predicted number of retries."""
    labels = Column("predicted", [str(one.predicted) for one in fit.spreads])
    columns = [
        Column("rows", [f"{one.rows:,}" for one in fit.spreads]),
        Column("least", [str(one.least) for one in fit.spreads]),
        Column("25 %", [f"{one.quarter:g}" for one in fit.spreads]),
        Column("median", [f"{one.median:g}" for one in fit.spreads]),
        Column("75 %", [f"{one.three_quarters:g}" for one in fit.spreads]),
        Column("most", [str(one.most) for one in fit.spreads]),
    ]
    return TitledTable("retries measured", labels, columns)


def variation_table(fit: Fit) -> TitledTable:
    """Return the range of retries over blocks, and over the pages of a block."""
    calm = min(one.reads for one in fit.variation)
    rows = [one for one in fit.variation if one.reads == calm]
    labels = Column("days", [f"{one.days:g}" for one in rows])
    intra = [NONE if one.intra is None else str(one.intra) for one in rows]
    columns = [
        Column("blocks apart", [str(one.inter) for one in rows]),
        Column("pages of a block apart", intra),
    ]
    return TitledTable(f"retries at {rows[0].cycles:g} P/E cycles", labels, columns)
