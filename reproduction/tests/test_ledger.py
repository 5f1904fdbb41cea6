"""The ledger: what papers claim, and what our runs show of it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from claim_cases import COUNTS
from hypothesis import given
from hypothesis import strategies as some

import ssdlab as lab
from ssdlab import InputError
from ssdlab.confidence import Interval, interval
from ssdlab_reproduction import (
    ledger,
    ledger_figures,
    ledger_page,
    ledger_text,
    registry,
    runs,
)
from ssdlab_reproduction.claim import (
    SYSTEMS,
    Claim,
    Figure,
    Sweep,
    Verdict,
    claims,
)
from ssdlab_reproduction.ledger import reproduce
from ssdlab_reproduction.registry import NeverRanError, Picture
from ssdlab_reproduction.scope import Change, Scope
from ssdlab_reproduction.statistics import quantiles

YES, DIRECTION, NO = Verdict.REPRODUCED, Verdict.DIRECTION, Verdict.NOT


def settings_of(plan: lab.Plan) -> dict[str, Any]:
    """Tell what a plan sets."""
    return {"set": list(plan.set)}


def test_every_claim_is_there_with_a_rule() -> None:
    declared = claims()
    for system, (letter, count) in COUNTS.items():
        mine = [one.id for one in declared if one.system == system]
        assert mine == [f"{letter}{nth}" for nth in range(1, count + 1)]
        ledger.load(system)
    assert set(registry.RULES) == {one.id for one in declared}
    for picture in registry.PICTURES:
        assert picture.what.endswith(".")
        assert picture.kind in {"bars", "boxes", "lines", "shares"}
    names = [(picture.system, picture.figure) for picture in registry.PICTURES]
    assert len(set(names)) == len(names)
    assert {system for system, _ in names} == set(COUNTS)
    for one in declared:
        assert one.what
        assert one.source
        assert one.settle, one.id
        assert one.made in {"", "twin", "drive"}
        assert len(one.ways) != 1
        for figure in one.figures:
            own = [way for way in one.ways if f", {figure.of}".endswith(f", {way}")]
            assert len(own) == bool(one.ways), figure
        assert len({figure.of for figure in one.figures}) == len(one.figures)
        assert all(figure.judged in {"near", "at_most", "at_least"} for figure in one.figures)
        # What cells do is the same under the scheme that others are compared with.
        lines = [
            line for s in one.sweeps if s.of for variant in s.variants for line in variant.split()
        ]
        assert not [line for line in lines if line.startswith("physics.")], one.id


@pytest.mark.parametrize(
    ("figure", "ours", "expected"),
    [
        # Within three points, or a quarter of it.
        (Figure("a change", -40.0), -30.1, YES),
        (Figure("a change", -40.0), -29.9, DIRECTION),
        (Figure("a change", -8.0), -5.1, YES),
        (Figure("a change", -8.0), -4.9, DIRECTION),
        # At least a third as large.
        (Figure("a change", -40.0), -13.4, DIRECTION),
        (Figure("a change", -40.0), -13.3, NO),
        (Figure("a change", -12.2), -2.9, NO),
        # Near, but on the other side.
        (Figure("a small change", -2.0), 1.0, NO),
        (Figure("a change", -40.0), 5.0, NO),
        (Figure("none", 0.0), -3.0, YES),
        (Figure("a ratio", 2.4, unit="×", neutral=1), 1.9, YES),
        (Figure("a ratio", 2.4, unit="×", neutral=1), 1.5, DIRECTION),
        (Figure("a ratio", 2.4, unit="×", neutral=1), 1.4, NO),
        (Figure("a ratio", 2.4, unit="×", neutral=1), 0.9, NO),
        (Figure("a number", 16, unit=""), 12.1, YES),
        (Figure("a number", 16, unit="", form=".0f"), 11.9, NO),
        (Figure("a rate", 0.0044, unit="", within=0.05), 0.0046, YES),
        (Figure("a rate", 0.0044, unit="", within=0.05, form=".4f"), 0.0047, NO),
        (Figure("a bound", 7.9, judged="at_most"), 7.9, YES),
        (Figure("a bound", 7.9, judged="at_most"), 8.0, NO),
        (Figure("a bound", 7.9, judged="at_most", neutral=0), 3.0, YES),
        (Figure("a bound", 7.9, judged="at_most", neutral=0), 8.0, DIRECTION),
        (Figure("a bound", 7.9, judged="at_most", neutral=0), -3.0, NO),
        (Figure("a bound", -60, judged="at_most", neutral=0), -20.0, DIRECTION),
        (Figure("a bound", -60, judged="at_most", neutral=0), -19.0, NO),
        (Figure("a bound", -60, judged="at_most", neutral=0), 10.0, NO),
        (Figure("a share", 98, judged="at_least"), 97.9, NO),
    ],
)
def test_a_verdict_is_by_the_rule(figure: Figure, ours: float, expected: Verdict) -> None:
    assert figure.verdict(ours) == expected


@given(some.floats(-1e3, 1e3).filter(lambda value: abs(value) > 1e-6))
def test_the_papers_own_figure_reproduces(paper: float) -> None:
    assert Figure("a change", paper).verdict(paper) == YES
    assert Figure("a change", paper).verdict(-paper) == NO


@pytest.mark.parametrize(
    ("figure", "ours", "expected"),
    [
        (Figure("a change", -40.0), -35.0, 0.5),
        (Figure("a change", -80.0), 20.0, 5.0),
        (Figure("a number", 16, unit="", form=".0f"), 8, 2.0),
        (Figure("a bound", 40, judged="at_least"), 41, 0.0),
        (Figure("a bound", 40, judged="at_least"), 35, 0.5),
        (Figure("a count", 0, unit="", judged="at_most"), 3, 3.0),
    ],
)
def test_how_far_off_a_figure_is_counts_in_what_it_may_differ_by(
    figure: Figure, ours: float, expected: float
) -> None:
    assert figure.off(ours) == pytest.approx(expected)


def test_of_several_ways_the_nearest_is_reported(one_claim: Any, tmp_path: Path) -> None:
    figures = [Figure("a change, one", -40.0), Figure("a change, other", -40.0)]
    one_claim(lambda _: [-20.0, -45.0], figures=figures, ways=["one", "other"], ruled="Both ways.")
    result = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1)
    nearest = "Nearest to the paper is: other (off by 0.50), then one (off by 2.00)."
    assert f"*X1, as read*: Both ways. {nearest}" in ledger_text.ledger_markdown(result)
    assert nearest in " ".join(ledger_text.ledger_text(result).split())
    [table] = [one for one in ledger_page.summary(result) if one.caption.endswith("as read")]
    assert table.rows == [["X1", f"Both ways. {nearest}"]]


def test_a_claim_is_as_good_as_its_worst_figure() -> None:
    assert Verdict.worst([YES, DIRECTION]) == DIRECTION
    assert Verdict.worst([NO, YES, DIRECTION]) == NO
    assert Verdict.worst([YES]) == YES


def read_us(found: runs.Runs) -> list[float]:
    return [found["run",].read.latency_us.mean]


def test_figures_are_means_over_seeds(one_claim: Any, tmp_path: Path) -> None:
    one_claim(read_us)
    result = reproduce(["hire"], out=tmp_path, seeds=3, jobs=1)
    each = [
        lab.run(workload="random", limit=200, seed=seed).read.latency_us.mean for seed in (1, 2, 3)
    ]
    [row] = result.rows
    assert row.ours[0].mean == pytest.approx(sum(each) / 3)
    assert row.ours[0].half_width_95 is not None
    assert result.seeds == [1, 2, 3]
    assert result.runs == 3
    assert "±" in ledger_text.ledger_text(result)


def test_kept_runs_are_not_run_again(
    one_claim: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_claim(read_us)
    first = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("run again")

    monkeypatch.setattr(lab.api, "run", refuse)
    assert reproduce(["hire"], out=tmp_path, seeds=1, jobs=1) == first
    # Another version is another drive.
    runs.build_id.cache_clear()
    monkeypatch.setattr(runs, "__version__", "another")
    with pytest.raises(AssertionError, match="run again"):
        reproduce(["hire"], out=tmp_path, seeds=1, jobs=1)
    runs.build_id.cache_clear()


def test_what_never_happened_is_not_reproduced(one_claim: Any, tmp_path: Path) -> None:
    def never(_: runs.Runs) -> list[float]:
        raise registry.NeverRanError("nothing was repaired")

    one_claim(never)
    result = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1)
    assert result.rows[0].verdict == NO
    assert "nothing was repaired" in ledger_text.ledger_text(result)
    assert "Nothing was repaired" in ledger_text.ledger_markdown(result)


def test_a_claim_whose_runs_are_too_long_is_left_out(one_claim: Any, tmp_path: Path) -> None:
    one_claim(read_us, sets=(lambda _: {},))
    result = reproduce(["hire"], out=tmp_path, quick=True, jobs=1)
    assert result.rows[0].verdict == Verdict.LEFT_OUT
    assert "left out" in ledger_text.ledger_text(result)
    assert not result.rows[0].ours


def test_rulings_are_swept_where_a_claim_fails(one_claim: Any, tmp_path: Path) -> None:
    sweep = Sweep("the time of a read", ["timing.read=9us", "timing.read=2ms"])
    one_claim(read_us, sweeps=[sweep], tried="It was tried.", settle="Another paper.")
    result = reproduce(["hire"], out=tmp_path, seeds=2, jobs=1)
    [row] = result.rows
    assert row.verdict != YES
    slow = lab.run(workload="random", limit=200, set={"timing.read": "2ms"})
    assert row.swept[0].variants[1].ours == [slow.read.latency_us.mean]
    # What it is compared with has the same seed.
    ruled = lab.run(workload="random", limit=200)
    assert row.swept[0].ruled.ours == [ruled.read.latency_us.mean] != [row.ours[0].mean]
    text = ledger_text.ledger_markdown(result)
    assert f"digest of their results `{result.digest}`" in text
    for expected in ("It was tried.", "Another paper.", "the time of a read", "`timing.read=9us`"):
        assert expected in text
    each = (row.swept[0].ruled, *row.swept[0].variants)
    offs = [abs(one.ours[0] - row.claim.figures[0].paper) for one in each]
    assert [one.off for one in each] == pytest.approx([off / 25 for off in offs])
    nearest = [line for line in text.split("\n") if "(nearest)" in line]
    best = each[offs.index(min(offs))].settings
    assert [line.split(" | ")[0] for line in nearest] == [f"| `{best}`" if best else "| as ruled"]
    tables = {table.caption: table.rows for table in ledger_page.summary(result)}
    assert ["It was tried.", "Another paper."] in [
        row[1:] for rows in tables.values() for row in rows
    ]
    assert [row[0] for row in tables["X1: the time of a read"]][1:] == sweep.variants
    # A first look has no time for it.
    assert not reproduce(["hire"], out=tmp_path, quick=True, jobs=1).rows[0].swept


def test_saturated_drives_are_reported(one_claim: Any, tmp_path: Path) -> None:
    slow = Sweep("a program", ["timing.program=50ms"])
    one_claim(read_us, sets=(lambda scope: {("run",): open_loop(scope)},), sweeps=[slow])
    result = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1)
    [row] = result.rows
    [swept] = row.swept
    assert [row.saturated, swept.ruled.saturated, swept.variants[0].saturated] == [
        False,
        False,
        True,
    ]
    assert "| `timing.program=50ms` (saturated) |" in ledger_text.ledger_markdown(result)
    assert "saturated: how long" not in ledger_text.ledger_markdown(result)
    whole = replace(result, rows=[replace(row, saturated=True)])
    assert "Some of its drives are saturated: how long" in ledger_text.ledger_markdown(whole)


def open_loop(scope: Scope) -> lab.Plan:
    """Return writes that a drive keeps up with, unless its programs take tens of milliseconds."""
    rate = ["workload.interarrival=100us"]
    return scope.plan("generic-mlc-512g", "conventional", "random", limit=3000, set=rate)


def test_some_rulings_are_swept_whatever_comes_out(one_claim: Any, tmp_path: Path) -> None:
    about = Sweep("a length", ["--limit=100"], always=True)
    other = Sweep("the time of a read", ["timing.read=9us"])
    one_claim(lambda found: [found["run",].requests / 2], sweeps=[about, other], made="twin")
    result = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1)
    [row] = result.rows
    assert (row.verdict, [one.sweep for one in row.swept]) == (YES, [about])
    assert row.swept[0].variants[0].ours == [50]
    text = ledger_text.ledger_markdown(result)
    assert "X1, a length:" in text
    assert "1 reproduced (1 of them by construction)" in text
    assert "**reproduced, by construction**" in text


def test_a_direction_whose_interval_holds_no_change_is_reported(
    one_claim: Any, tmp_path: Path
) -> None:
    def found(mean: float, width: float | None, figure: Figure) -> str:
        ours = [Interval(mean, width)]
        claim = replace(row.claim, figures=[figure])
        verdicts = claim.judged([mean])
        [_, (*_, verdict_text, _)] = ledger_text._cells(
            replace(row, claim=claim, ours=ours, verdicts=verdicts)
        )
        return verdict_text

    one_claim(read_us)
    [row] = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1).rows
    change = Figure("a change", -40.0)
    assert found(-14.0, 15.0, change) == "direction only (0 within the interval)"
    assert found(-14.0, 14.0, change) == "direction only (0 within the interval)"
    assert found(-14.0, 13.0, change) == "direction only"
    assert found(-14.0, None, change) == "direction only"
    # Of what is met it is said where it may be further off than is allowed.
    assert found(-32.0, 10.0, change) == "reproduced"
    assert found(-32.0, 10.1, change) == "reproduced (the interval is wider)"
    assert found(-32.0, 32.0, change) == "reproduced (0 within the interval)"
    assert found(12.0, 13.0, change) == "not reproduced"
    none = Figure("no change", 0.0)
    assert found(1.0, 2.0, none) == "reproduced"
    bound = Figure("a bound", -30.0, judged="at_most")
    for mean, verdict in ((-32.0, "reproduced"), (-28.0, "not reproduced")):
        assert found(mean, 1.9, bound) == verdict
        assert found(mean, 2.0, bound) == f"{verdict} (bound within the interval)"
    assert found(-30.0, 0.0, bound) == "reproduced"
    ratio = Figure("a ratio", 2.4, unit="×", neutral=1)
    assert found(1.5, 0.6, ratio) == "direction only (1 within the interval)"
    whole = replace(row, verdict=DIRECTION, verdicts=[DIRECTION], ours=[Interval(-12.0, 13.0)])
    whole = replace(whole, claim=replace(row.claim, figures=[change]))
    text = ledger_text.ledger_text(
        replace(reproduce(["hire"], out=tmp_path, seeds=1, jobs=1), rows=[whole])
    )
    assert "ours −12.0 ± 13.0 %  direction only (0 within the interval)\n" in text


def test_our_bounds_differ_from_the_papers() -> None:
    assert Figure("a bound", 7, judged="at_most", form=".0f").bound() == "≤ 7 %"
    assert Figure("a bound", 7, judged="at_most", form=".0f", ruled=True).bound() == "≤ 7 % (ruled)"


def test_quantiles_are_of_the_counted() -> None:
    assert quantiles([0, 50, 0, 25, 25]) == [1, 1, 1, 3, 4]
    assert quantiles([1]) == [0] * 5


def test_a_sweep_leaves_other_schemes_alone() -> None:
    needed = Scope(changes=[Change(["read_start=highest_level"], needs={"one": "a=2 b=3"})])
    own = needed.plan("a device", "one", "random", set={"a": 1})
    assert own.set == ["a=2", "b=3", "read_start=highest_level"]
    assert needed.plan("a device", "other", "random").set == ["read_start=highest_level"]
    scope = Scope(changes=[Change(["timing.read=9us"], ["one"])])
    assert scope.plan("a device", "one", "random").set == ["timing.read=9us"]
    assert scope.plan("a device", "other", "random", set={"a": 1}).set == ["a=1"]


def test_a_comparison_with_nothing_is_not_reproduced(one_claim: Any, tmp_path: Path) -> None:
    one_claim(lambda _: [1 / 0])
    [row] = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1).rows
    assert (row.verdict, row.why) == (NO, "a run has nothing to compare with: too few requests")


def test_what_had_no_effect_is_not_reproduced_and_shown(one_claim: Any, tmp_path: Path) -> None:
    def nothing(found: runs.Runs) -> list[float]:
        raise NeverRanError("it changed nothing", read_us(found))

    figures = [Figure("reads", 1e9, unit="µs", judged="at_most")]
    one_claim(nothing, figures=figures, settle="a stone", tried="with whole twins")
    result = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1)
    [row] = result.rows
    # Each figure is judged as it is; the claim is not met by it.
    assert (row.verdict, row.verdicts, len(row.ours)) == (NO, [YES], 1)
    assert "not reproduced: it changed nothing" in ledger_text.ledger_text(result)
    verdict = "not reproduced, because the event never occurred"
    assert f"| **{verdict}** |" in ledger_text.ledger_markdown(result)
    # What was tried was found with whole twins: of others it says nothing.
    for quick, loads, is_shown in (
        (False, "twins", 1),
        (True, "twins", 0),
        (False, "real traces", 0),
    ):
        text = ledger_text.explanation(replace(result, quick=quick), replace(row, loads=loads))
        assert text == "It changed nothing." + " with whole twins" * is_shown


def test_what_is_computed_of_no_drive_is_made_without_one(tmp_path: Path) -> None:
    # As V11's decoders are: what their plans set is no key of a drive.
    job = runs.Job(lab.Plan(set=["decoder=sum_product"]), settings_of)
    kept = runs.RunStore(tmp_path)
    kept.make([job])
    assert kept.read(job) == {"set": ["decoder=sum_product"]}


def test_what_had_no_effect_with_one_seed_has_the_figures_of_all(
    one_claim: Any, tmp_path: Path
) -> None:
    seen: list[float] = []

    def once(found: runs.Runs) -> list[float]:
        seen.extend(read_us(found))
        if len(seen) == 2:
            raise NeverRanError("it changed nothing", seen[-1:])
        return seen[-1:]

    one_claim(once)
    [row] = reproduce(["hire"], out=tmp_path, seeds=3, jobs=1).rows
    expected = (Verdict.NOT, "with seed 2: it changed nothing", [1, 2, 3])
    assert (row.verdict, row.why, row.seeds) == expected
    assert row.ours == [interval(seen[:3])]
    assert (
        ledger_text.outcome(row) == "not reproduced, because the event did not occur with each seed"
    )


def test_systems_are_as_they_are_called() -> None:
    assert list(SYSTEMS) == list(COUNTS)
    with pytest.raises(InputError, match="claim or system: got 'x'"):
        reproduce(["x"], out="nowhere")


def test_a_kept_run_that_was_cut_off_is_run_again(one_claim: Any, tmp_path: Path) -> None:
    one_claim(read_us)
    [row] = reproduce(["hire"], out=tmp_path, seeds=1, jobs=1).rows
    [kept] = (tmp_path / "runs").iterdir()
    whole = kept.read_text()
    for broken in (whole[: len(whole) // 2], "{}", '{"a": 1}', "[]"):
        kept.write_text(broken)
        assert reproduce(["hire"], out=tmp_path, seeds=1, jobs=1).rows[0].ours == row.ours


@pytest.mark.parametrize("kind", ["bars", "boxes", "lines"])
def test_a_picture_takes_its_colors_from_the_page(kind: str) -> None:
    rows = [(at, name, 1.0 + at) for at in (1, 2) for name in ("WOO", "ROO") for _ in range(5)]
    frame = Picture("dlv", "Fig. 1", "title", "what", kind, "y", sets=(), rows=lambda: rows)
    drawn = ledger.Ledger([], True, [1], 0, "", pictures=[(frame, rows)])
    (figure,) = ledger_figures.ledger_figures(drawn)
    assert [key.color for key in figure.keys] == [0, 1]
    assert not re.search(r"#[0-9a-f]{6}", figure.chart.to_json())


def test_a_way_that_is_shown_is_not_judged() -> None:
    figures = [Figure("a, loaded", -50), Figure("a, idle", -50)]
    one = Claim("X1", "dlv", "", "", figures, ways=("loaded", "idle"), shown="loaded")
    assert one.judged([-1.0, -50.0]) == [Verdict.SHOWN, YES]
    assert one.off([-1.0, -50.0]) == 0
    assert one.off([-1.0, -50.0], "loaded") > 1
