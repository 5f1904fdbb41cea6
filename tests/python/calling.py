"""How the tests call the command, and where things are."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
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
