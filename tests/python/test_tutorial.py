"""The tutorial runs, and shows what it says."""

import ast
import json
from typing import Any

import pytest
from command import ROOT

NOTEBOOK = json.loads((ROOT / "docs" / "start" / "tutorial.ipynb").read_text(encoding="utf-8"))


def value_of(code: str, names: dict[str, Any]) -> Any:
    """Runs a cell; the value of its last expression, if it ends in one."""
    cell = ast.parse(code)
    last = cell.body.pop() if isinstance(cell.body[-1], ast.Expr) else None
    exec(compile(cell, "tutorial", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "tutorial", "eval"), names)


@pytest.mark.parametrize("folder", [".", "docs/start"])
def test_every_cell_runs_and_shows_what_it_shows(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / folder)
    names: dict[str, Any] = {}
    compared = 0
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] != "code":
            continue
        value = value_of("".join(cell["source"]), names)
        outputs = [output for output in cell["outputs"] if "data" in output]
        printed = ["".join(output["data"]["text/plain"]) for output in outputs]
        # A table says its shape first, and is written alike everywhere.
        if printed and printed[-1].startswith("shape:"):
            assert repr(value) == printed[-1]
            compared += 1
    assert compared == 4
