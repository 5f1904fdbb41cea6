"""What a release is made of fits together: commands, workflows, image, citation."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from command import ROOT

from ssdlab.cli import main


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def toml(name: str) -> dict[str, Any]:
    return tomllib.loads(read(name))


def load_yaml(name: str) -> dict[str, Any]:
    """Return what a YAML file holds: dicts, lists and strings, such as `on` and `3.11`."""
    found: dict[str, Any] = yaml.load(read(name), yaml.BaseLoader)
    assert isinstance(found, dict)
    return found


CI, WHEELS = ".github/workflows/ci.yml", ".github/workflows/wheels.yml"
WORKFLOWS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(".github/workflows/*.yml"))
FORMS = [f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("bug", "feature", "claim")]
YAML = [
    *WORKFLOWS,
    *FORMS,
    ".github/ISSUE_TEMPLATE/config.yml",
    ".pre-commit-config.yaml",
    "CITATION.cff",
]
PAGES = ["ARTIFACT.md", "SECURITY.md", ".github/PULL_REQUEST_TEMPLATE.md"]
COMMANDS = [*PAGES, *YAML, "Dockerfile", ".ci/run"]
"""The files that name commands."""
MATURIN = toml("pyproject.toml")["tool"]["maturin"]
CITATION: dict[str, Any] = load_yaml("CITATION.cff")


# --- Commands ---


def code(name: str) -> Iterator[str]:
    """Return the lines of a file that are commands, and what stands in backticks."""
    text = read(name)
    if name in YAML:
        yield from scripts(load_yaml(name))
    elif name.endswith(".md"):
        for block in re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            yield from block.splitlines()
        text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    elif name == "Dockerfile":
        yield from (" ".join(words) for words in instructions() if words[0] == "RUN")
    else:
        yield from text.splitlines()
    yield from re.findall(r"`([^`\n]+)`", text)


def scripts(value: Any, key: str = "") -> Iterator[str]:
    """Return the lines of commands in what a YAML file holds."""
    if isinstance(value, dict):
        for name, below in value.items():
            yield from scripts(below, name)
    elif isinstance(value, list):
        for below in value:
            yield from scripts(below)
    elif key in {"run", "entry", "placeholder"}:
        yield from value.splitlines()


def uses(name: str, program: str) -> Iterator[list[str]]:
    """Return the words behind a program's name, up to the end of each command."""
    for line in code(name):
        before_comment = line.partition(" #")[0]
        for found in re.findall(rf"(?:^|[\s/]){program} +([a-z-][^|&]*)", before_comment):
            yield shlex.split(found.rstrip("\\"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_make_target_that_is_named_exists(name: str) -> None:
    targets = re.findall(r"^([\w-]+):(?!=)", read("Makefile"), re.MULTILINE)
    for words in uses(name, "make"):
        assert words[0] in targets, f"make {words[0]}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_is_named_exists_with_its_options(name: str) -> None:
    for words in uses(name, "ssdlab"):
        check_command(words)


def check_command(words: list[str]) -> None:
    """Check a command line of ssdlab against the command's own parameters."""
    command: click.Command = main.ssdlab
    if words and not words[0].startswith("-") and isinstance(command, click.Group):
        assert words[0] in command.commands, words
        command = command.commands[words[0]]
    known = {name for one in command.params for name in one.opts} | {"--help"}
    assert {word for word in words if word.startswith("--")} <= known, words


def test_a_command_that_does_not_exist_is_noticed() -> None:
    check_command(["reproduce", "hire", "--quick"])
    for words in (["reproduced"], ["reproduce", "--slow"]):
        with pytest.raises(AssertionError):
            check_command(words)
    assert ["reproduce", "--quick"] in [words[:2] for words in uses("ARTIFACT.md", "ssdlab")]
    assert ["reproduce"] in uses("ARTIFACT.md", "make")


@pytest.mark.parametrize("name", PAGES)
def test_every_path_that_a_page_names_exists(name: str) -> None:
    for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)+/?)`", read(name)):
        if path.split("/")[0] not in {"build", "out", ".venv"}:
            assert (ROOT / path).exists(), path


# --- YAML ---


@pytest.mark.parametrize("name", YAML)
def test_a_yaml_file_can_be_read(name: str) -> None:
    assert load_yaml(name)


# --- Workflows ---


def jobs(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = load_yaml(name)["jobs"]
    return found


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_action_has_a_major_version(name: str) -> None:
    found = [step["uses"] for job in jobs(name).values() for step in job["steps"] if "uses" in step]
    assert found
    for action in found:
        assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+(\.\d+)*|release/v\d+|[0-9a-f]{40})", action)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_job_may_read_the_sources_at_most_and_has_an_end(name: str) -> None:
    default = load_yaml(name)["permissions"]
    for job, about in jobs(name).items():
        permissions = about.get("permissions", default)
        rights = [] if permissions == {} else list(permissions.items())
        assert rights in ([], [("contents", "read")]) or job == "publish"
        assert int(about["timeout-minutes"]) <= 240


def test_continuous_integration_runs_what_a_contributor_runs() -> None:
    [job] = jobs(CI).values()
    assert [step["run"] for step in job["steps"] if "run" in step][-1] == ".ci/run"


def test_only_what_was_tried_on_every_platform_is_published() -> None:
    found = jobs(WHEELS)
    publish = found["publish"]
    assert list(found)[-1] == "publish"
    assert publish["environment"] == "pypi"
    assert publish["permissions"] == {"id-token": "write"}
    assert "startsWith(github.ref, 'refs/tags/v')" in publish["if"]
    before, open_jobs = set(), [publish["needs"]]
    while open_jobs:
        needs = open_jobs.pop()
        for job in [needs] if isinstance(needs, str) else needs:
            before.add(job)
            open_jobs += [found[job]["needs"]] if "needs" in found[job] else []
    assert before == set(found) - {"publish"}
    built = [one["platform"] for one in found["build"]["strategy"]["matrix"]["include"]]
    tried = found["try-wheel"]["strategy"]["matrix"]
    assert built == tried["platform"] == [one["platform"] for one in tried["include"]]
    assert built == ["linux-x86_64", "linux-aarch64", "macos-x86_64", "macos-arm64"]
    results = len(built) * len(tried["python"]) + 1
    assert f"-eq {results}\n" in found["compare"]["steps"][-1]["run"]


def test_each_distribution_is_installed_and_run() -> None:
    found = jobs(WHEELS)
    for job in ("try-wheel", "try-sdist"):
        script = "".join(step.get("run", "") for step in found[job]["steps"])
        assert "python -m venv bare" in script
        assert "bare/bin/ssdlab doctor" in script
        assert "bare/bin/ssdlab run" in script
        assert not [step for step in found[job]["steps"] if "checkout" in step.get("uses", "")]


# --- Hooks and forms ---


@pytest.mark.parametrize(
    ("subject", "is_refused"),
    [("x" * 72, False), ("x" * 73, True), ("µ" * 72, False), ("µ" * 73, True)],
)
def test_a_subject_has_at_most_72_characters(subject: str, *, is_refused: bool) -> None:
    [repository] = load_yaml(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    [hook] = [one for one in repository["hooks"] if one.get("stages") == ["commit-msg"]]
    # As pygrep searches with --multiline: the file whole, in bytes.
    pattern = re.compile(hook["entry"].encode(), re.MULTILINE | re.DOTALL)
    message = f"{subject}\n\n{'body ' * 30}\n".encode()
    assert (pattern.search(message) is not None) == is_refused


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_fields_with_names_of_their_own(name: str) -> None:
    form = load_yaml(name)
    assert {"name", "description", "body"} <= set(form)
    fields = [one for one in form["body"] if one["type"] != "markdown"]
    assert len({one["id"] for one in fields}) == len(fields)
    assert all(one["attributes"]["label"] for one in fields)


def test_a_report_of_a_bug_says_what_is_needed_to_repeat_it() -> None:
    fields = {one["id"]: one for one in load_yaml(FORMS[0])["body"]}
    for name in ("doctor", "command", "config-hash"):
        assert fields[name]["validations"] == {"required": "true"}
    assert "`provenance.config_hash`" in read("docs/reference/results.md")


# --- Citation ---


def test_the_citation_has_what_its_format_requires() -> None:
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION)
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["authors"] == [{"name": "The ssdlab developers"}]
    assert CITATION["license"] == toml("Cargo.toml")["workspace"]["package"]["license"]
    assert "[CITATION.cff](CITATION.cff)" in read("README.md")
    for reference in CITATION["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)


@pytest.mark.parametrize("system", ["dlv", "pa-ssd", "pv-read", "readguard", "hire", "sepbit"])
def test_the_citation_has_the_paper_of_each_system(system: str) -> None:
    # The page names its paper: first author, title, venue and year.
    page = re.sub(r"\s+", " ", read(f"docs/systems/{system}.md")).replace('",', ',"')
    [paper] = [one for one in CITATION["references"] if f'"{one["title"]},"' in page]
    first = paper["authors"][0]
    source = page.partition(f'"{paper["title"]},"')
    assert f"{first['given-names'][0]}. {first['family-names']} " in source[0][-60:]
    assert f" {paper['year']}." in source[2][:80]
    assert len(CITATION["references"]) == 6


# --- Source distribution ---


def crates_of(name: str) -> set[str]:
    """Return a crate and those of the workspace that it depends on."""
    found, open_crates = set(), [name]
    while open_crates:
        crate = open_crates.pop()
        if crate not in found:
            found.add(crate)
            needs = toml(f"crates/{crate}/Cargo.toml").get("dependencies", {})
            open_crates += [one for one in needs if one.startswith("ssdlab-")]
    return found


def test_the_source_distribution_has_all_that_the_crates_include() -> None:
    # maturin packs the folder of each crate that the binding depends on: nothing beyond.
    crates = crates_of(Path(MATURIN["manifest-path"]).parent.name)
    workspace = toml("Cargo.toml")["workspace"]
    assert crates == {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    included = 0
    for crate in crates:
        if crate in workspace["dependencies"]:
            assert workspace["dependencies"][crate]["path"] == f"crates/{crate}"
        folder = ROOT / "crates" / crate
        for source in folder.glob("src/**/*.rs"):
            text = source.read_text(encoding="utf-8")
            for path in re.findall(r'include(?:_str|_bytes)?!\(\s*"([^"]+)"', text):
                included += 1
                target = (source.parent / path).resolve()
                assert target.is_relative_to(folder), f"{source}: {path}"
                assert target.is_file(), f"{source}: {path}"
            assert not re.search(r'include\w*!\(\s*concat!\(\s*"(?:/|\.\.)', text), source
    assert included > 10


def test_the_source_distribution_has_the_python_sources() -> None:
    project = toml("pyproject.toml")["project"]
    assert (ROOT / project["readme"]).is_file()
    assert all((ROOT / name).is_file() for name in project["license-files"])
    folder = ROOT / MATURIN["python-source"]
    packages = MATURIN["python-packages"]
    assert packages == sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    assert (folder / "ssdlab" / "py.typed").is_file()
    [script] = project["scripts"].values()
    assert script.partition(":")[0] in packages
    for path in folder.rglob("*"):
        name = str(path.relative_to(ROOT))
        is_left_out = any(fnmatch(name, pattern) for pattern in MATURIN["exclude"])
        assert not path.is_symlink(), path
        assert not is_left_out or "__pycache__" in path.parts, path


def test_the_wheel_serves_every_python_that_is_allowed() -> None:
    project = toml("pyproject.toml")["project"]
    binding = toml(MATURIN["manifest-path"])
    package, _, module = MATURIN["module-name"].partition(".")
    assert (package, module) == ("ssdlab", binding["lib"]["name"])
    assert binding["lib"]["crate-type"] == ["cdylib"]
    least = project["requires-python"].removeprefix(">=")
    assert f"abi3-py{least.replace('.', '')}" in binding["dependencies"]["pyo3"]["features"]
    steps = jobs(WHEELS)["build"]["steps"]
    [arguments] = [step["with"]["args"] for step in steps if "args" in step.get("with", {})]
    assert f"--interpreter python{least}" in arguments
    assert least in jobs(WHEELS)["try-wheel"]["strategy"]["matrix"]["python"]


# --- Image ---


def instructions() -> list[list[str]]:
    """Return the instructions of the Dockerfile, word by word."""
    lines = [line for line in read("Dockerfile").splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [line.split() for line in joined.splitlines() if line]


def is_sent(path: str) -> bool:
    """Tell whether .dockerignore lets a path into the image's build."""
    parts = Path(path).parts
    names = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    is_in = True
    for line in read(".dockerignore").splitlines():
        if line and not line.startswith("#"):
            pattern = re.escape(line.lstrip("!")).replace(r"\*\*/", "(?:.*/)?")
            pattern = pattern.replace(r"\*", "[^/]*")
            if any(re.fullmatch(pattern, name) for name in names):
                is_in = line.startswith("!")
    return is_in


def test_what_the_image_copies_is_there_and_sent_to_its_build() -> None:
    copied = {one for words in instructions() if words[0] == "COPY" for one in words[1:-1]}
    for path in copied:
        assert (ROOT / path).exists(), path
        assert is_sent(path), path
    project = toml("pyproject.toml")["project"]
    needed = {"pyproject.toml", "Cargo.toml", "Cargo.lock", "crates", MATURIN["python-source"]}
    assert needed | {project["readme"], *project["license-files"]} <= copied
    assert is_sent("crates/ssdlab-base/src/lib.rs")
    for path in (".git/config", "crates/x/target/y", "python/x/__pycache__/y.pyc", "docs/index.md"):
        assert not is_sent(path), path


def test_the_image_finds_the_ledger_and_runs_it_by_default() -> None:
    text = read("Dockerfile")
    assert "COPY reproduction /opt/ssdlab/reproduction\n" in text
    assert 'echo /opt/ssdlab/reproduction > "$packages/ssdlab-reproduction.pth"' in text
    assert "ssdlab-reproduction.pth" in read("Makefile")
    by_name = {words[0]: " ".join(words[1:]) for words in instructions()}
    assert json.loads(by_name["ENTRYPOINT"]) == ["ssdlab"]
    default = json.loads(by_name["CMD"])
    check_command(default)
    assert default[default.index("--out") + 1] == by_name["WORKDIR"]
    assert by_name["USER"] not in {"0", "root"}
