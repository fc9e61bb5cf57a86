"""The result of a check, for people and for programs."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from beforehand.checker.actions import Action, Run
from beforehand.checker.explain.figures import recognise
from beforehand.checker.explain.run_events import messages_in
from beforehand.checker.explain.spacetime import WIDTH, spacetime
from beforehand.checker.program import CloseStep, OpenStep, SendStep
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Counterexample, Verdict
from beforehand.cli.check.request import CheckBounds, SearchOptions
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.output import print_table, print_text


@dataclass(frozen=True)
class CheckResult:
    """A verdict, with the bounds and the search that led to it."""

    bounds: CheckBounds
    search: SearchOptions
    setting: Setting
    verdict: Verdict
    trace: Path | None  # where the counterexample was saved

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command."""
        if self.verdict.outcome == "violated":
            return ExitCode.BROKEN
        if self.verdict.outcome == "unfinished":
            return ExitCode.MACHINE
        # Bounds that are too small to exercise the protocol prove nothing.
        return ExitCode.WRONG_INPUT if self.verdict.unseen else ExitCode.FINE


# ---- for people ----


def show(result: CheckResult) -> None:
    """Print the verdict, and if a promise is broken, how."""
    verdict = result.verdict
    print_text(f"{result.setting.protocol}: {_headline(verdict)}")
    print_table(("figure", "value"), _rows(result))
    if verdict.counterexample is not None:
        _show_counterexample(result, verdict.counterexample)


def _headline(verdict: Verdict) -> str:
    if verdict.outcome == "violated":
        violated = verdict.counterexample
        return "violated" if violated is None else f"violated ({violated.problem.kind})"
    if verdict.outcome == "unfinished":
        return f"not finished: {verdict.reason}; no violation so far, but this is not a pass"
    if verdict.unseen:
        return (
            "inconclusive: no violation, but some of the hard cases never happened, so this shows "
            "little; raise the bounds"
        )
    return "correct"


def _rows(result: CheckResult) -> list[tuple[str, str]]:
    verdict = result.verdict
    speed = verdict.states / max(verdict.seconds, 1e-9)
    rows = [
        ("bounds", result.bounds.coverage(result.setting)),
        ("states", f"{verdict.states:,} distinct, {verdict.transitions + 1:,} in all"),
        ("depth", f"{verdict.depth:,} steps"),
        ("time", f"{verdict.seconds:,.2f} s, {speed:,.0f} states per second"),
        ("reductions", _reductions(verdict)),
    ]
    seen = [name for name, happened in verdict.seen.items() if happened]
    if verdict.seen:
        rows.append(("seen", ", ".join(seen) or "nothing"))
    if verdict.unseen:
        rows.append(("never seen", ", ".join(verdict.unseen)))
    if verdict.reason and verdict.outcome != "unfinished":
        rows.append(("note", verdict.reason))
    return rows


def _reductions(verdict: Verdict) -> str:
    reductions = ["partial order"] if verdict.reduced else []
    if verdict.symmetries > 1:
        reductions.append(f"symmetry ({verdict.symmetries} renamings of the processes)")
    return ", ".join(reductions) or "none"


def _show_counterexample(result: CheckResult, violated: Counterexample) -> None:
    what = "The shortest run" if _is_shortest(result.verdict) else "A run"
    typer.echo(f"{what} that shows it, {len(violated.run)} steps:")
    typer.echo()
    console = Console(highlight=False)
    width = console.width if console.is_terminal else WIDTH
    for line in spacetime(result.setting, violated.run, width):
        if console.is_terminal:
            console.print(_styled(line), soft_wrap=True)
        else:
            typer.echo(line)
    typer.echo()
    print_text(f"{violated.problem}")
    figure = recognise(result.setting, violated.run)
    if figure is not None:
        typer.echo(f"This is the run of {figure}.")
    typer.echo(
        f"To check only this program: {result.bounds.command_line(program_of(violated.run))}"
    )
    if result.trace is not None:
        typer.echo(f"Trace: {result.trace}")


def _is_shortest(verdict: Verdict) -> bool:
    """Whether no shorter run is a violation; if that is unknown, the verdict has a reason."""
    return not verdict.reason


def _styled(line: str) -> Text:
    text = Text(line)
    text.highlight_regex(r"\(.*?\)", "dim")
    text.highlight_regex(r"!! \S+ \S+", "bold red")
    return text


def program_of(run: Run) -> str:
    """The steps of the applications in a run, as a program."""
    return " ".join(str(action) for action in run if action.kind == "step")


# ---- for programs ----


def to_dict(result: CheckResult) -> dict[str, Any]:
    """The whole result, as JSON."""
    verdict = result.verdict
    violated = verdict.counterexample
    return {
        "settings": {**asdict(result.bounds), **asdict(result.search)},
        "bounds": result.bounds.coverage(result.setting),
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "states": verdict.states,
        "total": verdict.transitions + 1,  # with the start
        "depth": verdict.depth,
        "seconds": verdict.seconds,
        "reduced": verdict.reduced,
        "symmetries": verdict.symmetries,
        "seen": verdict.seen,
        "problem": None if violated is None else asdict(violated.problem),
        "counterexample": None if violated is None else _counterexample(result, violated),
        "exit_code": result.exit_code,
    }


def _counterexample(result: CheckResult, violated: Counterexample) -> dict[str, Any]:
    return {
        "shortest": _is_shortest(result.verdict),
        "run": [str(action) for action in violated.run],
        "actions": [_action(action) for action in violated.run],
        "diagram": spacetime(result.setting, violated.run),
        "program": program_of(violated.run),
        "figure": recognise(result.setting, violated.run),
        "trace": None if result.trace is None else str(result.trace),
    }


def _action(action: Action) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": action.kind, "process": action.process}
    step, frame = action.step, action.frame
    if isinstance(step, SendStep):
        fields |= {"send": True, "to": step.to}
    elif isinstance(step, OpenStep):
        fields |= {"open": step.peer, "via": step.via}
    elif isinstance(step, CloseStep):
        fields |= {"close": step.peer}
    elif frame is not None:
        carried = [str(message) for message in messages_in(action.sender, frame)]
        fields |= {"sender": action.sender, "frame": repr(frame), "messages": carried}
    return fields
