"""Comparison of the traces in a folder with their manifest."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssdlab import arguments
from ssdlab.errors import InputError
from ssdlab.suggestions import did_you_mean
from ssdlab.traces.reading import Reading
from ssdlab.traces.values import TraceValues

Info = Mapping[str, Any]

MANIFEST = "MANIFEST.tsv"
_MIB = 1 << 20
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Figure:
    """A column of the manifest: the figure of a trace that it gives, and the tolerance.

    ``of`` may return two figures; the manifest's value may lie anywhere between them. A figure
    agrees if it differs by at most one unit of the manifest's last decimal, or by at most ``slack``
    plus ``tolerance``, a share of the manifest's value.
    """

    of: Callable[[Info], float | tuple[float, float] | None]
    tolerance: float = 0.0
    slack: float = 0.0


def _mean(kind: str) -> Callable[[Info], float | None]:
    def of(info: Info) -> float | None:
        sizes = info[f"{kind}_size"]
        return None if sizes is None else sizes["mean_bytes"] / 1024

    return of


FIGURES: Mapping[str, Figure] = {
    "lines": Figure(lambda info: info["requests"]),
    "span_s": Figure(lambda info: info["span_s"]),
    "read_ratio": Figure(lambda info: info["read_ratio"]),
    "meanR_KB": Figure(_mean("read")),
    "meanW_KB": Figure(_mean("write")),
    "footprint_MB": Figure(lambda info: info["footprint_pages"] * 4096 / _MIB),
    "write_fp_MB": Figure(lambda info: info["written_pages"] * 4096 / _MIB),
    "max_addr_GB": Figure(lambda info: info["end_byte"] / _GIB),
    "R_MB": Figure(lambda info: info["read_bytes"] / _MIB),
    "W_MB": Figure(lambda info: info["write_bytes"] / _MIB),
    "iat_mean_us": Figure(lambda info: info["gap_mean_us"], 1e-6, 0.1),
    "iat_p50_us": Figure(lambda info: tuple(info["gap_middle_us"]), 0.02, 1.0),
    "iat_p99_us": Figure(lambda info: info["gap_p99_us"], 0.02, 1.0),
    "ndev": Figure(lambda info: len(info["devices"])),
}
"""All columns that are compared."""


_FOOTPRINTS = {"footprint_MB", "write_fp_MB"}
"""With several devices, these figures also agree if the sum over the devices agrees."""
_MOST_DEVICES = 256


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure that differs from the manifest; None if the trace has no such figure."""

    figure: str
    manifest: str
    read: float | None


@dataclass(slots=True)
class Line:
    """The result for a line of the manifest.

    ``wrong`` says why the trace could not be read; it is None if the trace was read.
    """

    name: str
    trace: str | None
    line: int
    agree: list[str] = field(default_factory=list)
    differ: list[Difference] = field(default_factory=list)
    wrong: str | None = None

    @property
    def is_well(self) -> bool:
        """Tell whether the trace was read and all of its figures agree."""
        return self.wrong is None and not self.differ


Read = Callable[[str, Reading], TraceValues]
"""Reads a trace, given by its name, and returns its figures."""


def check(folder: str | os.PathLike[str], read: Read, pattern: str = "trace.*") -> list[Line]:
    """Compare the traces of a folder with its ``MANIFEST.tsv``; return a result for each line.

    The trace of a line is the file ``NAME``, ``NAME.*``, or the file in the folder ``NAME`` that
    matches ``pattern``. The result of a line reports a trace that is missing or cannot be read.
    Raises :class:`InputError` if the manifest cannot be read.
    """
    place = Path(arguments.path("folder", folder))
    pattern = check_pattern("pattern", pattern)
    rows = _rows(place / MANIFEST)
    return [_compare(place, row, line, read, pattern) for line, row in rows]


