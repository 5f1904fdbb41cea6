"""The files of finished jobs; each holds a hash of itself, which is checked when it is read."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ssdlab import _native
from ssdlab.errors import InputError
from ssdlab.files import open_regular

_HEAD = re.compile(
    rb'\{"job": "[0-9a-f]{1,64}", "bytes": (?P<bytes>[0-9]{1,15}), '
    rb'"sha256": "[0-9a-f]{64}", "made": '
)
_HEAD_MOST = 256
_TAIL = b"}\n"
_OPTION = "--out"


def write(file: Path, job: str, made: Any) -> None:
    """Write the result of a job, whole or not at all; raise :class:`InputError` if that fails.

    ``job`` is the job's name, ``made`` its result as plain data.
    """
    body = json.dumps(made).encode()
    _remove_link(file)
    new = _native.NewFile(_OPTION, file)
    new.write(_enveloped(job, body))
    new.persist()


def check_replaceable(file: Path) -> None:
    """Raise :class:`InputError` if the path is no file and cannot be replaced by one."""
    _remove_link(file)
    _native.NewFile(_OPTION, file)


def _remove_link(file: Path) -> None:
    """Remove a link in place of a kept run; the target of the link belongs to someone else."""
    if file.is_symlink():
        with suppress(OSError):
            file.unlink()


def read(file: Path, job: str) -> tuple[Any] | None:
    """Return the result of a job in a tuple; None unless the file is as it was written for it."""
    try:
        with open_regular(file) as opened:
            head = _HEAD.match(opened.read(_HEAD_MOST))
            size = os.fstat(opened.fileno()).st_size
            # A file of any other length is not read.
            if head is None or size != head.end() + int(head["bytes"]) + len(_TAIL):
                return None
            opened.seek(head.end())
            body = opened.read(int(head["bytes"]))
            found = head[0] + body + opened.read(len(_TAIL) + 1)
        return (json.loads(body),) if found == _enveloped(job, body) else None
    except (OSError, MemoryError, RecursionError):
        return None


def _enveloped(job: str, body: bytes) -> bytes:
    """Return the bytes of a file: JSON whose head holds the job's name and the hash of the body."""
    sha256 = hashlib.sha256(body).hexdigest()
    head = f'{{"job": "{job}", "bytes": {len(body)}, "sha256": "{sha256}", "made": '
    return head.encode() + body + _TAIL


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Mark a folder as in use; the first process to do so removes incomplete files.

    A killed process may leave a file ``.ssdlab-….part``. While another process uses the folder,
    that process may still be writing such a file.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise InputError.at(_OPTION, f"cannot read {folder}: {error.strerror}") from None
    try:
        # Some network file systems have no locks; incomplete files stay there.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for part in folder.glob(".ssdlab-*.part"):
                part.unlink(missing_ok=True)
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)
