"""A drive to step by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Unpack

from ssdlab import _native, arguments
from ssdlab.arguments import integer
from ssdlab.plan import DriveOptions, Plan, check_plan, to_json

Op = Literal["read", "write", "trim", "flush"]


@dataclass(frozen=True, slots=True)
class Completion:
    """A request that has ended. Times are nanoseconds of the drive, sectors have 512 bytes.

    ``number`` is what :meth:`Drive.submit` returned; the parts of ``blame_ns`` say where the time
    went (docs/reference/results.md) and sum to the latency; those of zero are left out.
    """

    number: int
    op: Op
    queue: int
    lba: int
    sectors: int
    arrival_ns: int
    end_ns: int
    blame_ns: Mapping[str, int]

    @property
    def latency_ns(self) -> int:
        """Time from arrival to end."""
        return self.end_ns - self.arrival_ns


@dataclass(frozen=True, slots=True)
class DriveCounts:
    """What a drive has done so far: ``ops`` by kind and cause, ``waf`` None before any write."""

    unfinished: int
    waf: float | None
    ops: Mapping[str, Mapping[str, int]]
    retries: int
    gc_blocks: int
    gc_pages: int
    mapped_pages: int


class Drive:
    """A drive that does nothing until it is told: requests by hand, time step by step.

    >>> import ssdlab
    >>> drive = ssdlab.Drive(device="generic-mlc-512g")
    >>> number = drive.submit("write", lba=0, sectors=16)
    >>> [done] = drive.advance()
    >>> done.number == number, done.latency_ns == drive.now_ns
    (True, True)
    >>> drive.sums().ops["program"]["host"]
    1

    It takes the options that say what a drive is and how it starts: :class:`ssdlab.DriveOptions`.
    The requests and their times alone decide what happens: the same calls give the same bits.
    Raises :class:`ssdlab.InputError` for what cannot be.
    """

    def __init__(self, plan: Plan | None = None, /, **options: Unpack[DriveOptions]) -> None:
        """Make the drive of a plan, or of options, which win over those of the plan."""
        self._drive = _native.InteractiveDrive(
            to_json(replace(check_plan(Plan() if plan is None else plan), **options))
        )

    @property
    def sectors(self) -> int:
        """Sectors of 512 bytes that the host can address."""
        return self._drive.sectors

    @property
    def now_ns(self) -> int:
        """The drive's time."""
        return self._drive.now_ns

    @property
    def next_event_ns(self) -> int | None:
        """The next moment at which the drive does something by itself; None when it is idle."""
        return self._drive.next_event_ns

    def submit(
        self,
        op: Op,
        *,
        lba: int = 0,
        sectors: int = 0,
        at_ns: int | None = None,
        queue: int = 0,
        hint: int = 0,
    ) -> int | None:
        """Submit a request; return its number, or None if its queue is full.

        It arrives at ``at_ns``, now if that is not given; what happens before then happens first.
        ``lba`` and ``sectors`` count sectors of 512 bytes; a flush needs neither.
        ``hint`` is how soon the request is wanted: 0 nothing is said, 1 to 3 short to long.
        """
        return self._drive.submit(
            arguments.text("op", op),
            integer("lba", lba, 0),
            integer("sectors", sectors, 0, (1 << 32) - 1),
            None if at_ns is None else integer("at_ns", at_ns, 0),
            integer("queue", queue, 0, 255),
            integer("hint", hint, 0, 3),
        )

    def advance(self, *, until_ns: int | None = None) -> list[Completion]:
        """Let everything happen up to and including a moment, or until the drive is idle.

        Returns the requests that have ended since the last call, in the order of their ends.
        """
        until_ns = None if until_ns is None else integer("until_ns", until_ns, 0)
        return [Completion(**row) for row in json.loads(self._drive.advance(until_ns))]

    def sums(self) -> DriveCounts:
        """Return what the drive has done so far."""
        return DriveCounts(**json.loads(self._drive.sums()))
