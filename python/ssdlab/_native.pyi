# The Rust side, in crates/ssdlab-py. `make test` holds this stub against it.
import os
from collections.abc import Callable, Sequence
from typing import Final

__all__ = [
    "SCHEMA_VERSION",
    "__version__",
    "effective",
    "formats",
    "keys_markdown",
    "load_state",
    "nearest",
    "panic_for_test",
    "preset_text",
    "presets",
    "result_schema",
    "run",
    "save_state",
    "schema",
    "scheme_text",
    "schemes",
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
def presets() -> list[tuple[str, str]]: ...
def preset_text(name: str) -> str: ...
def schemes() -> list[tuple[str, str]]: ...
def scheme_text(name: str) -> str: ...
def workloads() -> list[str]: ...
def formats() -> list[str]: ...
def effective(plan: str) -> tuple[str, str, str]: ...
def schema() -> str: ...
def result_schema() -> str: ...
def keys_markdown() -> str: ...
def nearest(typed: str, candidates: Sequence[str]) -> str | None: ...
def panic_for_test(message: str) -> None: ...
