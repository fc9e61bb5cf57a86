"""Spark for the commands that run on it: a session from their options, and its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from beforehand import requirements
from beforehand.cli.ui.progress import progress_line
from beforehand.errors import PipelineError

if TYPE_CHECKING:
    from beforehand.pipeline.session import Session

POLL_SECONDS: Final = 0.5  # between two queries for Spark's progress, each several calls to its JVM


def check_installed() -> None:
    """Raise ResourceError if Spark or one of the packages around it is not installed."""
    requirements.require("this command", "spark")


def start_session(master: str | None, conf: list[str] | None) -> Session:
    """Start a session with the values of `--master` and `--conf`."""
    settings = {}
    for text in conf or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise PipelineError(f"--conf {text!r}: write it like spark.driver.memory=6g")
        settings[key] = value
    with progress_line("starting Spark"):
        check_installed()
        from beforehand.pipeline import session

        return session.start(master, settings)


@contextmanager
def spark_progress(spark: Session, what: str) -> Iterator[None]:
    """Show the progress of Spark's tasks, for work that reports none of its own."""
    with progress_line(what) as report, show_tasks(spark, report):
        yield


@contextmanager
def show_tasks(spark: Session, report: Callable[[str], None]) -> Iterator[None]:
    """Report repeatedly how many tasks of the current stages Spark has finished."""
    from beforehand.pipeline.polling import polling

    def poll() -> bool:
        try:
            report(_tasks(spark))
        except Exception:  # py4j's own, when the JVM is gone: the work itself reports that
            return False
        return True

    with polling(poll, POLL_SECONDS):
        yield


def _tasks(spark: Session) -> str:
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    active = [stage for stage in stages if stage is not None]
    if not active:
        return ""
    done = sum(stage.numCompletedTasks for stage in active)
    return f"{done:,} of {sum(stage.numTasks for stage in active):,} tasks of this stage"
