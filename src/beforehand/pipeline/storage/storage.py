"""Operations on files and folders, by paths with or without a scheme."""

import glob
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from beforehand.errors import PipelineError
from beforehand.results import notes
from beforehand.results.output_folder import check_folder

SCHEME: Final = "file:"
_HIDDEN: Final = (".", "_")
_BRACES: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class File:
    """A file or folder; `path` is absolute and has its scheme."""

    path: str
    size: int
    is_folder: bool

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]


class RemoteStorage(Protocol):
    """The operations on paths that aren't on this machine."""

    def exists(self, path: str) -> bool: ...
    def glob(self, pattern: str) -> list[File]: ...
    def inside(self, folder: str) -> list[File]: ...
    def delete(self, path: str) -> None: ...
    def rename(self, old: str, new: str) -> None: ...
    def read_text(self, path: str) -> str: ...
    def write_text(self, path: str, text: str) -> None: ...
    def upload(self, local: str, path: str) -> None: ...


def absolute(path: str) -> str:
    """A path with a scheme, or an absolute path on this machine."""
    if "://" in path or path.startswith(SCHEME):
        return path
    return str(Path(path).absolute())


def is_near(path: str) -> bool:
    """Whether a path is on this machine, or mounted on every machine under the same name."""
    return "://" not in path or path.startswith(SCHEME)


def local_path(path: str) -> str:
    """A near path without its scheme."""
    plain = path.removeprefix(SCHEME)
    return "/" + plain.lstrip("/") if plain != path else plain


def join(folder: str, *names: str) -> str:
    """A path inside a folder."""
    return "/".join([folder.rstrip("/"), *names])


class Storage:
    """All paths that an engine can reach; `remote` is called when one isn't near."""

    def __init__(self, remote: Callable[[], RemoteStorage] | None = None) -> None:
        self._remote_storage = remote

    # ---- what is there ----

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder of this name."""
        if not is_near(path):
            return self._remote(path).exists(path)
        return os.path.exists(local_path(path))

    def find(self, path: str) -> list[File]:
        """The file or folder of this name, or else those that match it as a pattern, sorted."""
        if not is_near(path):
            return self._remote(path).glob(path)
        plain = local_path(path)
        if os.path.lexists(plain):
            return [_file(plain)]
        matches = {m for pattern in _without_braces(plain) for m in glob.glob(pattern)}
        return sorted(map(_file, matches), key=lambda file: file.path)

    def inside(self, folder: str) -> list[File]:
        """The files and folders in a folder, sorted by name; none if there is no folder."""
        if not is_near(folder):
            return self._remote(folder).inside(folder)
        plain = local_path(folder)
        if not os.path.isdir(plain):
            return []
        return [_file(os.path.join(plain, name)) for name in sorted(os.listdir(plain))]

    def files_under(self, folder: str) -> list[File]:
        """All files below a folder at any depth, without hidden ones, which start with `.` or `_`."""
        files: list[File] = []
        for file in self.inside(folder):
            if not file.name.startswith(_HIDDEN):
                files += self.files_under(file.path) if file.is_folder else [file]
        return files

    def files_of(self, paths: Iterable[str]) -> list[File]:
        """These files, and all below these folders."""
        matches = [match for path in paths for match in self.find(path)]
        return [
            file
            for match in matches
            for file in (self.files_under(match.path) if match.is_folder else [match])
        ]

    def read_text(self, path: str) -> str:
        """The content of a small file."""
        if not is_near(path):
            return self._remote(path).read_text(path)
        return Path(local_path(path)).read_text(encoding="utf-8")

    def read_note(self, folder: str, name: str) -> dict[str, Any] | None:
        """The note of an output; None if there is none, so that it isn't complete."""
        path = join(folder, name)
        if not self.exists(path):
            return None
        text = self.read_text(path)
        try:
            content: dict[str, Any] = json.loads(text)
        except ValueError as problem:
            raise PipelineError(
                f"{path}: not valid JSON ({problem}); remove the folder and make it again"
            ) from None
        return content

    # ---- what is changed ----

    def check_output(self, folder: str) -> None:
        """Raise an error if a folder on this machine cannot be made or written to."""
        if is_near(folder):
            check_folder(Path(local_path(folder)))

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        if not is_near(path):
            self._remote(path).delete(path)
            return
        plain = local_path(path)
        if os.path.isdir(plain) and not os.path.islink(plain):
            shutil.rmtree(plain)
        else:
            Path(plain).unlink(missing_ok=True)

    def rename(self, old: str, new: str) -> None:
        """Move a file or folder to a name that isn't in use."""
        if not is_near(new):
            self._remote(new).rename(old, new)
            return
        os.rename(local_path(old), local_path(new))

    def write_text(self, path: str, text: str) -> None:
        """Write a small file, which appears under its name when it is complete, with its folder."""
        if not is_near(path):
            self._remote(path).write_text(path, text)
            return
        target = Path(local_path(path))
        made = [folder for folder in target.parents if not folder.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            notes.write_text(target, text)
        except BaseException:
            for folder in made:
                with suppress(OSError):  # something else is in it by now
                    folder.rmdir()
            raise

    def write_note(self, folder: str, name: str, content: dict[str, Any]) -> None:
        """Write the note of a complete output."""
        self.write_text(join(folder, name), json.dumps(content, indent=2) + "\n")

    @contextmanager
    def local_file(self, path: str) -> Iterator[str]:
        """A name on this machine under which to write the file; afterwards it is at `path`."""
        if is_near(path):
            Path(local_path(path)).parent.mkdir(parents=True, exist_ok=True)
            yield local_path(path)
            return
        with tempfile.TemporaryDirectory(prefix="beforehand-") as folder:
            local = os.path.join(folder, path.rpartition("/")[2])
            yield local
            self._remote(path).upload(local, path)

    def _remote(self, path: str) -> RemoteStorage:
        if self._remote_storage is None:
            raise PipelineError(
                f"{path}: the local engine reaches only files of this machine; use `engine` spark"
            )
        return self._remote_storage()


def _file(path: str) -> File:
    try:
        status = os.stat(path)
    except FileNotFoundError:  # a dangling link: opening it gives the reason
        return File(SCHEME + os.path.abspath(path), 0, False)
    is_folder = os.path.isdir(path)
    return File(SCHEME + os.path.abspath(path), 0 if is_folder else status.st_size, is_folder)


def _without_braces(pattern: str) -> list[str]:
    """`{a,b}` in a pattern as two patterns."""
    group = _BRACES.search(pattern)
    if group is None:
        return [pattern]
    return [
        expanded
        for choice in group[1].split(",")
        for expanded in _without_braces(pattern[: group.start()] + choice + pattern[group.end() :])
    ]
