"""Values of the papers' figures in their texts, drawn beside ours."""

import pytest

from ssdlab.render.figures.vega_names import vega_spec
from ssdlab_reproduction import ledger, ledger_figures
from ssdlab_reproduction.claim import SYSTEMS, claims
from ssdlab_reproduction.digits import beside, digits
from ssdlab_reproduction.registry import PICTURES, Picture


def test_digits_are_of_figures_that_are_drawn_as_bars_or_lines() -> None:
    for system in SYSTEMS:
        ledger.load(system)
    kinds = {(one.system, one.figure): one.kind for one in PICTURES}
    assert {kinds[name] for name in digits()} == {"bars", "lines"}
    assert {system for system, _ in digits()} == set(SYSTEMS)


def test_digits_agree_with_the_claims_of_the_same_figure() -> None:
    known = {
        round(1 + figure.paper / 100, 3)
        for claim in claims()
        for figure in claim.figures
        if figure.unit == "%"
    }
    known |= {figure.paper for claim in claims() for figure in claim.figures}
    known |= {
        round(1 / figure.paper, 3)
        for claim in claims()
        for figure in claim.figures
        if figure.unit == "×"
    }
    for (system, name), points in digits().items():
        for at, series, value in points:
            near = any(abs(value - one) < 0.0006 for one in known)
            assert near, (system, name, at, series, value)


@pytest.mark.parametrize("kind", ["bars", "lines"])
def test_a_text_s_figure_is_a_mark_beside_ours(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(1.0, "woo", 0.5), (2.0, "woo", 0.4), (2.0, "roo", 0.3)]
    of_text = {("dlv", "Fig. 99"): [(2.0, "woo", 0.45), (3.0, "woo", 0.2), (2.0, "dlv", 0.1)]}
    monkeypatch.setattr("ssdlab_reproduction.digits.digits", lambda: of_text)
    frame = Picture("dlv", "Fig. 99", "title", "What.", kind, "y", sets=(), rows=lambda: rows)
    assert beside(frame, rows) == [(2.0, "woo", 0.45)]
    drawn = ledger.Ledger([], True, [1], 0, "", pictures=[(frame, rows)])
    (figure,) = ledger_figures.ledger_figures(drawn)
    (data,) = vega_spec(figure.chart)["datasets"].values()
    assert [(one["value"], one["paper"]) for one in data] == [(0.5, None), (0.4, 0.45), (0.3, None)]
    assert figure.what.endswith("Diamonds: values in the paper's text.")
    other = ledger.Ledger([], True, [1], 0, "", pictures=[(frame, rows[:1])])
    (plain,) = ledger_figures.ledger_figures(other)
    assert "Diamonds" not in plain.what
