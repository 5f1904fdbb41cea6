"""`import ssdlab`."""

import copy
import importlib
import json
import pickle
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command import OFFICE

import ssdlab
from ssdlab import _native, api, renamed, result
from ssdlab.confidence import interval
from ssdlab.cpu import available_cores
from ssdlab.render.formatting import share
from ssdlab.render.text.comparison import caveats
from ssdlab.result import Comparison, Missing, schema
from ssdlab.result.parts import MigrationCounts, PageTypesResult

LITTLE: dict[str, Any] = {"limit": 2000}


def test_a_run_has_typed_figures() -> None:
    result = ssdlab.run(trace=OFFICE, **LITTLE)
    assert result.requests == result.read.requests + result.write.requests == 2000
    kinds = (result.read, result.write)
    total = sum(kind.latency_us.mean * kind.requests for kind in kinds)
    assert result.all.requests == 2000
    assert result.all.latency_us.mean == pytest.approx(total / 2000)
    assert result.all.latency_us.max == max(kind.latency_us.max for kind in kinds)
    assert 0 < result.read.latency_us.p50 <= result.read.latency_us.p99
    assert result.read.latency_us.p99 <= result.read.latency_us.max
    assert result.ops["program"]["host"] > 0
    assert result.provenance.seed == 1
    assert len(result.results_digest) == 64
    assert str(result).startswith("generic-mlc-512g · conventional · ")


def test_a_plan_and_options_that_win_over_it() -> None:
    plan = ssdlab.Plan(workload="zipf", limit=500)
    assert ssdlab.run(plan).workload == "zipf"
    assert ssdlab.run(plan, workload="hotcold").workload == "hotcold"


def test_an_option_that_there_is_not_is_refused() -> None:
    # mypy knows them all: it would tell of a comment without a use.
    with pytest.raises(TypeError, match="'lmit'"):
        ssdlab.run(lmit=500)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'devise'"):
        ssdlab.physics(devise="dlv-mlc-128g")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'sheme'"):
        ssdlab.Drive(sheme="dlv")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'asked'"):
        ssdlab.fit(asked=None)  # type: ignore[call-arg]


def test_an_old_name_names_the_new_one() -> None:
    with pytest.raises(AttributeError, match=r"^ssdlab\.Asked is now ssdlab\.ChipSpec$"):
        ssdlab.Asked  # type: ignore[attr-defined]  # noqa: B018  it raises
    assert not hasattr(ssdlab, "nothing")
    types = PageTypesResult((1,), (1,), (1,))
    with pytest.raises(AttributeError, match=r"^PageTypesResult\.wished is now \S+\.requested$"):
        types.wished  # type: ignore[attr-defined]  # noqa: B018  it raises
    result = ssdlab.run(workload="random", limit=1, detail=True)
    assert result.detail is not None
    for owner, old, new in (
        *((result, old, new) for old, new in renamed._NEW_NAMES["Result"].items()),
        (result.detail, "retries_apart", "retry_spread"),
        (MigrationCounts(0, 0, 0, 0, 0), "given_up", "dropped"),
        (ssdlab.Drive(), "sums", "counts"),
    ):
        name = type(owner).__name__
        message = rf"^{name}\.{old} is now {name}\.{re.escape(new)}$"
        with pytest.raises(AttributeError, match=message):
            getattr(owner, old)
    assert not hasattr(result, "nothing")
    assert copy.copy(result) == result
    for call in (ssdlab.run, ssdlab.Plan, ssdlab.physics, ssdlab.Drive):
        with pytest.raises(TypeError, match=r"^fit is now called wrap$"):
            call(fit=True)  # type: ignore[call-arg]


def test_an_old_module_names_the_new_one() -> None:
    renamed = {
        "claims": "ssdlab_reproduction",
        "codes": "ssdlab.ldpc",
        "figures": "ssdlab.render.figures",
        "fitting": "ssdlab.calibration",
        "intervals": "ssdlab.confidence",
        "plans": "ssdlab.plan",
        "results": "ssdlab.result",
        "told": "ssdlab.analysis",
        "truth": "ssdlab.physics",
    }
    for old, new in renamed.items():
        expected = rf"^ssdlab\.{old} is now {re.escape(new)}$"
        with pytest.raises(AttributeError, match=expected):
            getattr(ssdlab, old)
        for module in (f"ssdlab.{old}", f"ssdlab.{old}.part"):
            with pytest.raises(ImportError, match=expected):
                importlib.import_module(module)
        importlib.import_module(new)
    with pytest.raises(ModuleNotFoundError, match="nothing"):
        importlib.import_module("ssdlab.nothing")


