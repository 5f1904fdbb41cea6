"""Odd values in every parameter of every public function: each works, or is refused in one line."""

import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssdlab as lab
from ssdlab import traces
from ssdlab.render.figures import drawing
from ssdlab.traces.apps import apps_by_priority


class Raising:
    """Raises whatever is asked of it."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __index__(self) -> int:
        raise OSError("no index")

    def __float__(self) -> float:
        raise OSError("no float")

    def __fspath__(self) -> str:
        raise OSError("no path")

    def __iter__(self) -> Iterator[object]:
        raise OSError("no items")


def nested(depth: int) -> list[Any]:
    return [] if depth == 0 else [nested(depth - 1)]


LOOP: list[Any] = []
LOOP.append(LOOP)

ODD: Mapping[str, Any] = {
    "None": None,
    "True": True,
    "nan": math.nan,
    "infinity": -math.inf,
    "below zero": -1,
    "huge": 10**30,
    "too long to print": 10**5000,
    "a half": 0.5,
    "an imaginary": 1j,
    "a fraction": Fraction(1, 2),
    "a decimal": Decimal("NaN"),
    "no text": "",
    "no UTF-8": "x\udc80",
    "a null": "a\0b",
    "lines": "one\ntwo\r\n",
    "a long text": "a" * 5000,
    "bytes": b"x",
    "bytes of no UTF-8": b"\xff",
    "a path of no UTF-8": Path("x\udc80"),
    "an object": object(),
    "a class": int,
    "what raises": Raising(),
    "a function": lambda: None,
    "no list": [],
    "a list of a list": [[]],
    "a list of None": [None],
    "a range": range(3),
    "deep lists": nested(200),
    "a list in itself": LOOP,
    "no mapping": {},
    "a mapping to None": {"a": None},
    "a mapping of numbers": {1: 2},
    "a mapping of odd texts": {"\ud800": "\n"},
    "a set": {1},
    "a date": dt.date(2026, 1, 1),
    "an array": np.array([1, 2]),
    "an array of arrays": np.array([[0.5], [math.nan]]),
    "NumPy's whole": np.int64(-5),
    "NumPy's real": np.float64(math.nan),
    "NumPy's truth": np.bool_(True),
    "NumPy's text": np.str_("x"),
    "NumPy's date": np.datetime64("2026-01-01"),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put relative paths into an empty folder, and draw nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.toml").write_text("workload.requests = 20\n")
    (tmp_path / "own.csv").write_text(
        "".join(
            f"{128166372000000000 + at * 1000},hm,1,Read,{4096 * at},4096,0\n" for at in range(9)
        )
    )
    monkeypatch.setattr(drawing, "figure_files", lambda _: {"a.pdf": b""})


def wrong(call: Callable[[Any], object], without: tuple[str, ...] = ()) -> list[str]:
    """Return what comes of odd values that is neither a success nor one line."""
    found = []
    for name, value in ODD.items():
        if name in without:
            continue
        try:
            call(value)
        except (lab.InputError, TypeError) as error:
            if "\n" in str(error) or len(str(error)) > 6000:
                found.append(f"{name}: not one line: {error}")
        except Exception as error:  # noqa: BLE001  that is what is looked for
            found.append(f"{name}: {type(error).__name__}: {error}")
    return found


SMALL: Mapping[str, Any] = {"config": ["few.toml"], "workload": "random", "limit": 20}
# Half of all blocks take hours to wear out.
LONG = {"until_worn": ("a half", "a fraction")}


@pytest.mark.parametrize("field", [one.name for one in fields(lab.Plan)])
def test_a_field_of_a_plan(field: str) -> None:
    assert not wrong(lambda odd: lab.run(**{**SMALL, field: odd}), LONG.get(field, ()))


def test_odd_values_for_runs_raise_at_most_one_line() -> None:
    assert not wrong(lambda odd: lab.run(odd, **SMALL))
    assert not wrong(lambda odd: lab.run(**SMALL, progress=odd))
    # What an iterator of the caller raises is the caller's.
    assert not wrong(lab.compare, ("what raises",))
    assert not wrong(lambda odd: lab.compare([odd]))
    assert not wrong(lambda odd: lab.compare([lab.Plan(**SMALL)], jobs=odd))


@pytest.mark.parametrize(
    "key", ["scheduler", "timing.read", "seed", "timing.program_modes", "physics", ""]
)
def test_a_setting(key: str) -> None:
    assert not wrong(lambda odd: lab.run(**SMALL, set={key: odd}))
    assert not wrong(lambda odd: lab.run(**SMALL, set={key: [odd]}))
    assert not wrong(lambda odd: lab.run(**SMALL, set={key: {"name": odd}}))
    assert not wrong(lambda odd: lab.run(**SMALL, set=[odd]))


@pytest.mark.parametrize("parameter", ["devices", "schemes", "traces", "vary", "seeds"])
def test_a_parameter_of_a_sweep(parameter: str) -> None:
    base = lab.Plan(**SMALL)

    def swept(value: object) -> None:
        lab.compare(lab.sweep(base, **{parameter: value}))  # type: ignore[arg-type]

    assert not wrong(swept)
    assert not wrong(lambda odd: swept([odd]))
    assert not wrong(lambda odd: swept({"scheduler": odd}))
    assert not wrong(lambda odd: swept({"scheduler": [odd]}))
    assert not wrong(lambda odd: lab.sweep(odd, seeds=2))


@pytest.mark.parametrize("parameter", ["op", "lba", "sectors", "at_ns", "queue", "hint"])
def test_a_request_to_a_drive(parameter: str) -> None:
    drive = lab.Drive()
    request: dict[str, Any] = {"op": "read", "lba": 0, "sectors": 8, parameter: None}

    def submit(odd: object) -> None:
        options = {**request, parameter: odd}
        drive.submit(options.pop("op"), **options)

    assert not wrong(submit)
    assert not wrong(lambda odd: drive.advance(until_ns=odd))
    assert not wrong(lab.Drive)


@pytest.mark.parametrize("parameter", ["device", "scheme", "config", "set", "seed", "state"])
def test_a_parameter_of_what_tells_of_blocks(parameter: str) -> None:
    device: dict[str, Any] = {"device": "dlv-mlc-128g"}
    assert not wrong(lambda odd: lab.physics(**{**device, parameter: odd}))
    assert not wrong(lambda odd: lab.physics(odd, **device))
    assert not wrong(lambda odd: lab.fit("nowhere.csv", **{parameter: odd}))


def test_a_parameter_of_a_fit() -> None:
    assert not wrong(lab.fit, ("None",))
    assert not wrong(lambda odd: lab.fit("nowhere.csv", chips=odd))
    assert not wrong(lambda odd: lab.fit("nowhere.csv", correctable=odd))
    assert not wrong(lambda odd: lab.fit("nowhere.csv", samples=odd))


@pytest.mark.parametrize("field", [one.name for one in fields(lab.ChipSpec)])
def test_a_field_of_what_is_measured(field: str) -> None:
    spec: Any = lab.ChipSpec
    assert not wrong(lambda odd: spec(**{field: odd}))
    assert not wrong(lambda odd: spec(**{field: [odd, odd, odd]}))


@pytest.mark.parametrize("parameter", ["cell", "shift", "frames", "seconds", "seed", "jobs"])
def test_a_parameter_of_codes(parameter: str) -> None:
    # What is left takes seconds.
    fine = ("None", "a half", "a fraction", "huge")
    assert not wrong(lambda odd: lab.ldpc(**{parameter: odd}), fine)


@pytest.mark.parametrize("field", [one.name for one in fields(traces.App)])
def test_a_field_of_an_application(field: str) -> None:
    app = {"trace": "own.csv", "name": "own"}
    assert not wrong(lambda odd: traces.mix([traces.App(**{**app, field: odd})], "mixed.csv"))
    assert not wrong(lambda odd: lab.run(mix=[traces.App(**{**app, field: odd})]))


@pytest.mark.parametrize("field", [one.name for one in fields(traces.Reading)])
def test_how_a_trace_is_read(field: str) -> None:
    reading: Any = traces.Reading
    assert not wrong(lambda odd: traces.info(["own.csv"], reading(**{field: odd})))
    assert not wrong(lambda odd: traces.info(["own.csv"], reading(**{field: [odd]})))


def test_odd_values_for_traces_raise_at_most_one_line() -> None:
    own = traces.App("own.csv")
    assert not wrong(traces.info)
    assert not wrong(lambda odd: traces.info([odd]))
    assert not wrong(lambda odd: traces.info(["own.csv"], odd))
    assert not wrong(lambda odd: traces.info(["own.csv"], reuse=odd))
    assert not wrong(lambda odd: traces.info(["own.csv"], progress=odd))
    assert not wrong(lambda odd: traces.convert(odd, "out.csv"))
    assert not wrong(lambda odd: traces.convert("own.csv", odd))
    assert not wrong(lambda odd: traces.convert("own.csv", "out.csv", odd))
    assert not wrong(lambda odd: traces.mix(odd, "out.csv"))
    assert not wrong(lambda odd: traces.mix([own], odd))
    assert not wrong(lambda odd: traces.mix([own], "out.csv", share_addresses=odd))
    assert not wrong(lambda odd: traces.mix([own], "out.csv", reading=odd))
    assert not wrong(traces.parse)
    assert not wrong(lambda odd: traces.parse([odd]))
    assert not wrong(apps_by_priority)
    assert not wrong(lambda odd: apps_by_priority([odd]))
    Path("MANIFEST.tsv").write_text("name\tlines\nown\t9\n")
    assert not wrong(lambda odd: traces.check(odd, read_one))
    assert not wrong(lambda odd: traces.check(".", odd))
    Path("own").mkdir()
    assert not wrong(lambda odd: traces.check(".", read_one, odd))


def read_one(trace: str, reading: traces.Reading) -> traces.TraceValues:
    return traces.info([trace], reading)[0]


def test_odd_values_for_drawings_raise_at_most_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssdlab.render.html.comparison.comparison_page", lambda _: "")
    monkeypatch.setattr("ssdlab.render.html.traces.trace_page", lambda _: "")
    monkeypatch.setattr("ssdlab.render.figures.report.comparison_figures", lambda _: [])
    monkeypatch.setattr("ssdlab.render.figures.trace.trace_figures", lambda _: [])
    result = lab.run(**SMALL, detail=True)
    infos = traces.info(["own.csv"])
    for write, results in ((lab.report_html, result), (traces.report_html, infos)):
        check_drawing(write, results, "page.html")
    for save, results in ((lab.save_figures, result), (traces.save_figures, infos)):
        check_drawing(save, results, "figures")


def check_drawing(draw: Any, results: object, to: str) -> None:
    assert not wrong(lambda odd: draw(odd, to), ("what raises",))
    assert not wrong(lambda odd: draw([odd], to))
    assert not wrong(lambda odd: draw(results, odd))
