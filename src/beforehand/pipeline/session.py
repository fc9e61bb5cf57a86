"""The one place where a Spark session is made.

Spark has many settings and most of its defaults are for clusters of long ago. These suit the pipeline
on a laptop and do no harm on a cluster; whatever the caller gives in `conf` wins over them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from pyspark.sql import SparkSession

from beforehand.errors import PipelineError

Session = SparkSession  # for those who may not import pyspark and have to say what they are given

NEEDED_JAVA: Final = 17
REMEDY: Final = (
    "install a JDK or JRE (Debian/Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install "
    "openjdk@17), or point JAVA_HOME at one"
)
LOCAL: Final = "local[*]"

_MB: Final = 2**20
_LEAST_HEAP: Final = 1024  # MB
_MOST_HEAP: Final = 3072  # the heavy work is in Python workers, and they need room beside it

_LOGGING: Final = Path(__file__).with_name("log4j2.properties")


def start(master: str | None = None, conf: Mapping[str, str] | None = None) -> SparkSession:
    """The session, started if there is none yet; one that runs already is used as it is.

    Without `master`, it is what the environment says (spark-submit sets it), else this machine.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    check_java()
    # Without these, workers run the system's Python, which has no pyarrow and not this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if (master or LOCAL).startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # nobody else is to connect
    builder = SparkSession.builder.appName("beforehand")
    for key, value in {**_settings(master), **(conf or {})}.items():
        builder = builder.config(key, value)
    with _quiet_start() as told:
        try:
            session = builder.getOrCreate()
        except Exception as problem:  # py4j raises whatever the JVM did, in classes of its own
            raise PipelineError(
                f"Spark did not start with `master` {master or LOCAL} ({_reason(problem, told)}); check "
                "that the master is right and can be reached, and that the settings in `conf` "
                "exist"
            ) from problem
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def _quiet_start() -> Iterator[IO[bytes]]:
    """Let the JVM write its greetings into a file that nobody sees, unless it does not start.

    It keeps that file as its standard error for good. What goes wrong later reaches us as an exception.
    """
    with tempfile.TemporaryFile() as told:
        kept = os.dup(2)
        try:
            os.dup2(told.fileno(), 2)
            yield told
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _reason(problem: Exception, told: IO[bytes]) -> str:
    """What the JVM said last, or else what Python did."""
    told.seek(0)
    lines = [*told.read().decode(errors="replace").splitlines(), *str(problem).splitlines()]
    telling = [line.strip() for line in lines if "Exception" in line or "Error" in line]
    return (telling or [repr(problem)])[0]


def check_java() -> None:
    """Raise PipelineError if there is no Java here that Spark could run on."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else "java"
    if shutil.which(java) is None:
        raise PipelineError(
            f"Spark needs Java {NEEDED_JAVA} or newer: there is no '{java}'; {REMEDY}"
        )
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    # The first line reads like: openjdk version "17.0.15" 2025-04-15. Java 8 calls itself "1.8".
    found = re.search(r'version "(\d+)', told)
    if found is None:
        raise PipelineError(
            f"Spark needs Java {NEEDED_JAVA} or newer: '{java} -version' could not be understood; "
            f"{REMEDY}"
        )
    if int(found[1]) < NEEDED_JAVA:
        raise PipelineError(
            f"Spark needs Java {NEEDED_JAVA} or newer: '{java}' is version {found[1]}; {REMEDY}"
        )


def _settings(master: str | None) -> dict[str, str]:
    settings = {
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(64 * _MB),
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        # Opening a file is not as dear as Spark believes: 10,000 small ones make few tasks, not many.
        "spark.sql.files.openCostInBytes": str(_MB // 16),
        # Nor does looking at a file deserve a task of its own, as the default has it.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "16",
    }
    if master is not None or "MASTER" not in os.environ:
        settings["spark.master"] = master or LOCAL
    if (master or LOCAL).startswith("local"):
        settings |= {
            "spark.driver.memory": f"{_heap()}m",
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            # Two waves of tasks: enough to even out, and each costs some milliseconds.
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
        }
    return settings


def _heap() -> int:
    """MB for the JVM: a quarter of this machine's memory, within bounds."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MB
    return max(_LEAST_HEAP, min(_MOST_HEAP, memory // 4))
