"""The applications of a mix in text form: ``NAME=FILE:FORMAT@queue=0,scale=2``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from ssdlab import arguments
from ssdlab.errors import InputError, quoted
from ssdlab.labels import PRIORITIES
from ssdlab.suggestions import did_you_mean

APP_FORM = "[NAME=]FILE[:FORMAT]|TWIN[@queue=N,scale=X,start=TIME,offset=auto|SIZE]"


@dataclass(frozen=True, slots=True)
class App:
    """An application of a mix: a trace or a twin, with the queue, times and addresses to use.

    ``trace`` is a file or, if no such file exists, a twin such as ``"dlv/hm0"``. ``queue`` is the
    submission queue of all its requests; 0 has the highest priority. If it is None, the application
    has its own queue in a run; in a file, the trace decides, mostly for 0. ``scale`` is the factor
    on the times between requests. ``start`` is the time of the first request, such as ``"10s"``.
    ``offset`` is added to the addresses, such as ``"64GiB"``; ``"auto"`` places them behind the
    applications before it.
    """

    trace: str | os.PathLike[str]
    name: str = ""
    queue: int | None = None
    scale: float | None = None
    start: str | None = None
    offset: str | None = None

    @property
    def file(self) -> str:
        """Return the trace or the twin as a string."""
        return arguments.path("trace", self.trace)

    def to_wire(self) -> dict[str, Any]:
        """Return the application as the Rust extension reads it, without unset fields."""
        wire = {field.name: getattr(self, field.name) for field in fields(self)}
        wire["trace"] = self.file
        return {key: value for key, value in wire.items() if value is not None}


# A name that every format can hold, and a text that begins with such a name.
_NAME = r"[A-Za-z0-9_.+-]+"
_NAMED = re.compile(rf"({_NAME})=(.*)", re.DOTALL)
_KEYS = ("queue", "scale", "start", "offset")


def parse(texts: Sequence[str], option: str = "APP") -> list[App]:
    """Parse the applications of a mix; one without a name takes that of its file or twin."""
    return parse_apps(option, texts)


def apps_by_priority(texts: Sequence[str], option: str = "APPS") -> list[App]:
    """Parse applications by priority: ``high=A,mid=B@scale=0.1,low=C``, or one per text.

    Applications named high, mid and low use the queues 0, 1 and 2, unless they set a queue. Any
    other application must set its queue.
    """
    apps = parse_apps(
        option, [one for text in arguments.text_list(option, texts) for one in _split(text)]
    )
    return [app if app.queue is not None else _with_queue(option, app) for app in apps]


def _with_queue(option: str, app: App) -> App:
    """Return the application with the queue of its name."""
    if app.name not in PRIORITIES:
        nearest = did_you_mean(app.name, PRIORITIES)
        expected = f"{', '.join(PRIORITIES)}, or @queue=N behind its file{nearest}"
        raise InputError.at(option, f"got the application {app.name!r}, expected {expected}")
    return replace(app, queue=PRIORITIES.index(app.name))


def _split(text: str) -> list[str]:
    """Split at the commas that precede a name, unless the name is that of a setting."""
    if _exists(text):
        return [text]
    parts = [""]
    for piece in text.split(","):
        begins = re.match(_NAME + "=", piece)
        if begins and begins.group()[:-1] not in _KEYS and parts != [""]:
            parts.append(piece)
        else:
            parts[-1] += ("," if parts[-1] else "") + piece
    return parts


def parse_apps(option: str, values: Sequence[App | str]) -> list[App]:
    """Return applications from values or texts, each with its own name.

    Error messages name ``option``.
    """
    apps = [
        _parse_app(option, arguments.text(option, app))
        if isinstance(app, str)
        else check_app(option, app)
        for app in arguments.sequence(option, values)
    ]
    called = [app if app.name else replace(app, name=_stem(app.file)) for app in apps]
    distinct: list[App] = []
    for app in called:
        taken = {other.name for other in distinct}
        if app.name in taken and any(app.name == other.name for other in apps):
            raise InputError.at(option, f"got the name {app.name!r} twice, expected each name once")
        names = (app.name, *(f"{app.name}_{count}" for count in range(2, len(called) + 2)))
        distinct.append(replace(app, name=next(name for name in names if name not in taken)))
    return distinct


def check_app(option: str, app: App) -> App:
    """Return an application with plain values; refuse an invalid one."""
    if not isinstance(app, App):
        raise arguments.invalid(option, app, f"an App or its text, {APP_FORM}")
    file = arguments.path(option, app.trace)
    name = arguments.text(option, app.name)
    place = f"{option} {name or file}"
    values = {key: arguments.unwrap(getattr(app, key)) for key in _KEYS}
    for key in ("queue", "scale"):
        if values[key] is not None:
            values[key] = _value(place, key, quoted(values[key]))
    for key in ("start", "offset"):
        values[key] = arguments.optional_text(f"{place} {key}", values[key])
    return App(file, name, **values)


def _parse_app(option: str, text: str) -> App:
    """Parse one application. If a file has the whole text as its name, it is that file."""
    if _exists(text):
        return App(text)
    trace, at, settings = text.rpartition("@")
    if not at or "=" not in settings or _exists(settings):
        trace, settings = text, ""
    name = ""
    if not _exists(trace) and (found := re.fullmatch(_NAMED, trace)):
        name, trace = found.groups()
    if not trace:
        raise InputError.at(option, f"got {text!r}, expected {APP_FORM}")
    return _with_settings(App(trace, name), f"{option} {text}", settings)


def _with_settings(app: App, place: str, settings: str) -> App:
    """Return the application with its settings."""
    values: dict[str, Any] = {}
    for setting in settings.split(",") if settings else ():
        key, equals, value = (part.strip() for part in setting.partition("="))
        if key not in _KEYS or not equals:
            nearest = "" if key in _KEYS else did_you_mean(key, _KEYS)
            expected = f"{', '.join(f'{known}=…' for known in _KEYS)}"
            raise InputError.at(place, f"got {setting!r}, expected {expected}{nearest}")
        if key in values:
            raise InputError.at(place, f"got {key!r} twice, expected each once")
        values[key] = _value(place, key, value)
    return replace(app, **values)


def _value(place: str, key: str, value: str) -> object:
    """Return the value of a setting. Times and sizes stay text; the Rust extension parses them."""
    if key == "queue":
        if not value.isdecimal() or int(value) > 255:
            found = f"got queue={value}, expected a whole number from 0 to 255"
            raise InputError.at(place, found)
        return int(value)
    if key == "scale":
        try:
            scale = float(value)
        except ValueError:
            scale = 0.0
        if not 0 < scale < float("inf"):
            raise InputError.at(place, f"got scale={value}, expected a number above 0")
        return scale
    return value


def _exists(name: str) -> bool:
    """Tell whether such a file exists; a name that no file can have does not."""
    return os.path.exists(name)  # noqa: PTH110  Path.exists raises if a name is too long


def _stem(trace: str) -> str:
    """Return the file's name without its suffixes."""
    name = Path(trace).name.split(":")[0]
    return re.sub(r"[^A-Za-z0-9_.+-]", "_", name.split(".")[0] or name)
