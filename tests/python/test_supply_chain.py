"""What ssdlab is made of: sources, licenses, lock files. `make audit` looks further."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
CARGO_LOCKS = [
    ROOT / "Cargo.lock",
    ROOT / "fuzz" / "Cargo.lock",
    ROOT / "tests" / "mutants" / "plant" / "Cargo.lock",
]
DENY = tomllib.loads((ROOT / "deny.toml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def packages(lock: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(lock.read_text())["package"]
    return found


@pytest.mark.parametrize("lock", CARGO_LOCKS, ids=lambda lock: lock.parent.name)
def test_every_crate_is_from_crates_io_or_from_here(lock: Path) -> None:
    [registry] = DENY["sources"]["allow-registry"]
    here = {path.parent.name for path in ROOT.rglob("Cargo.toml") if "target" not in path.parts}
    here.add("ssdlab-fuzz")
    for crate in packages(lock):
        if "source" in crate:
            assert crate["source"] == f"registry+{registry}", crate["name"]
            assert re.fullmatch("[0-9a-f]{64}", crate["checksum"]), crate["name"]
        else:
            assert crate["name"] in here


def test_lock_files_have_the_dependencies_that_the_crates_name() -> None:
    # cargo tells of its own workspace: the fuzz targets' is another, which nothing else builds.
    fuzz = {crate["name"]: crate for crate in packages(ROOT / "fuzz" / "Cargo.lock")}
    assert "ssdlab-base" in fuzz
    for manifest in [ROOT / "fuzz" / "Cargo.toml", *ROOT.glob("crates/*/Cargo.toml")]:
        crate = tomllib.loads(manifest.read_text())
        if (name := crate["package"]["name"]) in fuzz:
            locked = {line.split()[0] for line in fuzz[name].get("dependencies", ())}
            tables = [crate, *crate.get("target", {}).values()]
            assert locked == {one for table in tables for one in table.get("dependencies", ())}


def test_every_crate_has_a_license_that_deny_toml_allows() -> None:
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform"]
    host = re.search("host: (.*)", output("rustc", "-vV"))
    assert host is not None
    crates = json.loads(output(*command, host[1]))["packages"]
    assert len(crates) > 50
    refused = {c["name"]: c["license"] for c in crates if not is_allowed(c["license"])}
    assert not refused


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def is_allowed(expression: str | None) -> bool:
    """Tell whether deny.toml allows one of the alternatives of an SPDX expression."""
    allowed = set(DENY["licenses"]["allow"])
    # A slash is how crates wrote OR before there were expressions.
    spaced = re.sub(r"\s*/\s*", " OR ", expression or "").replace(" WITH ", "+WITH+")
    words = re.findall(r"\(|\)|[^\s()]+", spaced)
    operators = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    terms = [
        operators.get(word) or str(word.replace("+WITH+", " WITH ") in allowed) for word in words
    ]
    return bool(terms) and bool(eval(" ".join(terms), {"__builtins__": {}}))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT OR Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("MIT/GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-2.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
        (None, False),
    ],
)
def test_an_expression_passes_by_one_of_its_alternatives(
    expression: str | None, *, expected: bool
) -> None:
    assert is_allowed(expression) == expected


def locked(name: str) -> Iterator[tuple[Requirement, list[str]]]:
    """Return what a lock file has: requirements, each with its hashes."""
    text = (ROOT / "requirements" / name).read_text().replace("\\\n", "")
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            requirement, *hashes = line.split(" --hash=")
            yield Requirement(requirement.strip()), [one.strip() for one in hashes]


def requirements(groups: Sequence[str]) -> Iterator[Requirement]:
    """Return what pyproject.toml asks for: to build, to run, for the extras and these groups."""
    lists = [
        PROJECT["build-system"]["requires"],
        PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"].values(),
        *(PROJECT["dependency-groups"][group] for group in groups),
    ]
    return (Requirement(line) for one in lists for line in one)


@pytest.mark.parametrize(
    ("name", "groups"),
    [("dev.lock", ["dev"]), ("minimal.lock", ["dev"]), ("docs.lock", ["dev", "docs"])],
)
def test_a_lock_covers_what_pyproject_asks_for(name: str, groups: list[str]) -> None:
    found: dict[str, list[str]] = {}
    for requirement, hashes in locked(name):
        [pinned] = requirement.specifier
        assert pinned.operator == "==", requirement
        assert hashes, requirement
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in hashes), requirement
        found.setdefault(canonicalize_name(requirement.name), []).append(pinned.version)
    for requirement in requirements(groups):
        versions = found.get(canonicalize_name(requirement.name))
        assert versions, f"{requirement}: make lock"
        assert all(map(requirement.specifier.contains, versions)), f"{requirement}: make lock"


def test_the_minimal_lock_has_the_lower_bounds() -> None:
    found = {one.name: next(iter(one.specifier)).version for one, _ in locked("minimal.lock")}
    lists = [
        PROJECT["build-system"]["requires"],
        PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"].values(),
    ]
    for requirement in (Requirement(line) for one in lists for line in one):
        [bound] = [one.version for one in requirement.specifier if one.operator == ">="]
        # ">=1.9" is met first by 1.9.0.
        padded = [bound + ".0" * count for count in range(3)]
        assert found[canonicalize_name(requirement.name)] in padded, f"{requirement}: make lock"
