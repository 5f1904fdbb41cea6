"""How traces are read, and which part of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab import arguments
from ssdlab.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read traces, and which part of them; by default all, as the format says.

    ``set`` holds lines ``workload.trace.KEY=VALUE``. ``start`` and ``end`` are times such as
    ``"10s"`` since the first request; requests from ``start`` on and before ``end`` are read.
    ``one_page_in`` samples addresses: it keeps requests that begin in one of so many pages of 4
    KiB, chosen by ``seed``. ``limit`` is the maximum number of requests.
    """

    set: Sequence[str] = ()
    start: str | None = None
    end: str | None = None
    one_page_in: int = 1
    seed: int = 1
    limit: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the options as the Rust extension reads them."""
        return {
            "set": arguments.text_list("--set", self.set),
            "from": arguments.optional_text("--from", self.start),
            "to": arguments.optional_text("--to", self.end),
            "one_page_in": arguments.integer(
                "one_page_in", self.one_page_in, 1, arguments.MAX_COUNT
            ),
            "seed": arguments.integer("--seed", self.seed, 0),
            "limit": arguments.optional_integer("--limit", self.limit),
        }

    def wire(self) -> str:
        """Return the options as JSON text for the Rust extension."""
        return json.dumps(self.to_wire())


def check_reading(reading: Reading | None) -> Reading:
    """Return how to read, by default everything; refuse anything but a :class:`Reading`."""
    if reading is not None and not isinstance(reading, Reading):
        raise arguments.invalid("reading", reading, "a Reading")
    return reading or Reading()


def parse_sampling(option: str, text: str) -> int:
    """Parse ``1/16`` as 16."""
    one, slash, count = text.partition("/")
    if one.strip() == "1" and slash and count.strip().isdecimal() and 1 <= int(count) < 1 << 32:
        return int(count)
    raise InputError.at(option, f"got {text!r}, expected 1/N with a whole number N, such as 1/16")
