"""The true properties of a device's blocks, typed and as text.

The Rust extension declares these figures (``ssdlab_run::physics``); the documentation's page
"Physics of blocks" explains them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from ssdlab import _native, escaping
from ssdlab.analysis import Analysis
from ssdlab.deserialize import from_dict
from ssdlab.files import File, input_files_of
from ssdlab.plan import DriveOptions, Plan, check_plan, to_json, with_pipes_read


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a read: sensing levels count from 1, steps of read retries from 0."""

    needed: int
    capability: float
    sense_us: float
    transfer_us: float
    decode_us: float
    direct_us: float
    climb_us: float


@dataclass(frozen=True, slots=True)
class Program:
    """A program mode: its time, and its factors on the initial raw bit error rate and on wear."""

    name: str
    program_us: float
    base_factor: float
    wear: float


@dataclass(frozen=True, slots=True)
class Point:
    """The reads of a group's pages at an age in days, or after a number of P/E cycles.

    ``needed`` and ``direct_us`` are None if no level decodes. ``lost`` is the share of the group's
    blocks that no level decodes.
    """

    at: float
    rber: float
    needed: int | None
    direct_us: float | None
    climb_us: float
    lost: float


@dataclass(frozen=True, slots=True)
class OverCycles:
    """The reads of a group's pages by P/E cycles, for data of one age."""

    age_days: float
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Group:
    """A class of blocks, or a quantile of all blocks."""

    name: str
    quantile: float
    blocks: int
    program_mode: str
    base_rber: float
    base_least: float
    base_most: float
    over_age: Sequence[Point]
    over_cycles: Sequence[OverCycles]


@dataclass(frozen=True, slots=True)
class Bin:
    """The blocks of each class whose initial error rate lies in an interval."""

    least: float
    most: float
    blocks: Sequence[int]


@dataclass(frozen=True, slots=True)
class Base:
    """The distribution of the initial error rates of blocks."""

    classes: Sequence[str]
    boundaries: Sequence[float]
    bins: Sequence[Bin]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A value of a paper, the model's value, and how much larger the model's is."""

    what: str
    at: float
    paper: float
    source: str
    group: str | None = None
    cycles: float | None = None
    model: float | None = None
    difference: float | None = None


@dataclass(frozen=True, slots=True)
class Physics(Analysis):
    """The true properties of blocks; ``str`` gives the text that ``ssdlab physics`` prints."""

    device: str
    scheme: str
    seed: int
    config_hash: str
    model: str
    blocks: int
    pe_cycles: int
    heeds_age: bool
    heeds_wear: bool
    levels: Sequence[Level]
    programs: Sequence[Program]
    groups: Sequence[Group]
    base: Base
    anchors: Sequence[Anchor]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    read: Sequence[File] = field(default=(), repr=False, compare=False)

    @property
    def heading(self) -> str:
        """Return the device, the scheme and the seed."""
        return " · ".join([escaping.display_label(self.device), self.scheme, f"seed {self.seed}"])


def physics(plan: Plan | None = None, /, **options: Unpack[DriveOptions]) -> Physics:
    """Return the true properties of a device's blocks. Options override those of the plan.

    >>> import ssdlab
    >>> blocks = ssdlab.physics(device="dlv-mlc-128g", scheme="dlv")
    >>> [group.name for group in blocks.groups]
    ['strong', 'normal']

    No drive runs. The documentation's page "Physics of blocks" explains the terms. Raises
    :class:`InputError` if an input is invalid. Flat physics is invalid, too: it has no properties
    to return.
    """
    plan = check_plan(Plan() if plan is None else plan)
    (plan,) = with_pipes_read([replace(plan, **options)])
    wire = to_json(plan)
    data: dict[str, Any] = json.loads(_native.physics(wire))
    return from_dict(Physics, data, raw=data, read=input_files_of(f"[{wire}]"))
