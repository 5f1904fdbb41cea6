"""Does the comparison with MQSim give it our drive and our requests, and say what came of both?"""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benches/against_mqsim.py"
FAKE = """#!{python}
import shutil, sys
assert sys.argv[1::2] == ["-i", "-w"]
for name in (sys.argv[2], sys.argv[4], "trace"):
    shutil.copy(name, {kept!r} + "/" + name)
with open("workload_scenario_1.xml", "w") as result:
    result.write("<a><b><Device_Response_Time>12</Device_Response_Time></b></a>")
"""


def against(binary: Path, *options: str, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(script), str(binary), "--requests", "200", "--runs", "1"]
    return subprocess.run([*command, *options], check=False, capture_output=True, text=True)


def program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_both_have_the_same_drive_and_the_same_requests(tmp_path: Path) -> None:
    fake = program(tmp_path / "fake", FAKE.format(python=sys.executable, kept=str(tmp_path)))
    done = against(fake, "--save", str(tmp_path / "kept"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("mean response 12 µs") == 2
    assert done.stdout.count("  ratio ") == 2
    kept = json.loads((tmp_path / "kept/against_mqsim.json").read_text())
    assert kept["writes"]["mqsim"][0]["mean_us"] == 12
    assert kept["mixed"]["ssdlab"][0]["peak_mb"] > 20
    # Kept is what the last case had: the small drive.
    drive = ET.parse(tmp_path / "drive.xml").getroot()
    values = {part.tag: part.text for part in drive.iter() if not len(part)}
    expected = {
        "Flash_Channel_Count": "2",
        "Block_No_Per_Plane": "256",
        "Page_Capacity": "8192",
        "Page_Program_Latency_MSB": "750000",
        "Block_Erase_Latency": "3800000",
        "Channel_Transfer_Rate": "333",
        "Overprovisioning_Ratio": "0.127",
        "GC_Exec_Threshold": "0.05",
        "Plane_Allocation_Scheme": "CWDP",
    }
    assert {name: values[name] for name in expected} == expected
    flow = ET.parse(tmp_path / "workload.xml").getroot()
    assert flow.findtext(".//Chip_IDs") == "0,1"
    assert flow.findtext(".//File_Path") == "trace"
    lines = (tmp_path / "trace").read_text().splitlines()
    assert len(lines) == 200
    assert all(line.split()[3:] == ["16", "0"] for line in lines)


def test_a_program_that_is_no_mqsim_is_refused(tmp_path: Path) -> None:
    silent = against(program(tmp_path / "silent", "#!/bin/sh\n"))
    assert (silent.returncode, silent.stderr.count("\n")) == (2, 1)
    assert "wrote no workload_scenario_1.xml: expected MQSim" in silent.stderr
    failing = against(program(tmp_path / "failing", "#!/bin/sh\necho no such key\nexit 3\n"))
    assert (failing.returncode, failing.stderr.count("\n")) == (2, 1)
    assert "it failed: no such key" in failing.stderr
    none = against(program(tmp_path / "none", "neither a script nor a program"))
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)
    assert "it cannot be run: expected a program" in none.stderr
    nowhere = against(tmp_path / "silent", "--save", str(tmp_path / "silent" / "figures"))
    assert (nowhere.returncode, nowhere.stderr.count("\n")) == (2, 1)
    assert nowhere.stderr.startswith("--save: cannot write")
