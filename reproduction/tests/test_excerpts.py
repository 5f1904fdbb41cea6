"""The table of headlines on excerpts of real traces."""

from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.confidence import interval
from ssdlab_reproduction import runs
from ssdlab_reproduction.statistics import percent, reads
from ssdlab_reproduction.systems.hire import DEVICE
from ssdlab_reproduction.tables import excerpts
from ssdlab_reproduction.tables.common import DOCS, Kept, load

ROWS = ["time_us,dev,op,offset_bytes,size_bytes"] + [
    f"{at * 50},0,{'R' if at % 3 else 'W'},{at % 7 * 4096},4096" for at in range(60)
]


class KeptThere(Kept):
    """Runs that are kept in another folder."""

    def __init__(self, folder: Path) -> None:
        runs.RunStore.__init__(self, folder)


def test_a_headline_is_found_on_the_excerpt_and_on_the_cut_twin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hire = DEVICE
    line = excerpts.Headline(
        *("hire", "H1", hire, "hire/baseline", "hire/hvc", "reads", reads, ("stg1",))
    )
    monkeypatch.setattr(excerpts, "HEADLINES", (line,))
    monkeypatch.setattr(excerpts, "EXCERPTS", {"stg1": "some"})
    monkeypatch.setattr(excerpts, "FILE", "trace.csv")
    (tmp_path / "some").mkdir()
    trace = tmp_path / "some" / "trace.csv"
    trace.write_text("\n".join(ROWS) + "\n", encoding="utf-8")

    def change(**load: Any) -> str:
        found = [
            percent(
                *(
                    reads(ssdlab.run(device=hire, seed=seed, scheme=f"hire/{scheme}", **load))
                    for scheme in ("hvc", "baseline")
                )
            )
            for seed in excerpts.SEEDS
        ]
        both = interval(found)
        return f"{both.mean:+.1f} ± {both.half_width_95:.1f} %".replace("-", "−")

    head, _, row, _ = excerpts.lines(KeptThere(tmp_path / "kept"), tmp_path)
    assert head.endswith("| load of excerpt | twin | twin, at the excerpt's rate | excerpt |")
    rate, share = load("hire/stg1")
    cells = [f"{rate:.1f}/s, {100 * share:.0f} % reads", "20339.0/s, 67 % reads"]
    # 60 requests in 2,950 us.
    own, real = change(workload="hire/stg1", limit=60), change(trace=trace, wrap=True, limit=60)
    faster = change(workload="hire/stg1", limit=60, time_scale=rate / 20338.983050847455)
    assert row.split(" | ")[4:] == [*cells, own, faster, f"{real} |"]


def test_the_page_has_every_headline() -> None:
    text = (DOCS / "ledger.md").read_text(encoding="utf-8")
    for line in excerpts.HEADLINES:
        for workload in line.workloads:
            of = f"| {line.of} under `{line.scheme.partition('/')[2]}` | {workload} |"
            assert f"({line.claim}) {of}" in text
