"""The command group workload."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from command import Ssdlab

CATALOG = Path(__file__).parents[2] / "crates/ssdlab-workload/src/twins"


def test_every_twin_is_listed(ssdlab: Ssdlab) -> None:
    listed = json.loads(ssdlab("workload", "list", "--json").out)
    names = [twin["name"] for twin in listed["twins"]]
    tables = [tomllib.loads(file.read_text()) for file in CATALOG.glob("*.toml")]
    written = [
        f"{table['family']}/{twin['name']}"
        for table in tables
        if "family" in table
        for twin in table["twin"]
    ]
    assert written
    assert sorted(names) == sorted(set(written))
    text = ssdlab("workload", "list").out
    assert all(name in text for name in names)
    assert "random, sequential, zipf" in text
    assert all(name == name.lower() and "_" not in name for name in names)


def test_a_twin_is_shown_against_its_targets(ssdlab: Ssdlab) -> None:
    # Requests that follow one another have equal sizes, so the mean of fewer varies by more.
    twin = json.loads(ssdlab("workload", "show", "dlv/hm0", "--requests", "200000", "--json").out)
    assert twin["measured"] == 200_000
    figures = {row["what"]: row for row in twin["figures"]}
    for what in ("requests", "read_ratio", "mean_read", "footprint", "span"):
        row = figures[what]
        assert row["achieved"] == pytest.approx(row["target"], rel=0.04), what
        assert row["source"]
    text = ssdlab("workload", "show", "dlv/hm0", "--requests", "50000").out
    assert "twin of hm_0 (DLV)" in text
    assert "scaled to 50,000 requests" in text
    assert "such as locality, by the shape hm0: Runs, lags" in text


def test_a_twin_is_shown_with_the_figures_of_a_trace(ssdlab: Ssdlab) -> None:
    """Bursts, runs and hit ratios stand beside their targets, and the rest as of a trace."""
    arguments = ("workload", "show", "dlv/hm0", "--requests", "50000")
    twin = json.loads(ssdlab(*arguments, "--json").out)
    rows = {row["what"]: row for row in twin["figures"]}
    assert rows["dispersion_1s"]["target"] == 889.161
    windows = {row["window_s"]: row for row in twin["profile"]["burstiness"]["windows"]}
    assert rows["dispersion_1s"]["achieved"] == windows[1.0]["dispersion"]
    reads = twin["profile"]["burstiness"]["read_runs"]
    assert rows["read_run"]["achieved"] == reads["mean_requests"]
    assert twin["hit_ratios"][0]["published"] == 0.4458
    done = ssdlab(*arguments)
    text = done.out
    assert re.search(r"^dispersion_1s +889 ", text, re.MULTILINE)
    assert re.search(r"^LRU cache +hits of +target +achieved$", text, re.MULTILINE)
    assert re.search(r"^\S+ MiB +reads +45 % +\d+ %$", text, re.MULTILINE)
    assert "\nhurst       exponent" in text
    assert "\nwindows of " in text
    assert "\nruns of " in text
    assert "dispersion_10ms, dispersion_100ms, dispersion_1s" in text


def test_a_twin_too_short_for_its_bursts_says_so(ssdlab: Ssdlab) -> None:
    def remarks(name: str, *how: str) -> list[str]:
        found = json.loads(ssdlab("workload", "show", name, *how, "--json").out)
        assert isinstance(found["remarks"], list)
        return list(found["remarks"])

    (remark,) = remarks("pa-ssd/msfs", "--requests", "2000")
    few = "scaled down: its span holds fewer than 20 windows of 100ms to 10s"
    assert remark == f"{few}, so it has few or none of their bursts"
    text = ssdlab("workload", "show", "pa-ssd/msfs", "--requests", "2000").out
    assert f"scaled to 2,000 requests\n{remark}\n" in text
    assert remarks("dlv/rsrch2", "--full") == []
    assert remarks("dlv/hm0", "--requests", "50000") == []
    assert len(remarks("readguard/mix-a", "--requests", "20000")) == 1


def test_a_mix_names_its_members(ssdlab: Ssdlab) -> None:
    listed = json.loads(ssdlab("workload", "list", "--json").out)["twins"]
    mix = next(twin for twin in listed if twin["members"])
    text = ssdlab("workload", "show", mix["name"], "--requests", "20000").out
    assert "each on a queue of its own" in text


def test_a_run_says_that_its_workload_is_a_twin(ssdlab: Ssdlab) -> None:
    run = ssdlab("run", "--workload", "dlv/hm0", "--limit", "1000", "--wrap", "--json", "-")
    assert json.loads(run.out)["results"][0]["workload"] == "twin of hm_0 (DLV)"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("show", "dlv/hm00"), '(did you mean "dlv/hm0"?)'),
        (("show", "hm00"), '(did you mean "dlv/hm0" or "pv-read/hm0" or "hire/hm0"?)'),
        (
            ("show", "nothing-like-it"),
            "expected a twin that `ssdlab workload list` prints, such as dlv/hm0\n",
        ),
        (("show", "hire"), "not a twin: got 'hire', expected one of its family: hire/"),
        (
            ("show", "readguard/mix-a", "--requests", "2000"),
            "--requests 2000: footprint: got 12672 B, expected at most the hot sets",
        ),
        (("show", "zipf"), "not a twin: got 'zipf', a distribution, which has no targets\n"),
        (("show", "dlv/hm0", "--full", "--requests", "5"), "expected one or the other"),
        (("lst",), 'did you mean "list"?'),
    ],
)
def test_a_wrong_workload_is_reported_in_one_line(
    ssdlab: Ssdlab, arguments: tuple[str, ...], line: str
) -> None:
    done = ssdlab("workload", *arguments)
    assert done.code == 2
    assert line in done.err
    assert done.err.count("\n") == 1
