"""An invalid input of `ssdlab trace` ends with a one-line error and the exit code 2."""

from pathlib import Path

import pytest
from command import Ssdlab

WRITABLE = "ssdlab, msr, spc, mqsim, disksim, fio, parquet"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.csv"
    path.write_text("time_us,dev,op,offset_bytes,size_bytes\n0,a,R,0,512\n4000000,b,W,0,512\n")
    return path


# Arguments after `ssdlab trace`, and the line.
WRONG = [
    ("inof few.csv", "ssdlab trace: no such command 'inof' (did you mean \"info\"?)"),
    ("info", "ssdlab trace info: missing FILE[:FORMAT]..."),
    ("info none.csv", "none.csv: no such file"),
    ("info few.csv --limit 0", "--limit: got '0', expected a whole number from 1"),
    (
        "info few.csv --from 3",
        '--from: invalid value: got "3", expected a time with its unit, such as "10s"',
    ),
    ("info few.csv --from 3s --to 2s", "--to: invalid value: got 2s, expected a time after 3s"),
    (
        "info few.csv --from 1h",
        (
            "few.csv: no request is left: expected at least one within --from, --to and "
            "--sample-addresses"
        ),
    ),
    (
        "info few.csv --sample-addresses 0.1",
        "--sample-addresses: got '0.1', expected 1/N with a whole number N, such as 1/16",
    ),
    (
        "info few.csv --set scheduler=fifo",
        (
            "--set scheduler=fifo: no setting of how a trace is read: got scheduler, "
            "expected workload.trace.device, .tick, .unsorted, .columns or .max_request"
        ),
    ),
    ("info few.csv --json no/such", '--json: cannot write "no/such": No such file or directory'),
    (
        "convert few.csv out",
        (
            "out: no format is named, and the file name has no known extension: got no extension, "
            f"expected .csv, .parquet or FILE:FORMAT with one of {WRITABLE}"
        ),
    ),
    (
        "convert few.csv out:csv",
        (
            f"out: a format that is not written: got csv, expected one of {WRITABLE} "
            "(our own CSV is called ssdlab)"
        ),
    ),
    (
        "info dlv/hm0",
        "dlv/hm0: no such file (a workload has this name: ssdlab workload show dlv/hm0)",
    ),
    (
        "convert few.csv few.csv",
        'OUT: the file that IN reads: got "few.csv", expected another file',
    ),
    ("convert few.csv .:msr", 'OUT: cannot write ".": is a folder'),
    (
        "convert few.csv /dev/null:msr",
        'OUT: cannot write "/dev/null": is a pipe or a device',
    ),
    (
        "convert few.csv no/out.csv",
        'OUT: cannot write "no/out.csv": No such file or directory',
    ),
    (
        "convert few.csv out.parquet.gz",
        (
            "out.parquet.gz: Parquet in a compressed file: "
            "expected a name that ends in .parquet: its pages are compressed"
        ),
    ),
    ("mix -o out.csv", "ssdlab trace mix: missing APP..."),
    ("mix few.csv", "ssdlab trace mix: missing --out"),
    (
        "mix few.csv@quene=1 -o out.csv",
        (
            "APP few.csv@quene=1: got 'quene=1', expected queue=…, scale=…, start=…, offset=… "
            '(did you mean "queue"?)'
        ),
    ),
    (
        "mix few.csv@queue=256 -o out.csv",
        "APP few.csv@queue=256: got queue=256, expected a whole number from 0 to 255",
    ),
    (
        "mix few.csv@scale=0 -o out.csv",
        "APP few.csv@scale=0: got scale=0, expected a number above 0",
    ),
    (
        "mix few.csv@offset=1 -o out.csv",
        (
            'few@offset: invalid value: got "1", '
            'expected auto, or a size of whole sectors below 2^62 bytes, such as "64GiB"'
        ),
    ),
    ("mix a=few.csv a=few.csv -o out.csv", "APP: got the name 'a' twice, expected each name once"),
    ("check none", "none/MANIFEST.tsv: cannot be read: No such file or directory"),
    ("check . --files ../x", "--files: got '../x', expected a file's name, which may hold *"),
]


@pytest.mark.parametrize(("arguments", "line"), WRONG)
def test_what_is_wrong_is_one_line(
    ssdlab: Ssdlab, few: Path, tmp_path: Path, arguments: str, line: str
) -> None:
    done = ssdlab("trace", *arguments.split())
    assert (done.code, done.out, done.err) == (2, "", line + "\n")
    assert list(tmp_path.iterdir()) == [few]


