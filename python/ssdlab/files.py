"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BufferedReader
from pathlib import Path

from ssdlab import _native, arguments, signals
from ssdlab.errors import InputError, quoted

File = tuple[str, str | os.PathLike[str]]
"""The option that names a file, and the file."""

_PIPE_LOOK_S = 0.02
"""The time between two checks whether a pipe has a reader."""


class OutputFile:
    """A file that a long run writes at its end, checked before the run begins."""

    def __init__(self, option: str, path: str | os.PathLike[str]) -> None:
        """Raise an :class:`InputError` that names the option if the file cannot be written."""
        self._option, self._path = option, arguments.path(option, path)
        self._in_place = _is_special(self._path)
        if not self._in_place:
            _native.NewFile(option, self._path)

    def write(self, text: str | Iterable[str]) -> None:
        """Replace the file in one step; the text may come in parts.

        A pipe or a device is written in place. Raises :class:`InputError` if the file cannot be
        written.
        """
        parts = [text] if isinstance(text, str) else text
        contents = (part.encode("utf-8", errors="backslashreplace") for part in parts)
        if not self._in_place:
            file = _native.NewFile(self._option, self._path)
            for content in contents:
                file.write(content)
            file.persist()
            return
        try:
            if Path(self._path).is_fifo():
                self._write_to_pipe(contents)
            else:
                with Path(self._path).open("wb") as special:
                    special.writelines(contents)
        except OSError as error:
            raise _cannot_write(self._option, self._path, error) from None

    def _write_to_pipe(self, contents: Iterable[bytes]) -> None:
        """Write to a pipe; wait for its reader, at most until a second after a signal."""
        pipe = self._once_read(lambda: os.open(self._path, os.O_WRONLY | os.O_NONBLOCK))
        try:
            for content in contents:
                rest = memoryview(content)
                while rest:
                    rest = rest[self._once_read(partial(os.write, pipe, rest)) :]
        finally:
            os.close(pipe)

    def _once_read(self, act: Callable[[], int]) -> int:
        """Call ``act`` until the pipe has a reader with room; return its result."""
        since = time.monotonic()
        while True:
            try:
                return act()
            except OSError as error:
                if error.errno not in {errno.ENXIO, errno.EAGAIN}:
                    raise
            if signals.is_overdue(since):
                what = f"cannot write {quoted(self._path)}: interrupted while waiting for a reader"
                raise KeyboardInterrupt(f"{self._option}: {what}")
            time.sleep(_PIPE_LOOK_S)


