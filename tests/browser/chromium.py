"""Chromium without a window, driven over a pipe by its own protocol: nothing else is needed."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60.0

# The protocol is spoken over the descriptors 3 and 4.
_PLACE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def executable() -> str | None:
    """Where Chromium is, if it is anywhere."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are in nobody's way."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


class Chromium:
    """A browser that cannot reach any network, only this machine."""

    def __init__(self) -> None:
        binary = executable()
        assert binary is not None, "no Chromium: apt-get install chromium"
        self._home = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        from_us, self._write = _pipe()
        self._read, to_us = _pipe()
        arguments = [
            *(binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"),
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
            "--disable-background-networking",
            *(f"--user-data-dir={self._home.name}", "--remote-debugging-pipe", "about:blank"),
        ]

        self._process = subprocess.Popen(
            [sys.executable, "-c", _PLACE, str(from_us), str(to_us), *arguments],
            pass_fds=(from_us, to_us),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(to_us)
        self._pending = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._home.cleanup()

    def call(self, method: str, session: str | None = None, **parameters: object) -> Any:
        """Ask for something and wait for the answer; what happens meanwhile is kept."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            read = os.read(self._read, 1 << 16)
            assert read, "Chromium has ended"
            self._pending += read
        text, _, self._pending = self._pending.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def page(self, width: int = 1280, height: int = 900, dark: bool = False) -> Page:
        """A new, empty page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.dark(dark)
        return page


class Page:
    """A page of the browser."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser = browser
        self._session = session

    def call(self, method: str, **parameters: object) -> Any:
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width: int, height: int = 900) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def dark(self, wanted: bool) -> None:
        value = "dark" if wanted else "light"
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, path: Path) -> None:
        self.visit(path.resolve().as_uri())

    def visit(self, address: str) -> None:
        self.call("Page.navigate", url=address)

    def value(self, expression: str) -> Any:
        """What an expression is worth in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str, holds: Callable[[Any], bool] = bool) -> Any:
        """Wait until an expression is what it should be."""
        end = time.monotonic() + PATIENCE
        while not holds(found := self.value(expression)):
            assert time.monotonic() < end, f"{expression}: still {found!r}; {self.complaints()}"
            time.sleep(0.05)
        return found

    def press_tab(self) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9
            )

    def complaints(self) -> list[str]:
        """What the page has written to the console, and exceptions that nobody caught."""
        found = []
        for event in self._events():
            parameters = event["params"]
            match event["method"]:
                case "Runtime.consoleAPICalled" if parameters["type"] in {"error", "warning"}:
                    texts = (str(each.get("value", each)) for each in parameters["args"])
                    found.append(" ".join(texts))
                case "Runtime.exceptionThrown":
                    found.append(json.dumps(parameters["exceptionDetails"])[:500])
                case "Log.entryAdded" if parameters["entry"]["level"] in {"error", "warning"}:
                    found.append(parameters["entry"]["text"])
        return found

    def requested(self) -> list[str]:
        """Every address that the page has asked for."""
        sent = (each for each in self._events() if each["method"] == "Network.requestWillBeSent")
        return [each["params"]["request"]["url"] for each in sent]

    def _events(self) -> list[dict[str, Any]]:
        return [each for each in self._browser.events if each.get("sessionId") == self._session]

    def picture(self, path: Path) -> None:
        """Take a picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))
