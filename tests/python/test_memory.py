"""Does the whole command begin on a drive of 2 TB with little memory?"""

from __future__ import annotations

import subprocess
import sys

from command import COMMAND

WATCH = """
import os, resource, sys
code = os.spawnv(os.P_WAIT, sys.argv[1], sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
"""Waits for a command. A process is told to have been as large as the one that began it was."""


def test_a_new_drive_of_2_tb_takes_less_than_150_mib() -> None:
    run = ["run", "--device", "generic-tlc-2t", "--set", "workload.requests=500"]
    watch = [sys.executable, "-S", "-E", "-c", WATCH]
    done = subprocess.run([*watch, *COMMAND, *run], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stderr.split()[-1]) < 150 * 1024
