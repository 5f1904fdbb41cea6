"""Tab completes the names that options and arguments take."""

import os
import subprocess

import pytest
from click.shell_completion import ShellComplete
from command import COMMAND

from ssdlab import _native
from ssdlab.cli.main import ssdlab


def completed(line: str) -> list[str]:
    """Return what Tab offers at the end of a line."""
    *words, last = line.split(" ")
    shell = ShellComplete(ssdlab, {}, "ssdlab", "_SSDLAB_COMPLETE")
    return [item.value for item in shell.get_completions(words, last)]


CASES = [
    ("run --stage y", ["young"]),
    ("run --scheme dlv/w", ["dlv/woo"]),
    ("run --device gen", ["generic-mlc-512g", "generic-tlc-2t"]),
    ("run --workload se", ["sequential"]),
    ("run --workload dlv/hm", ["dlv/hm0", "dlv/hm1"]),
    ("run --set scheduler.fifo", ["scheduler.fifo.head_of_line="]),
    ("compare --vary scheduler.fifo", ["scheduler.fifo.head_of_line="]),
    ("compare --stage young,o", ["young,old"]),
    ("compare --scheme baseline,dlv/w", ["baseline,dlv/woo"]),
    ("config validate --device hire", ["hire-mlc-128g"]),
    ("fit --device hire", ["hire-mlc-128g"]),
    ("physics hire", ["hire-mlc-128g"]),
    ("preset show hire", ["hire-mlc-128g"]),
    ("scheme show dlv/w", ["dlv/woo"]),
    ("workload show dlv/hm", ["dlv/hm0", "dlv/hm1"]),
    ("trace info --set workload.trace.t", ["workload.trace.tick="]),
    ("run --device young,o", []),
]


@pytest.mark.parametrize(("line", "offered"), CASES, ids=[case[0] for case in CASES])
def test_a_value_is_completed(line: str, offered: list[str]) -> None:
    assert sorted(completed(line)) == offered


def test_every_name_is_offered() -> None:
    assert completed("run --device ") == [name for name, _ in _native.presets()]
    assert completed("run --scheme ") == [name for name, _ in _native.schemes()]
    keys = completed("run --set ")
    assert len(keys) > 200
    assert {"scheduler=", "start.fill=", "placement="} <= {*keys}
    # Settings of list items need the whole list.
    assert not [key for key in keys if "[" in key]


def test_a_failure_offers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> list[tuple[str, str]]:
        raise RuntimeError

    monkeypatch.setattr(_native, "presets", fail)
    assert completed("run --device gen") == []


def test_a_shell_gets_the_names() -> None:
    words = {"_SSDLAB_COMPLETE": "bash_complete", "COMP_WORDS": "ssdlab run --stage y"}
    done = subprocess.run(
        COMMAND,
        env={**os.environ, **words, "COMP_CWORD": "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("plain,young\n", "")
