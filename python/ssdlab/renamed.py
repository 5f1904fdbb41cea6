"""The old names of attributes of results and fits; an error for an old name tells the new one."""

from collections.abc import Callable, Mapping

_NEW_NAMES: Mapping[str, Mapping[str, str]] = {
    "Result": {"preloaded": "unwritten_reads", "dominated": "slowest_page_type"},
    "ReplayResult": {"dominated": "slowest_page_type"},
    "Error": {"centre": "center"},
    "PageTypesResult": {"wished": "requested"},
}
"""By class, the new name of each old one."""


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
