"""ssdlab simulates solid-state drives: fast, deterministic, and open about what it models.

>>> import ssdlab
>>> ssdlab.run(workload="zipf", limit=1000, set={"scheduler": "fifo"}).requests
1000
"""

from typing import TYPE_CHECKING

from ssdlab import traces
from ssdlab._native import __version__
from ssdlab.api import compare, presets, report_html, run, save_figures, schemes
from ssdlab.calibration import ChipSpec, Fit, fit
from ssdlab.confidence import Interval
from ssdlab.drive import Drive
from ssdlab.errors import InputError, InternalError, Interrupted
from ssdlab.ldpc import Ldpc, ldpc
from ssdlab.physics import Physics, physics
from ssdlab.plan import DriveOptions, Plan, RunOptions
from ssdlab.renamed import new_module as _new_module
from ssdlab.renamed import refuse_old_modules as _refuse_old_modules
from ssdlab.render import registry as _registry  # noqa: F401  registers the renderers
from ssdlab.result import Aggregate, Comparison, Missing, Result
from ssdlab.sweeps import sweep

__all__ = [
    "Aggregate",
    "ChipSpec",
    "Comparison",
    "Drive",
    "DriveOptions",
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
    "RunOptions",
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
    "traces",
]

if not TYPE_CHECKING:
    # A type checker must know exactly the names that exist.
    _refuse_old_modules()

    def __getattr__(name: str) -> object:
        """Raise an error that names the replacement of an old name."""
        new = "ssdlab.ChipSpec" if name == "Asked" else _new_module(f"ssdlab.{name}")
        if new is not None:
            raise AttributeError(f"ssdlab.{name} is now {new}")
        raise AttributeError(f"module 'ssdlab' has no attribute {name!r}")
