"""`beforehand simulate`: any protocol, any network, any workload, from one seed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from beforehand.cli.options import selection, takes
from beforehand.cli.simulate.options import SimulateOptions
from beforehand.cli.simulate.view import show
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.interrupts import on_interrupt
from beforehand.cli.ui.output import print_json
from beforehand.cli.ui.progress import progress_bar
from beforehand.errors import ScenarioError
from beforehand.results.layout import SimulationFolder
from beforehand.results.notes import write_note

if TYPE_CHECKING:
    from beforehand.simulator import Result, Scenario
    from beforehand.trace import Recorder


@takes(SimulateOptions)
def command(options: SimulateOptions) -> None:
    """Run one protocol on a simulated network in virtual time, and measure what it costs.

    The same options and seed always give the same run, on every machine. Exits with 0, or with 1 if
    --audit found a violation.
    """
    scenario = _scenario(options)
    with _folder(options.out, options.force) as folder:
        result = _run(scenario, options.audit, folder)
    if options.as_json:
        print_json(result.to_dict())
    else:
        show(result, options.out)
    if options.audit and not result.clean:
        raise typer.Exit(ExitCode.BROKEN)


def _scenario(options: SimulateOptions) -> Scenario:
    from beforehand.simulator import Program, Scenario
    from beforehand.simulator.scenario import LISTS

    chosen = selection(options, Scenario)
    chosen |= {name: tuple(chosen[name] or ()) for name in LISTS}
    if options.program is not None:
        chosen["program"] = Program.read(options.program)
    return Scenario(**chosen, options=_protocol_options(options.option or []))


def _protocol_options(texts: list[str]) -> dict[str, bool]:
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or value not in ("true", "false"):
            raise ScenarioError(f"--option {text!r}: write it like coalesce=true")
        options[name] = value == "true"
    return options


@contextmanager
def _folder(out: Path | None, force: bool) -> Iterator[Path | None]:
    """The folder for the results, which is removed again if there are none.

    One that is not empty is refused without `force`, and keeps its old results until there are new ones.
    """
    if out is None:
        yield None
        return
    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()) and not force:
            raise ScenarioError(f"{out} is not empty; choose another folder, or add --force")
    except OSError as problem:
        raise ScenarioError(
            f"{out}: cannot be created ({problem.strerror}); choose another folder for --out"
        ) from None

    def remove() -> None:
        if made:
            shutil.rmtree(out, ignore_errors=True)

    try:
        with on_interrupt(cleanup=remove):
            yield out
    except Exception:
        remove()
        raise


def _run(scenario: Scenario, audit: bool, folder: Path | None) -> Result:
    from beforehand import simulator

    with progress_bar("messages") as progress, _recorder(scenario, folder) as recorder:
        result = simulator.run(scenario, audit=audit, recorder=recorder, progress=progress)
    if folder is not None:
        write_note(folder / SimulationFolder.RESULT, result.to_dict())
    return result


def _recorder(scenario: Scenario, folder: Path | None) -> Recorder | nullcontext[None]:
    if folder is None:
        return nullcontext()
    from beforehand import trace

    return trace.Recorder(scenario.digest(), trace.create(folder / SimulationFolder.TRACE))
