"""A run on a mix of traces: members as they are typed, in Python, and what is refused."""

from pathlib import Path

import pytest
from command import Ssdlab

from ssdlab import InputError, Plan, compare, run, sweep
from ssdlab.render.html.comparison import comparison_page
from ssdlab.result import MixMember
from ssdlab.traces import App

QUEUES = ("--set", "host.queues=2")


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """The folder of two traces, a.csv of 200 requests and b.csv of 100."""
    for name, count in (("a.csv", 200), ("b.csv", 100)):
        rows = [f"{n * 100},0,{'RW'[n % 2]},{n * 7919 % 1000 * 4096},4096" for n in range(count)]
        lines = ["time_us,dev,op,offset_bytes,size_bytes", *rows]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_mix_is_run_as_it_is_typed_for_trace_mix(ssdlab: Ssdlab, two: Path) -> None:
    apps = ("high=a.csv@queue=0", "b.csv:ssdlab@queue=1,scale=2,start=1ms")
    assert ssdlab("trace", "mix", *apps, "-o", "mixed.csv").code == 0
    of_file = ssdlab("run", "--trace", "mixed.csv", *QUEUES, "--json", "-").json()
    mixed = [part for app in apps for part in ("--mix", app)]
    (found,) = ssdlab("run", *mixed, *QUEUES, "--json", "-").json()["results"]
    assert found["results_digest"] == of_file["results"][0]["results_digest"]
    assert found["workload"] == "mix of high + b"
    members = found["provenance"]["mix"]
    assert [member["name"] for member in members] == ["high", "b"]
    assert [member["trace"] for member in members] == ["a.csv", "b.csv:ssdlab"]
    assert (members[1]["scale"], members[1]["start_us"], members[1]["queue"]) == (2, 1000, 1)
    assert all(len(member["trace_sha256"]) == 64 for member in members)
    assert members[1]["shift_bytes"] > 0
    assert "mix of high (ssdlab) + b (ssdlab)" in ssdlab("run", *mixed, *QUEUES).out
    assert (two / "mixed.csv").exists()


def test_a_twin_is_a_member_by_name(ssdlab: Ssdlab, two: Path) -> None:
    mixed = ("--mix", "high=dlv/hm0", "--mix", "b.csv", *QUEUES, "--limit", "300")
    (found,) = ssdlab("run", *mixed, "--json", "-").json()["results"]
    assert found["workload"] == "mix of high (twin of hm_0 (DLV)) + b"
    (high, low) = found["provenance"]["mix"]
    assert (high["trace"], high["twin"], high["trace_sha256"]) == (
        "dlv/hm0",
        "twin of hm_0 (DLV)",
        None,
    )
    assert (low["twin"], len(low["trace_sha256"])) == (None, 64)
    seeds = [
        ssdlab("trace", "mix", "dlv/hm0", "-o", f"{seed}.csv", "--seed", seed, "--limit", "50")
        for seed in ("1", "2")
    ]
    assert all("twin of hm_0 (DLV)" in done.out for done in seeds)
    assert (two / "1.csv").read_text() != (two / "2.csv").read_text()


def test_a_comparison_and_its_report(ssdlab: Ssdlab, two: Path) -> None:
    mixed = ("--mix", "a.csv", "--mix", "b.csv", *QUEUES)
    done = ssdlab("compare", *mixed, "--vary", "scheduler=fifo,read_first", "--report", "r.html")
    assert (done.code, done.err) == (0, "")
    assert "mix of a (ssdlab) + b (ssdlab)" in done.out
    text = (two / "r.html").read_text(encoding="utf-8")
    assert "a in the mix" in text
    assert "queue 1, times ×1.00" in text


def test_in_python_as_objects_and_as_text(two: Path) -> None:
    texts = [f"high={two}/a.csv@offset=0", f"low={two}/b.csv@offset=0"]
    apps = [
        App(f"{two}/a.csv", name="high", offset="0"),
        App(f"{two}/b.csv", name="low", offset="0"),
    ]
    one, other = (run(mix=mix, set={"host.queues": 2}) for mix in (texts, apps))
    assert one.results_digest == other.results_digest
    assert one.provenance.mix is not None
    (high, low) = one.provenance.mix
    assert isinstance(low, MixMember)
    assert (high.queue, low.queue, low.shift_bytes) == (0, 1, 0)
    assert [queue.read.requests + queue.write.requests for queue in one.queues or ()] == [200, 100]
    assert run(limit=10).provenance.mix is None


