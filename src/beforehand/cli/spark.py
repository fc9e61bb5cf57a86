"""What the commands that run on Spark share: two options, and how a session comes from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.errors import PipelineError

if TYPE_CHECKING:
    from beforehand.pipeline.session import Session

_PANEL = "Spark"

Master = Annotated[
    str | None,
    typer.Option(
        help="Where to run: local[*] (default: all cores of this machine), spark://host:7077, yarn, "
        "k8s://...; see docs/cluster.md.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(
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
    check_installed()
    from beforehand.pipeline import session

    settings = {}
    for text in conf or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise PipelineError(f"--conf {text!r}: write it like spark.driver.memory=6g")
        settings[key] = value
    return session.start(master, settings)
