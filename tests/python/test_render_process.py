"""Drawing in a process of its own: whatever becomes of it, the one who asks gets a line."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import example_results
import pytest
from command import COMMAND

import ssdlab
from ssdlab.errors import InputError, InternalError
from ssdlab.render import process
from ssdlab.render.figures import drawing
from ssdlab.render.figures.base import Figure
from ssdlab.render.process import Job, run_jobs

SPEC = {"mark": "point", "data": {"values": []}}
# Stands in for the renderer: its specs are programs.
FAKE = """
import ctypes, os, signal, sys, time

done = 0

def vegalite_to_svg(spec, vl_version):
    global done
    exec(spec)
    done += 1
    return f"<svg>{done}</svg>"

def svg_to_pdf(svg):
    return b""

def svg_to_png(svg, scale, ppi):
    return b""
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A renderer that does as it is told."""
    tmp_path.joinpath("vl_convert.py").write_text(FAKE)
    monkeypatch.syspath_prepend(str(tmp_path))


def children() -> set[str]:
    """The processes that this one has begun, ended ones that it has not waited for among them."""
    lists = Path("/proc/self/task").glob("*/children")
    return {child for each in lists for child in each.read_text().split()}


@pytest.fixture(autouse=True)
def _leaves_no_process() -> Iterator[None]:
    # Other tests of this process may have left workers, which end with it.
    before = children()
    yield
    assert children() <= before


def job(what: str, spec: object) -> Job:
    return Job(f"figure {what}", {"spec": spec, "endings": ["svg"], "version": drawing.LITE})


def ran(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("os.abort()", "the renderer ended by SIGABRT"),
        ("ctypes.string_at(0)", "the renderer ended by SIGSEGV"),
        ("os.kill(os.getpid(), 9)", "the renderer ended by SIGKILL: memory may be short"),
        ("os.write(2, b'# Fatal: no room\\n'); os.abort()", "by SIGABRT: Fatal: no room"),
        ("os._exit(3)", "the renderer ended with code 3"),
        ("raise MemoryError", "cannot be drawn: MemoryError"),
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
        # More than a pipe holds: neither process waits for the other.
        ("os.write(2, b'x' * 10_000_000); os.abort()", "the renderer ended by SIGABRT: xxx"),
    ],
)
def test_a_process_that_ends_is_a_line(program: str, line: str) -> None:
    with pytest.raises(InputError, match=rf"\Afigure second: .*{re.escape(line)}") as raised:
        run_jobs([job("first", "0"), job("second", program), job("third", "0")])
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


@pytest.mark.usefixtures("fake")
def test_a_drawing_that_takes_too_long_is_aborted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_SECONDS", 1)
    tries = tmp_path / "tries"
    program = f"open({str(tries)!r}, 'a').write('x'); [0 for _ in iter(int, 1)]"
    with pytest.raises(InputError, match=r"\Afigure late: not drawn within 1 s, and given up\Z"):
        run_jobs([job("first", "0"), job("late", program)])
    # It is not tried again.
    assert tries.read_text() == "x"


@pytest.mark.usefixtures("fake")
def test_an_error_of_the_renderer_is_ours_to_mend() -> None:
    with pytest.raises(InternalError, match="figure bad: cannot be drawn: no such mark of two"):
        run_jobs([job("bad", "raise ValueError('no such mark\\nof two\\nlines')")])


@pytest.mark.usefixtures("fake")
def test_a_complaint_is_an_error_and_not_a_blank_figure() -> None:
    complaint = "os.write(2, b'WARN x\\nERROR TypeError: d.push is not a function\\n')"
    with pytest.raises(InternalError, match=r"figure blank: .*d\.push is not a function"):
        run_jobs([job("blank", complaint)])
    assert len(run_jobs([job("warned", "os.write(2, b'WARN x\\n')")])) == 1


@pytest.mark.usefixtures("fake")
def test_a_figure_that_ended_its_process_is_drawn_in_another() -> None:
    program = "done == 1 and os.abort()"
    found = run_jobs([job(str(at), program) for at in range(3)])
    assert [each["svg"] for each in found] == [b"<svg>1</svg>"] * 3


@pytest.mark.usefixtures("fake")
def test_large_answers_and_printed_texts_block_no_process() -> None:
    large = "print('x' * 1_000_000); 0" + " " * 1_000_000
    assert len(run_jobs([job(str(at), large) for at in range(4)])) == 4


@pytest.mark.usefixtures("fake")
def test_ctrl_c_ends_it_at_once() -> None:
    began = time.monotonic()
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        run_jobs([job("long", "time.sleep(60)")])
    assert time.monotonic() - began < 20


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_to_the_process_group_ends_no_drawing(number: str) -> None:
    # The worker gets it as part of the group; the command, which has deferred it, waits.
    assert len(run_jobs([job("told", f"os.kill(os.getpid(), signal.{number}); 0")])) == 1


def test_no_interpreter_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for executable in ("", "/nowhere/python"):
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.raises(InputError, match=r"\Afigure x: no process to draw in can be started: "):
            run_jobs([job("x", SPEC)])


def test_a_missing_renderer_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [folder for folder in sys.path if not Path(folder, "vl_convert").exists()]
    monkeypatch.setattr(sys, "path", others)
    with pytest.raises(InputError, match=r"No module named 'vl_convert' \(pip install vl-convert"):
        run_jobs([job("x", SPEC)])


def test_the_renderer_itself_aborts_and_its_caller_lives() -> None:
    spec = {
        "data": {"values": [{"label": "\x1b", "x": 1}]},
        "mark": "point",
        "encoding": {"color": {"field": "label", "type": "nominal"}},
    }
    with pytest.raises(InputError, match="figure x: the renderer ended by SIGABRT: Failed to pars"):
        run_jobs([job("x", spec)])


def test_too_few_addresses_are_reported_before_a_run_and_after_it(tmp_path: Path) -> None:
    program = f"""
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
import ssdlab
from ssdlab.cli.main import main
small = {{"workload.footprint": "100MiB", "geometry.blocks": "64"}}
result = ssdlab.run(workload="random", limit=300, detail=True, set=small)
ssdlab.report_html(result, {str(tmp_path / "report.html")!r})
try:
    ssdlab.save_figures(result, {str(tmp_path / "figures")!r})
