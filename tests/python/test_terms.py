"""Names are the field's, as docs/concepts/glossary.md lists them; former names are gone."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command import ROOT
from prose import as_markdown

from ssdlab import _native
from ssdlab.cli import main

BANNED = frozenset(
    [
        "tend",
        "tender",
        "tenders",
        "tended",
        "belief",
        "beliefs",
        "believe",
        "believes",
        "wish",
        "wishes",
        "wished",
        "hear",
        "obey",
        "troubles",
        "manner",
        "manners",
        "leg",
        "legs",
        "grade",
        "grades",
        "graded",
        "hol",
        "house",
        "rung",
        "rungs",
        "mind",
        "minds",
        "upkeep",
    ]
)
"""Parts of names that stood for a scheduler, a policy, metadata, a placement hint and so on."""
VAGUE = frozenset(
    [
        "evicts",
        "preempts",
        "pick",
        "picks",
        "told",
        "given",
        "asked",
        "said",
        "heard",
        "hears",
        "doubt",
        "doubts",
        "reins",
        "reined",
        "preload",
        "preloads",
        "preloaded",
        "rehearsal",
        "rehearse",
        "rehearsed",
        "foresight",
        "foresee",
        "foresees",
        "survey",
        "surveys",
        "lately",
        "dealt",
        "laid",
        "laying",
        "nobody",
        "obeys",
        "grader",
        "door",
    ]
)
"""Parts of names that say how a thing came, not what it is. Texts may use them."""
RUST = frozenset(
    [
        "turn",
        "turns",
        "apart",
        "aside",
        "books",
        "lived",
        "kept",
        "sight",
        "sights",
        "outline",
        "outlines",
        "deal",
        "deals",
        "ever",
        "watch",
        "lane",
        "answer",
        "answers",
        "looked",
        "gather",
        "codes",
        "stuck",
    ]
)
"""Further such parts, of names in Rust."""
OLD_KEYS = frozenset(["order", "place", "program", "read", "preempt", "evict", "tend", "belief"])
"""What the tables of a config used to be called."""
CRATES = sorted(path.name for path in (ROOT / "crates").iterdir())
PYTHON = ("python/**/*.py", "reproduction/**/*.py", "tests/**/*.py", "docs/**/*.py", "benches/*.py")
OLD_OPTION = re.compile(r"(?<![\w-])--fit(?![\w-])")


def parts(name: str) -> set[str]:
    """Return the words of a name in snake or camel case."""
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_"))


def rust_names(text: str) -> Iterator[str]:
    """Return the identifiers of a Rust source, without comments and strings."""
    text = re.sub(r"//.*", "", text)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text, flags=re.DOTALL)
    yield from re.findall(r"[A-Za-z_][A-Za-z_0-9]*", text)


def python_names(text: str) -> Iterator[str]:
    """Return the names that a Python source defines."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case _:
                pass


def files(*patterns: str) -> list[Path]:
    found = [path for pattern in patterns for path in ROOT.glob(pattern)]
    return [path for path in found if "target" not in path.parts and path.stem != "renamed"]


def keys(schema: object, above: str = "") -> Iterator[str]:
    """Return the names of all properties and choices of a JSON Schema."""
    if isinstance(schema, dict):
        for name, below in schema.get("properties", {}).items():
            yield name
            yield from keys(below, name)
        for word in ("const", "enum"):
            values = schema.get(word, ())
            yield from (one for one in ([values] if word == "const" else values) if one)
        for name, below in schema.items():
            if name not in {"properties", "const", "enum", "default", "description"}:
                yield from keys(below, above)
    elif isinstance(schema, list):
        for one in schema:
            yield from keys(one, above)


LIMIT = re.compile(
    r"(?:\w+_)?(?:MOST|LEAST)(?:_\w+)?|\w+_(?:MAX|MIN)|(?:most|least)_[a-z]+|[a-z]+_(?:most|least)"
)
"""A limit that is not called MAX_ or MIN_, or max_ or min_, and what it limits."""
SUPERLATIVES = frozenset(["at_most", "at_least", "least_loaded"])
"""Names that LIMIT matches and that are no limits."""
OF_PHYSICS = frozenset(["base_least", "base_most"])
"""Keys in the output of `ssdlab physics`."""


