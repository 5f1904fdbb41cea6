"""What the papers claim, as data: ``claims.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from statistics import fmean
from typing import Any

SYSTEMS = {
    "dlv": "DLV",
    "pa-ssd": "PA-SSD",
    "pv-read": "PV-read",
    "readguard": "ReadGuard",
    "hire": "HIRE",
}
"""The systems as the command names them, and as they are called."""

_POINTS, _PART = 10.0, 0.25


class Verdict(StrEnum):
    """How a figure of ours stands to the paper's; the better is the smaller."""

    REPRODUCED = "reproduced"
    DIRECTION = "direction only"
    NOT = "not reproduced"
    LEFT_OUT = "left out"

    @classmethod
    def worst(cls, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the worst of them: that of a claim is its figures' worst."""
        return max(verdicts, key=list(cls).index)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that a paper gives.

    ``of`` says of what it is; ``unit`` is ``%`` for a change or a share in percent. ``near`` it is
    what differs from it by 10 points (if it is in percent) or a quarter of it at most, or by
    ``within`` of it; or ours must be ``at_most`` or ``at_least`` as large. What is on the same
    side of ``neutral`` has at least its direction: of a change, which is written with its sign,
    that is 0; sizes, shares and bounds have none, and are met or not, but a bound that is of a
    change in one direction. ``ruled`` is what the paper
    says in words, such as that something is small, in a figure of ours.
    """

    of: str
    paper: float
    unit: str = "%"
    judged: str = "near"
    within: float | None = None
    neutral: float | None = None
    form: str = "+.1f"
    ruled: bool = False

    def verdict(self, ours: float) -> Verdict:
        """Judge a figure of ours."""
        if self._holds(ours):
            return Verdict.REPRODUCED
        neutral = self.side
        if neutral is not None and (ours - neutral) * (self.paper - neutral) > 0:
            return Verdict.DIRECTION
        return Verdict.NOT

    def _holds(self, ours: float) -> bool:
        if self.judged == "at_most":
            met = ours <= self.paper
        elif self.judged == "at_least":
            met = ours >= self.paper
        else:
            met = abs(ours - self.paper) <= self.allowed
        neutral = self.side
        if neutral is None or self.paper == neutral:
            return met
        return met and (ours - neutral) * (self.paper - neutral) > 0

    def off(self, ours: float) -> float:
        """Return how far a figure of ours is from the paper's, in parts of what it may differ by.

        A bound that is kept is no way off.
        """
        if self.judged != "near" and self._holds(ours):
            return 0.0
        return abs(ours - self.paper) / (self.allowed or 1.0)

    @property
    def allowed(self) -> float:
        """Return by how much ours may differ from what it is to be near to."""
        part = abs(self.paper) * (_PART if self.within is None else self.within)
        is_wide = self.unit == "%" and self.within is None
        return max(_POINTS, part) if is_wide else part

    @property
    def side(self) -> float | None:
        """Return the value that parts the two directions, if there are any: 0 of a change."""
        if self.neutral is None and self.judged == "near" and self.form.startswith("+"):
            return 0.0
        return self.neutral

    def written(self, value: float) -> str:
        """Write a value as this figure is written."""
        return f"{value:{self.form}}{' ' if self.unit else ''}{self.unit}".replace("-", "−")

    def bound(self) -> str:
        """Write what the paper gives."""
        sign = {"at_most": "≤ ", "at_least": "≥ "}.get(self.judged, "")
        return f"{sign}{self.written(self.paper)}{' (ruled)' if self.ruled else ''}"


@dataclass(frozen=True, slots=True)
class Sweep:
    """Other answers to what a ruling decided: each the settings that give it, with spaces between.

    ``of`` are the schemes that have a use for them; all, if there are none. ``needs`` are settings
    that a scheme has to have besides, to have that use. Only what did not reproduce is looked at
    so, or what is ``always`` to be seen both ways.
    """

    about: str
    variants: Sequence[str]
    of: Sequence[str] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    always: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim: what is compared, the paper's figures, and what is known if ours differ.

    ``ruled`` is how the claim was read, where its words leave that open; ``tried`` what was found
    where it does not reproduce, ``settle`` what would settle it, ``sweeps`` the rulings involved.
    What is ``made`` comes out by construction: a ``twin``, which a real trace is not, or something
    of the ``drive`` or of an example was chosen so that it does. What is ``chosen`` was looked at
    when a ruling was made, of a ``twin`` or of the ``drive``, and the ruling follows it. ``ways``
    are several in which the figures are found, since the paper is silent: each figure's ``of`` ends
    with its own.
    """

    id: str
    system: str
    what: str
    source: str
    figures: Sequence[Figure]
    ruled: str = ""
    tried: str = ""
    settle: str = ""
    sweeps: Sequence[Sweep] = field(default_factory=tuple)
    made: str = ""
    chosen: str = ""
    ways: Sequence[str] = ()

    def judged(self, ours: Sequence[float]) -> list[Verdict]:
        """Judge figures of ours, one for each of the paper's."""
        return [figure.verdict(one) for figure, one in zip(self.figures, ours, strict=True)]

    def off(self, ours: Sequence[float], way: str = "") -> float:
        """Return how far figures of ours are off on the mean: all of them, or those of a way."""
        pairs = zip(self.figures, ours, strict=True)
        return fmean(figure.off(one) for figure, one in pairs if figure.of.endswith(way))


def claims(systems: Sequence[str] = tuple(SYSTEMS)) -> list[Claim]:
    """Return the claims of these systems, in the ledger's order."""
    text = (files("ssdlab_reproduction") / "claims.toml").read_text(encoding="utf-8")
    return [_claim(data) for data in tomllib.loads(text)["claim"] if data["system"] in systems]


def _claim(data: Mapping[str, Any]) -> Claim:
    values: dict[str, Any] = {
        key: " ".join(value.split()) if isinstance(value, str) else value
        for key, value in data.items()
    }
    values["figures"] = [Figure(**one) for one in data["figures"]]
    values["sweeps"] = [Sweep(**one) for one in data.get("sweeps", ())]
    return Claim(**values)
