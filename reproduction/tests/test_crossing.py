"""Readings that are crossed, and how many claims came out."""

from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab_reproduction import crossing, ledger, ledger_text, registry, runs
from ssdlab_reproduction.claim import Claim, Figure, Option, Reading, claims
from ssdlab_reproduction.ledger import reproduce
from ssdlab_reproduction.scope import Scope


def crossed_claim() -> Claim:
    slow = Option("slow", "a text", "timing.read=900us", favored=True)
    reading = Reading("speed", "hire", "a read is", [Option("fast", "ruled"), slow])
    late = Option("late", "a text", "timing.program=9ms", ["other"])
    other = Reading("time", "hire", "a program is", [Option("early", "ruled"), late])
    figures = [Figure("reads", 900, unit="µs", form=".0f")]
    return Claim(
        "H1", "hire", "a figure", "", figures, readings=[reading, other], short="--limit=30"
    )


def test_readings_are_crossed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ledger, "claims", lambda: [crossed_claim()])
    monkeypatch.setattr(ledger, "PICTURES", [])

    def plans(scope: Scope) -> runs.Jobs:
        return {("one",): scope.plan("hire-mlc-128g", "hire/baseline", "random", limit=40)}

    rule = registry.Rule([plans], lambda found: [found["one",].read.latency_us.mean])
    ledger.load("hire")
    monkeypatch.setitem(registry.RULES, "H1", rule)
    [row] = reproduce(["H1"], out=tmp_path, seeds=1, jobs=1).rows
    assert [[option.name for option in one.options] for one in row.crossed] == [
        ["fast", "early"],
        ["fast", "late"],
        ["slow", "early"],
        ["slow", "late"],
    ]
    # The second reading affects another scheme, and both are found with fewer requests.
    fast, same, slow, _ = (one.ours for one in row.crossed)
    assert fast == same != [row.ours[0].mean]
    assert slow[0] > fast[0]
    heads, *lines = ledger_text.crossed(row)
    assert heads == ["a read is", "a program is", "reads", "off by", "verdict"]
    marks = [line[3].partition(" ")[2] for line in lines]
    assert marks[0] == "(ruled)"
    assert marks[2] == "(the texts, nearest)"
    assert "of 4 combinations" in ledger_text.depends(row)
    text = ledger_text.ledger_markdown(reproduce(["H1"], out=tmp_path, seeds=1, jobs=1))
    assert "readings crossed" in text
    assert "| a read is | fast (ruled) | – | ruled |\n" in text
    assert "| a read is | slow (the texts) | `timing.read=900us` | a text |\n" in text
    assert not reproduce(["H1"], out=tmp_path, quick=True, jobs=1).rows[0].crossed


def test_where_the_texts_favor_nothing_no_answer_is_marked_as_theirs() -> None:
    claim = crossed_claim()
    slow = claim.readings[0].options[1]
    assert crossing.favored(claim) == (slow, claim.readings[1].options[0])
    assert crossing.favored(replace(claim, readings=claim.readings[1:])) == ()


def test_readings_are_declared_with_their_sources() -> None:
    every = [reading for claim in claims() for reading in claim.readings]
    assert every
    for reading in every:
        assert not reading.options[0].settings
        assert all(option.source for option in reading.options)
        assert sum(option.favored for option in reading.options) <= 1


def test_claims_are_counted_by_result_and_by_why_they_are_no_findings() -> None:
    came = {
        "One": [
            "reproduced",
            f"reproduced, {ledger_text.MADE}",
            f"direction only, {ledger_text.STARTED}",
            f"direction only, {ledger_text.CHOSEN}",
        ],
        "Two": ["not reproduced", f"not reproduced, {ledger_text.NEVER}"],
    }
    heads, *rows = ledger_text.counted(came)
    assert heads[:5] == ["system", "claims", "reproduced", "direction only", "not reproduced"]
    assert rows == [
        ["One", *"4220111"],
        ["Two", *"2002000"],
        ["all", *"6222111"],
    ]