def private(name: str) -> bool:
    """Return whether a name of a Rust source is private vocabulary."""
    is_limit = LIMIT.fullmatch(name) and name not in SUPERLATIVES | OF_PHYSICS
    return bool(parts(name) & (BANNED | VAGUE | RUST) or is_limit)


@pytest.mark.parametrize("crate", CRATES)
def test_no_rust_name_is_private_vocabulary(crate: str) -> None:
    schema = json.loads(_native.result_schema())
    # Results keep their keys, so their fields and types keep those names, too.
    results = {*keys(schema), *schema["$defs"]}
    paths = files(f"crates/{crate}/**/*.rs")
    assert paths
    for path in paths:
        names = set(rust_names(path.read_text()))
        assert not {name for name in names if parts(name) & (BANNED | VAGUE)}, path
        assert not {name for name in names if private(name)} - results, path
        assert not private(path.stem), path


COLUMN = re.compile(r'(?:Column::(?:new|counted)|bits\.push)\(\(?\s*"(\w+)"')
"""The name of a column or of another structure of which results count the memory."""


def test_no_column_is_private_vocabulary() -> None:
    texts = [path.read_text() for path in files("crates/*/src/**/*.rs")]
    columns = {name for text in texts for name in COLUMN.findall(text)}
    assert {"block_groups", "plane_counters", "suspended_reads"} <= columns
    assert not {name for name in columns if private(name)}


def test_no_python_name_is_private_vocabulary() -> None:
    results = set(keys(json.loads(_native.result_schema())))
    for path in files(*PYTHON):
        found = {name for name in python_names(path.read_text()) if parts(name) & (BANNED | VAGUE)}
        # Classes of results have fields of the names that results have.
        assert not (found - results if path.parent.name == "result" else found), path
        assert not parts(path.stem) & (BANNED | VAGUE), path


def test_a_private_name_is_found_wherever_it_stands() -> None:
    rust = (
        "fn set_rung(told: u8) -> BlockApart { ROWS_MOST + PAGE_MAX + of.most_rows } // was heard\n"
        'const A: &str = "said \\\n given"; const MAX_B: u8 = u8::MAX;'
    )
    assert {name for name in rust_names(rust) if private(name)} == {
        "set_rung",
        "told",
        "BlockApart",
        "ROWS_MOST",
        "PAGE_MAX",
        "most_rows",
    }
    python = "def test_it_is_told(given, *asked): self.said = Rungs = 1"
    found = {name for name in python_names(python) if parts(name) & (BANNED | VAGUE)}
    assert found == {"test_it_is_told", "given", "asked", "said", "Rungs"}


def test_an_old_option_is_in_no_text() -> None:
    for path in files("README.md", "docs/**/*.md", "python/**/*.py", "crates/**/*.rs"):
        assert not OLD_OPTION.search(path.read_text(encoding="utf-8")), path


def descriptions(schema: object) -> Iterator[str]:
    """Return what a JSON Schema says of each property and choice."""
    if isinstance(schema, dict):
        if isinstance(text := schema.get("description"), str):
            yield text
        for below in schema.values():
            yield from descriptions(below)
    elif isinstance(schema, list):
        for one in schema:
            yield from descriptions(one)


PRIVATE = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(BANNED | {'hears', 'obeys'}))})(?![\w-])", re.IGNORECASE
)
"""The same words in texts. A glossary may say what a paper calls something."""


