"""Does the whole command begin on a drive of 2 TB with little memory, new or used?"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from command import COMMAND

WATCH = """
import os, resource, sys
code = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
"""Waits for a command. A process is told to have been as large as the one that began it was."""


HISTORY = (
    'start.history={span="90d",tenants=['
    '{footprint="200GiB",writes_per_day="50GiB",reads_per_day="100GiB"},'
    '{footprint="400GiB",writes_per_day="20GiB",reads_per_day="200GiB"},'
    '{footprint="800GiB",writes_per_day="5GiB",reads_per_day="50GiB"}]}'
)
"""The history of the benchmark case ``start-2t-history``."""

MACHINE_MIB = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_mib(*options: str) -> float:
    """Return the peak memory of a run of 500 requests."""
    run = ["run", "--set", "workload.requests=500", *options]
    watch = [sys.executable, "-S", "-E", "-c", WATCH]
    done = subprocess.run([*watch, *COMMAND, *run], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stderr.split()[-1]) / 1024


def test_a_new_drive_of_2_tb_takes_less_than_150_mib() -> None:
    assert peak_mib("--device", "generic-tlc-2t") < 150


@pytest.mark.skipif(MACHINE_MIB < 3 * 1024, reason="the machine has too little memory")
def test_2_tb_after_a_history_of_90_days_take_less_than_1536_mib() -> None:
    drive = ["--device", "readguard-tlc-2t", "--scheme", "readguard/rgftl"]
    sets = ["--set", "start.fill=90%", "--set", "host.queues=3", "--set", HISTORY]
    # A drive without the data of its tenants would take less.
    assert 800 < peak_mib(*drive, *sets) < 1.5 * 1024
