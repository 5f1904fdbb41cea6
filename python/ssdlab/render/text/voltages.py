"""Program modes: how pages were programmed, how they are used, and how the programs wore cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ssdlab.render.formatting import NONE, digits, share

if TYPE_CHECKING:
    from ssdlab.result import HotnessResult, ProgramModesResult, Result


def voltage_lines(result: Result) -> Iterator[str]:
    """Yield the hotness of pages in the buffer, and the program modes used."""
    if result.buffer is not None and result.buffer.hotness is not None:
        yield from _hotness_lines(result.buffer.hotness)
    if result.program_modes is not None:
        yield from _program_lines(result.program_modes, _weight(result))


def wears_apart(results: Sequence[Result]) -> bool:
    """Tell whether programs of any of these runs wore the cells unlike normal programs."""
    return any(_weight(result) != 1 for result in results)


def _hotness_lines(hotness: HotnessResult) -> Iterator[str]:
    if any(hotness.left.values()):
        names = {name.replace("_", "-"): pages for name, pages in hotness.left.items()}
        # In the order of the drive's counts; JSON may have another order.
        yield f"hotness    {_shares({name: names[name] for name in _HOT})} as they left the buffer"
    if hotness.rewritten:
        yield f"rewritten  {hotness.rewritten:,} pages that were only read"


_HOT = ("read-hot", "mixed", "write-hot")


def _program_lines(program_modes: ProgramModesResult, weight: float) -> Iterator[str]:
    programs = {one.name: one.programs for one in program_modes.each}
    reads = {one.name: one.reads for one in program_modes.each}
    # If all programs are normal, there is nothing to report.
    if not any(one.programs or one.reads for one in program_modes.each[1:]):
        return
    head = "modes"
    if any(programs.values()):
        yield f"{head:<10} {_shares(programs)} of programs"
        head = ""
    if any(reads.values()):
        yield f"{head:<10} {_shares(reads)} of pages read"
    if weight != 1:
        yield f"           a program wears {digits(weight)} times a normal one"


def _weight(result: Result) -> float:
    """Return the mean wear of a program, relative to a normal one; 1 if there was none."""
    programs = sum(one.programs for one in result.program_modes.each) if result.program_modes else 0
    return (result.wearing_weight or 0) / programs if programs else 1.0


def _shares(counts: Mapping[str, int]) -> str:
    whole = sum(counts.values())
    shares = (f"{name} {share(count / whole) if count else NONE}" for name, count in counts.items())
    return ", ".join(shares)
