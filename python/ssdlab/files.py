"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ssdlab.errors import InputError


class Target:
    """A file to be written at the end of a long run, tried out before it begins."""

    def __init__(self, option: str, path: str) -> None:
        """Raise an :class:`InputError` that names the option if the file cannot be written."""
        self._option = option
        # What a symbolic link points to is replaced, not the link.
        self._path = Path(path).resolve()
        self._shown = path
        try:
            self._in_place = self._is_special()
            if not self._in_place:
                handle, trial = self._beside()
                os.close(handle)
                trial.unlink()
        except OSError as error:
            raise self._refusal(error) from None

    def write(self, text: str) -> None:
        """Replace the file, in one step, by one with this text."""
        try:
            if self._in_place:
                self._path.write_text(text, encoding="utf-8")
            else:
                self._replace(text)
        except OSError as error:
            raise self._refusal(error) from None

    def _is_special(self) -> bool:
        """Tell whether it is a pipe or a device, which can only be written in place."""
        try:
            mode = self._path.stat().st_mode
        except FileNotFoundError:
            return False
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(0, "is a folder")
        if stat.S_ISREG(mode) and not os.access(self._path, os.W_OK):
            raise PermissionError(0, "Permission denied")
        return not stat.S_ISREG(mode)

    def _beside(self) -> tuple[int, Path]:
        """Open a new file in the same folder, so that it can take the place of the target."""
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}.part")
        return os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_TRUNC, 0o666), beside

    def _replace(self, text: str) -> None:
        handle, beside = self._beside()
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                beside.chmod(stat.S_IMODE(self._path.stat().st_mode))
            beside.replace(self._path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise

    def _refusal(self, error: OSError) -> InputError:
        return _refusal(self._option, self._shown, error)


class Folder:
    """A folder for files to be written at the end of a long run, tried out before it begins."""

    def __init__(self, option: str, path: str) -> None:
        """Raise an :class:`InputError` that names the option if nothing can be written there."""
        check_named(option, path)
        self._option = option
        self._path = Path(path).resolve()
        self._shown = path
        try:
            self._aside().rmdir()
        except OSError as error:
            raise _refusal(option, path, error) from None

    def write(self, contents: Mapping[str, bytes], without: Iterable[str] = ()) -> None:
        """Put all files, by name, into the folder, or none; of others in it only some are removed.

        These are the names ``without`` that have no contents.
        """
        try:
            aside = self._aside()
            try:
                for name, content in contents.items():
                    with (aside / name).open("wb") as file:
                        file.write(content)
                        file.flush()
                        os.fsync(file.fileno())
                self._path.mkdir(exist_ok=True)
                for name in contents:
                    (aside / name).replace(self._path / name)
                for name in set(without) - set(contents):
                    (self._path / name).unlink(missing_ok=True)
            finally:
                shutil.rmtree(aside, ignore_errors=True)
        except OSError as error:
            raise _refusal(self._option, self._shown, error) from None

    def _aside(self) -> Path:
        """Make an empty folder on the same disk: in the folder, or beside it if there is none."""
        if self._path.exists() and not self._path.is_dir():
            raise NotADirectoryError(0, "is no folder")
        home = self._path if self._path.is_dir() else self._path.parent
        aside = home / f".{self._path.name}.{os.getpid()}.part"
        aside.mkdir()
        return aside


def check_named(option: str, folder: str) -> None:
    """Raise an :class:`InputError` if a folder has no name: nobody means the one they are in."""
    if not folder:
        raise InputError.at(option, "got '', expected a folder")


def check_distinct(paths: Iterable[tuple[str, str]]) -> None:
    """Raise an :class:`InputError` if two of these options, by name, are for the same file."""
    seen: dict[Path, str] = {}
    for option, path in paths:
        file = Path(path).resolve()
        if file in seen:
            whose = "that of another run" if seen[file] == option else seen[file]
            raise InputError.at(option, f"got {path!r}, expected another file than {whose}")
        seen[file] = option


def _refusal(option: str, shown: str, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    return InputError.at(option, f"cannot write {shown!r}: {reason}")
