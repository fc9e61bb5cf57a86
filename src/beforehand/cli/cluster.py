"""`beforehand cluster`: real processes, a bad network, and the oracle's verdict."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.failure import clear_errors
from beforehand.errors import LocalProtocolError

if TYPE_CHECKING:
    from beforehand.runtime.cluster.conduct import Course
    from beforehand.runtime.cluster.plan import Plan
    from beforehand.runtime.cluster.verdict import Verdict

NOT_CLEAN = 1

_FAULTS = "Faults"
_OUTPUT = "Output"


def command(
    nodes: Annotated[int, typer.Option(help="How many processes.")] = 8,
    messages: Annotated[int, typer.Option(help="How many messages they send in all.")] = 20_000,
    protocol: Annotated[
        str, typer.Option(help="Which protocol: see `beforehand protocols`.")
    ] = "hybrid-sps",
    payload: Annotated[int, typer.Option(help="Bytes of each message.")] = 32,
    seed: Annotated[
        int, typer.Option(help="Decides what is sent, what the network does, and who dies.")
    ] = 1,
    encrypted: Annotated[
        bool, typer.Option("--key/--plain", help="Encrypt, with a key of this run, or do not.")
    ] = True,
    timeout: Annotated[float, typer.Option(help="Seconds after which to give up.")] = 120.0,
    loss: Annotated[
        float, typer.Option(help="Share of datagrams that are lost.", rich_help_panel=_FAULTS)
    ] = 0.0,
    duplicate: Annotated[
        float, typer.Option(help="Share of datagrams that come twice.", rich_help_panel=_FAULTS)
    ] = 0.0,
    reorder: Annotated[
        float, typer.Option(help="Share of datagrams that come late.", rich_help_panel=_FAULTS)
    ] = 0.0,
    kill: Annotated[
        int,
        typer.Option(
            help="How many processes to kill, with signal 9, in the middle.",
            rich_help_panel=_FAULTS,
        ),
    ] = 0,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Start those again, under their old names.",
            rich_help_panel=_FAULTS,
        ),
    ] = False,
    drop_after: Annotated[
        float,
        typer.Option(
            help="With --kill: seconds of silence after which the others give up on a process.",
            rich_help_panel=_FAULTS,
        ),
    ] = 2.0,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="A new folder for the traces of all processes, for `beforehand audit`.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Start processes on this machine that talk over a bad network, and judge what they delivered.

    Exits with 0 if everything was delivered, once and in causal order; 1 if not; 2 if there is nothing
    to judge, since the run could not be started or did not finish.
    """
    from beforehand.runtime.cluster.plan import Plan

    with clear_errors():
        plan = Plan(
            nodes=nodes,
            messages=messages,
            protocol=protocol,
            loss=loss,
            duplicate=duplicate,
            reorder=reorder,
            payload=payload,
            kill=kill,
            restart=restart,
            drop_after=drop_after,
            seed=seed,
        )
        with _folder(trace) as folder:
            course, verdict = _run(plan, encrypted, folder, timeout)
    from beforehand.cli import cluster_view

    if as_json:
        typer.echo(json.dumps(cluster_view.everything(plan, course, verdict), indent=2))
    else:
        cluster_view.show(plan, course, verdict)
        if trace is not None:
            typer.echo(f"traces: {trace}; judge them again with `beforehand audit {trace}`")
    if not cluster_view.is_clean(course, verdict):
        raise typer.Exit(NOT_CLEAN)


@contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    """A new folder for the traces, or one that is gone afterwards."""
    if wanted is None:
        with TemporaryDirectory(prefix="beforehand-cluster-") as folder:
            yield Path(folder)
        return
    wanted.mkdir(parents=True, exist_ok=True)
    if any(wanted.iterdir()):
        raise LocalProtocolError(f"{wanted} is not empty; choose a new folder for the traces")
    yield wanted


def _run(plan: Plan, encrypted: bool, folder: Path, timeout: float) -> tuple[Course, Verdict]:
    from beforehand.cli.cluster_live import watching
    from beforehand.runtime.cluster.conduct import conduct
    from beforehand.runtime.cluster.verdict import judge
    from beforehand.runtime.keys import keygen

    with watching() as watch:
        course = conduct(plan, keygen() if encrypted else None, folder, timeout, watch)
    if sys.stderr.isatty():
        typer.echo("judging ...", err=True)
    labels = {child.process: child.label for child in course.children}
    return course, judge(folder, labels, [child.label for child in course.killed])
