"""The whole demo: comparisons of real processes, the steps of a full one, and the report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from beforehand.cli import command_lines
from beforehand.cli.demo import comparison, comparison_view, folder, steps
from beforehand.cli.report_commands import report_commands
from beforehand.cli.ui.interrupts import on_interrupt
from beforehand.cli.ui.progress import progress_line
from beforehand.results.layout import REPORT_PAGE, DemoFolder
from beforehand.results.provenance import provenance

Plain = dict[str, Any]


@dataclass
class DemoRun:
    """One demo; its results are plain values, for the note and for programs."""

    out: Path
    seed: int
    full: bool
    quiet: bool  # print no results
    seconds: dict[str, float] = field(default_factory=dict)

    def run(self, full_steps: Callable[[Callable[[str, float], None]], Plain]) -> Plain:
        """Run it all; `full_steps` runs those of a full demo."""
        done = folder.finished_comparisons(self.out, self.seed) if self.full else None
        command = command_lines.demo(self.out, self.seed, self.full)
        note = {"seed": self.seed, "full": self.full, "finished": False, **provenance(command)}
        kept = f"the earlier demo is still in {self.out}" if folder.has_results(self.out) else None
        keep = DemoFolder.COMPARISONS if done else ()
        with on_interrupt(kept=kept), folder.replacing(self.out, note, keep):
            compared = self._shown(done) if done else self._compare(command)
            results: Plain = {"comparisons": compared}
            sound = all(run["clean"] for one in compared.values() for run in _causal(one))
            if self.full:
                more = full_steps(self._took)
                results |= more
                sound = sound and steps.is_sound(more)
            # Before the report, which lists what is not there.
            folder.mark(self.out, note | {"finished": True, "seconds": self.seconds})
            results["report"] = self._report()
            sound = sound and not results["report"]["missing"]
            outcome = {"finished": True, "seconds": self.seconds, "sound": sound}
            folder.mark(self.out, note | outcome)
        return results | {"seconds": self.seconds, "sound": sound}

    def _shown(self, compared: Plain) -> Plain:
        if not self.quiet:
            for note in compared.values():
                comparison_view.show_all(note)
        return compared

    def _compare(self, command: str) -> Plain:
        show = _ignore if self.quiet else comparison_view.show
        notes = {}
        for trial in comparison.TRIALS:
            began = time.monotonic()
            place = self.out / trial.program
            notes[trial.program] = comparison.Comparison(trial, place, self.seed, command).run(show)
            self._took(trial.program, time.monotonic() - began)
        return notes

    def _report(self) -> Plain:
        from beforehand import report

        file = self.out / REPORT_PAGE
        began = time.monotonic()
        with progress_line("putting everything on one page"):
            contents = report.write(self.out, file, commands=report_commands())
        self._took("report", time.monotonic() - began)
        return {"file": str(file), "missing": [asdict(gap) for gap in contents.missing]}

    def _took(self, step: str, seconds: float) -> None:
        self.seconds[step] = round(seconds, 1)


def _causal(note: Plain) -> list[Plain]:
    return [run for run in note["runs"] if run["causal"]]


def _ignore(note: Plain) -> None:
    """Programs get everything at the end."""
