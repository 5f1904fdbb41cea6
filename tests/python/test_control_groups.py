"""Commands in a control group: a line that says what is needed, or all of the work, no kill."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import COMMAND, ROOT

import ssdlab
from ssdlab import _native
from ssdlab.errors import InputError

MEGA = 10**6
RUN = ("run", "--workload", "zipf", "--limit", "500")
DLV = ("run", "--device", "dlv-mlc-128g", "--scheme", "dlv/dlv", "--workload", "random")
CHIPS = str(ROOT / "examples/chips.csv")


def groups() -> tuple[Path, str] | None:
    """Return where groups are made that limit memory, and the file that does; None without them."""
    first, second = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
    for folder, limit in ((first, "memory.limit_in_bytes"), (second, "memory.max")):
        child = folder / f"ssdlab-test-{os.getpid()}"
        try:
            child.mkdir()
            found = (child / limit).is_file()
            child.rmdir()
        except OSError:
            continue
        if found:
            return folder, limit
    return None


@pytest.fixture(scope="module")
def within() -> Iterator[Callable[[int], Callable[[], None]]]:
    """What has a process begin in a group of so many MB."""
    found = groups()
    if found is None:
        pytest.skip("no control group can be made here")
    folder, limit = found
    group = folder / f"ssdlab-test-{os.getpid()}"
    group.mkdir()

    def limited(mega: int) -> Callable[[], None]:
        (group / limit).write_text(str(mega * MEGA))
        procs = str(group / "cgroup.procs")

        def enter() -> None:
            with open(procs, "w", encoding="ascii") as file:  # noqa: PTH123  after a fork
                file.write(str(os.getpid()))

        return enter

    yield limited
    group.rmdir()


@pytest.mark.parametrize("mega", [60, 110, 160, 185, 230])
@pytest.mark.parametrize(
    "command",
    [
        (*RUN, "--report", "r.html"),
        (*RUN, "--figures", "figs"),
        ("compare", *RUN[1:], "--scheme", "conventional,streams/sepbit", "--report", "r.html"),
        ("physics", "dlv-mlc-128g", "--report", "r.html"),
        ("fit", "--out", "out"),
        ("fit", CHIPS, "--report", "r.html"),
        ("reproduce", "H4", "--quick", "--jobs", "1", "--out", "out"),
    ],
    ids=lambda command: " ".join(word for word in command if "/" not in word),
)
def test_a_command_says_what_it_lacks(
    within: Callable[[int], Callable[[], None]],
    command: tuple[str, ...],
    mega: int,
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [*COMMAND, *command],
        cwd=tmp_path,
        preexec_fn=within(mega),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 0:
        assert any(tmp_path.iterdir())
        return
    assert done.returncode == 2, done
    [line] = done.stderr.splitlines()
    lacks = "expected what fits into memory: at least" in line and "(a control group)" in line
    assert lacks or line.endswith("memory may be short"), line


@pytest.mark.parametrize("mega", [100, 150, 200, 225, 290])
def test_a_drive_fits_or_is_refused(
    within: Callable[[int], Callable[[], None]], mega: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [*COMMAND, *DLV, "--limit", "2000"],
        cwd=tmp_path,
        preexec_fn=within(mega),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    fits = mega == 290
    assert done.returncode == (0 if fits else 2), done
    assert fits or "(a control group)" in done.stderr


def left(monkeypatch: pytest.MonkeyPatch, mega: int) -> None:
    monkeypatch.setattr(_native, "memory_left", lambda: (mega * MEGA, "a control group"))


def test_a_library_that_has_no_room_to_load_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 9)
    with pytest.raises(InputError, match=r"^a fit: .*and 9 MB are left \(a control group\)$"):
        ssdlab.fit(CHIPS)


def test_more_chips_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    left(monkeypatch, 200)
    with pytest.raises(InputError, match=r"^a fit: .*at least 296 MB are needed"):
        ssdlab.fit()