def test_settings_as_a_mapping_and_as_lines() -> None:
    settings: Mapping[str, object] = {
        "scheduler": "fifo",
        "ftl.free_block_policy": "least_erased",
        "ftl.overprovisioning": 0.1,
        "placement": ["next_page"],
        "workload.sizes": ["4KiB", {"size": "64KiB", "weight": 3}],
    }
    lines = [
        "scheduler=fifo",
        "ftl.free_block_policy=least_erased",
        "ftl.overprovisioning=10%",
        'placement=["next_page"]',
        'workload.sizes=["4KiB", { size = "64KiB", weight = 3 }]',
    ]
    one, other = ssdlab.run(set=settings, **LITTLE), ssdlab.run(set=lines, **LITTLE)
    assert one.results_digest == other.results_digest
    assert one.provenance.config_hash == other.provenance.config_hash


def test_a_comparison_is_a_sequence_of_results() -> None:
    plans = ssdlab.sweep(ssdlab.Plan(**LITTLE), vary={"scheduler": ["fifo", "read_first"]})
    comparison = ssdlab.compare(plans, jobs=2)
    assert len(comparison) == len(list(comparison)) == 2
    assert [result.vary["scheduler"] for result in comparison] == ["fifo", "read_first"]
    assert [result.label for result in comparison[:]] == ["scheduler=fifo", "scheduler=read_first"]
    assert not comparison.aggregates
    assert "\nread_first " in str(comparison)
    unlike = ssdlab.compare([ssdlab.Plan(label="mine", limit=10), ssdlab.Plan(limit=20)])
    assert "\nmine " in str(unlike)
    assert "\nconventional " in str(unlike)


def test_seeds_are_summed_up() -> None:
    comparison = ssdlab.compare(ssdlab.sweep(ssdlab.Plan(**LITTLE), seeds=3))
    (summed,) = comparison.aggregates
    means = [result.read.latency_us.mean for result in comparison]
    mean = summed.metrics["read.latency_us.mean"]
    assert mean.mean == pytest.approx(sum(means) / 3)
    assert mean.half_width_95 is not None
    assert summed.seeds == [1, 2, 3]


def test_json_in_parts_is_that_as_a_whole() -> None:
    several = ssdlab.compare(ssdlab.sweep(ssdlab.Plan(**LITTLE, label="é\n[]"), seeds=2))
    for results in ((), several[:1], several):
        for missing in ((), [Missing("[]", 3)]):
            whole = Comparison(results, several.aggregates, missing)
            assert "".join(whole.json_parts()) == whole.to_json()


def test_the_json_of_a_result_is_read_when_it_is_needed() -> None:
    result = ssdlab.run(ssdlab.Plan(**LITTLE))
    assert dict(result.raw) == dict(result.raw.items()) == result.to_dict()
    assert len(result.raw) == len(result.to_dict())
    assert ssdlab.Result.from_dict(result.to_dict()) == result


def test_results_of_one_config_share_it() -> None:
    first, second = ssdlab.compare(ssdlab.sweep(ssdlab.Plan(**LITTLE), seeds=2))
    assert first.provenance.config is second.provenance.config


def test_a_part_that_some_seeds_have_is_reported_for_all() -> None:
    plans = ssdlab.sweep(ssdlab.Plan(**LITTLE), seeds=4)
    results = [result.to_dict() for result in ssdlab.compare(plans)]
    for stopped, backlog in zip(results[1:], (128, 90), strict=False):
        stopped |= {"saturated": True, "backlog": backlog}
    results[3] |= {"uncorrectable": 7, "remarks": [*results[3]["remarks"], "an odd one"]}
    whole, _ = api._comparison(plans, [json.dumps(result) for result in results])
    expected = [
        (
            "SATURATED: 2 of 4 seeds saturated, the drive cannot keep up;"
            " backlog up to 128 requests when the last one arrived"
        ),
        "uncorrectable: pages read that never decoded with 1 of 4 seeds, up to 7",
        "note: an odd one (1 of 4 seeds)",
    ]
    assert caveats(whole) == expected
    *_, warned, few = str(whole).split("\n\n")
    assert warned.splitlines() == expected
    assert [line.partition(":")[0] for line in few.splitlines()] == ["few reads", "few writes"]


@pytest.mark.parametrize("value", [1799.6000000000001, 0.1, 3, 0])
def test_equal_values_have_no_width(value: float) -> None:
    for count in range(2, 12):
        assert interval([value] * count) == ssdlab.Interval(value, 0)
    assert interval([value]) == ssdlab.Interval(value, None)


