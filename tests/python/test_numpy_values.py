"""NumPy's numbers, None, and paths, where plain values are expected."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Ssdlab

import ssdlab as lab
from ssdlab.plan import to_json


def test_numpy_numbers_are_numbers() -> None:
    plain = lab.Plan(
        limit=100,
        seed=3,
        time_scale=0.5,
        paranoid=True,
        closed=4,
        set={"workload.interarrival": "20us", "start.fill": 0.5, "timing.read": ["a", 1]},
        trace="a.csv",
    )
    numbers = lab.Plan(
        limit=np.int64(100),  # type: ignore[arg-type]
        seed=np.uint8(3),  # type: ignore[arg-type]
        time_scale=np.float32(0.5),  # type: ignore[arg-type]
        paranoid=np.bool_(True),  # type: ignore[arg-type]
        closed=np.array(4),  # type: ignore[arg-type]
        set={
            "workload.interarrival": np.str_("20us"),
            "start.fill": np.float64(0.5),
            "timing.read": [np.str_("a"), np.int32(1)],
        },
        trace=b"a.csv",  # type: ignore[arg-type]
    )
    assert to_json(numbers) == to_json(plain)
    base = lab.Plan(seed=np.int64(1))  # type: ignore[arg-type]
    swept = lab.sweep(base, vary={"op": np.array([0.5, 1])}, seeds=np.int64(2))  # type: ignore[arg-type,dict-item]
    assert swept == lab.sweep(lab.Plan(), vary={"op": [0.5, 1.0]}, seeds=2)
    assert [type(plan.seed) for plan in swept] == [int] * 4
    app = lab.traces.App("a.csv", queue=np.int64(1), scale=np.float64(2))  # type: ignore[arg-type]
    assert lab.Plan(mix=[app]).to_wire() == lab.Plan(mix=["a.csv@queue=1,scale=2"]).to_wire()
    spec = lab.ChipSpec(chips=np.array([1, 1, 1]), reads=np.arange(3), blocks=np.int8(2))  # type: ignore[arg-type]
    assert spec == lab.ChipSpec(chips=(1, 1, 1), reads=(0, 1, 2), blocks=2)
    drive = lab.Drive()
    assert drive.submit("write", lba=np.int64(8), sectors=np.uint16(8)) == 0  # type: ignore[arg-type]
    assert drive.advance(until_ns=np.int64(10**9))[0].lba == 8  # type: ignore[arg-type]


def test_none_for_a_list_is_an_empty_list() -> None:
    nothing = lab.Plan(config=None, set=None, mix=None, vary=None)  # type: ignore[arg-type]
    assert nothing == lab.Plan()
    swept = lab.sweep(nothing, devices=None, schemes=None, traces=None, vary=None)  # type: ignore[arg-type]
    assert swept == lab.sweep(lab.Plan())
    none: dict[str, Any] = {"config": None, "set": None, "mix": None}
    assert lab.run(**none, limit=10).requests == 10


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_no_finite_number_is_refused(value: float) -> None:
    with pytest.raises(lab.InputError, match=r"^--set start.fill: got \S+, expected a text, a fi"):
        lab.run(set={"start.fill": value})
    with pytest.raises(lab.InputError, match=r"^--time-scale: got \S+, expected a number above"):
        lab.run(time_scale=value)


def test_paths_are_text_in_utf_8(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
    Path(odd).write_text("")
    for path in (odd, Path(odd), os.fsencode(odd)):
        with pytest.raises(
            lab.InputError, match=r"^--trace: got .*dcff.*expected a text in UTF-8$"
        ):
            lab.run(trace=path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--trace"),
        ("run", "--set"),
        ("trace", "info"),
        ("trace", "check"),
        ("fit",),
        ("physics",),
        ("reproduce",),
        ("workload", "show"),
        ("preset", "show"),
        ("scheme", "show"),
    ],
)
def test_an_argument_that_is_no_utf_8_ends_in_a_line(
    ssdlab: Ssdlab, arguments: tuple[str, ...]
) -> None:
    done = ssdlab(*arguments, "x\udcff.csv")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert r"got 'x\udcff.csv', expected " in done.err


def test_a_class_that_raises_is_no_value() -> None:
    class Odd:
        def tolist(self) -> None:
            raise RuntimeError

    with pytest.raises(lab.InputError, match="--seed: got "):
        lab.run(seed=Odd())  # type: ignore[arg-type]
