"""Kept runs of a ledger: a file that is not as it was written is not believed."""

import errno
import fcntl
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command import ROOT, load_module

import ssdlab as lab
from ssdlab import InputError, api
from ssdlab.files import check_no_trace
from ssdlab.progress import ProgressLine
from ssdlab_reproduction import job_files, ledger, runs
from ssdlab_reproduction.ledger import reproduce
from ssdlab_reproduction.scope import Scope

JOB = "0123456789abcdef" * 2


def read_us(found: runs.Runs) -> list[float]:
    return [found["run",].read.latency_us.mean]


def kept(folder: Path) -> list[Path]:
    return sorted((folder / ledger.KEPT).glob("*.json"))


def ran(monkeypatch: pytest.MonkeyPatch) -> list[lab.Plan]:
    """Return a list to which every plan is added that runs from now on."""
    found: list[lab.Plan] = []
    run = api.run

    def counted(plan: lab.Plan) -> lab.Result:
        found.append(plan)
        return run(plan)

    monkeypatch.setattr(api, "run", counted)
    return found


@pytest.mark.parametrize("made", [{"mean": 12.5, "of": ["a", None]}, [], "", 0])
def test_no_changed_byte_and_no_cut_passes(made: Any, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    job_files.write(file, JOB, made)
    whole = file.read_bytes()
    assert job_files.read(file, JOB) == (made,)
    found = json.loads(whole)
    assert (list(found), found["made"]) == (["job", "bytes", "sha256", "made"], made)
    for at, byte in enumerate(whole):
        for other in (byte ^ 1, byte ^ 0x20, ord("0") if byte != ord("0") else ord("1")):
            file.write_bytes(whole[:at] + bytes([other]) + whole[at + 1 :])
            assert job_files.read(file, JOB) is None, (at, other)
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert job_files.read(file, JOB) is None
    for more in (b"\n", b" ", b"{}", whole):
        file.write_bytes(whole + more)
        assert job_files.read(file, JOB) is None


def test_runs_of_another_job_are_not_used(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    job_files.write(file, JOB, {})
    assert job_files.read(file, JOB[::-1]) is None
    assert job_files.read(tmp_path / "nowhere.json", JOB) is None


def flipped(pattern: bytes, by: bytes) -> Callable[[bytes], bytes]:
    def change(whole: bytes) -> bytes:
        changed = re.sub(pattern, by, whole, count=1)
        assert changed != whole
        return changed

    return change


DAMAGE: Mapping[str, Callable[[bytes], bytes]] = {
    "a digit of a figure": flipped(rb'("mean": \d*)[0-8](\.)', rb"\g<1>9\2"),
    "a key": flipped(rb'"mean"', b'"meam"'),
    "a brace": flipped(rb"\}\}\n$", b"}]\n"),
    "the hash": flipped(rb'("sha256": ")[0-9a-f]{4}', rb"\1ABCD"),
    "the job": flipped(rb'("job": ")[0-9a-f]{4}', rb"\1ABCD"),
    "the last line": lambda whole: whole[:-1],
    "half of it": lambda whole: whole[: len(whole) // 2],
    "all of it": lambda _: b"",
    "what it is": lambda _: b"\x00\xff",
    "its layout": lambda whole: json.dumps(json.loads(whole)["made"]).encode(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_run_is_run_again_and_reported(
    one_claim: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    damage: Callable[[bytes], bytes],
) -> None:
    one_claim(read_us)
    whole = reproduce(["hire"], out=tmp_path, seeds=2, jobs=1)
    first, _ = kept(tmp_path)
    good = first.read_bytes()
    first.write_bytes(damage(good))
    again = ran(monkeypatch)
    capfd.readouterr()
    assert reproduce(["hire"], out=tmp_path, seeds=2, jobs=1) == whole
    assert len(again) == 1
    line = f"{tmp_path / ledger.KEPT}: 1 kept run is damaged and is run again\n"
    assert capfd.readouterr().err == line
    # How fast it was is another matter, and is kept, too.
    assert job_files.read(first, first.stem) is not None


def test_runs_that_changed_places_are_run_again(
    one_claim: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    one_claim(read_us)
    whole = reproduce(["hire"], out=tmp_path, seeds=2, jobs=1)
    first, second = kept(tmp_path)
    aside = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(aside)
    again = ran(monkeypatch)
    capfd.readouterr()
    assert reproduce(["hire"], out=tmp_path, seeds=2, jobs=1) == whole
    assert len(again) == 2
    assert "2 kept runs are damaged and are run again\n" in capfd.readouterr().err


def test_a_run_that_is_damaged_before_it_is_read_is_run_again(tmp_path: Path) -> None:
    job = runs.Job(lab.Plan(limit=100))
    store_of = runs.RunStore(tmp_path)
    store_of.make([job])
    [file] = tmp_path.glob("*.json")
    figure = store_of.read(job).read.latency_us.mean
    for damage in DAMAGE.values():
        file.write_bytes(damage(file.read_bytes()))
        assert store_of.read(job).read.latency_us.mean == figure


@pytest.mark.parametrize("target", ["mine.csv", "nowhere"])
def test_a_link_in_the_place_of_a_kept_run_costs_nothing_that_it_leads_to(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "mine.csv").write_text("kept")
    job = runs.Job(lab.Plan(limit=100))
    file = tmp_path / f"{job.name()}.json"
    file.symlink_to(target)
    store_of = runs.RunStore(tmp_path)
    store_of.make([job])
    assert (tmp_path / "mine.csv").read_text() == "kept"
    assert not file.is_symlink()
    assert job_files.read(file, job.name()) is not None


def test_a_run_that_is_damaged_by_its_length_takes_no_memory(tmp_path: Path) -> None:
    job = runs.Job(lab.Plan(limit=100))
    store_of = runs.RunStore(tmp_path)
    store_of.make([job])
    [file] = tmp_path.glob("*.json")
    os.truncate(file, 1 << 38)
    assert job_files.read(file, job.name()) is None
    store_of.make([job])
    assert file.stat().st_size < 1 << 20
    assert job_files.read(file, job.name()) is not None


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".ssdlab-0123456789ab.part").write_text("{")
    (tmp_path / "movie.part").write_text("kept")
    with job_files.in_use(tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == ["movie.part"]
        # What another process is about to write is left to it.
        (tmp_path / ".ssdlab-ba9876543210.part").write_text("{")
        with job_files.in_use(tmp_path):
            assert (tmp_path / ".ssdlab-ba9876543210.part").exists()


def test_a_folder_is_free_again_after_use(tmp_path: Path) -> None:
    with job_files.in_use(tmp_path):
        pass
    handle = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(handle)


@pytest.mark.parametrize(
    ("what", "put"),
    [
        ("folder", Path.mkdir),
        ("pipe or a device", os.mkfifo),
    ],
)
def test_a_run_that_cannot_be_kept_is_refused_before_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, put: Callable[[Path], object]
) -> None:
    job = runs.Job(lab.Plan(limit=100))
    put(tmp_path / f"{job.name()}.json")
    again = ran(monkeypatch)
    with pytest.raises(InputError, match=rf"^--out: cannot write .*: is a {what}$"):
        runs.RunStore(tmp_path).make([job])
    with pytest.raises(InputError, match=rf"^--out: cannot write .*: is a {what}$"):
        runs.RunStore(tmp_path).read(job)
    assert not again


def test_a_pipe_among_the_traces_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hm_0.csv")
    with pytest.raises(InputError, match=r"hm_0\.csv: cannot be read: is no regular file$"):
        runs.sha256(tmp_path / "hm_0.csv")


def test_a_pipe_in_the_place_of_a_figure_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "blame.svg")
    check_no_trace("--figures", {"0" * 64}, [tmp_path / "blame.svg"])


def test_a_trace_that_changes_while_it_runs_is_not_kept(
    one_claim: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trace: Path
) -> None:
    run = api.run

    def changing(plan: lab.Plan) -> lab.Result:
        result = run(plan)
        trace.write_text(trace.read_text() * 2)
        return result

    def of_trace(scope: Scope) -> runs.Jobs:
        return {("run",): lab.Plan(trace=trace, seed=scope.seed)}

    monkeypatch.setattr(api, "run", changing)
    one_claim(read_us, sets=(of_trace,))
    with pytest.raises(InputError, match=r"three\.csv changed while it was in use"):
        reproduce(["hire"], out=tmp_path / "out", seeds=1, jobs=1)
    assert len(kept(tmp_path / "out")) == 1  # what was found in the trace before


def test_a_log_that_is_full_ends_no_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_LOG_EVERY_S", 0.0)
    jobs = [runs.Job(lab.Plan(seed=seed), seed_of) for seed in range(3)]
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        runs.RunStore(tmp_path).make(jobs, count=2)
        monkeypatch.undo()
        with suppress(OSError):
            full.close()
    assert len(list(tmp_path.glob("*.json"))) == 3


def test_a_run_has_another_name_when_a_file_that_it_reads_changes(tmp_path: Path) -> None:
    config = tmp_path / "own.toml"
    config.write_text("scheduler = 'fifo'\n")
    job = runs.Job(lab.Plan(config=[config]))
    name = job.name()
    assert job.name() == name
    config.write_text("scheduler = 'read_first'\n")
    assert job.name() != name


def killed(plan: lab.Plan) -> int:
    """End the process as the system does when memory runs out."""
    if plan.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return plan.seed


def without_room(_: lab.Plan) -> int:
    """Fail as a job does that writes a trace of its own to a full disk."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_job_without_room_for_its_own_files_is_reported_in_a_line(tmp_path: Path) -> None:
    line = r"^TMPDIR: cannot write '/.*': No space left on device$"
    with pytest.raises(InputError, match=line):
        runs.RunStore(tmp_path).make([runs.Job(lab.Plan(), without_room)])


def test_a_process_that_is_killed_is_reported_in_a_line(tmp_path: Path) -> None:
    jobs = [runs.Job(lab.Plan(seed=seed), killed) for seed in (1, 2)]
    with pytest.raises(
        InputError, match=r"^the process of a run was killed, .*: expected fewer runs"
    ):
        runs.RunStore(tmp_path).make(jobs, count=2)


def seed_of(plan: lab.Plan) -> int:
    return plan.seed


def test_what_is_interrupted_between_two_runs_says_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object, done: list[tuple[float, int, bool, bool]]) -> None:
        if done[0][-1]:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressLine, "__call__", interrupted)
    jobs = [runs.Job(lab.Plan(seed=seed), seed_of) for seed in range(20)]
    with pytest.raises(KeyboardInterrupt):
        runs.RunStore(tmp_path).make(jobs, count=2)
    assert capfd.readouterr().err == ""


def test_a_damaged_result_of_a_mutant_is_left_out(tmp_path: Path) -> None:
    mutants: Any = load_module(ROOT / "tests" / "mutants" / "run.py")
    file = tmp_path / "results.jsonl"
    values = [{"key": name, "result": "caught"} for name in "abc"]
    for value in values:
        mutants.add_line(file, value)
    assert mutants.read_lines(file) == (values, 0)
    first, second, third = file.read_text().splitlines()
    file.write_text("\n".join([first, second.replace("caught", "missed"), "[]", third[:-9]]))
    mutants.add_line(file, values[1])
    assert mutants.read_lines(file) == (values[:2], 3)
    assert mutants.read_lines(tmp_path / "nothing") == ([], 0)


def test_short_runs_share_their_starts_and_give_the_same_results(tmp_path: Path) -> None:
    plans = [
        lab.Plan(device="dlv-mlc-128g", scheme="dlv/woo", workload="dlv/hm0", limit=50 + nth)
        for nth in range(8)
    ]
    store = runs.RunStore(tmp_path)
    store.make([runs.Job(plan) for plan in plans], 1)
    kept = [store.read(runs.Job(plan)) for plan in plans]
    assert [one.sim.start_copied for one in kept].count(True) == len(plans) // 2
    assert [one.results_digest for one in kept] == [api.run(plan).results_digest for plan in plans]


def test_long_runs_are_alone_and_batches_leave_work_for_every_process() -> None:
    long, short = lab.Plan(limit=2_000_000), lab.Plan(limit=1000)
    jobs = {f"{nth}": runs.Job(long if nth < 3 else short) for nth in range(99)}
    sizes = [len(batch) for batch in runs._batches(jobs, 2)]
    assert sizes[:3] == [1, 1, 1]
    assert max(sizes) == 8
    assert sum(sizes) == len(jobs)
    assert {len(batch) for batch in runs._batches(jobs, 32)} == {1}
