"""ReadGuard's retry predictor, fitted to characterised chips."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import Any

from ssdlab import arguments
from ssdlab.calibration.chip_spec import CORRECTABLE, ChipSpec
from ssdlab.calibration.result import DEFAULT_DEVICE, Fit
from ssdlab.deserialize import from_dict
from ssdlab.files import input_files_of
from ssdlab.plan import Path, Plan, to_json


def fit(
    csv: Path | None = None,
    /,
    *,
    asked: ChipSpec | None = None,
    correctable: float | None = CORRECTABLE,
    samples: Path | None = None,
    **options: Any,
) -> Fit:
    """Fit the retry predictor to the chips of a CSV file, or to chips that are made for it.

    ``options`` are fields of a :class:`ssdlab.Plan`: device, config, set, seed. ``asked`` says what
    is measured of chips that are made. ``correctable`` are the errors up to which a page needs no
    retry, 72 by ruling; None has them fitted like the others. ``samples`` is a file for all that
    was measured, in CSV. :meth:`Fit.save` writes the config.

    >>> import ssdlab
    >>> found = ssdlab.fit(device="generic-tlc-2t", set={"physics": "retries"},
    ...     asked=ssdlab.Asked(chips=(4, 4, 2), blocks=8))
    >>> len(found.coefficients.thresholds) > 20
    True

    docs/fit.md says what everything means. Raises :class:`InputError` if an input is wrong.
    """
    from ssdlab.calibration import pipeline  # noqa: PLC0415  numpy and scipy are loaded when they are needed

    if asked is not None and not isinstance(asked, ChipSpec):
        raise arguments.invalid("asked", asked, "a ssdlab.Asked")
    if correctable is not None:
        correctable = arguments.positive_number("--correctable", correctable)
    file = arguments.optional_path("the measurements", csv)
    plan = replace(Plan(device=DEFAULT_DEVICE), **options)
    target = arguments.optional_path("--samples", samples)
    raw, written = pipeline.run_fit(file, plan, asked or ChipSpec(), correctable, target)
    read = input_files_of(f"[{to_json(plan)}]")
    if csv is not None:
        read.append(("CSV", pathlib.Path(arguments.path("csv", csv)).absolute()))
    return from_dict(Fit, {**raw, "raw": raw, "files": written, "read": read})
