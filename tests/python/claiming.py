"""What the tests of claims share."""

from typing import Any

COUNTS = {"dlv": ("D", 16), "pa-ssd": ("P", 17), "pv-read": ("V", 14), "readguard": ("R", 19)}
COUNTS["hire"] = ("H", 5)
"""How many claims the ledger has of each system."""


class FakeRuns(dict[Any, Any]):
    """Results by their names, as :class:`ssdlab.claims.runs.Runs` gives them."""

    def names(self, at: int) -> list[str]:
        return list(dict.fromkeys(key[at] for key in self))
