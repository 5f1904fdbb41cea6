"""ReadGuard's retry predictor, fitted to characterized chips."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import Unpack

from ssdlab import arguments, blas
from ssdlab.calibration.chip_spec import CORRECTABLE, ChipSpec
from ssdlab.calibration.result import DEFAULT_DEVICE, Fit
from ssdlab.deserialize import from_dict
from ssdlab.errors import InputError
from ssdlab.files import input_files_of
from ssdlab.plan import DriveOptions, Path, Plan, to_json, with_pipes_read


def fit(
    csv: Path | None = None,
    /,
    *,
    chips: ChipSpec | None = None,
    correctable: float | None = CORRECTABLE,
    samples: Path | None = None,
    **options: Unpack[DriveOptions],
) -> Fit:
    """Fit the retry predictor to the chips of a CSV file, or to generated chips.

    Of ``options``, only device, config, set and seed matter. ``chips`` says how many chips to
    generate and what to measure. ``correctable`` is the most errors at which a page needs no retry,
    72 by ruling; None fits this threshold like the others. ``samples`` is a CSV file that receives
    all measurements. :meth:`Fit.save` writes the config.

    >>> import ssdlab
    >>> found = ssdlab.fit(device="generic-tlc-2t", set={"physics": "retries"},
    ...     chips=ssdlab.ChipSpec(chips=(4, 4, 2), blocks=8))
    >>> len(found.coefficients.thresholds) > 20
    True

    The documentation's page "Fit the retry predictor" explains the terms. Raises
    :class:`InputError` if an input is invalid.
    """
    found, failure = fit_with_samples(
        csv, chips=chips, correctable=correctable, samples=samples, **options
    )
    if failure is not None:
        raise failure
    return found


def fit_with_samples(
    csv: Path | None,
    *,
    chips: ChipSpec | None,
    correctable: float | None,
    samples: Path | None,
    **options: Unpack[DriveOptions],
) -> tuple[Fit, InputError | None]:
    """Return the fit, and the error if the samples could not be written."""
    if chips is not None and not isinstance(chips, ChipSpec):
        raise arguments.invalid("chips", chips, "a ssdlab.ChipSpec")
    if correctable is not None:
        correctable = arguments.positive_number("--correctable", correctable)
    file = arguments.optional_path("the measurements", csv)
    (plan,) = with_pipes_read([replace(Plan(device=DEFAULT_DEVICE), **options)])
    target = arguments.optional_path("--samples", samples)
    with blas.one_thread("a fit"):
        from ssdlab.calibration import pipeline  # noqa: PLC0415  loaded when needed

        raw, written, failure = pipeline.run_fit(
            file, plan, chips or ChipSpec(), correctable, target
        )
    read = input_files_of(f"[{to_json(plan)}]")
    if csv is not None:
        read.append(("CSV", pathlib.Path(arguments.path("csv", csv)).absolute()))
    return from_dict(Fit, raw, raw=raw, files=written, read=read), failure
