"""ReadGuard's retry predictor, fitted to characterized chips.

The documentation's page "Fit the retry predictor" explains the terms. A reading order:

- ``result`` is the result of a fit,
- ``chip_spec`` describes the chips,
- ``measurements`` reads them,
- ``model`` fits the predictor,
- ``evaluation`` validates it,
- ``pipeline`` combines these steps,
- ``fitting`` starts it.
"""

from ssdlab.calibration.chip_spec import ChipSpec
from ssdlab.calibration.fitting import fit
from ssdlab.calibration.result import Fit

__all__ = ["ChipSpec", "Fit", "fit"]
