"""`beforehand cluster`: real processes, a bad network, and the oracle's verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from beforehand.cli.ui import completion
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json
from beforehand.errors import LocalProtocolError

NOT_CLEAN = 1

_FAULTS = "Faults"
_OUTPUT = "Output"


def command(
    nodes: Annotated[int, typer.Option(metavar="NUMBER", help="How many processes.")] = 8,
    messages: Annotated[
        int, typer.Option(metavar="NUMBER", help="How many messages they send in all.")
    ] = 20_000,
    protocol: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Which protocol: see `beforehand protocols`.",
            autocompletion=completion.protocol,
        ),
    ] = "hybrid-sps",
    payload: Annotated[int, typer.Option(metavar="BYTES", help="Size of each message.")] = 32,
    seed: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="Decides what is sent, what the network does, and who dies."
        ),
    ] = 1,
    encrypted: Annotated[
        bool, typer.Option("--key/--plain", help="Encrypt, with a key of this run, or do not.")
    ] = True,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="After how long to give up.")
    ] = 120.0,
    loss: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of datagrams that are lost, from 0 to 1.",
            rich_help_panel=_FAULTS,
        ),
    ] = 0.0,
    duplicate: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of datagrams that come twice, from 0 to 1.",
            rich_help_panel=_FAULTS,
        ),
    ] = 0.0,
    reorder: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of datagrams that come late, from 0 to 1.",
            rich_help_panel=_FAULTS,
        ),
    ] = 0.0,
    kill: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
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
            metavar="SECONDS",
            help="With --kill: after how long a silence the others give up on a process.",
            rich_help_panel=_FAULTS,
        ),
    ] = 2.0,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A new folder for the traces of all processes, for audit, study and diagram. "
            "Default: none are kept.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Start real processes that talk over a bad network, and judge what they delivered.

    They run on this machine, over UDP; datagrams are lost, doubled and delayed as you say, and
    processes killed. Exits with 0 if everything was delivered, once and in causal order; 1 if not; 2
    if there is nothing to judge, since the run could not be started or did not finish.
    """
    from beforehand.cli.cluster import run as cluster_run
    from beforehand.cli.cluster import view as cluster_view
    from beforehand.cli.cluster.live import watching
    from beforehand.runtime.cluster.plan import ClusterPlan

    with clear_errors():
        plan = ClusterPlan(
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
            with watching() as watch:
                ran = cluster_run.run(plan, encrypted, folder, timeout, watch)
            if trace is not None:
                cluster_run.leave_note(ran, folder)
    if as_json:
        print_json(ran.everything())
    else:
        cluster_view.show(plan, ran.course, ran.verdict)
        if trace is not None:
            typer.echo(f"traces: {trace}; judge them again with `beforehand audit {trace}`")
    if not ran.clean:
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