def test_a_sweep_over_a_mix(two: Path) -> None:
    plan = Plan(mix=[f"{two}/a.csv", f"{two}/b.csv"], set={"host.queues": 2}, detail=True)
    comparison = compare(sweep(plan, vary={"scheduler": ["fifo", "strict_priority"]}))
    assert {result.workload for result in comparison} == {"mix of a + b"}
    assert "mix of a + b" in comparison_page(comparison)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--trace", "a.csv"), "--mix: a mix beside --trace: expected one or the other"),
        (("--workload", "zipf"), "--mix: a mix beside --workload: expected one or the other"),
        (
            ("--set", "workload.read_share=0.4"),
            "--set workload.read_share=0.4: workload.read_share: got 0.4, expected no workload ",
        ),
        (
            ("--mix", "c=a.csv"),
            "--set host.queues=2: host.queues: got 2, expected at least 3, for the submission ",
        ),
        (
            ("--mix", "a.csv@queu=1"),
            "--mix a.csv@queu=1: got 'queu=1', expected queue=…, scale=…, start=…, offset=… (did ",
        ),
        (("--mix", "a=b.csv", "--mix", "a=a.csv"), "--mix: got the name 'a' twice, "),
        (("--mix", "x=b.csv@queue=0,offset=7"), "x@offset: invalid value: got "),
        (("--mix", "none.csv", "--set", "host.queues=3"), "none.csv: "),
    ],
)
def test_wrong_options_are_reported_in_a_line(
    ssdlab: Ssdlab, two: Path, options: tuple[str, ...], message: str
) -> None:
    done = ssdlab("run", "--mix", "a.csv", "--mix", "b.csv", *QUEUES, *options, "--json", "o.json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(message), done.err
    assert done.err.count("\n") == 1
    assert not (two / "o.json").exists()


def test_a_broken_line_of_a_member_is_named(ssdlab: Ssdlab, two: Path) -> None:
    with (two / "b.csv").open("a") as file:
        file.write("99999,0,Q,0,4096\n")
    done = ssdlab("run", "--mix", "a.csv", "--mix", "b.csv", *QUEUES)
    assert done.code == 2
    assert done.err.startswith("b.csv:102:9: op: got Q")


def test_a_text_is_no_list_of_members() -> None:
    with pytest.raises(InputError, match=r"--mix: got 'a\.csv', expected a list"):
        run(mix="a.csv")


def test_what_is_no_member_in_python_is_refused() -> None:
    with pytest.raises(InputError, match="--mix: got 3, expected an App or its text"):
        run(mix=[3])  # type: ignore[list-item]
    with pytest.raises(InputError, match="--mix a: got queue=256, expected a whole number from 0"):
        run(mix=[App("a", queue=256)])
    with pytest.raises(InputError, match="--mix a: got scale=0, expected a number above 0"):
        run(mix=[App("a", scale=0)])


def test_a_twin_in_a_file_says_that_it_is_one(ssdlab: Ssdlab, two: Path) -> None:
    assert (two / "b.csv").exists()
    for out in ("hm.csv", "hm.parquet"):
        order = ("trace", "mix", "high=dlv/hm0", "b.csv", "-o", out, "--limit", 300)
        mixed = ssdlab(*order, "--json", "-").json()
        counts = [app["requests"] for app in mixed["apps"]]
        devices = ssdlab("trace", "info", out, "--json", "-").json()["devices"]
        found = {device["name"]: device["requests"] for device in devices}
        assert found == {"high (twin of hm_0 (DLV))": counts[0], "b": counts[1]}


@pytest.mark.usefixtures("two")
def test_applications_by_priority_have_the_queues_of_their_names(ssdlab: Ssdlab) -> None:
    apps = "low=a.csv@scale=2,start=1ms,high=b.csv"
    done = ssdlab("run", "--app", apps, "--set", "host.queues=3", "--json", "-").json()
    members = {one["name"]: one for one in done["results"][0]["provenance"]["mix"]}
    assert [(name, members[name]["queue"]) for name in members] == [("low", 2), ("high", 0)]
    assert (members["low"]["scale"], members["low"]["start_us"]) == (2, 1000)
    one_each = ("--app", "mid=a.csv", "--app", "b.csv@queue=2")
    each = ssdlab("run", *one_each, "--set", "host.queues=3")
    assert "mix of mid (ssdlab) + b (ssdlab)" in each.out
    hgh = ssdlab("run", "--app", "hgh=a.csv,mid=b.csv", *QUEUES)
    message = "got the application 'hgh', expected high, mid, low, or @queue=N behind its file"
    assert (hgh.code, hgh.err.strip()) == (2, f'--app: {message} (did you mean "high"?)')
    both = ssdlab("run", "--app", "high=a.csv", "--mix", "b.csv", *QUEUES)
    assert both.code == 2
    assert both.err.strip() == "--app: applications beside --mix: expected one or the other"
    both = ssdlab("run", "--app", "high=a.csv", "--workload", "zipf", *QUEUES)
    assert both.code == 2
    assert both.err.strip() == "--app: applications beside --workload: expected one or the other"