def test_any_number_of_jobs_gives_the_same_bits() -> None:
    plans = ssdlab.sweep(
        ssdlab.Plan(trace=OFFICE, **LITTLE),
        vary={"scheduler": ["fifo", "read_first"], "ftl.allocation": ["static", "dynamic"]},
    )
    digests = [
        [result.results_digest for result in ssdlab.compare(plans, jobs=jobs)] for jobs in (1, 2, 4)
    ]
    assert digests[0] == digests[1] == digests[2]
    assert len(set(digests[0])) == 4


def test_a_wrong_input_says_where(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("128166372000000000,hm,1,Write,4096,0,0\n")
    with pytest.raises(ssdlab.InputError) as caught:
        ssdlab.run(trace=f"{path}:msr")
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 1, 36)
    assert error.message == "Size: got 0, expected at least one byte"
    assert str(error) == f"{path}:1:36: {error.message}"
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), 1)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"seed": -1}, "--seed: got -1, expected a whole number from 0"),
        ({"seed": 1.5}, "--seed: got 1.5, expected a whole number from 0"),
        ({"seed": 1 << 63}, f"--seed: got {1 << 63}, expected at most {(1 << 63) - 1}"),
        ({"limit": 1 << 63}, f"--limit: got {1 << 63}, expected at most {(1 << 63) - 1}"),
        ({"limit": 0}, "--limit: got 0, expected a whole number from 1"),
        ({"closed": 5_000_000_000}, "--closed: got 5000000000, expected at most 4294967295"),
        ({"closed": True}, "--closed: got True, expected a whole number from 1"),
        (
            {"set": "scheduler=fifo"},
            "--set: got the text 'scheduler=fifo', expected a mapping or a list",
        ),
        ({"time_scale": float("inf")}, "--time-scale: got inf, expected a number above 0"),
        ({"time_scale": "2"}, "--time-scale: got '2', expected a number above 0"),
        ({"closed": "x"}, "--closed: got 'x', expected a whole number from 1"),
        ({"label": 5}, "label: got 5, expected a text"),
        ({"trace": 5}, "--trace: got 5, expected a path"),
        ({"log": 5}, "--log: got 5, expected a path"),
        ({"wrap": "yes"}, "--wrap: got 'yes', expected True or False"),
        ({"set": ["scheduler=fifo", 5]}, "--set: got 5, expected a text"),
        ({"set": 5}, "--set: got 5, expected a mapping or a list"),
        (
            {"log": "no.parquet", "series": "no.parquet"},
            '--series: the file that --log writes: got "no.parquet", expected another file',
        ),
        ({"set": {"scheduler": "fif"}}, None),
        ({"trace": Path("no.csv")}, "no.csv: no such file"),
    ],
)
def test_a_wrong_option(options: dict[str, Any], line: str | None) -> None:
    with pytest.raises(ssdlab.InputError) as caught:
        ssdlab.run(**options)
    assert line is None or str(caught.value) == line


def test_what_is_no_plan_is_refused() -> None:
    for wrong in ([1], ["nope"]):
        with pytest.raises(ssdlab.InputError, match="expected a ssdlab"):
            ssdlab.compare(wrong)  # type: ignore[arg-type]
    with pytest.raises(ssdlab.InputError, match="expected a ssdlab"):
        ssdlab.Drive("nope")  # type: ignore[arg-type]
    with pytest.raises(ssdlab.InputError, match="expected a ssdlab"):
        ssdlab.sweep(3)  # type: ignore[arg-type]
    with pytest.raises(ssdlab.InputError, match="--vary scheduler: got 'fifo', expected a list"):
        ssdlab.sweep(ssdlab.Plan(), vary={"scheduler": "fifo"})


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    plans = [ssdlab.Plan(**LITTLE, seed=seed, log=tmp_path / "log.parquet") for seed in (1, 2)]
    with pytest.raises(ssdlab.InputError, match="the file that another run writes"):
        ssdlab.compare(plans)


def test_nothing_to_compare_and_no_jobs() -> None:
    with pytest.raises(ssdlab.InputError, match="nothing to run"):
        ssdlab.compare([])
    with pytest.raises(ssdlab.InputError, match="--jobs: got 0"):
        ssdlab.compare([ssdlab.Plan(**LITTLE)], jobs=0)


