"""An archive of the classes that Spark loads, so that the next JVM maps them instead of parsing jars.

Java calls this application class-data sharing. The JVM of the first Spark command writes the archive
when it exits; later ones use it. It belongs to one version of Java and one of Spark.
"""

import os
from pathlib import Path
from typing import Final

from beforehand.results.layout import unfinished

CACHE: Final = "XDG_CACHE_HOME"
_NONE: Final = "BEFOREHAND_NO_CLASS_ARCHIVE"  # set it to write nothing outside of outputs


class ClassArchive:
    """The archive for a pair of versions, and the options that write or use it."""

    def __init__(self, java: str, spark: str) -> None:
        folder = Path(os.environ.get(CACHE) or Path.home() / ".cache", "beforehand")
        self.path = folder / f"spark-{spark}-java-{java}.jsa"
        self._new = self.path.with_name(unfinished(f"{self.path.name}-{os.getpid()}"))
        self.is_written = not self.path.exists() and self._may_write()

    @property
    def options(self) -> tuple[str, ...]:
        """For the JVM; without an archive it starts as usual."""
        if self.path.exists():
            return (f"-XX:SharedArchiveFile={self.path}",)
        return (f"-XX:ArchiveClassesAtExit={self._new}",) if self.is_written else ()

    def put_in_place(self) -> None:
        """What the JVM has written becomes the archive; called when that has exited."""
        if self._new.exists():
            os.replace(self._new, self.path)

    def _may_write(self) -> bool:
        if os.environ.get(_NONE):
            return False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return False
        return os.access(self.path.parent, os.W_OK)
