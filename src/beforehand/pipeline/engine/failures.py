"""Errors of Spark and its JVM as ours: one sentence instead of hundreds of lines."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from beforehand import errors
from beforehand.errors import BeforehandError, ResourceError
from beforehand.pipeline.engine.engine import WorkerLostError

# How a task's traceback ends: with an error of ours, or with another exception.
_OURS: Final = re.compile(r"^\s*beforehand\.errors\.(\w+): (.*)$", re.MULTILINE)
_OTHER: Final = re.compile(r"^[\w.]+: .*$", re.MULTILINE)
_REMEDIES: Final = {
    "No space left on device": "the disk is full; free some space, or set TMPDIR and "
    "SPARK_LOCAL_DIRS to another disk",
    "Disk quota exceeded": "the disk quota is used up; free some space",
    "Permission denied": "a file or folder may not be accessed; check its permissions",
    "Read-only file system": "the file system is read-only; write somewhere else",
    "OutOfMemoryError": "Spark ran out of memory; give it more, as in "
    "`conf` spark.driver.memory=6g",
}
_LOST: Final = ("Python worker exited unexpectedly", "ExecutorLostFailure")
_NOISE: Final = "most recent failure: "
_MOST: Final = 200  # characters of Spark's own words


@contextmanager
def clear_failures() -> Iterator[None]:
    """Raise what went wrong in a job as an error of ours."""
    try:
        yield
    except (PySparkException, Py4JError) as problem:
        raise translated(problem) from problem
    except ConnectionError as problem:  # from py4j, which talks to the JVM over a socket
        raise ResourceError(
            "Spark's JVM has ended, probably for lack of memory; give it more, as in "
            "`conf` spark.driver.memory=6g"
        ) from problem


def translated(problem: Exception) -> BeforehandError:
    """An error of ours that a task raised, or else the machine's failure."""
    text = _text(problem)
    ours = _OURS.search(text)
    if ours is not None:
        kind = getattr(errors, ours[1], BeforehandError)
        return kind(ours[2]) if kind is not errors.RemoteProtocolError else BeforehandError(ours[2])
    if any(sign in text for sign in _LOST):
        return WorkerLostError(
            "a worker process was killed, probably for lack of memory; free some, or use fewer and "
            "smaller inputs"
        )
    for sign, remedy in _REMEDIES.items():
        if sign in text:
            return ResourceError(f"Spark could not finish: {remedy}")
    return ResourceError(f"Spark could not finish ({_first_line(text)}); see docs/cluster.md")


def _text(problem: Exception) -> str:
    if isinstance(problem, Py4JJavaError):
        return f"{problem.java_exception.toString()}\n{problem}"
    return str(problem) or type(problem).__name__


def _first_line(text: str) -> str:
    if "Traceback" in text and (raised := _OTHER.search(text, text.index("Traceback"))):
        line = raised[0]
    else:
        line = (text.strip().splitlines() or ["no reason given"])[0].rpartition(_NOISE)[2]
    return line if len(line) <= _MOST else f"{line[:_MOST]}..."
