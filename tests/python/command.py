"""How the tests call the command, and where things are."""

import importlib.util
import json
import sys
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


def load_module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its own module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
