"""`beforehand cluster`: real processes, a bad network, and the oracle's verdict."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from beforehand.cli import options as shared
from beforehand.cli.options import FAULTS, OUTPUT, selection, share, switch, takes, value
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.interrupts import on_interrupt
from beforehand.cli.ui.output import print_json
from beforehand.errors import LocalProtocolError

_fault = partial(value, panel=FAULTS)


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """What to run, and what to do with the verdict."""

    nodes: Annotated[int, value("NUMBER", "How many processes.")] = 8
    messages: Annotated[int, value("NUMBER", "How many messages they send in total.")] = 20_000
    protocol: shared.Protocol = shared.DEFAULT_PROTOCOL
    program: Annotated[
        str,
        value(
            "NAME",
            "What the processes do: random (anything to anybody), chat (posts and answers) or shop "
            "(payments, orders and charges).",
        ),
    ] = "random"
    payload: Annotated[int, value("BYTES", "Size of each message.")] = 32
    seed: shared.Seed = 1
    encrypted: Annotated[
        bool, switch("--key/--plain", "Encrypt with a key of this run, or send plain text.")
    ] = True
    timeout: Annotated[float, value("SECONDS", "When to give up.")] = 120.0
    loss: shared.Loss = 0.0
    duplicate: shared.Duplicate = 0.0
    reorder: Annotated[float, share("Share of packets that arrive late", panel=FAULTS)] = 0.0
    kill: Annotated[
        int, _fault("NUMBER", "How many processes to kill during the run, with SIGKILL.")
    ] = 0
    restart: Annotated[
        bool,
        switch("--restart", "Start the killed processes again, with their names.", panel=FAULTS),
    ] = False
    drop_after: Annotated[
        float,
        _fault(
            "SECONDS",
            "With --kill: how long a process must be silent until the others give up on it.",
        ),
    ] = 2.0
    trace: Annotated[
        Path | None,
        value(
            "FOLDER",
            "A new folder for the traces of all processes, for audit, study and diagram. "
            "Default: traces are not kept.",
            panel=OUTPUT,
        ),
    ] = None
    as_json: shared.Json = False


@takes(ClusterOptions)
def command(options: ClusterOptions) -> None:
    """Start real processes that communicate over a bad network, and judge what they delivered.

    They run on this machine, over UDP; packets are lost, duplicated and delayed, and processes killed,
    as the options say. Exits with 0 if everything was delivered, once and in causal order; 1 if not; 3
    if there is nothing to judge, since the run did not finish.
    """
    from beforehand.cli.cluster import run as cluster_run
    from beforehand.cli.cluster import view
    from beforehand.cli.cluster.live import live_view
    from beforehand.runtime.cluster.plan import ClusterPlan

    plan = ClusterPlan(**selection(options, ClusterPlan))
    with _trace_folder(options.trace) as folder:
        with live_view() as watch:
            run = cluster_run.run(plan, options.encrypted, folder, options.timeout, watch)
        if options.trace is not None:
            cluster_run.write_run_note(run, folder)
    if options.as_json:
        print_json(run.to_dict())
    else:
        view.show(plan, run.course, run.verdict)
        if options.trace is not None:
            typer.echo(
                f"Traces: {options.trace}; `beforehand audit {options.trace}` judges them again"
            )
    if not run.clean:
        raise typer.Exit(ExitCode.BROKEN)


@contextmanager
def _trace_folder(wanted: Path | None) -> Iterator[Path]:
    """A new folder for the traces, or a temporary one; without a verdict, nothing is left in it."""
    if wanted is None:
        with TemporaryDirectory(prefix="beforehand-cluster-") as folder:
            yield Path(folder)
        return
    made = not wanted.exists()
    wanted.mkdir(parents=True, exist_ok=True)
    if any(wanted.iterdir()):
        raise LocalProtocolError(f"{wanted} is not empty; choose a new folder for the traces")

    def remove() -> None:
        shutil.rmtree(wanted, ignore_errors=True)
        if not made:
            wanted.mkdir()

    try:
        with on_interrupt(cleanup=remove):
            yield wanted
    except Exception:
        remove()
        raise