def check_pattern(option: str, pattern: object) -> str:
    """Return a pattern of file names; refuse anything else. Messages name ``option``."""
    found = arguments.text(option, pattern)
    try:
        # Any path serves for this check, and this one exists everywhere.
        next(Path(os.devnull).glob(found), None)
    except (OSError, ValueError, NotImplementedError):
        raise arguments.invalid(option, pattern, "a pattern such as 'trace.*'") from None
    return found


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a manifest with their line numbers."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError.at(str(path), f"cannot be read: {reason}") from None
    header = lines[0].split("\t") if lines else []
    if "name" not in header:
        found = f"got {', '.join(header)!r}" if header else "an empty file"
        raise InputError(f"{path}:1: no column name: {found}", str(path), 1)
    if not set(header) & set(FIGURES):
        nearest = did_you_mean(next((c for c in header if c != "name"), ""), FIGURES)
        expected = f"expected one of {', '.join(FIGURES)}{nearest}"
        raise InputError(f"{path}:1: no column that can be compared: {expected}", str(path), 1)
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if not line:
            continue
        cells = line.split("\t")
        if len(cells) != len(header):
            found = f"columns: got {len(cells)}, expected {len(header)}"
            raise InputError(f"{path}:{number}: {found}", str(path), number)
        rows.append((number, dict(zip(header, cells, strict=True))))
        _check_numbers(path, number, rows[-1][1])
    if not rows:
        raise InputError.at(str(path), "holds no trace: expected a line for each")
    return rows


def _check_numbers(path: Path, number: int, row: dict[str, str]) -> None:
    for column in FIGURES.keys() & row.keys():
        if row[column] != "NA":
            try:
                float(row[column])
            except ValueError:
                found = f"{column}: got {row[column]!r}, expected a number or NA"
                raise InputError(f"{path}:{number}: {found}", str(path), number) from None


def _compare(folder: Path, row: dict[str, str], line: int, read: Read, pattern: str) -> Line:
    name = row["name"]
    try:
        found = _files(folder, name, pattern)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Line(name, None, line, wrong=f"no trace of such a name: {reason}")
    result = Line(name, str(found[0]) if len(found) == 1 else None, line)
    if len(found) != 1:
        places = f"{name}, {name}.* or {name}/{pattern}"
        several = ", ".join(path.name for path in found)
        result.wrong = f"several traces: {several}" if found else f"no trace: expected {places}"
        return result
    try:
        info = read(str(found[0]), Reading())
    except InputError as error:
        result.wrong = str(error)
        return result
    devices: list[Info] = []

    def distance(figure: Figure) -> float | None:
        """Return the sum over the devices; read each device separately, and only once."""
        if not devices and 1 < len(info["devices"]) <= _MOST_DEVICES:
            devices.extend(
                read(
                    str(found[0]), Reading(set=[f"workload.trace.device={_quoted(device['name'])}"])
                )
                for device in info["devices"]
            )
        return sum(_plain(figure.of(device)) for device in devices) if devices else None

    for column, figure in FIGURES.items():
        if column not in row:
            continue
        value = figure.of(info)
        if agrees(row[column], value, figure) or (
            column in _FOOTPRINTS and agrees(row[column], distance(figure), figure)
        ):
            result.agree.append(column)
        else:
            result.differ.append(
                Difference(column, row[column], None if value is None else _plain(value))
            )
    return result


def _files(folder: Path, name: str, pattern: str) -> list[Path]:
    """Return the files that may be the trace of this name; exactly one is expected."""
    if not name or "/" in name or name in {".", ".."}:
        return []
    if (folder / name).is_dir():
        return sorted(path for path in (folder / name).glob(pattern) if path.is_file())
    if (folder / name).is_file():
        return [folder / name]
    return sorted(path for path in folder.iterdir() if path.name.startswith(f"{name}."))


def agrees(manifest: str, value: float | tuple[float, float] | None, figure: Figure) -> bool:
    """Tell whether a figure agrees with the manifest, to the manifest's precision."""
    if manifest == "NA" or value is None:
        return manifest == "NA" and value is None
    claimed = float(manifest)
    decimals = len(manifest.partition(".")[2])
    last = 10.0**-decimals if decimals else 0.0
    off = max(last, figure.slack + figure.tolerance * abs(claimed)) * (1 + 1e-9)
    least, most = value if isinstance(value, tuple) else (value, value)
    return least - off <= claimed <= most + off


def _quoted(name: str) -> str:
    """Return a device's name as a setting's value: a string, even if it is a number."""
    return json.dumps(name, ensure_ascii=False)


def _plain(value: float | tuple[float, float] | None) -> float:
    """Return one figure: the mean of two."""
    return sum(value) / 2 if isinstance(value, tuple) else value or 0.0
