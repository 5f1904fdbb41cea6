"""What the tests share: the command as a user calls it, and a small trace."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, OFFICE, Done, Ssdlab
from hypothesis import settings

from ssdlab_reproduction import ledger, registry, runs
from ssdlab_reproduction.claim import Claim, Figure
from ssdlab_reproduction.scope import Scope

# The same examples every time, however busy the machine is.
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")

# A shell starts what runs in the background deaf to Ctrl-C, and so would be what the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def ssdlab(tmp_path: Path) -> Ssdlab:
    """Runs the command in an empty folder."""

    def call(*arguments: object, **environment: str) -> Done:
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            # Against what hangs: a busy machine is slow.
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace of three requests in MSR format."""
    lines = [
        "128166372000000000,hm,1,Write,4096,8192,0",
        "128166372000010000,hm,1,Read,4096,4096,0",
        "128166372000020000,hm,1,Read,1048576,16384,0",
    ]
    path = tmp_path / "three.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def inputs(tmp_path: Path, trace: Path) -> Path:
    """A folder with a trace by several names, a config and measurements of chips."""
    trace.rename(tmp_path / "t.csv")
    (tmp_path / "soft").symlink_to("t.csv")
    os.link(tmp_path / "t.csv", tmp_path / "hard")
    (tmp_path / "c.toml").write_text('[buffer]\nsize = "1MiB"\n')
    (tmp_path / "chips.csv").write_bytes((OFFICE.parent / "chips.csv").read_bytes())
    (tmp_path / "m.toml").write_text('physics.measured.file = "chips.csv"\n')
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "blame.svg").write_bytes((tmp_path / "t.csv").read_bytes())
    return tmp_path


@pytest.fixture
def one_claim(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes a ledger of one claim, whose figures are those of a small run."""

    def make(find: Callable[..., list[float]], sets: Any = None, **of_claim: Any) -> None:
        def small(scope: Scope) -> runs.Jobs:
            return {("run",): scope.plan("generic-mlc-512g", "conventional", "random", limit=200)}

        of_claim.setdefault("figures", [Figure("reads", 100, unit="µs")])
        known = Claim("X1", "hire", "a claim", "a paper", **of_claim)
        monkeypatch.setattr(ledger, "claims", lambda: [known])
        rule = registry.Rule((small,) if sets is None else sets, find)
        monkeypatch.setattr(ledger, "RULES", {"X1": rule})
        monkeypatch.setattr(ledger, "PICTURES", [])

    return make