class OutputFolder:
    """A folder for files that a long run writes at its end, checked before the run begins."""

    def __init__(
        self,
        option: str,
        path: str | os.PathLike[str],
        others: Sequence[File] = (),
        endings: Sequence[str] = (),
    ) -> None:
        """Raise an :class:`InputError` that names the option if nothing can be written there.

        ``others`` are files that the command reads or writes; none is ever replaced. Those in this
        folder whose names have one of the ``endings`` of its files are refused at once.
        """
        path = arguments.path(option, path)
        check_named(option, path)
        self._option, self._shown, self._others = option, path, others
        self._path = Path(path)
        try:
            is_there = self._path.is_dir()
        except OSError as error:
            raise _cannot_write(option, path, error) from None
        if os.path.lexists(path) and not is_there:
            raise InputError.at(option, f"cannot write {quoted(path)}: is not a folder")
        home = self._path if is_there else self._path.parent
        try:
            _native.NewFile(option, home / "trial")
        except InputError as error:
            reason = error.message.rpartition(": ")[2]
            raise InputError.at(option, f"cannot write {quoted(path)}: {reason}") from None
        self._check_others(endings)

    def _check_others(self, endings: Sequence[str]) -> None:
        """Refuse a folder that is another file, or in which another file could be replaced."""
        folder = Path(os.path.realpath(self._path))
        inside = [] if not self._path.is_dir() or not endings else list(self._path.iterdir())
        linked = {_identity(each) for each in inside if each.suffix in endings}
        for other, file in self._others:
            found = Path(os.fsdecode(file))
            is_named_so = found.suffix in endings and found.resolve().parent == folder
            if is_named_so or _identity(found) in linked:
                reason = f"the file of {other} may be one of those that are written: got"
            elif _identity(found) == _identity(self._path):
                reason = f"the file of {other}: got"
            else:
                continue
            place = f"{reason} {quoted(file)}, expected another folder"
            raise InputError.at(self._option, place)

    def write(self, contents: Mapping[str, bytes], without: Iterable[str] = ()) -> None:
        """Write all files into the folder, or none; ``contents`` maps names to contents.

        Names in ``without`` that have no contents are removed. All contents are on the disk before
        the first file gets its name. If naming fails, the named files are removed and the old files
        restored, as far as the file system allows. If the process ends meanwhile, some files may
        keep their new names. Raises :class:`InputError` if a file cannot be written.
        """
        check_apart(self._others, [(self._option, self._path / name) for name in contents])
        is_new = not self._path.is_dir()
        try:
            self._path.mkdir(exist_ok=True)
        except OSError as error:
            raise _cannot_write(self._option, self._shown, error) from None
        try:
            self._write_all(contents)
        except BaseException:
            if is_new:
                with suppress(OSError):
                    self._path.rmdir()
            raise
        for name in set(without) - set(contents):
            (self._path / name).unlink(missing_ok=True)

    def _write_all(self, contents: Mapping[str, bytes]) -> None:
        """Write the files to a staging folder, then name them; only one file is open at a time."""
        for name in contents:
            # Refuses a name that cannot be replaced.
            _native.NewFile(self._option, self._path / name)
        put: list[tuple[Path, Path | None, bool]] = []
        name = ""
        try:
            with tempfile.TemporaryDirectory(
                prefix=".ssdlab-", suffix=".part", dir=self._path, ignore_cleanup_errors=True
            ) as staging:
                for at, (name, content) in enumerate(contents.items()):  # noqa: B007  errors name it
                    _write_synced(Path(staging, f"new{at}"), content)
                try:
                    for at, name in enumerate(contents):
                        target = Path(os.path.realpath(self._path / name))
                        old = _link_old(target, Path(staging, f"old{at}"))
                        put.append((target, old, target.exists()))
                        _put(Path(staging, f"new{at}"), target)
                except BaseException:
                    _take_back(put)
                    raise
        except OSError as error:
            shown = os.fspath(self._path / name)
            raise _cannot_write(self._option, shown, error) from None


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _link_old(target: Path, beside: Path) -> Path | None:
    """Link an existing file to a second name, to restore it from; return None if that fails."""
    with suppress(OSError):
        os.link(target, beside)
        return beside
    return None


def _put(new: Path, target: Path) -> None:
    """Put a file in place of another, with the permissions of the other."""
    with suppress(OSError):
        new.chmod(stat.S_IMODE(target.stat().st_mode))
    try:
        new.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # The target is a link to another disk.
        file = _native.NewFile("", target)
        file.write(new.read_bytes())
        file.persist()


def _take_back(put: Iterable[tuple[Path, Path | None, bool]]) -> None:
    """Undo the naming of files.

    Each item holds the target, the link to the old file if there is one, and whether a file was
    there. The last target may not have been named yet, in which case nothing changes.
    """
    for target, old, was_there in put:
        with suppress(OSError):
            if old is not None:
                old.replace(target)
            elif not was_there:
                target.unlink()


def _identity(path: Path) -> tuple[int, int] | str:
    """Return a key that is equal for all paths to a file, even to a file that does not exist."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def input_files_of(plans: str) -> list[File]:
    """Return the files that runs of plans, a JSON list, read, by absolute paths."""
    return [(option, path.absolute()) for option, path in _native.files_of(plans)[0]]


def check_named(option: str, folder: str) -> None:
    """Raise an :class:`InputError` for an empty folder name, which would mean the current one."""
    if not folder:
        raise InputError.at(option, "got '', expected a folder")


def check_apart(read: Iterable[File], written: Iterable[File]) -> None:
    """Raise an :class:`InputError` if a file is both read and written, or written twice."""
    _native.check_apart(list(read), list(written))


def check_no_trace(option: str, hashes: Container[str], paths: Iterable[Path]) -> None:
    """Raise an :class:`InputError` if one of these files holds a trace with one of the hashes."""
    for path in paths:
        try:
            with open_regular(path) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            continue
        if found in hashes:
            got = f"got {quoted(str(path))}, expected another file"
            raise InputError.at(option, f"a trace that was read: {got}")


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading, without blocking; raise :class:`OSError` for any other."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "is no regular file", str(path))
    return os.fdopen(handle, "rb")


def _is_special(path: str) -> bool:
    """Tell whether a path is a pipe or a device, which can only be written in place."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _cannot_write(option: str, path: str, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    return InputError.at(option, f"cannot write {quoted(path)}: {reason}")
