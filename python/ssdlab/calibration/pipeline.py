"""The steps of a fit, from measurements to coefficients and their validation."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

import numpy as np

from ssdlab import _native
from ssdlab._native import __version__
from ssdlab.calibration import evaluation, model
from ssdlab.calibration.chip_spec import ACTIVATION_EV, ChipSpec
from ssdlab.calibration.measurements import PARTS, Measurements, split_chips
from ssdlab.calibration.model import RETRIES_MOST, ErrorInputs, Predictor, rmse_percent, rounded
from ssdlab.calibration.result import CHIPS, CHIPS_LAYER, LAYER, sha256_of
from ssdlab.errors import InputError, one_line
from ssdlab.files import OutputFile, check_apart
from ssdlab.plan import Path, Plan, to_json
from ssdlab.room import Need, check_room

_ROW, _ROW_READ = 460, 110
"""Bytes per row of measurements: in total, and the part that reading takes. Measured."""


def run_fit(
    csv: Path | None,
    plan: Plan,
    spec: ChipSpec,
    correctable: float | None,
    samples_to: Path | None,
) -> tuple[dict[str, Any], dict[str, str], InputError | None]:
    """Return the document of a fit, the files for a run, and the error of writing samples.

    Raises :class:`InputError` if an input is invalid, and :class:`KeyboardInterrupt` on Ctrl-C.
    """
    if samples_to is not None:
        check_apart([] if csv is None else [("CSV", csv)], [("--samples", samples_to)])
    target = None if samples_to is None else OutputFile("--samples", os.fspath(samples_to))
    config_hash = sha256 = None
    if csv is None:
        source, counts, ages = plan.device, tuple(spec.chips), "--retention"
        # ``measure`` refuses more than MAX_ROWS.
        _check_room(min(spec.rows, _native.MAX_ROWS), 0)
        made = _native.measure(to_json(plan), json.dumps(spec.order()))
        if made is None:
            raise KeyboardInterrupt
        chips, config_hash = made
    else:
        source, counts, ages = os.fspath(csv), None, os.fspath(csv)
        chips, sha256 = _native.read_chips(csv)
        _check_room(len(chips.column("chip")) // np.float64().nbytes, _ROW_READ)
    failure = None if target is None else _failure_to_write(chips, target)
    table = Measurements.from_chips(chips)
    divided = split_chips(table, source, counts, plan.seed)
    found: dict[str, Any] = {
        "source": source,
        "device": plan.device if csv is None else None,
        "seed": plan.seed,
        "version": __version__,
        "config_hash": config_hash,
        "csv_sha256": sha256,
        "correctable": correctable,
    }
    samples = [table.where(np.isin(table.chip, part)) for part in divided]
    found["parts"] = [
        {"name": name, "chips": len(part), "blocks": _blocks(sample), "rows": len(sample)}
        for name, part, sample in zip(PARTS, divided, samples, strict=True)
    ]
    predictor, errors_most, left_out = _fit_predictor(samples[0], (source, ages), correctable)
    found |= {"errors_most": errors_most, "ageless": left_out, "coefficients": predictor.config()}
    judgment, left_out = _evaluate(predictor, samples[0], samples[1], ages, errors_most)
    found |= judgment
    found["ageless"] += left_out
    found["claims"] = list(evaluation.claims(found, samples[1]))
    found |= {"simulated": None, "unfit": None, "retries_most": None}
    files = {}
    found["unfit"] = chips.unfit(divided[2], ACTIVATION_EV)
    if found["unfit"] is None:
        found["simulated"] = CHIPS
        found["retries_most"] = int(samples[2].retries.max())
        files = {CHIPS: chips.csv(divided[2]), CHIPS_LAYER: _chips_layer(found)}
    files = {LAYER: config_layer(found), **files}
    found["files_sha256"] = {name: sha256_of(text.encode()) for name, text in files.items()}
    return found, files, failure


def _check_room(rows: int, taken: int) -> None:
    """Refuse more rows than fit into memory; ``taken`` bytes of each row are already in memory."""
    check_room("a fit", Need(0, 0, rows * (_ROW - taken)))


def _failure_to_write(chips: _native.Chips, target: OutputFile) -> InputError | None:
    """Write all measurements; return the error if that fails, so that the fit goes on."""
    try:
        target.write(chips.csv(list(range(len(chips.chips)))))
    except InputError as error:
        return error
    return None


def _blocks(table: Measurements) -> int:
    return len(np.unique(table.block))


def _fit_predictor(
    table: Measurements, sources: tuple[str, str], correctable: float | None
) -> tuple[Predictor, float, int]:
    """Fit the coefficients to the first chips.

    Also return the errors that need all retries, and the number of blocks left out. Messages name
    the ``sources``: that of the chips, and that of the ages of their data.
    """
    steps = model.fit_thresholds(table, correctable, sources[0])
    base = Predictor(thresholds=steps, min_dwell=_time(float(table.dwell.min())))
    blocks, after_a_year, left_out = model.errors_after_a_year(table, sources[1])
    age = rounded(model.fit_age(blocks, after_a_year / steps[-1], base))
    aged = replace(base, age=age, _made=[])
    ages = aged.ages(table)
    found = rounded(
        model.fit_errors(ErrorInputs(ages, ages, table.days, table.reads), table.errors)
    )
    return replace(aged, initial=found[:2], growth=found[2:], _made=[]), steps[-1], left_out


def _evaluate(
    predictor: Predictor,
    fitted: Measurements,
    table: Measurements,
    ages_from: str,
    errors_most: float,
) -> tuple[dict[str, Any], int]:
    """Return the validation on the second chips, and the number of blocks left out."""
    ages = predictor.ages(table)
    predicted = predictor.errors(ages, table.days, table.reads)
    retries = predictor.retries(predicted)
    blocks, after_a_year, left_out = model.errors_after_a_year(table, ages_from)
    percent_all = rmse_percent(predicted, table.errors)
    apart = np.abs(table.retries - retries)
    judgment = {
        "age_percent": rmse_percent(predictor.ages(blocks), after_a_year / errors_most),
        "errors_percent": percent_all,
        "errors": list(evaluation.errors(table, ages, predicted)),
        "spreads": list(evaluation.spreads(table.retries, retries)),
        "exact": float(np.mean(apart == 0)),
        "within_one": float(np.mean(apart <= 1)),
        "ablations": list(evaluation.ablations(fitted, table, predictor, percent_all)),
        "conditions": list(evaluation.conditions(table)),
        "variation": list(evaluation.variation(table)),
        "steps": list(evaluation.steps(table)),
    }
    return judgment, left_out


def _time(days: float) -> str:
    """Return a time as a config writes it."""
    seconds = round(days * 86_400)
    for unit, length in (("d", 86_400), ("h", 3_600)):
        if seconds and seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{max(seconds, 1)}s"


def config_layer(fit: dict[str, Any]) -> str:
    """Return the config layer for a run."""
    coefficients = fit["coefficients"]
    # A file name may hold a line break, which would end the comment.
    source = one_line(fit["source"])
    lines = [
        "# ReadGuard's retry predictor, from `ssdlab fit`.",
        f"# Fitted to {source}, seed {fit['seed']}, version {fit['version']}.",
        "metadata.retry_estimate.predicted.age = " + _list(coefficients["age"]),
        "metadata.retry_estimate.predicted.initial = " + _list(coefficients["initial"]),
        "metadata.retry_estimate.predicted.growth = " + _list(coefficients["growth"]),
        "metadata.retry_estimate.predicted.thresholds = " + _list(coefficients["thresholds"]),
        f'metadata.retry_estimate.predicted.min_dwell = "{coefficients["min_dwell"]}"',
    ]
    # Drives of a device already have the blocks of its model, and generated chips sample this
    # model.
    if fit["simulated"] and fit["csv_sha256"]:
        lines += ["", _chips_layer(fit)]
    return "\n".join(lines).rstrip() + "\n"


def _chips_layer(fit: dict[str, Any]) -> str:
    """Return the config layer that gives drives the chips kept for simulation."""
    lines = ["# The chips kept for simulation.", f'physics.measured.file = "{CHIPS}"']
    if fit["retries_most"] > RETRIES_MOST:
        lines.append(f"physics.measured.retries = {fit['retries_most']}")
    return "\n".join(lines) + "\n"


def _list(values: list[float]) -> str:
    """Return numbers as a TOML array; a long array spans several lines."""
    words = [_number(value) for value in values]
    whole = "[" + ", ".join(words) + "]"
    if len(whole) <= 70:
        return whole
    rows = [", ".join(words[at : at + 10]) for at in range(0, len(words), 10)]
    return "[\n    " + ",\n    ".join(rows) + ",\n]"


def _number(value: float) -> str:
    text = repr(float(value))
    return text if any(sign in text for sign in ".en") else f"{text}.0"
