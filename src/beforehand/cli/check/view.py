"""What a check has found, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

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
from beforehand.cli.check.options import Asked, Search
from beforehand.cli.ui.output import print_table, print_text

CORRECT: Final = 0
VIOLATED: Final = 1
UNDECIDED: Final = 2  # a limit was hit, or what matters never happened: no pass


@dataclass(frozen=True)
class Report:
    """A verdict, with what was asked and how it was looked for."""

    asked: Asked
    search: Search
    explored: Setting
    verdict: Verdict
    trace: Path | None  # where the counterexample was saved

    @property
    def exit_code(self) -> int:
        """What scripts are told."""
        if self.verdict.outcome == "violated":
            return VIOLATED
        undecided = self.verdict.outcome == "unfinished" or self.verdict.unseen
        return UNDECIDED if undecided else CORRECT


# ---- for people ----


def show(report: Report) -> None:
    """Print the verdict, and if a promise is broken, how."""
    verdict = report.verdict
    print_text(f"{report.explored.protocol}: {_headline(verdict)}")
    print_table(("figure", "value"), _rows(report))
    if verdict.counterexample is not None:
        _show_counterexample(report, verdict.counterexample)


def _headline(verdict: Verdict) -> str:
    if verdict.outcome == "violated":
        found = verdict.counterexample
        return "violated" if found is None else f"violated ({found.problem.kind})"
    if verdict.outcome == "unfinished":
        return f"not finished: {verdict.reason}; nothing wrong so far, but this is no pass"
    if verdict.unseen:
        return (
            "inconclusive: nothing is wrong, but some of what makes it hard never happened, so this "
            "says little; raise the bounds"
        )
    return "correct"


def _rows(report: Report) -> list[tuple[str, str]]:
    verdict = report.verdict
    speed = verdict.states / max(verdict.seconds, 1e-9)
    rows = [
        ("bounds", report.asked.covered(report.explored)),
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
    found = ["partial order"] if verdict.reduced else []
    if verdict.symmetries > 1:
        found.append(f"symmetry ({verdict.symmetries} renamings of the processes)")
    return ", ".join(found) or "none"


def _show_counterexample(report: Report, found: Counterexample) -> None:
    what = "the shortest run" if _is_shortest(report.verdict) else "a run"
    typer.echo(f"{what} that shows it, {len(found.run)} steps:")
    typer.echo()
    console = Console(highlight=False)
    width = console.width if console.is_terminal else WIDTH
    for line in spacetime(report.explored, found.run, width):
        if console.is_terminal:
            console.print(_styled(line), soft_wrap=True)
        else:
            typer.echo(line)
    typer.echo()
    print_text(f"{found.problem}")
    figure = recognise(report.explored, found.run)
    if figure is not None:
        typer.echo(f"This is the run of {figure}.")
    typer.echo(f"Only this program: {report.asked.again(program_of(found.run))}")
    if report.trace is not None:
        typer.echo(f"trace: {report.trace}")


def _is_shortest(verdict: Verdict) -> bool:
    """Whether no shorter run breaks a promise; if that is not known, the reason is told."""
    return not verdict.reason


def _styled(line: str) -> Text:
    text = Text(line)
    text.highlight_regex(r"\(.*?\)", "dim")
    text.highlight_regex(r"!! \S+ \S+", "bold red")
    return text


def program_of(run: Run) -> str:
    """What the applications do in a run, as a program."""
    return " ".join(str(action) for action in run if action.kind == "step")


# ---- for programs ----


def to_dict(report: Report) -> dict[str, Any]:
    """All of it as JSON has it."""
    verdict = report.verdict
    found = verdict.counterexample
    return {
        "settings": {**asdict(report.asked), **asdict(report.search)},
        "bounds": report.asked.covered(report.explored),
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "states": verdict.states,
        "total": verdict.transitions + 1,  # with the start
        "depth": verdict.depth,
        "seconds": verdict.seconds,
        "reduced": verdict.reduced,
        "symmetries": verdict.symmetries,
        "seen": verdict.seen,
        "problem": None if found is None else asdict(found.problem),
        "counterexample": None if found is None else _counterexample(report, found),
        "exit_code": report.exit_code,
    }


def _counterexample(report: Report, found: Counterexample) -> dict[str, Any]:
    return {
        "shortest": _is_shortest(report.verdict),
        "run": [str(action) for action in found.run],
        "actions": [_action(action) for action in found.run],
        "diagram": spacetime(report.explored, found.run),
        "program": program_of(found.run),
        "figure": recognise(report.explored, found.run),
        "trace": None if report.trace is None else str(report.trace),
    }


def _action(action: Action) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": action.kind, "process": action.process}
    step, frame = action.step, action.frame
    if isinstance(step, SendStep):
        told |= {"send": True, "to": step.to}
    elif isinstance(step, OpenStep):
        told |= {"open": step.peer, "via": step.via}
    elif isinstance(step, CloseStep):
        told |= {"close": step.peer}
    elif frame is not None:
        carried = [str(message) for message in messages_in(action.sender, frame)]
        told |= {"sender": action.sender, "frame": repr(frame), "messages": carried}
    return told
