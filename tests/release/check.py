"""Install a wheel into a bare environment, and use it as its first user would.

Usage: check.py WHEEL COMMAND. COMMAND is `ssdlab` of another build: both must give the same
results to the bit.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
OFFICE = ROOT / "examples" / "office.csv.xz"
DEVICES = ("generic-mlc-512g", "readguard-tlc-500g")


def output(*command: object, code: int = 0, folder: Path | None = None) -> str:
    """Return what a command prints; it must end with this code."""
    done = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False
    )
    printed = done.stdout + done.stderr
    if done.returncode != code:
        raise SystemExit(f"{command}: exit code {done.returncode}, not {code}\n{printed}")
    return printed


def digest(ssdlab: Path, device: str, folder: Path) -> str:
    """Return the digest of a run's results."""
    result = folder / "result.json"
    run = ("run", "--device", device, "--workload", "zipf", "--limit", 20_000, "--json", result)
    output(ssdlab, *run, folder=folder)
    found = re.search(r'"results_digest":\s*"(\w+)"', result.read_text(encoding="utf-8"))
    if not found:
        raise SystemExit(f"{ssdlab} run --json: no digest")
    result.unlink()
    return found[1]


def use(bare: Path, other: Path, folder: Path) -> str:
    """Use an installation far from the checkout; return its build profile."""
    ssdlab = bare / "bin" / "ssdlab"
    version = output(
        bare / "bin" / "python", "-c", "import ssdlab; print(ssdlab.__version__)", folder=folder
    )
    assert output(ssdlab, "--version", folder=folder) == f"ssdlab {version}"
    doctor = output(ssdlab, "doctor", folder=folder)
    assert str(bare) in doctor, doctor
    assert "reproduction       not installed: pip install ./reproduction" in doctor, doctor
    output(ssdlab, "run", "--trace", OFFICE, "--report", "report.html", folder=folder)
    assert (folder / "report.html").stat().st_size > 100_000
    # The Python of the README; its paths are those of a checkout.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    block = block.replace("examples/", f"{OFFICE.parent}/")
    output(bare / "bin" / "python", "-c", block, folder=folder)
    table = "import ssdlab; ssdlab.compare([ssdlab.Plan(workload='zipf', limit=10)]).to_arrow()"
    missing = output(bare / "bin" / "python", "-c", table, code=1, folder=folder)
    assert "pip install '.[arrow]'" in missing, missing
    for device in DEVICES:
        mine, theirs = digest(ssdlab, device, folder), digest(other, device, folder)
        assert mine == theirs, f"{device}: {mine} of the wheel, {theirs} of {other}"
    found = re.search(r"^build\s+(\w+) profile", doctor, re.MULTILINE)
    assert found, doctor
    return found[1]


def main(wheel: Path, other: Path) -> None:
    """Try a wheel."""
    with tempfile.TemporaryDirectory() as made:
        bare, folder = Path(made, "bare"), Path(made, "work")
        folder.mkdir()
        venv.create(bare, with_pip=True)
        pip = (bare / "bin" / "python", "-m", "pip", "install", "--quiet")
        output(*pip, "--only-binary", ":all:", wheel)
        profile = use(bare, other.absolute(), folder)
    print(f"{wheel.name} ({profile} profile): installed and used without a checkout")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