def test_progress_is_reported_and_may_stop_the_run() -> None:
    seen: list[tuple[float | None, int, bool, bool]] = []

    def watch(runs: list[tuple[float | None, int, bool, bool]]) -> None:
        seen.extend(runs)
        if seen[-1][1] > 0:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ssdlab.run(limit=50_000_000, set={"workload.requests": 50_000_000}, progress=watch)
    assert all(share is not None and 0 <= share <= 1 for share, _, _, _ in seen)


def test_a_panic_becomes_an_internal_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ssdlab.InternalError, match=r"^lost a page \(crates/.*\.rs:\d+\)$"):
        _native.panic_for_test("lost a page")
    assert capfd.readouterr() == ("", "")


def test_buffer_hits_are_reported_where_there_is_a_buffer() -> None:
    footprint = {"workload.footprint": "4MiB"}
    plain = ssdlab.Plan(workload="zipf", label="plain", set=footprint, **LITTLE)
    small = ssdlab.Plan(
        workload="zipf", label="small", set={**footprint, "buffer.size": "1MiB"}, **LITTLE
    )
    without, found = (result.buffer for result in ssdlab.compare([plain, small]))
    assert without is None
    assert found is not None
    hits = found.read_hits + found.write_hits
    assert found.hit_ratio == hits / (hits + found.read_misses + found.write_misses)
    assert "of pages found" not in str(ssdlab.run(plain))
    assert f"buffer     {share(found.hit_ratio)} of pages found" in str(ssdlab.run(small))
    table = str(ssdlab.compare([plain, small]))
    assert "buffer hits" in table
    assert f"{100 * found.hit_ratio:.1f} %" in table


def test_what_is_written_fits_the_schema() -> None:
    plans = ssdlab.sweep(
        ssdlab.Plan(limit=500, set={"buffer.size": "64MiB", "host.queues": 2}),
        schemes=["conventional"],
        vary={"scheduler": ["fifo", "strict_priority"]},
        seeds=2,
    )
    for comparison in (
        ssdlab.compare(plans),
        ssdlab.compare([ssdlab.Plan(trace=OFFICE, limit=50)]),
        ssdlab.compare([ssdlab.Plan(limit=500, detail=True, set={"physics": "retries"})]),
    ):
        whole = json.loads(comparison.to_json())
        jsonschema.Draft202012Validator.check_schema(schema.json_schema())
        jsonschema.validate(whole, schema.json_schema())
        del whole["results"][0]["read"]["latency_us"]["p99"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(whole, schema.json_schema())


def test_the_types_have_every_field_that_the_schema_has() -> None:
    parts = {**schema.json_schema()["$defs"], "Result": schema.json_schema()["$defs"]["RunResult"]}
    names = set(schema.json_schema()["$defs"]) - {"RunResult"} | {"Result"}
    for name in names:
        kind = getattr(result, name)
        assert is_dataclass(kind)
        declared = {slot.name for slot in fields(kind)} - {"raw", "input_files"}
        assert declared == set(parts[name]["properties"]), name
        assert declared == set(typing.get_type_hints(kind)) - {"raw", "input_files"}


def test_a_result_keeps_fields_that_its_types_lack() -> None:
    plain = ssdlab.run(limit=10).to_dict()
    plain["strong_share"] = 0.5
    result = ssdlab.Result.from_dict(plain)
    assert result.to_dict()["strong_share"] == 0.5
    assert json.loads(result.to_json()) == plain


def test_as_many_run_at_a_time_as_cores_and_memory_allow() -> None:
    few = api.parallel_runs([ssdlab.Plan(limit=10)] * 3)
    assert 1 <= few <= available_cores()
    # Drives of which what they hold takes 16 GB each.
    settings = {"geometry.blocks": 30_000, "start.fill": 0.9}
    large = [ssdlab.Plan(device="readguard-tlc-4t", set=settings, seed=seed) for seed in range(64)]
    assert 1 <= api.parallel_runs(large) <= available_cores()
    wire: list[str] = []

    def count(plans: str) -> int:
        wire.append(plans)
        return 1

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_native, "at_a_time", count)
        api.parallel_runs([*large, *large, ssdlab.Plan(limit=10)])
    # Drives alike count as often as there are cores.
    assert len(json.loads(wire[0])) == available_cores() + 1
    with pytest.raises(ssdlab.InputError, match="nowhere"):
        api.parallel_runs([ssdlab.Plan(device="nowhere")])


def test_presets_schemes_and_version_are_listed() -> None:
    assert "generic-tlc-2t" in ssdlab.presets()
    assert {"conventional", "dlv/dlv"} <= set(ssdlab.schemes())
    assert isinstance(ssdlab.__version__, str)
    assert isinstance(ssdlab.compare([ssdlab.Plan(limit=10)]), Sequence)