except ssdlab.InputError as error:
    print(error)
sys.argv = ["ssdlab", "run", "--figures", {str(tmp_path / "figures")!r}]
main()
"""
    done = ran("-c", program)
    (line,) = done.stdout.splitlines()
    few = "addresses are limited to 3 GiB, and the renderer reserves 70 GiB of them"
    assert re.match(rf"figure \S+: the renderer ended by SIG\S+: Fatal .*; {few}", line)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"--figures: {few}: raise the limit (ulimit -v unlimited)")
    assert done.returncode == 2
    assert sorted(each.name for each in tmp_path.iterdir()) == ["report.html"]


@pytest.mark.parametrize("flags", [("-I",), ("-E",), ()])
def test_it_draws_from_any_program(tmp_path: Path, flags: tuple[str, ...]) -> None:
    # A program without a guard: a process that ran it again would draw without end.
    script = tmp_path / "script.py"
    script.write_text(
        "import pathlib, sys\n"
        "from ssdlab.render.process import Job, run_jobs\n"
        f"spec = {{**{SPEC!r}, 'encoding': {{}}}}\n"
        f"request = {{'spec': spec, 'endings': ['svg'], 'version': {drawing.LITE!r}}}\n"
        "print(run_jobs([Job('figure', request)])[0]['svg'][:4])\n"
    )
    done = ran(*flags, str(script))
    assert (done.stdout, done.stderr) == ("b'<svg'\n", "")


@pytest.mark.usefixtures("fake")
def test_files_are_all_there_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(figure: Figure) -> str:
        return "os.abort()" if figure.name == "blame-read" else "0"

    monkeypatch.setattr(drawing, "paper_spec", program)
    with pytest.raises(InputError, match=r"\Afigure blame-read: the renderer ended by SIGABRT"):
        ssdlab.save_figures(example_results.one(), tmp_path / "figures")
    assert list(tmp_path.glob("figures*")) == []
    assert list(tmp_path.glob(".*")) == []


def test_too_few_descriptors_are_reported_before_a_run_and_when_drawing(tmp_path: Path) -> None:
    line = "open files are limited to 16, and the renderer takes 24: raise the limit"
    command = f"ulimit -n 16; exec {COMMAND[0]} run --limit 50 --json j --figures f"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, b"", [])
    assert done.stderr.startswith(f"--figures: {line}".encode())
    draw = "from ssdlab.render.process import Job, run_jobs; run_jobs([Job('figure one', "
    draw += f"{{'spec': {SPEC}, 'endings': ['svg'], 'version': '{drawing.LITE}'}})])"
    command = f'ulimit -n 16; exec {sys.executable} -c "{draw}"'
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    message = f"InputError: figure one: cannot be drawn: {line}"
    assert message in done.stderr.decode()
