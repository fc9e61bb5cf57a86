"""Files wherever Spark can reach them: `file:`, `hdfs:`, `s3a:` and what else Hadoop knows.

Only names, sizes and small texts go through here; tables are read and written by Spark itself.
A table counts as written when its folder has Spark's `_SUCCESS`, an output of several tables when its
note (`write_note`) is there, which is written last. So what was killed halfway is never taken for whole.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from beforehand.errors import PipelineError
from beforehand.results.layout import unfinished

_SPECIAL: Final = "\\{}[]*?,"  # have a meaning in the patterns that Hadoop and Spark understand


@dataclass(frozen=True)
class File:
    """A file that was found; `path` is absolute and has its scheme, as Spark writes it."""

    path: str
    size: int
    is_folder: bool


def absolute(path: str) -> str:
    """A path with its scheme, or an absolute one of this machine."""
    if "://" in path or path.startswith("file:"):
        return path
    return str(Path(path).absolute())


def join(folder: str, *names: str) -> str:
    """A path inside a folder."""
    return "/".join([folder.rstrip("/"), *names])


def literal(path: str) -> str:
    """A path for `spark.read`, which takes patterns: without any special characters."""
    return "".join(f"\\{each}" if each in _SPECIAL else each for each in path)


class Storage:
    """The file systems that this session can reach."""

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        self._jvm: Any = context._jvm
        self._conf: Any = context._jsc.hadoopConfiguration()

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder of this name."""
        fs, at = self._at(path)
        return bool(self._do(path, lambda: fs.exists(at)))

    def glob(self, pattern: str) -> list[File]:
        """The files and folders that fit a pattern, sorted by name; a plain path fits itself."""
        fs, at = self._at(pattern)
        found = self._do(pattern, lambda: fs.globStatus(at))
        return sorted((_file(each) for each in found or ()), key=lambda file: file.path)

    def files_under(self, folder: str) -> list[File]:
        """All files below a folder at any depth, but hidden ones: names with `.` or `_` in front."""
        fs, at = self._at(folder)
        found: list[File] = []
        for each in self._do(folder, lambda: fs.listStatus(at)):
            name = each.getPath().getName()
            if name.startswith((".", "_")):
                continue
            file = _file(each)
            found += self.files_under(file.path) if file.is_folder else [file]
        return sorted(found, key=lambda file: file.path)

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it, if it is there."""
        fs, at = self._at(path)
        self._do(path, lambda: fs.delete(at, True))

    def read_text(self, path: str) -> str:
        """The content of a small file."""
        fs, at = self._at(path)

        def read() -> str:
            stream = fs.open(at)
            try:
                return bytes(stream.readAllBytes()).decode()
            finally:
                stream.close()

        return str(self._do(path, read))

    def write_text(self, path: str, text: str) -> None:
        """Write a small file, which appears under its name when it is complete."""
        folder, _, name = path.rpartition("/")
        temporary = join(folder, unfinished(name))
        fs, at = self._at(temporary)
        _, final = self._at(path)

        def write() -> None:
            stream = fs.create(at, True)
            stream.write(text.encode())
            stream.close()
            fs.delete(final, False)
            if not fs.rename(at, final):
                raise PipelineError(f"{path}: cannot be written; check that you may write there")

        self._do(path, write)

    # ---- notes: what an output holds, and that it is complete ----

    def write_note(self, folder: str, name: str, content: dict[str, Any]) -> None:
        """Say that an output is complete, and what it is."""
        self.write_text(join(folder, name), json.dumps(content, indent=2) + "\n")

    def read_note(self, folder: str, name: str) -> dict[str, Any] | None:
        """What `write_note` has written; None if the output is not complete."""
        path = join(folder, name)
        if not self.exists(path):
            return None
        content: dict[str, Any] = json.loads(self.read_text(path))
        return content

    def _at(self, path: str) -> tuple[Any, Any]:
        """The file system of a path, and the path as Hadoop wants it."""

        def find() -> tuple[Any, Any]:
            at = self._jvm.org.apache.hadoop.fs.Path(absolute(path))
            return at.getFileSystem(self._conf), at

        found: tuple[Any, Any] = self._do(path, find)
        return found

    @staticmethod
    def _do(path: str, action: Any) -> Any:
        try:
            return action()
        except Py4JJavaError as problem:
            told = str(problem.java_exception.getMessage()).splitlines()[0]
            kind = problem.java_exception.getClass().getSimpleName()
            raise PipelineError(
                f"{path}: {kind}: {told}; check the path, that you may use it, and for object stores "
                "that Spark has their package (docs/cluster.md)"
            ) from None


def _file(status: Any) -> File:
    return File(status.getPath().toString(), status.getLen(), status.isDirectory())
