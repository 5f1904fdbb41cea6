"""Results and files as other libraries read them."""

import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import ssdlab
import ssdlab_reproduction

LITTLE = ssdlab.Plan(workload="random", limit=500, set={"workload.footprint": "64MiB"})


WITHOUT_ARROW = """
import importlib, sys
sys.modules["pyarrow"] = None
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def test_a_table_without_arrow_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ssdlab.compare([LITTLE])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install '\.\[arrow\]'"):
        result.to_arrow()


def test_everything_is_there_without_arrow() -> None:
    names = [
        one.name
        for package in (ssdlab, ssdlab_reproduction)
        for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if one.name != "ssdlab.__main__" and "tables" not in one.name
    ]
    expected = {"ssdlab.cli.reproduce", "ssdlab.render.html.page"}
    assert expected | {f"ssdlab_reproduction.{part}.dlv" for part in ("systems", "pictures")} < {
        *names
    }
    command = [sys.executable, "-c", WITHOUT_ARROW, *names, "ssdlab_command"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_comparison_is_a_table_with_a_row_a_result() -> None:
    comparison = ssdlab.compare(ssdlab.sweep(LITTLE, vary={"scheduler": ["fifo", "read_first"]}))
    table = comparison.to_arrow()
    polars, pandas = pl.DataFrame(table), table.to_pandas()
    assert polars["vary.scheduler"].to_list() == ["fifo", "read_first"]
    means = [result.read.latency_us.mean for result in comparison]
    assert polars["read.latency_us.mean"].to_list() == means
    assert isinstance(pandas, pd.DataFrame)
    assert list(pandas["seed"]) == [1, 1]
    assert pandas["requests"].sum() == 1000
    # What only one of two results has is null in the other.
    both = ssdlab.compare(
        [LITTLE, ssdlab.Plan(workload="random", limit=500, set={"buffer.size": "1MiB"})]
    )
    assert both.to_arrow()["buffer.hit_ratio"].null_count == 1


def test_a_series_is_a_table_with_a_row_an_interval() -> None:
    result = ssdlab.run(LITTLE, detail=True, interval="10ms")
    series = pl.DataFrame(result.series_to_arrow())
    assert series["reads"].sum() == result.read.requests
    assert (series["end_s"] - series["start_s"]).max() == pytest.approx(0.01)
    with pytest.raises(ValueError, match="detail=True"):
        ssdlab.run(LITTLE).series_to_arrow()


def test_a_series_says_of_itself_what_a_file_of_it_does(tmp_path: Path) -> None:
    path = tmp_path / "series.parquet"
    mix = ["one=dlv/hm0", "two=dlv/fin2"]
    workloads = []
    for run in ({"workload": "dlv/hm0"}, {"mix": mix, "set": {"host.queues": 2}}):
        plan = ssdlab.Plan(**run, limit=200, wrap=True, interval="1s", detail=True, series=path)
        result = ssdlab.run(plan)
        assert result.series_to_arrow().schema.metadata.keys() == {
            key for key in pq.read_metadata(path).metadata if key.startswith(b"ssdlab.")
        }
        for key, value in result.series_to_arrow().schema.metadata.items():
            written = pq.read_metadata(path).metadata[key]
            if key in {b"ssdlab.config", b"ssdlab.plan", b"ssdlab.mix"}:
                assert json.loads(value) == json.loads(written), key
            else:
                assert value == written, key
        workloads.append(result.series_to_arrow().schema.metadata[b"ssdlab.workload"].decode())
    twins = ["twin of hm_0 (DLV)", "twin of Financial2 (DLV)"]
    assert workloads == [twins[0], f"mix of one ({twins[0]}) + two ({twins[1]})"]


def test_files_of_a_run_are_read_by_others(tmp_path: Path) -> None:
    files = {"log": tmp_path / "log.parquet", "series": tmp_path / "series.parquet"}
    result = ssdlab.run(LITTLE, log=files["log"], series=files["series"], interval="10ms")
    log = pl.read_parquet(files["log"])
    assert len(log) == result.requests
    reads = log.filter(pl.col("op") == "read")["latency_ns"]
    assert reads.max() == pytest.approx(result.read.latency_us.max * 1000)
    assert pd.read_parquet(files["series"])["writes"].sum() == result.write.requests
    about = pq.read_metadata(files["log"]).metadata
    assert about[b"ssdlab.config_hash"].decode() == result.provenance.config_hash
    assert about[b"ssdlab.seed"] == b"1"
