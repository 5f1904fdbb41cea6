"""``ssdlab doctor``: the versions, limits and optional parts of this installation."""

from __future__ import annotations

import platform
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import click

from ssdlab import _native
from ssdlab.arrow import INSTALL
from ssdlab.cpu import available_cores
from ssdlab.errors import one_line

_PARTS = (
    ("altair", "reports and figures", None),
    ("vl-convert-python", "figures as PDF, SVG and PNG", None),
    ("numpy", "fit, reproduce, and arrays in place of lists", None),
    ("scipy", "fit", None),
    ("pyarrow", "Comparison.to_arrow()", INSTALL),
)
"""Packages, the use of each, and how to install an optional one."""
_LEDGER = "ssdlab_reproduction"
_BUILDS = {
    "release": "release profile, for speed",
    "dev": "dev profile, with assertions; make install builds for speed",
}


@click.command(name="doctor")
def doctor_command() -> None:
    """Print versions, memory and optional parts."""
    rows = [*_machine(), *_packages()]
    width = max(len(name) for name, _ in rows)
    for name, what in rows:
        click.echo(f"{name:<{width}}  {one_line(what)}")


def _machine() -> Iterator[tuple[str, str]]:
    yield "ssdlab", f"{_native.__version__}, in {Path(_native.__file__).parent}"
    yield "build", _BUILDS[_native.PROFILE]
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    cores = available_cores()
    yield "cores", f"{cores} for this process: a sweep has that many runs at a time"
    left = _native.memory_left()
    memory = f"{_giga(left[0])} are left ({left[1]})" if left else "not reported by the system"
    yield "memory", memory
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    limited = "no limit" if most == resource.RLIM_INFINITY else f"{_giga(most)} (ulimit -v)"
    yield "addresses", limited
    folder = tempfile.gettempdir()
    yield "temporary", f"{folder}, {_giga(shutil.disk_usage(folder).free)} are free"


def _packages() -> Iterator[tuple[str, str]]:
    for name, use, install in _PARTS:
        try:
            found = version(name)
        except PackageNotFoundError:
            found = f"not installed: {install or f'pip install {name}'}"
        yield name, f"{found} ({use})"
    ledger = find_spec(_LEDGER)
    found = "found" if ledger else "not installed: pip install ./reproduction in a checkout"
    yield "reproduction", f"{found} (the papers' claims: ssdlab reproduce)"


def _giga(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
