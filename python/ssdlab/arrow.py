"""Arrow tables from plain rows, which polars, pandas and others take over without copying.

It needs ``pyarrow``: ``INSTALL`` names the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

INSTALL = "pip install '.[arrow]' in a clone, or pip install 'pyarrow>=18'"
"""Works before and after a release; the extra ``arrow`` is this package."""


def table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return a table of rows whose columns may differ; a missing value is null.

    Raises :class:`ImportError`, which names the extra to install, if pyarrow is missing.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        message = f"Arrow tables need pyarrow: {INSTALL}"
        raise ImportError(message, name="pyarrow") from error

    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: [row.get(name) for row in rows] for name in names})
