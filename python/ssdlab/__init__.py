"""ssdlab simulates solid-state drives: fast, deterministic, and open about what it models.

>>> import ssdlab
>>> ssdlab.run(workload="zipf", limit=1000, set={"scheduler": "fifo"}).requests
1000
"""

from ssdlab._native import __version__
from ssdlab.api import compare, presets, report_html, run, save_figures, schemes
from ssdlab.codes import Ldpc, ldpc
from ssdlab.drive import Drive
from ssdlab.errors import InputError, InternalError, Interrupted
from ssdlab.fitting import Asked, Fit, fit
from ssdlab.intervals import Interval
from ssdlab.plans import Plan, sweep
from ssdlab.results import Aggregate, Comparison, Missing, Result
from ssdlab.truth import Physics, physics

__all__ = [
    "Aggregate",
    "Asked",
    "Comparison",
    "Drive",
    "Fit",
    "InputError",
    "InternalError",
    "Interrupted",
    "Interval",
    "Ldpc",
    "Missing",
    "Physics",
    "Plan",
    "Result",
    "__version__",
    "compare",
    "fit",
    "ldpc",
    "physics",
    "presets",
    "report_html",
    "run",
    "save_figures",
    "schemes",
    "sweep",
]
