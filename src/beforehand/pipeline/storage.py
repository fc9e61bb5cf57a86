"""Files wherever Spark can reach them: `file:`, `hdfs:`, `s3a:` and other Hadoop file systems.

Only names, sizes and small texts go through here; Spark itself reads and writes tables. A table is
complete when its folder has Spark's `_SUCCESS`, an output of several tables when its note (`write_note`)
is there, which is written last. So a partial output is never mistaken for a complete one.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from beforehand.errors import PipelineError
from beforehand.results.layout import unfinished

_SPECIAL: Final = "\\{}[]*?,"  # special in the glob patterns of Hadoop and Spark


@dataclass(frozen=True)
class File:
    """A file or folder; `path` is absolute and has its scheme, as in Spark."""

    path: str
    size: int
    is_folder: bool


def absolute(path: str) -> str:
    """A path with a scheme, or an absolute path on this machine."""
    if "://" in path or path.startswith("file:"):
        return path
    return str(Path(path).absolute())


def join(folder: str, *names: str) -> str:
    """A path inside a folder."""
    return "/".join([folder.rstrip("/"), *names])


def literal(path: str) -> str:
    """A path for `spark.read`, which takes patterns, with special characters escaped."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in path)


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
        """The files and folders that match a pattern, sorted by name; a plain path matches itself."""
        fs, at = self._at(pattern)
        statuses = self._do(pattern, lambda: fs.globStatus(at))
        return sorted((_file(status) for status in statuses or ()), key=lambda file: file.path)

    def files_under(self, folder: str) -> list[File]:
        """All files below a folder at any depth, without hidden ones, which start with `.` or `_`."""
        fs, at = self._at(folder)
        files: list[File] = []
        for status in self._do(folder, lambda: fs.listStatus(at)):
            name = status.getPath().getName()
            if name.startswith((".", "_")):
                continue
            file = _file(status)
            files += self.files_under(file.path) if file.is_folder else [file]
        return sorted(files, key=lambda file: file.path)

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
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

    # ---- notes: the content of an output, and that it is complete ----

    def write_note(self, folder: str, name: str, content: dict[str, Any]) -> None:
        """Write the note of a complete output."""
        self.write_text(join(folder, name), json.dumps(content, indent=2) + "\n")

    def read_note(self, folder: str, name: str) -> dict[str, Any] | None:
        """The note of an output; None if it isn't complete."""
        path = join(folder, name)
        if not self.exists(path):
            return None
        content: dict[str, Any] = json.loads(self.read_text(path))
        return content

    def _at(self, path: str) -> tuple[Any, Any]:
        """The file system of a path, and the path as Hadoop wants it."""

        def locate() -> tuple[Any, Any]:
            at = self._jvm.org.apache.hadoop.fs.Path(absolute(path))
            return at.getFileSystem(self._conf), at

        located: tuple[Any, Any] = self._do(path, locate)
        return located

    @staticmethod
    def _do(path: str, action: Any) -> Any:
        try:
            return action()
        except Py4JJavaError as problem:
            message = str(problem.java_exception.getMessage()).splitlines()[0]
            kind = problem.java_exception.getClass().getSimpleName()
            raise PipelineError(
                f"{path}: {kind}: {message}; check the path and its permissions, and for object stores "
                "that Spark has their package (docs/cluster.md)"
            ) from None


def _file(status: Any) -> File:
    return File(status.getPath().toString(), status.getLen(), status.isDirectory())
