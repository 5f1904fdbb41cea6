# The Rust side, in crates/ssdlab-py. `make test` holds this stub against it.
import os
from collections.abc import Callable, Sequence
from typing import Final, final

__all__ = [
    "SCHEMA_VERSION",
    "Hand",
    "__version__",
    "effective",
    "formats",
    "keys_markdown",
    "ldpc",
    "load_state",
    "nearest",
    "panic_for_test",
    "physics",
    "preset_text",
    "presets",
    "result_schema",
    "run",
    "save_state",
    "schema",
    "scheme_text",
    "schemes",
    "show_twin",
    "trace_convert",
    "trace_formats",
    "trace_info",
    "trace_mix",
    "twins",
    "workloads",
]

__version__: Final[str]
SCHEMA_VERSION: Final[int]

def run(
    plans: str,
    jobs: int,
    progress: Callable[[list[tuple[float | None, int, bool, bool]]], object] | None = None,
) -> tuple[str, bool]: ...
def save_state(
    plan: str,
    path: str | os.PathLike[str],
    progress: Callable[[list[tuple[float | None, int, bool, bool]]], object] | None = None,
) -> tuple[str, bool]: ...
def load_state(path: str | os.PathLike[str]) -> str: ...

@final
class Hand:
    def __new__(cls, plan: str) -> Hand: ...
    @property
    def sectors(self) -> int: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def next_event_ns(self) -> int | None: ...
    def submit(
        self, op: str, lba: int, sectors: int, at_ns: int | None, queue: int, hint: int
    ) -> int | None: ...
    def advance(self, until_ns: int | None) -> str: ...
    def sums(self) -> str: ...

def twins() -> str: ...
def show_twin(
    name: str,
    requests: int | None,
    seed: int,
    progress: Callable[[list[tuple[float | None, int, bool, bool]]], object] | None = None,
) -> tuple[str, bool]: ...
def presets() -> list[tuple[str, str]]: ...
def preset_text(name: str) -> str: ...
def schemes() -> list[tuple[str, str]]: ...
def scheme_text(name: str) -> str: ...
def workloads() -> list[str]: ...
def formats() -> list[str]: ...
def trace_info(
    traces: Sequence[str],
    reading: str,
    reuse: bool,
    progress: Callable[[list[tuple[float | None, int, bool, bool]]], object] | None = None,
) -> tuple[str, bool]: ...
def trace_convert(
    trace: str,
    out: str,
    reading: str,
    progress: Callable[[list[tuple[float | None, int, bool, bool]]], object] | None = None,
) -> tuple[str, bool]: ...
def trace_mix(
    order: str,
    out: str,
    progress: Callable[[list[tuple[float | None, int, bool, bool]]], object] | None = None,
) -> tuple[str, bool]: ...
def trace_formats() -> str: ...
def physics(plan: str) -> str: ...
def ldpc(
    order: str,
    progress: Callable[[list[tuple[float | None, int, bool, bool]]], object] | None = None,
) -> tuple[str, bool]: ...
def effective(plan: str) -> tuple[str, str, str]: ...
def schema() -> str: ...
def result_schema() -> str: ...
def keys_markdown() -> str: ...
def nearest(typed: str, candidates: Sequence[str]) -> str | None: ...
def panic_for_test(message: str) -> None: ...
