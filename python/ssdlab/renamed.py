"""The old names of modules, and of attributes of results and fits.

An error for an old name tells the new one.
"""

import sys
from collections.abc import Callable, Mapping
from importlib.abc import MetaPathFinder

_NEW_NAMES: Mapping[str, Mapping[str, str]] = {
    "Result": {
        "preloaded": "unwritten_reads",
        "dominated": "slowest_page_type",
        "set_aside": "suspended",
        "wear_levelled": "wear_leveled",
        "utilisation": "utilization",
        "prioritised": "prioritized",
        "rungs": "retry_steps",
        "voltages": "program_modes",
        "repairs": 'counters["background/inversion_repair"]',
    },
    "Detail": {"retries_apart": "retry_spread"},
    "Drive": {"sums": "counts"},
    "MigrationCounts": {"given_up": "dropped"},
    "ReplayResult": {"dominated": "slowest_page_type"},
    "Error": {"centre": "center"},
    "PageTypesResult": {"wished": "requested"},
}
"""By class, the new name of each old one."""

_NEW_MODULES: Mapping[str, str] = {
    "ssdlab.claims": "ssdlab_reproduction",
    "ssdlab.codes": "ssdlab.ldpc",
    "ssdlab.figures": "ssdlab.render.figures",
    "ssdlab.fitting": "ssdlab.calibration",
    "ssdlab.intervals": "ssdlab.confidence",
    "ssdlab.plans": "ssdlab.plan",
    "ssdlab.results": "ssdlab.result",
    "ssdlab.told": "ssdlab.analysis",
    "ssdlab.truth": "ssdlab.physics",
}
"""The new name of each old module."""


class _OldModules(MetaPathFinder):
    """Refuses to import an old module."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Raise :class:`ImportError` for an old module; find no other."""
        if fullname in _NEW_MODULES:
            raise ImportError(f"{fullname} is now {_NEW_MODULES[fullname]}", name=fullname)


def refuse_old_modules() -> None:
    """Make an import of an old module raise an error that names the new one."""
    # At the end of the list: Python asks it only about modules that nothing else finds.
    sys.meta_path.append(_OldModules())


def new_module(name: str) -> str | None:
    """Return the new name of an old module."""
    return _NEW_MODULES.get(name)


def renamed(owner: str) -> Callable[..., object]:
    """Return a ``__getattr__`` that refuses the old names of a class's attributes.

    The method raises :class:`AttributeError`.
    """
    names = _NEW_NAMES[owner]

    def refuse(self: object, name: str) -> object:
        if name in names:
            raise AttributeError(f"{owner}.{name} is now {owner}.{names[name]}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    return refuse
