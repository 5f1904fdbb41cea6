"""How the tests call the command, and where things are."""

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "examples" / "office.csv.xz"
COMMAND = [str(Path(sys.executable).with_name("ssdlab"))]


@dataclass
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Ssdlab = Callable[..., Done]


def ledger_under_way(cwd: Path) -> subprocess.Popen[str]:
    """Begin a ledger in ``out``; it is there once its processes are, and have made something."""
    process = subprocess.Popen(
        [*COMMAND, "reproduce", "dlv", "--quick", "--jobs", "2", "--out", "out"],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and not list(cwd.glob("out/runs/*.json")):
        time.sleep(0.05)
    return process


def load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its own module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
