"""The typed result of fitting ReadGuard's retry predictor.

The documentation's page "Fit the retry predictor" explains the terms.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ssdlab import arguments, escaping
from ssdlab.analysis import Analysis
from ssdlab.errors import InputError, quoted
from ssdlab.files import File, OutputFolder, check_apart, open_regular
from ssdlab.plan import Path
from ssdlab.renamed import renamed

DEFAULT_DEVICE = "readguard-tlc-2t"


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The values of ``metadata.retry_estimate.predicted``.

    ``age`` holds c0 to c4, ``initial`` c5 and c6, ``growth`` c7 to c9. ``thresholds`` are the
    errors from which a page needs one more retry.
    """

    age: Sequence[float]
    initial: Sequence[float]
    growth: Sequence[float]
    thresholds: Sequence[float]
    min_dwell: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the chips: those to fit, to validate or to simulate."""

    name: str
    chips: int
    blocks: int
    rows: int


@dataclass(frozen=True, slots=True)
class At:
    """Errors at a place on an axis: measured mean, minimum and maximum, and predicted mean."""

    at: float
    measured: float
    least: float
    most: float
    predicted: float


@dataclass(frozen=True, slots=True)
class Error:
    """The %RMSE of the errors of blocks of one age, over retention or over reads.

    ``center`` is the age of the evaluated blocks, within 0.05. It is ``age`` if there are such
    blocks, else the nearest age. ``percent`` is the root mean square error over the measured mean.
    """

    age: float
    center: float
    over: str
    rows: int
    percent: float
    points: Sequence[At]

    if not TYPE_CHECKING:
        __getattr__ = renamed("Error")


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of the measured retries of pages with this prediction."""

    predicted: int
    rows: int
    least: int
    quarter: float
    median: float
    three_quarters: float
    most: int


@dataclass(frozen=True, slots=True)
class Ablation:
    """The %RMSE of the errors over all validation data, for a predictor with less input."""

    name: str
    what: str
    percent: float


@dataclass(frozen=True, slots=True)
class Chance:
    """The shares of blocks that need 0, 1, 2, … retries, after these P/E cycles."""

    cycles: float
    shares: Sequence[float]


@dataclass(frozen=True, slots=True)
class Condition:
    """The retries that blocks need, for data of one age and one number of reads."""

    days: float
    reads: float
    chances: Sequence[Chance]


@dataclass(frozen=True, slots=True)
class Variation:
    """The ranges of retries at about 3.5K cycles.

    ``inter`` is the range over the worst pages of blocks, ``intra`` the range over the pages of a
    block.
    """

    cycles: float
    days: float
    reads: float
    inter: int
    intra: int | None


@dataclass(frozen=True, slots=True)
class Step:
    """The measured retries of pages with about this number of errors."""

    errors: float
    rows: int
    mean: float
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper, the value found, and whether it holds; ``short`` fits a terminal.

    If no block has the age of the claim, the value is that of the nearest age, and ``holds`` is
    None.
    """

    what: str
    short: str
    paper: str
    found: str
    holds: bool | None


LAYER, JSON, CHIPS, CHIPS_LAYER = FILES = ("fit.toml", "fit.json", "chips.csv", "chips.toml")
"""The files that a fit writes to a folder; the last two only if there are chips to simulate."""


def output_paths(option: str, folder: Path) -> list[tuple[str, str]]:
    """Return the files that a fit may write to a folder, each with the option that asks for it."""
    return [(option, os.fspath(PurePath(arguments.path(option, folder), name))) for name in FILES]


def check_replaced(option: str, folder: Path) -> None:
    """Raise an :class:`InputError` if a fit would replace a file that no earlier fit has written.

    fit.json holds the SHA-256 of the files that the same fit wrote.
    """
    there = [path for _, path in output_paths(option, folder) if os.path.lexists(path)]
    hashes = _written_before(os.fspath(PurePath(arguments.path(option, folder), JSON)))
    for path in there:
        name = PurePath(path).name
        if name == JSON and hashes is not None:
            continue
        content = _content(path)
        if content is None or hashes is None or hashes.get(name) != sha256_of(content):
            what = "a file that no fit wrote, or that was changed since"
            raise InputError.at(option, f"{what}: got {quoted(path)}, expected another folder")


def _written_before(path: str) -> Mapping[str, str] | None:
    """Return the hashes in a fit.json; None if no fit wrote the file."""
    try:
        found = json.loads(_content(path) or b"")
    except ValueError:
        return None
    names = {one.name for one in fields(Fit)} - {"raw", "read", "files"}
    if not isinstance(found, dict) or not names <= set(found):
        return None
    hashes = found["files_sha256"]
    return hashes if isinstance(hashes, dict) else None


def _content(path: str) -> bytes | None:
    """Return the content of a file; None if it is no regular file or cannot be read."""
    try:
        with open_regular(FilePath(path)) as file:
            return file.read()
    except OSError:
        return None


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Fit(Analysis):
    """The result of a fit; ``str`` gives the text that ``ssdlab fit`` prints."""

    source: str
    device: str | None
    seed: int
    version: str
    config_hash: str | None
    csv_sha256: str | None
    correctable: float | None
    errors_most: float
    ageless: int
    parts: Sequence[Part]
    coefficients: Coefficients
    age_percent: float
    errors_percent: float
    errors: Sequence[Error]
    spreads: Sequence[Spread]
    exact: float
    within_one: float
    ablations: Sequence[Ablation]
    conditions: Sequence[Condition]
    variation: Sequence[Variation]
    steps: Sequence[Step]
    claims: Sequence[Claim]
    simulated: str | None
    unfit: str | None
    retries_most: int | None
    files_sha256: Mapping[str, str]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    read: Sequence[File] = field(default=(), repr=False, compare=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def save(self, folder: str | os.PathLike[str]) -> list[str]:
        """Write the config for a run and the JSON to ``folder``; return the file names.

        Writes all files or none. Raises :class:`InputError` if a file cannot be written, or if it
        would replace a file that no fit wrote.
        """
        path = arguments.path("out", folder)
        check_apart(self.read, output_paths("out", path))
        self.write_to(OutputFolder("out", path, self.read), "out", path)
        return list(self.contents())

    def write_to(self, target: OutputFolder, option: str, folder: Path) -> None:
        """Write the files to a folder, in place of those that an earlier fit wrote there."""
        check_replaced(option, folder)
        target.write(self.contents(), without=[CHIPS, CHIPS_LAYER])

    def contents(self) -> dict[str, bytes]:
        """Return the files that ``--out`` writes, by name."""
        texts = {**self.files, JSON: self.to_json() + "\n"}
        return {name: text.encode() for name, text in texts.items()}

    @property
    def heading(self) -> str:
        """Return the source, the number of chips and the seed."""
        chips = sum(part.chips for part in self.parts)
        return f"{escaping.display_label(self.source)} · {chips} chips · seed {self.seed}"
