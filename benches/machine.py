"""The processor, the memory and the commit that a measurement belongs to."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


def processor() -> str:
    """Return the processor's model name and the number of logical processors."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    names = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return f"{next(names, platform.machine())}, {os.cpu_count()} processors"


def memory_gb() -> float:
    """Return the machine's memory in GB."""
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)


def commit(*paths: str) -> str | None:
    """Return the last commit, or the last that changed these paths; None outside a checkout."""
    root = Path(__file__).parents[1]
    command = ["git", "-C", str(root), "log", "-1", "--format=%h", "--", *paths]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
