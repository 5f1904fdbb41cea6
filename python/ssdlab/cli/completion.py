"""Completion of the values that options and arguments take, for ``shell_complete=``.

A shell calls the command at every press of Tab, so nothing here runs or opens a drive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

import click

from ssdlab import _native
from ssdlab.stages import STAGES

Complete = Callable[[click.Context, click.Parameter, str], list[str]]

_KEY = re.compile(r"^\| `([a-z0-9_.]+)` \|", re.MULTILINE)
"""A key in a row of the list of keys. Keys of list items (``placement[]``) cannot be set alone."""


def _completion(names: Callable[[], Iterable[str]]) -> Complete:
    """Return a completion of one of these names; ``compare`` takes several, with commas between."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        try:
            is_list = ctx.command.name == "compare"
            before, comma, last = incomplete.rpartition(",") if is_list else ("", "", incomplete)
            return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]
        except Exception:  # noqa: BLE001  a traceback would appear in the line that is being typed
            return []

    return complete


def _devices() -> list[str]:
    return [name for name, _ in _native.presets()]


def _schemes() -> list[str]:
    return [name for name, _ in _native.schemes()]


def _twins() -> list[str]:
    return [twin["name"] for twin in json.loads(_native.twins())]


def _workloads() -> list[str]:
    return [*_native.workloads(), *_twins()]


def _settings() -> list[str]:
    """Return the beginning of every setting: a key and the equals sign."""
    return [f"{key}=" for key in _KEY.findall(_native.keys_markdown())]


def _trace_settings() -> list[str]:
    return [key for key in _settings() if key.startswith("workload.trace.")]


device = _completion(_devices)
stage = _completion(lambda: STAGES)
scheme = _completion(_schemes)
workload = _completion(_workloads)
twin = _completion(_twins)
setting = _completion(_settings)
trace_setting = _completion(_trace_settings)
