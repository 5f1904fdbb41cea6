"""The claims of the papers as data: ``claims.toml``."""

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
"""The systems, by their names in the command, with their titles."""

_POINTS, _PART = 3.0, 0.25
"""The allowed difference: points of a percentage, or a part of the figure, whichever is more."""
_DIRECTION = 1 / 3
"""The part of the paper's change that ours must reach to count as its direction."""


class Verdict(StrEnum):
    """How a figure of ours compares with the paper's, from best to worst.

    A figure may also be shown without being judged.
    """

    SHOWN = "shown"
    REPRODUCED = "reproduced"
    DIRECTION = "direction only"
    NOT = "not reproduced"
    LEFT_OUT = "left out"

    @classmethod
    def worst(cls, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the worst verdict; the verdict on a claim is that on its worst figure."""
        return max(verdicts, key=list(cls).index)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that a paper gives.

    ``of`` names the quantity; ``unit`` is ``%`` for a change or a share in percent.

    ``judged`` is ``near``, ``at_most`` or ``at_least``. A value is near if it differs by at most a
    quarter of the paper's value, or by at most 3 points if it is in percent. ``within`` replaces
    both by another share of the paper's value.

    A value has the paper's direction if it is at least a third as far from ``neutral`` as the
    paper's value, on the same side. For a change, which is written with its sign, ``neutral`` is 0.
    Sizes, shares and bounds have no direction: they are met or not. An exception is a bound on a
    change in one direction.

    ``ruled`` marks a figure of ours for the paper's words, such as that something is small.
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
        """Return the verdict on a figure of ours."""
        if self._holds(ours):
            return Verdict.REPRODUCED
        neutral = self.side
        if neutral is None or self.paper == neutral:
            return Verdict.NOT
        if (ours - neutral) / (self.paper - neutral) >= _DIRECTION:
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
        """Return the difference from the paper's figure, relative to the allowed difference.

        For a bound that holds it is 0.
        """
        if self.judged != "near" and self._holds(ours):
            return 0.0
        return abs(ours - self.paper) / (self.allowed or 1.0)

    @property
    def allowed(self) -> float:
        """Return by how much our figure may differ from the paper's."""
        part = abs(self.paper) * (_PART if self.within is None else self.within)
        is_wide = self.unit == "%" and self.within is None
        return max(_POINTS, part) if is_wide else part

    @property
    def side(self) -> float | None:
        """Return the value that separates the two directions; None if there are no directions.

        For a change it is 0.
        """
        if self.neutral is None and self.judged == "near" and self.form.startswith("+"):
            return 0.0
        return self.neutral

    def written(self, value: float) -> str:
        """Return a value in the format of this figure."""
        return f"{value:{self.form}}{' ' if self.unit else ''}{self.unit}".replace("-", "−")

    def bound(self) -> str:
        """Return the paper's value as text, with the sign of a bound."""
        sign = {"at_most": "≤ ", "at_least": "≥ "}.get(self.judged, "")
        return f"{sign}{self.written(self.paper)}{' (ruled)' if self.ruled else ''}"


@dataclass(frozen=True, slots=True)
class Sweep:
    """Alternatives to a ruling; each is a list of settings, separated by spaces.

    ``of`` names the schemes that the settings affect; if it is empty, they affect all. ``needs``
    holds settings that a scheme also needs to be affected. Only claims that did not reproduce are
    swept, unless ``always`` is set.
    """

    about: str
    variants: Sequence[str]
    of: Sequence[str] = ()
    needs: Mapping[str, str] = field(default_factory=dict)
    always: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to an open point of a paper, with the settings that it needs.

    ``of`` names the schemes that the settings affect; if it is empty, they affect all. ``source``
    is the text or measurement that speaks for the answer. ``favored`` marks the answer that the
    texts favor, even if ssdlab's is another.
    """

    name: str
    source: str
    settings: str = ""
    of: Sequence[str] = ()
    favored: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """An open point of a paper with all its answers, declared before the runs.

    The first option is ssdlab's. Claims name the readings that concern them, and the ledger crosses
    those.
    """

    name: str
    system: str
    about: str
    options: Sequence[Option]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim: what is compared, the paper's figures, and what is known if ours differ.

    ``ruled`` says how the claim was interpreted where its words are ambiguous. ``tried`` says what
    was found if it does not reproduce, and ``settle`` what would settle it. ``sweeps`` are the
    rulings involved.

    ``made`` marks a claim that holds by construction: something of the ``twin``, the ``drive`` or
    an example was chosen so that it does. A real trace is not made so. ``chosen`` marks a claim
    that was considered when a ruling on the ``twin`` or the ``drive`` was made, and the ruling
    follows it. It is ``start`` if the claim comes out because of what the start assumes.

    ``ways`` are several ways to find the figures, where the paper is silent; the ``of`` of each
    figure ends with its way. Figures of the way ``shown`` are shown and not judged; ``ruled`` says
    why.

    ``readings`` are crossed: the claim is found under each combination of their options. ``short``
    are settings that shorten the runs of sweeps and of crossed readings.
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
    shown: str = ""
    readings: Sequence[Reading] = field(default_factory=tuple)
    short: str = ""

    def judged(self, ours: Sequence[float]) -> list[Verdict]:
        """Return the verdicts on figures of ours, one for each of the paper's."""
        return [
            Verdict.SHOWN if self.is_shown(figure) else figure.verdict(one)
            for figure, one in zip(self.figures, ours, strict=True)
        ]

    def off(self, ours: Sequence[float], way: str = "") -> float:
        """Return the mean distance of figures of ours: of those judged, or of those of one way."""
        pairs = zip(self.figures, ours, strict=True)
        return fmean(
            figure.off(one)
            for figure, one in pairs
            if (figure.of.endswith(way) if way else not self.is_shown(figure))
        )

    def is_shown(self, figure: Figure) -> bool:
        """Tell whether a figure is shown without being judged."""
        return bool(self.shown) and figure.of.endswith(self.shown)


def claims(systems: Sequence[str] = tuple(SYSTEMS)) -> list[Claim]:
    """Return the claims of these systems, in the ledger's order."""
    text = (files("ssdlab_reproduction") / "claims.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    readings = {(one["system"], one["name"]): _reading(one) for one in data["reading"]}
    return [_claim(one, readings) for one in data["claim"] if one["system"] in systems]


def _joined(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data whose texts are one line each."""
    return {
        key: " ".join(value.split()) if isinstance(value, str) else value
        for key, value in data.items()
    }


def _reading(data: Mapping[str, Any]) -> Reading:
    options = [Option(**_joined(one)) for one in data["options"]]
    return Reading(**{**_joined(data), "options": options})


def _claim(data: Mapping[str, Any], readings: Mapping[tuple[str, str], Reading]) -> Claim:
    values = _joined(data)
    values["figures"] = [Figure(**one) for one in data["figures"]]
    values["sweeps"] = [Sweep(**one) for one in data.get("sweeps", ())]
    values["readings"] = [readings[data["system"], name] for name in data.get("readings", ())]
    return Claim(**values)
