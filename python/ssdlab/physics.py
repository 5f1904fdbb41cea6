"""What the blocks of a device really are, with typed attributes, and as text.

The Rust side declares these figures (``ssdlab_run::physics``); docs/concepts/physics.md says what
they mean.
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
    """A level of a read: sensing levels from 1, or steps of read retries from 0."""

    needed: int
    capability: float
    sense_us: float
    transfer_us: float
    decode_us: float
    direct_us: float
    climb_us: float


@dataclass(frozen=True, slots=True)
class Program:
    """A way to program a page, its factor on the raw bit error rate as made, and on wear."""

    name: str
    program_us: float
    base_factor: float
    wear: float


@dataclass(frozen=True, slots=True)
class Point:
    """How the pages of a group read at an age in days, or after so many P/E cycles.

    ``needed`` and ``direct_us`` are None where no level decodes; ``lost`` is the share of the
    group's blocks of which that is true.
    """

    at: float
    rber: float
    needed: int | None
    direct_us: float | None
    climb_us: float
    lost: float


@dataclass(frozen=True, slots=True)
class OverCycles:
    """How the pages of a group read by P/E cycles, with data of this age."""

    age_days: float
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Group:
    """A class of blocks, or a quantile of all."""

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
    """Blocks of each class that were made with a rate in an interval."""

    least: float
    most: float
    blocks: Sequence[int]


@dataclass(frozen=True, slots=True)
class Base:
    """How the rates with which blocks were made are distributed."""

    classes: Sequence[str]
    boundaries: Sequence[float]
    bins: Sequence[Bin]


@dataclass(frozen=True, slots=True)
class Anchor:
    """A figure of a paper, the model's, and by how much that is more."""

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
    """What the blocks of a device are; ``str`` is what ``ssdlab physics`` prints."""

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
        """Say which device this is."""
        return " · ".join([escaping.display_label(self.device), self.scheme, f"seed {self.seed}"])


def physics(plan: Plan | None = None, /, **options: Unpack[DriveOptions]) -> Physics:
    """Return what the blocks of a device are: of a plan, or of options, which win.

    >>> import ssdlab
    >>> blocks = ssdlab.physics(device="dlv-mlc-128g", scheme="dlv")
    >>> [group.name for group in blocks.groups]
    ['strong', 'normal']

    No drive is run. docs/concepts/physics.md says what everything means. Raises :class:`InputError`
    if an input is wrong, flat physics among it, under which there is nothing to tell.
    """
    plan = check_plan(Plan() if plan is None else plan)
    (plan,) = with_pipes_read([replace(plan, **options)])
    wire = to_json(plan)
    data: dict[str, Any] = json.loads(_native.physics(wire))
    return from_dict(Physics, data, raw=data, read=input_files_of(f"[{wire}]"))


# As text.
