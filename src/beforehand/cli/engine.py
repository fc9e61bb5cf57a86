"""The engine of a command: which one, from its options, and its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import typer

from beforehand import requirements
from beforehand.cli.ui.interrupts import on_interrupt
from beforehand.cli.ui.progress import progress_line
from beforehand.errors import PipelineError, ResourceError

if TYPE_CHECKING:
    from beforehand.pipeline.engine import PipelineEngine
    from beforehand.pipeline.engine.spark import SparkEngine

SPARK, LOCAL = "spark", "local"
POLL_SECONDS: Final = 0.5  # between two queries for Spark's progress, each several calls to its JVM
_SMALL: Final = 30.0  # seconds of work for which a JVM takes longer to start than it saves


@dataclass(frozen=True)
class EngineOptions:
    """The values of `--engine`, `--master` and `--conf`."""

    name: str | None = None
    master: str | None = None
    conf: Sequence[str] | None = None

    @property
    def is_free(self) -> bool:
        """Whether nobody asked for an engine."""
        return self.name is None and self.master is None and not self.conf

    def check(self) -> None:
        """Raise an error for values that make no sense, and for what this machine lacks."""
        if self.name not in (None, SPARK, LOCAL):
            raise PipelineError(
                f"--engine {self.name!r}: there is no such engine; choose spark or local"
            )
        if self.name == LOCAL and (self.master is not None or self.conf):
            raise PipelineError("--engine local runs without Spark; leave out --master and --conf")
        requirements.require("this command", "pipeline")
        if self.name != LOCAL and not self.is_free:
            _check_spark(self.conf)


@contextmanager
def open_engine(options: EngineOptions) -> Iterator[PipelineEngine]:
    """The engine of the options, while the block lasts."""
    options.check()
    problem = _spark_problem() if options.is_free else ""
    if options.name == LOCAL or problem:
        if problem:
            typer.echo(f"{problem}, so this runs with --engine local", err=True)
        with _local() as local:
            yield local
        return
    with open_spark(options.master, options.conf) as engine:
        yield engine
        if options.is_free and engine.seconds < _SMALL:
            typer.echo("hint: for this little data, --engine local is faster", err=True)


@contextmanager
def open_spark(master: str | None, conf: Sequence[str] | None) -> Iterator[SparkEngine]:
    """The Spark engine; its JVM starts when something needs it, and ends with the block."""
    settings = _check_spark(conf)
    from beforehand.pipeline.engine.spark import SparkEngine

    engine = SparkEngine(master, settings)
    try:
        with on_interrupt(cleanup=engine.kill):
            yield engine
    except BaseException:  # nothing waits for what the JVM is doing
        engine.kill()
        raise
    if engine.is_archiving:
        with progress_line("preparing Spark for faster starts (once)"):
            engine.close()
    else:
        engine.close()


@contextmanager
def engine_progress(engine: PipelineEngine, what: str) -> Iterator[None]:
    """Show the progress of the engine's tasks, for work that reports none of its own."""
    with progress_line(what) as report, show_tasks(engine, report):
        yield


@contextmanager
def show_tasks(engine: PipelineEngine, report: Callable[[str], None]) -> Iterator[None]:
    """Report repeatedly how many tasks are done."""
    from beforehand.pipeline.polling import polling

    def poll() -> bool:
        try:
            report(engine.progress())
        except Exception:  # py4j's own, when the JVM is gone: the work itself reports that
            return False
        return True

    with polling(poll, POLL_SECONDS):
        yield


@contextmanager
def _local() -> Iterator[PipelineEngine]:
    from beforehand.pipeline.engine import LocalEngine

    engine = LocalEngine()
    try:
        with on_interrupt(cleanup=engine.close):
            yield engine
    finally:
        engine.close()


def _check_spark(conf: Sequence[str] | None) -> dict[str, str]:
    """Spark's settings; raise an error if it cannot run here."""
    requirements.require("this command", "spark")
    requirements.find_java()
    return _settings(conf or ())


def _spark_problem() -> str:
    """Why Spark, which nobody asked for by name, cannot run here; empty if it can."""
    if requirements.missing("spark"):
        return "Spark is not installed"
    try:
        requirements.find_java()
    except ResourceError:
        return f"Spark needs Java {requirements.NEEDED_JAVA} or newer, which is not here"
    return ""


def _settings(conf: Sequence[str]) -> dict[str, str]:
    settings = {}
    for text in conf:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise PipelineError(f"--conf {text!r}: write it like spark.driver.memory=6g")
        settings[key] = value
    return settings
