"""What the commands that run on Spark share: two options, a session from them, and its progress."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from beforehand.cli.ui.progress import progress_line
from beforehand.errors import PipelineError

if TYPE_CHECKING:
    from beforehand.pipeline.session import Session

LOOK: Final = 0.5  # seconds between two looks at what Spark does: each is some calls into its JVM

_PANEL = "Spark"

Master = Annotated[
    str | None,
    typer.Option(
        metavar="MASTER",
        help="Where to run: local[*] (all cores of this machine, the default), local[2], "
        "spark://host:7077, yarn or k8s://...; see docs/cluster.md.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="A setting of Spark, such as spark.driver.memory=6g. Repeatable.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]


def check_installed() -> None:
    """Raise PipelineError if the package was installed without Spark."""
    try:
        import beforehand.pipeline.session  # noqa: F401
    except ImportError as problem:
        raise PipelineError(
            f"this command needs Spark ({problem.name} is not installed); "
            "`pip install 'beforehand[spark]'`"
        ) from None


def start_session(master: str | None, conf: list[str] | None) -> Session:
    """The session that the options ask for."""
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
    """Tell how far Spark is, during work that does not tell it itself."""
    with progress_line(what) as say, watched(spark, say):
        yield


@contextmanager
def watched(spark: Session, say: Callable[[str], None]) -> Iterator[None]:
    """Say again and again how many tasks Spark has done of those that it is at."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK):
            try:
                say(_tasks(spark))
            except Exception:  # py4j's own, when the JVM is gone: whoever works with it says so
                return

    thread = threading.Thread(target=watch, name="Spark's progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _tasks(spark: Session) -> str:
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    found = [stage for stage in stages if stage is not None]
    if not found:
        return ""
    done = sum(stage.numCompletedTasks for stage in found)
    return f"{done:,} of {sum(stage.numTasks for stage in found):,} tasks of this stage"