def test_a_request_of_terabytes(ssdlab: Ssdlab, few: Path) -> None:
    few.write_text("0 0 0 8 1\n5 0 8 2147483648 0\n")
    done = ssdlab("trace", "info", "few.csv:mqsim")
    line = (
        "few.csv:2: a request too large: got 1TiB, expected a read or write of at most 256MiB"
        " (workload.trace.max_request allows for more)\n"
    )
    assert (done.code, done.out, done.err) == (2, "", line)
    allow = "workload.trace.max_request=2TiB"
    done = ssdlab("trace", "info", "few.csv:mqsim", "--set", allow)
    line = "few.csv:2: a request too large to measure: got 1TiB, expected at most 64GiB\n"
    assert (done.code, done.out, done.err) == (2, "", line)


def test_a_name_that_no_file_can_have_is_reported_in_its_line(
    ssdlab: Ssdlab, tmp_path: Path
) -> None:
    (tmp_path / "t" / "one").mkdir(parents=True)
    (tmp_path / "t" / "one" / "trace.csv").write_text("128166372000000000,hm,1,Write,4096,8192,0\n")
    lines = ("name\tlines", "one\t1", f"{'n' * 300}\t3", f"{'0' * 200_000}\t3", "a\0b\t3")
    (tmp_path / "t" / "MANIFEST.tsv").write_text("\n".join(lines) + "\n")
    done = ssdlab("trace", "check", "t")
    shown = done.out.splitlines()
    assert (done.code, done.err, len(shown)) == (1, "", 5)
    assert max(map(len, shown)) < 500
    assert shown[0].startswith("ok    one ")
    assert all(line.startswith("DIFF  ") and "no trace" in line for line in shown[1:4])
    assert shown[1].endswith("no trace of such a name: File name too long")


def test_a_pattern_that_is_none_is_refused_beside_a_good_manifest(
    ssdlab: Ssdlab, tmp_path: Path
) -> None:
    (tmp_path / "MANIFEST.tsv").write_text("name\tlines\none\t1\n")
    done = ssdlab("trace", "check", ".", "--files", "***")
    assert (done.code, done.out) == (2, "")
    assert done.err == "--files: got '***', expected a pattern such as 'trace.*'\n"


def test_a_manifest_with_odd_names_is_shown_in_plain_text(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "MANIFEST.tsv").write_text("name\tlines\nab\x1b]0;owned\x07cd\t3\n")
    done = ssdlab("trace", "check", "t")
    assert "\x1b" not in done.out + done.err
    assert "\x07" not in done.out + done.err


@pytest.mark.parametrize(
    ("manifest", "line"),
    [
        ("", "1: no column name: an empty file"),
        ("nam\tlines\n", "1: no column name: got 'nam, lines'"),
        ("name\tlines\nfew\t4\t5\n", "2: columns: got 3, expected 2"),
        ("name\tlines\nfew\tfour\n", "2: lines: got 'four', expected a number or NA"),
    ],
)
def test_a_manifest_that_is_none(ssdlab: Ssdlab, tmp_path: Path, manifest: str, line: str) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "MANIFEST.tsv").write_text(manifest)
    done = ssdlab("trace", "check", "t")
    assert (done.code, done.out, done.err) == (2, "", f"t/MANIFEST.tsv:{line}\n")


def test_a_wrong_mapping_has_the_place_of_its_key(ssdlab: Ssdlab, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("seconds,op,lba,len\n0.1,R,0,8\n")

    def refused(time: str) -> str:
        columns = f"time:{time},op:op,offset:lba:sectors,size:len:sectors"
        (tmp_path / "c.toml").write_text(f'[workload.trace]\ncolumns = "{columns}"\n')
        done = ssdlab("run", "--trace", "t.csv", "--config", "c.toml")
        assert (done.out, done.code) == ("", 2)
        return done.err

    wrong = refused("seconds:sx")
    assert wrong.startswith("c.toml:2:11: workload.trace.columns: got sx, expected ns, us, ms or s")
    header = 't.csv:1:1: header: got seconds,op,lba,len, expected a column "secnds"'
    assert refused("secnds:s") == f'{header} (did you mean "seconds"?)\n'
