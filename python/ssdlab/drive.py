"""A drive that the caller steps through time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Unpack

from ssdlab import _native, arguments
from ssdlab.arguments import integer
from ssdlab.plan import DriveOptions, Plan, check_plan, to_json
from ssdlab.renamed import renamed

Op = Literal["read", "write", "trim", "flush"]


@dataclass(frozen=True, slots=True)
class Completion:
    """A completed request. Times are nanoseconds of the drive; sectors have 512 bytes.

    ``number`` is the value that :meth:`Drive.submit` returned. The parts of ``blame_ns`` say where
    the time went (documentation: "Results"). They sum to the latency; parts of zero are left out.
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
        """The time from arrival to completion."""
        return self.end_ns - self.arrival_ns


@dataclass(frozen=True, slots=True)
class DriveCounts:
    """The counts of a drive so far.

    ``ops`` counts flash operations by kind and cause. ``waf`` is None before any write.
    """

    unfinished: int
    waf: float | None
    ops: Mapping[str, Mapping[str, int]]
    retries: int
    gc_blocks: int
    gc_pages: int
    mapped_pages: int


class Drive:
    """A drive under the caller's control: requests one by one, time step by step.

    >>> import ssdlab
    >>> drive = ssdlab.Drive(device="generic-mlc-512g")
    >>> number = drive.submit("write", lba=0, sectors=16)
    >>> [done] = drive.advance()
    >>> done.number == number, done.latency_ns == drive.now_ns
    (True, True)
    >>> drive.counts().ops["program"]["host"]
    1

    The options describe the drive and its start: :class:`ssdlab.DriveOptions`. Only the requests
    and their times determine the results: the same calls give the same bits. Raises
    :class:`ssdlab.InputError` if an input is invalid.
    """

    def __init__(self, plan: Plan | None = None, /, **options: Unpack[DriveOptions]) -> None:
        """Create the drive of a plan; options override those of the plan."""
        self._drive = _native.InteractiveDrive(
            to_json(replace(check_plan(Plan() if plan is None else plan), **options))
        )

    if not TYPE_CHECKING:
        __getattr__ = renamed("Drive")

    @property
    def sectors(self) -> int:
        """The number of 512-byte sectors that the host can address."""
        return self._drive.sectors

    @property
    def now_ns(self) -> int:
        """The drive's time in nanoseconds."""
        return self._drive.now_ns

    @property
    def next_event_ns(self) -> int | None:
        """The time of the drive's next event; None if the drive is idle."""
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

        The request arrives at ``at_ns``, by default now. The drive first processes all earlier
        events. ``lba`` and ``sectors`` count sectors of 512 bytes; a flush needs neither. ``hint``
        is the wanted latency: 0 for no hint, 1 to 3 for short to long. Raises :class:`InputError`
        if a value is invalid.
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
        """Process all events up to and including ``until_ns``, or until the drive is idle.

        Returns the requests that completed since the last call, in the order of completion.
        """
        until_ns = None if until_ns is None else integer("until_ns", until_ns, 0)
        return [Completion(**row) for row in json.loads(self._drive.advance(until_ns))]

    def counts(self) -> DriveCounts:
        """Return the counts of the drive so far."""
        return DriveCounts(**json.loads(self._drive.counts()))