def test_no_text_has_private_vocabulary() -> None:
    texts = files("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/**/*.md")
    texts += files("docs/**/*.ipynb")
    texts += files("crates/**/README.md")
    assert len(texts) > 20
    for path in texts:
        if path.name != "glossary.md":
            text = as_markdown(path.name, path.read_text(encoding="utf-8"))
            assert not PRIVATE.findall(text), path
    for path in files("crates/*/src/**/*.rs"):
        comments = re.findall(r"//.*", path.read_text(encoding="utf-8"))
        assert not [line for line in comments if PRIVATE.search(line)], path
    for schema in (_native.schema(), _native.result_schema()):
        found = list(descriptions(json.loads(schema)))
        assert len(found) > 100
        assert not [text for text in found if PRIVATE.search(text)]


def test_no_page_is_named_by_private_vocabulary() -> None:
    pages = files("*.md", "docs/**/*.md", "crates/**/README.md")
    assert len(pages) > 20
    assert not [path for path in pages if parts(path.stem.replace("-", "_")) & (BANNED | VAGUE)]
    # The site has every page once, and those of the root in its own place.
    listed = re.findall(r"^[\w-]+/[\w-]+$", (ROOT / "docs/index.md").read_text(), re.MULTILINE)
    written = {
        str(path.relative_to(ROOT / "docs").with_suffix("")) for path in files("docs/*/*.md")
    }
    assert written <= set(listed)
    of_root = re.findall(
        r'^    "([\w/-]+)": "\w+\.md",$', (ROOT / "docs/conf.py").read_text(), re.MULTILINE
    )
    assert len(of_root) == 3
    assert set(of_root) <= written


def test_what_a_key_says_of_its_choices_is_what_it_accepts() -> None:
    schema = json.loads(_native.schema())
    kinds = {
        f"#/$defs/{name}": [one["const"] for one in kind["oneOf"]]
        for name, kind in schema["$defs"].items()
        if all("const" in one for one in kind.get("oneOf", [{}]))
    }
    found = 0
    for text, reference in references(schema):
        if reference in kinds:
            found += 1
            words = set(re.findall(r'Default: `"?(\w+)"?`', text))
            for pair in re.findall(r"`(\w+)`[^.`]* or `(\w+)`", text):
                words |= set(pair)
            assert words <= set(kinds[reference]), text
    assert found > 10


def references(schema: object) -> Iterator[tuple[str, str]]:
    """Return what is said of each property whose kind is another's, with that kind."""
    if isinstance(schema, dict):
        inner = [schema, *schema.get("anyOf", ())]
        kinds = [one["$ref"] for one in inner if isinstance(one, dict) and "$ref" in one]
        if kinds and isinstance(text := schema.get("description"), str):
            yield text, kinds[0]
        for below in schema.values():
            yield from references(below)
    elif isinstance(schema, list):
        for one in schema:
            yield from references(one)


def test_no_key_choice_or_result_is_private_vocabulary() -> None:
    for schema in (_native.schema(), _native.result_schema()):
        names = [name for name in keys(json.loads(schema)) if isinstance(name, str)]
        assert len(names) > 100
        assert not [name for name in names if parts(name) & BANNED]
    top = set(json.loads(_native.schema())["properties"])
    assert {"scheduler", "metadata"} < top
    assert not top & OLD_KEYS


def commands(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for one in command.commands.values():
            yield from commands(one)


def test_no_help_text_is_private_vocabulary() -> None:
    for command in commands(main.ssdlab):
        text = command.get_help(click.Context(command, info_name=command.name))
        assert not set(re.findall(r"[a-z_]+", text)) & BANNED, command.name


def strings(text: str) -> Iterator[str]:
    """Return the strings of a Python source that are no docstrings."""
    tree = ast.parse(text)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_no_text_that_is_shown_is_private_vocabulary() -> None:
    for path in files("python/**/*.py", "reproduction/ssdlab_reproduction/**/*.py"):
        words = {word for text in strings(path.read_text()) for word in re.findall(r"[a-z]+", text)}
        assert not words & BANNED, path


def test_the_glossary_has_every_table_of_a_config() -> None:
    page = (ROOT / "docs" / "concepts" / "glossary.md").read_text(encoding="utf-8")
    for table in json.loads(_native.schema())["properties"]:
        assert f"`{table}`" in page, table
