"""ReadGuard's retry predictor, fitted to characterised chips.

docs/guides/calibrate.md says what everything means. A reading order: ``result`` is what a fit
returns, ``chip_spec`` what is measured, ``measurements`` how it is read, ``model`` how the
predictor is fitted, ``evaluation`` how it is validated; ``pipeline`` puts them together,
``fitting`` starts it.
"""

from ssdlab.calibration.chip_spec import ChipSpec
from ssdlab.calibration.fitting import fit
from ssdlab.calibration.result import Fit

__all__ = ["ChipSpec", "Fit", "fit"]
