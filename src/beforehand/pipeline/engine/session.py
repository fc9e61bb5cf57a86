"""Starting the Spark session.

Most of Spark's defaults date from the clusters of long ago. These settings suit the pipeline on a laptop
and do no harm on a cluster; the caller's `conf` overrides them. For little work, the JVM and Spark's
planner are kept from preparing for much: docs/engines.md says why.
"""

import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from pyspark.sql import SparkSession

from beforehand import requirements
from beforehand.errors import ResourceError
from beforehand.pipeline.engine.class_archive import ClassArchive

LOCAL: Final = "local[*]"

_MB: Final = 2**20
_LEAST_HEAP: Final = 1024  # MB
_MOST_HEAP: Final = 3072  # the heavy work is in Python workers, which need memory too

_LAUNCHED: Final = b"_PYSPARK_DRIVER_CONN_INFO_PATH="  # in the environment of pyspark's JVMs
_LOGGING: Final = Path(__file__).with_name("log4j2.properties")

# For short jobs. C1 alone: what C2 would compile runs too briefly to pay for it. One thread collects
# garbage: there is little. No logging of the JVM itself, which would go to standard output.
_SHORT_JVM: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xlog:disable", "-Xshare:auto")
_SHORT_SPARK: Final = {
    # Generating and compiling Java for each plan costs more than interpreting it for a few rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


def start(
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    *,
    short: bool = False,
    archive: ClassArchive | None = None,
) -> SparkSession:
    """The active session, or else a new one.

    Without `master`, it runs where the environment says (spark-submit sets it), else on this machine.
    With `short`, it is tuned for little work, and `archive` spares a local JVM loading its classes.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    requirements.find_java()
    # The JVM's connection breaks when it is interrupted; whoever waits for a job gets an exception.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_of_py4j)  # it logs some errors as nobody's
    # Without these, workers run the system's Python, which has no pyarrow and not this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if is_local(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # accept no connections from outside
        # The JVM that only composes the command line of the other one.
        os.environ.setdefault("SPARK_LAUNCHER_OPTS", " ".join(_SHORT_JVM))
    builder = SparkSession.builder.appName("beforehand")
    for key, value in {**_settings(master, short, archive), **(conf or {})}.items():
        builder = builder.config(key, value)
    handler = signal.getsignal(signal.SIGINT)
    with _captured_stderr() as log:
        try:
            session = builder.getOrCreate()
        except Exception as problem:  # py4j raises whatever the JVM did, in classes of its own
            raise ResourceError(
                f"Spark did not start with `master` {master or LOCAL} ({_reason(problem, log)}); check "
                "that the master is right and can be reached, and that the settings in `conf` "
                "exist"
            ) from problem
    session.sparkContext.setLogLevel("ERROR")
    _restore(handler)
    return session


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def _restore(handler: Any) -> None:
    """Let a program that handles Ctrl-C go on doing so: pyspark has put a handler of its own there."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and handler is not signal.default_int_handler:
        signal.signal(signal.SIGINT, handler)


def kill_starting_jvm() -> None:
    """End a JVM that this process has launched and that has not reported yet; on Linux.

    Interrupted at that moment, pyspark removes the file that the JVM is to report to; the JVM then fails
    and yet never exits.
    """
    for children in Path("/proc/self/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            with suppress(OSError):
                if _LAUNCHED in Path(f"/proc/{child}/environ").read_bytes():
                    os.kill(child, signal.SIGKILL)


def is_local(master: str | None) -> bool:
    """Whether Spark runs on this machine."""
    return (master or os.environ.get("MASTER") or LOCAL).startswith("local")


@contextmanager
def _captured_stderr() -> Iterator[IO[bytes]]:
    """Redirect the JVM's startup messages into a temporary file, for the error if it doesn't start.

    The JVM keeps that file as its standard error for good; later problems reach us as exceptions.
    """
    with tempfile.TemporaryFile() as log:
        kept = os.dup(2)
        try:
            os.dup2(log.fileno(), 2)
            yield log
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _reason(problem: Exception, log: IO[bytes]) -> str:
    """The first error that the JVM logged, or else Python's."""
    log.seek(0)
    lines = [*log.read().decode(errors="replace").splitlines(), *str(problem).splitlines()]
    errors = [line.strip() for line in lines if "Exception" in line or "Error" in line]
    return (errors or [repr(problem)])[0]


def _settings(master: str | None, short: bool, archive: ClassArchive | None) -> dict[str, str]:
    settings = {
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(64 * _MB),
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        # Opening a file is cheaper than Spark assumes: 10,000 small ones should be few tasks.
        "spark.sql.files.openCostInBytes": str(_MB // 16),
        # Nor does listing a file deserve a task of its own, as by default.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "16",
    }
    if master is not None or "MASTER" not in os.environ:
        settings["spark.master"] = master or LOCAL
    if short:
        settings |= _SHORT_SPARK
    if is_local(master):
        options = [f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"]
        options += _SHORT_JVM if short else ("-Xlog:disable", "-Xshare:auto")
        options += archive.options if archive is not None else ()
        settings |= {
            "spark.driver.memory": f"{_heap()}m",
            "spark.driver.extraJavaOptions": " ".join(options),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            # Two waves of tasks balance the load, and each task costs only milliseconds.
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
        }
    return settings


def _heap() -> int:
    """MB for the JVM: a quarter of this machine's memory, within bounds."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MB
    return max(_LEAST_HEAP, min(_MOST_HEAP, memory // 4))
