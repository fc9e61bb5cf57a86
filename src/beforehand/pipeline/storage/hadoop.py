"""The file systems of Hadoop (`hdfs:`, `s3a:` and others), through the JVM of a Spark session."""

from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from beforehand.errors import ResourceError
from beforehand.pipeline.storage.storage import File, absolute, join
from beforehand.results.layout import unfinished

_SPECIAL: Final = "\\{}[]*?,"  # special in the glob patterns of Hadoop and Spark


def literal(path: str) -> str:
    """A path for `spark.read`, which takes patterns, with special characters escaped."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in path)


class HadoopStorage:
    """The file systems that a session can reach."""

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        self._jvm: Any = context._jvm
        self._conf: Any = context._jsc.hadoopConfiguration()

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder of this name."""
        fs, at = self._at(path)
        return bool(self._do(path, lambda: fs.exists(at)))

    def glob(self, pattern: str) -> list[File]:
        """The files and folders that match a pattern, or that have it as their name."""
        fs, at = self._at(pattern)
        _, named = self._at(literal(pattern))
        statuses = self._do(pattern, lambda: fs.globStatus(at) or fs.globStatus(named))
        return sorted((_file(status) for status in statuses or ()), key=lambda file: file.path)

    def inside(self, folder: str) -> list[File]:
        """The files and folders in a folder, sorted by name."""
        fs, at = self._at(folder)
        if not self.exists(folder):
            return []
        statuses = self._do(folder, lambda: fs.listStatus(at))
        return sorted((_file(status) for status in statuses), key=lambda file: file.path)

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""
        fs, at = self._at(path)
        self._do(path, lambda: fs.delete(at, True))

    def rename(self, old: str, new: str) -> None:
        """Move a file or folder to a name that isn't in use."""
        fs, source = self._at(old)
        _, target = self._at(new)
        if not self._do(new, lambda: fs.rename(source, target)):
            raise ResourceError(f"{new}: cannot be written; check that you may write there")

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

        def write() -> None:
            stream = fs.create(at, True)
            stream.write(text.encode())
            stream.close()

        self._do(path, write)
        self.delete(path)
        self.rename(temporary, path)

    def upload(self, local: str, path: str) -> None:
        """Copy a file of this machine."""
        fs, at = self._at(path)
        source = self._jvm.org.apache.hadoop.fs.Path(f"file://{local}")
        self._do(path, lambda: fs.copyFromLocalFile(False, True, source, at))

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
            raise ResourceError(
                f"{path}: {kind}: {message}; check the path and its permissions, and for object stores "
                "that Spark has their package (docs/cluster.md)"
            ) from None


def _file(status: Any) -> File:
    return File(status.getPath().toString(), status.getLen(), status.isDirectory())
