"""Every file that names the version or the date of a release names the same."""

import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from datetime import date

import pytest
import yaml
from command import ROOT

Read = Callable[[str], str]
RELEASE = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (\S+)$", re.MULTILINE)
PAGES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def disagreements(read: Read) -> list[str]:
    """Return the files that do not name the version of Cargo.toml, or not the changelog's date."""
    version = tomllib.loads(read("Cargo.toml"))["workspace"]["package"]["version"]
    return [*of_version(read, version), *of_release(read, version)]


def of_version(read: Read, version: str) -> Iterator[str]:
    """Yield what names another version."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    if "version" in project or "version" not in project["dynamic"]:
        yield "pyproject.toml: maturin takes the version from Cargo.toml"
    if tomllib.loads(read("reproduction/pyproject.toml"))["project"]["version"] != version:
        yield "reproduction/pyproject.toml: version"
    for crate in sorted(ROOT.glob("crates/*/Cargo.toml")):
        name = str(crate.relative_to(ROOT))
        if tomllib.loads(read(name))["package"]["version"] != {"workspace": True}:
            yield f"{name}: version"
    for package in tomllib.loads(read("Cargo.lock"))["package"]:
        if package["name"].startswith("ssdlab-") and package["version"] != version:
            yield f"Cargo.lock: {package['name']}"
    if yaml.safe_load(read("CITATION.cff"))["version"] != version:
        yield "CITATION.cff: version"
    if re.findall(r"git checkout v(.*)", read("ARTIFACT.md")) != [version]:
        yield "ARTIFACT.md: tag"


def of_release(read: Read, version: str) -> Iterator[str]:
    """Yield what contradicts the changelog: its newest version, its date, and versions on pages."""
    changes = read("CHANGELOG.md")
    releases = dict(RELEASE.findall(changes))
    heads = re.findall(r"^## (.*)$", changes, re.MULTILINE)
    if len(heads) != len(releases) + (heads[0] == "Unreleased"):
        yield "CHANGELOG.md: a heading is neither Unreleased nor [version] - date"
    if not all(map(is_date, releases.values())):
        yield "CHANGELOG.md: date"
    if heads[0] == "Unreleased":
        coming = r"^The (?:first|next) release will be (.*)\.$"
        announced = re.findall(coming, changes, re.MULTILINE)
        if announced != [version] or version in releases:
            yield "CHANGELOG.md: version of the release to come"
    elif next(iter(releases), None) != version:
        yield "CHANGELOG.md: newest version"
    # Without a release there is no date to cite.
    day = releases.get(version)
    cited = yaml.load(read("CITATION.cff"), yaml.BaseLoader).get("date-released")
    if cited != day:
        yield "CITATION.cff: date"
    for page in PAGES:
        if not set(re.findall(r"\bssdlab (\d+\.\d+\.\d+)\b", read(page))) <= {*releases, version}:
            yield f"{page}: a version that the changelog does not have"


def test_all_files_agree_on_version_and_date() -> None:
    assert disagreements(read) == []


def test_a_tag_has_its_place_in_the_changelog() -> None:
    command = ["git", "-C", str(ROOT), "tag", "--list", "v*"]
    # A source distribution has no tags.
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert {tag.removeprefix("v") for tag in done.stdout.split()} <= set(
        dict(RELEASE.findall(read("CHANGELOG.md")))
    )


def unreleased(name: str) -> str:
    """Return the text of a file as it is before the release of its version."""
    text = read(name)
    if name == "CHANGELOG.md":
        text = re.sub(r"^## \[0\.1\.0\] - .*\n", HEAD, text, count=1, flags=re.MULTILINE)
    if name == "CITATION.cff":
        text = re.sub(r"^date-released: .*\n", "", text, flags=re.MULTILINE)
    return text


HEAD, RELEASED = "## Unreleased\n\nThe first release will be 0.1.0.\n", "## [0.1.0] - 2026-12-01\n"
CITED = "version: 0.1.0\ndate-released: 2026-12-01\n"
OF_RELEASE = [
    ("CHANGELOG.md", HEAD, RELEASED),
    ("CITATION.cff", "version: 0.1.0\n", CITED),
]
"""What a release changes."""


def changed(*edits: tuple[str, str, str]) -> Read:
    """Return a reader of the files before the release, with edits: file, old text, new text."""

    def edited(name: str) -> str:
        text = unreleased(name)
        for file, old, new in edits:
            if file == name:
                assert old in text, (name, old)
                text = text.replace(old, new, 1)
        return text

    return edited


@pytest.mark.parametrize(
    ("file", "old", "new", "found"),
    [
        ("pyproject.toml", 'dynamic = ["version"]', 'version = "0.1.0"', "pyproject.toml"),
        (
            "Cargo.lock",
            'ssdlab-core"\nversion = "0.1',
            'ssdlab-core"\nversion = "0.2',
            "Cargo.lock",
        ),
        ("CITATION.cff", "version: 0.1.0", "version: 0.1.1", "CITATION.cff: version"),
        ("CITATION.cff", *OF_RELEASE[1][1:], "CITATION.cff: date"),
        ("ARTIFACT.md", "checkout v0.1.0", "checkout v0.1", "ARTIFACT.md: tag"),
        ("CHANGELOG.md", "will be 0.1.0", "will be 0.2.0", "CHANGELOG.md: version"),
        ("CHANGELOG.md", HEAD, "## 0.1.0\n", "CHANGELOG.md: a heading"),
        ("docs/concepts/ldpc.md", "ssdlab 0.1.0", "ssdlab 0.0.9", "docs/concepts/ldpc.md"),
    ],
)
def test_a_file_that_disagrees_is_found(file: str, old: str, new: str, found: str) -> None:
    assert any(one.startswith(found) for one in disagreements(changed((file, old, new))))


def test_before_a_release_the_files_agree_too() -> None:
    assert "## Unreleased" in unreleased("CHANGELOG.md")
    assert disagreements(unreleased) == []


def test_a_release_changes_the_date_everywhere() -> None:
    assert disagreements(changed(*OF_RELEASE)) == []
    for left_out in OF_RELEASE:
        assert disagreements(changed(*(one for one in OF_RELEASE if one != left_out)))
    later = ("CITATION.cff", "2026-12-01", "2026-12-02")
    assert disagreements(changed(*OF_RELEASE, later)) == ["CITATION.cff: date"]
    wrong = ("CHANGELOG.md", "2026-12-01", "2026-13-01")
    assert "CHANGELOG.md: date" in disagreements(changed(*OF_RELEASE, wrong))
