"""Errors of Spark become ours: the sentence of a task, or what the machine lacks."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException, PythonException

from beforehand.errors import BeforehandError, PipelineError, ResourceError, TraceError
from beforehand.pipeline.engine import WorkerLostError
from beforehand.pipeline.engine.failures import clear_failures, translated
from beforehand.pipeline.engine.spark import SparkEngine
from tests.pipeline.engine import work

JOB = "Job aborted due to stage failure: Task 3 in stage 7.0 failed 1 times, most recent failure: "
TRACEBACK = """org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/x/worker.py", line 1, in main
    process()
{raised}

\tat org.apache.spark.api.python.BasePythonRunner
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""


def problem(text: str) -> PySparkException:
    """What pyspark raises, with hundreds of lines."""
    return PySparkException(JOB + text + "\n\tat somewhere.in.Java" * 300)


@pytest.mark.parametrize(
    ("raised", "kind", "sentence"),
    [
        ("beforehand.errors.TraceError: t.jsonl: line 3: not JSON", TraceError, None),
        ("beforehand.errors.PipelineError: no order; ingest again", PipelineError, None),
        ("beforehand.errors.RemoteProtocolError: a peer", BeforehandError, "a peer"),
    ],
)
def test_an_error_of_ours_keeps_its_type_and_its_sentence(
    raised: str, kind: type[BeforehandError], sentence: str | None
) -> None:
    """Whatever Spark puts around it."""
    error = translated(problem(TRACEBACK.format(raised=raised)))
    assert type(error) is kind
    assert str(error) == (sentence or raised.partition(": ")[2])


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("java.io.IOException: No space left on device", "the disk is full; free some space"),
        ("OSError: [Errno 28] No space left on device", "the disk is full; free some space"),
        ("OSError: [Errno 122] Disk quota exceeded", "the disk quota is used up"),
        ("PermissionError: [Errno 13] Permission denied: '/x'", "check its permissions"),
        ("OSError: [Errno 30] Read-only file system", "the file system is read-only"),
        ("java.lang.OutOfMemoryError: Java heap space", "spark.driver.memory=6g"),
    ],
)
def test_what_the_machine_lacks_has_a_remedy(text: str, remedy: str) -> None:
    """In one sentence."""
    error = translated(problem(text))
    assert type(error) is ResourceError and remedy in str(error) and "\n" not in str(error)
    assert str(error).startswith("Spark could not finish: ")


@pytest.mark.parametrize(
    "text",
    [
        "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
        "ExecutorLostFailure (executor 1 exited caused by one of the running tasks)",
    ],
)
def test_a_lost_worker_has_an_error_of_its_own(text: str) -> None:
    """Sweeps go on without the run that killed it."""
    error = translated(problem(text))
    assert isinstance(error, WorkerLostError) and "a worker process was killed" in str(error)


def test_other_failures_are_cut_to_one_line() -> None:
    """The exception of a task's traceback, or else the first line of Spark's words."""
    bug = translated(problem(TRACEBACK.format(raised="ZeroDivisionError: by nothing")))
    assert type(bug) is ResourceError
    assert str(bug) == (
        "Spark could not finish (ZeroDivisionError: by nothing); see docs/cluster.md"
    )
    other = str(translated(problem("something new")))
    assert other == "Spark could not finish (something new); see docs/cluster.md"
    assert len(str(translated(problem("x" * 5000)))) < 300
    gone = str(translated(Py4JError("the connection is gone")))
    assert gone == "Spark could not finish (the connection is gone); see docs/cluster.md"


def test_only_errors_of_spark_are_translated() -> None:
    """A bug in our own code stays what it is, and the cause is kept for debugging."""

    def fail(error: Exception) -> None:
        with clear_failures():
            raise error

    with pytest.raises(KeyError):
        fail(KeyError("ours"))
    with pytest.raises(ResourceError) as caught:
        fail(problem("something new"))
    assert isinstance(caught.value.__cause__, PySparkException)


@pytest.mark.spark
def test_a_bug_in_a_task_on_spark(spark_engine: SparkEngine) -> None:
    """Its own line is all that is left of Spark's many."""
    table = spark_engine.tasks([(0.0, n) for n in range(5)], work.break_down, work.SCHEMA)
    with pytest.raises(ResourceError, match=r"\(ZeroDivisionError: by nothing\); see docs") as bug:
        table.collect()
    assert isinstance(bug.value.__cause__, PythonException) and "\n" not in str(bug.value)


@pytest.mark.spark
def test_an_error_of_ours_while_kept_rows_are_used(spark_engine: SparkEngine) -> None:
    """Spark computes them only then."""

    def use(table: Any) -> None:
        with table.kept() as kept:
            kept.collect()

    loads = partial(spark_engine.tasks, work=work.refuse, schema=work.SCHEMA)
    for seconds in (0.0, 10.0):
        with pytest.raises(TraceError, match="^line 3: not a trace$"):
            use(loads([(seconds, n) for n in range(5)]))
