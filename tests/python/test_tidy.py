"""The structure of the Python sources: what imports what, how long files and functions are."""

import ast
import subprocess
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import ROOT

import ssdlab
from ssdlab import plan
from ssdlab.cli import run

FOLDERS = ("python", "reproduction")
"""Where packages lie; also the folders of their tests and scripts."""
OTHERS = ("tests", "benches", "docs", "examples")
LINES_MOST = 500
FUNCTION_MOST = 70
BYTES_MOST = 1 << 20


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def modules() -> Mapping[str, Path]:
    """Return the modules of the packages by their dotted names."""
    found = {}
    for folder in FOLDERS:
        for path in [*sources(folder), *sorted((ROOT / folder).rglob("*.pyi"))]:
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def base_of(module: str, level: int, known: Mapping[str, object]) -> str:
    """Return the package from which a relative import of this level starts."""
    is_package = any(name.startswith(f"{module}.") for name in known)
    parts = module.split(".")
    return ".".join(parts[: len(parts) - level + is_package])


def imported(node: ast.AST, known: Mapping[str, object], own: str) -> Iterator[str]:
    """Yield the modules that the module ``own`` imports, in functions too, but for types alone."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                for other in child.orelse:
                    yield from imported(ast.Module([other], []), known, own)
                continue
            case ast.Import():
                yield from (name.name for name in child.names)
            case ast.ImportFrom(module=module, level=level):
                above = base_of(own, level, known) if level else ""
                base = ".".join(part for part in (above, module) if part)
                for name in child.names:
                    full = f"{base}.{name.name}"
                    yield full if full in known else base
        yield from imported(child, known, own)


def packages_of(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[:end]) for end in range(1, len(parts))}


def graph(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """Return what each module imports: who imports a module runs the packages above it, too."""
    found = {}
    for module, text in texts.items():
        named = {name for name in imported(ast.parse(text), texts, module) if name in texts}
        above = {package for name in named for package in packages_of(name) if package in texts}
        found[module] = (named | above - packages_of(module)) - {module}
    return found


def circle(texts: Mapping[str, str]) -> list[str]:
    """Return the modules of a circle of imports; none if there is none."""
    try:
        TopologicalSorter(graph(texts)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle_of_imports() -> None:
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules().items()}
    assert {"ssdlab", "ssdlab._native", "ssdlab.cli.main", "ssdlab_reproduction.ledger"} < set(
        texts
    )
    assert circle(texts) == []


@pytest.mark.parametrize("back", ["from . import a", "from .a import x", "from ..p import a"])
def test_a_circle_of_relative_imports_is_found(back: str) -> None:
    assert circle({"p": "", "p.a": "from p import b", "p.b": ""}) == []
    assert set(circle({"p": "", "p.a": "from p import b", "p.b": back})) == {"p.a", "p.b"}
    in_package = {"p": "from . import a", "p.a": "", "q": "from p import a"}
    assert circle(in_package) == []
    assert circle({**in_package, "p.a": "from . import b", "p.b": "from . import a"}) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("import b", "import a"),
        ("from b import x", "def f():\n    from a import y"),
        ("import b.c", "import a"),
        ("if True:\n    import b", "class X:\n    def f(self):\n        import a"),
    ],
)
def test_a_circle_is_found(one: str, other: str) -> None:
    assert set(circle({"a": one, "b": other, "b.c": ""})) == {"a", "b"}


def test_imports_for_types_alone_make_no_circle() -> None:
    types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a"
    assert circle({"a": "import b", "b": types}) == []
    assert circle({"a": "import b", "b": f"{types}\nelse:\n    import a"}) != []


def test_the_library_does_not_know_the_ledger() -> None:
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules().items()}
    knowing = {
        module
        for module, names in graph(texts).items()
        if module.partition(".")[0] == "ssdlab"
        and any(name.partition(".")[0] == "ssdlab_reproduction" for name in names)
    }
    assert knowing == {"ssdlab.cli.reproduce"}


def test_results_do_not_know_what_renders_them() -> None:
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules().items()}
    known = graph(texts)
    for module in ("ssdlab.result", "ssdlab.physics", "ssdlab.ldpc", "ssdlab.calibration.result"):
        below, left = set[str](), [module]
        while left:
            below.add(one := left.pop())
            left += known[one] - below
        rendering = {name for name in below if name.startswith("ssdlab.render.")}
        assert rendering <= {"ssdlab.render.formatting"}, module


@pytest.mark.parametrize("path", sources(*FOLDERS, *OTHERS), ids=lambda path: path.stem)
def test_no_file_and_no_function_is_too_long(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LINES_MOST, path
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < FUNCTION_MOST, f"{path}: {node.name}"


def test_no_file_of_the_repository_is_large() -> None:
    """Outputs of builds and traces do not belong into a repository."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    sizes = {path: path.stat().st_size for path in paths if path.exists()}
    assert not {path: size for path, size in sizes.items() if size > BYTES_MOST}
    # There is a margin, so that the limit can fail.
    assert max(sizes.values()) > BYTES_MOST / 4


def test_the_options_of_a_run_are_the_fields_of_a_plan() -> None:
    fields = typing.get_type_hints(ssdlab.Plan)
    assert typing.get_type_hints(ssdlab.RunOptions) == fields
    assert not ssdlab.RunOptions.__required_keys__


def test_every_option_of_a_run_says_what_it_is() -> None:
    tree = ast.parse(Path(plan.__file__).read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    explained = set()
    for name in ("DriveOptions", "RunOptions"):
        body = classes[name].body
        for option, doc in pairwise(body):
            match option, doc:
                case ast.AnnAssign(target=ast.Name(key)), ast.Expr(ast.Constant(str(text))):
                    assert text.rstrip().endswith("."), key
                    explained.add(key)
    assert explained == set(typing.get_type_hints(ssdlab.RunOptions))


def test_every_option_of_a_run_reaches_the_drive() -> None:
    options: dict[str, Any] = dict.fromkeys(typing.get_type_hints(ssdlab.Plan), "x")
    options |= {"config": ["x"], "set": ["x=1"], "mix": ["x=y.csv"], "vary": {"x": "1"}}
    options |= dict.fromkeys(("seed", "limit", "replays", "time_scale", "closed"), 2)
    options |= dict.fromkeys(("wrap", "paranoid", "detail"), True)
    assert set(ssdlab.Plan(**options).to_wire()) == set(options) - {"vary"}


def test_every_option_of_a_run_is_one_of_the_command() -> None:
    names = {param.name for param in run.run.params}
    # A report asks for the detail, and a sweep makes the labels.
    assert set(typing.get_type_hints(ssdlab.Plan)) - names == {"detail", "label"}
