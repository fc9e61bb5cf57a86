"""One program, run by real processes under two protocols on the same faults, judged by the oracle."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from beforehand.cli.cluster import run as cluster_run
from beforehand.cli.ui.progress import progress_bar
from beforehand.results.layout import ComparisonFolder
from beforehand.results.notes import write_note
from beforehand.results.provenance import provenance

if TYPE_CHECKING:
    from beforehand.runtime.cluster.child import Child
    from beforehand.runtime.cluster.plan import ClusterPlan

Plain = dict[str, Any]

BASELINE: Final = "fifo"  # order per sender only, as with TCP or a queue
PROTOCOLS: Final = (BASELINE, "hybrid-sps")
FAULTS: Final[Plain] = {"loss": 0.05, "duplicate": 0.05, "reorder": 0.2}
TIMEOUT: Final = 60.0  # seconds; a run takes two
# Runs of the baseline until something goes wrong for a user; with these faults, the first is enough.
ATTEMPTS: Final = 5


@dataclass(frozen=True)
class Trial:
    """What to run."""

    program: str
    nodes: int
    messages: int


TRIALS: Final = (Trial("chat", nodes=4, messages=120), Trial("shop", nodes=3, messages=180))


class Comparison:
    """A trial under each protocol; a note of plain values describes it to people and programs."""

    def __init__(self, trial: Trial, folder: Path, seed: int, command: str) -> None:
        self._trial = trial
        self._folder = folder
        self._seed = seed
        self._attempts = 0
        self._command = command
        self._runs: dict[str, cluster_run.JudgedCluster] = {}

    def run(self, show: Callable[[Plain], None]) -> Plain:
        """Run all protocols; `show` is called with the note whenever it has one more run."""
        self._run_baseline()
        show(self._note())
        for protocol in PROTOCOLS[1:]:
            self._runs[protocol] = self._run(protocol)
            show(self._note())
        note = self._note() | provenance(self._command)
        write_note(self._folder / ComparisonFolder.NOTE, note)
        return note

    def _run_baseline(self) -> None:
        """Run until something goes wrong that causal order would have prevented."""
        for attempt in range(1, ATTEMPTS + 1):
            self._attempts = attempt
            run = self._runs[BASELINE] = self._run(BASELINE)
            if run.incidents or attempt == ATTEMPTS:
                return
            shutil.rmtree(self._folder / BASELINE)
            self._seed += 1

    def _run(self, protocol: str) -> cluster_run.JudgedCluster:
        from beforehand.runtime.cluster.plan import ClusterPlan

        trial = self._trial
        plan = ClusterPlan(
            nodes=trial.nodes,
            messages=trial.messages,
            program=trial.program,
            protocol=protocol,
            seed=self._seed,
            **FAULTS,
        )
        folder = self._folder / protocol
        folder.mkdir(parents=True)
        with progress_bar(f"{trial.program} with {protocol}") as update:

            def watch(children: list[Child], step: str) -> None:
                update(sum(child.figures.sent for child in children), trial.messages, step)

            run = cluster_run.run(plan, True, folder, TIMEOUT, watch)
        cluster_run.write_run_note(run, folder)
        return run

    def _note(self) -> Plain:
        from beforehand.runtime.cluster.programs import PROGRAMS

        plan = self._runs[BASELINE].plan
        program = PROGRAMS[plan.program]
        return {
            "program": program.name,
            "title": program.title,
            "harm": program.harm,
            "names": plan.names,
            "seed": self._seed,
            "attempts": self._attempts,
            **FAULTS,
            "runs": [_run_row(protocol, run) for protocol, run in self._runs.items()],
            "incident": _incident(plan, self._runs),
        }


def _run_row(protocol: str, run: cluster_run.JudgedCluster) -> Plain:
    """The columns of `results.tables.comparison.RUNS`."""
    faults = ("lost", "doubled", "held_back")
    totals = {
        name: sum(getattr(child.figures, name) for child in run.course.children) for name in faults
    }
    return {
        "protocol": protocol,
        "causal": run.plan.capabilities.causal,
        "clean": run.clean,
        "complete": run.verdict.complete,
        "sends": run.verdict.sends,
        "deliveries": run.verdict.deliveries,
        "violations": len(run.verdict.violations),
        "harm": len(run.incidents),
        "held": run.verdict.held,
        **totals,
        **asdict(run.costs),
        "seconds": round(run.course.seconds, 2),
    }


def _incident(plan: ClusterPlan, runs: Mapping[str, cluster_run.JudgedCluster]) -> Plain | None:
    """What first made no sense to a user of the baseline, and the same messages in each run."""
    from beforehand.runtime.cluster.programs import PROGRAMS
    from beforehand.runtime.cluster.programs.incident import message_ids, screen

    first = next(iter(runs[BASELINE].incidents), None)
    if first is None:
        return None
    script = plan.script
    early, late = script[first.early], script[first.late]
    return {
        "process": first.process,
        "sentence": PROGRAMS[plan.program].explain(first.process, early, late),
        "texts": [script[line].text for line in first.chain],
        "runs": {
            protocol: {
                "chain": [str(message) for message in message_ids(run.logs, first.chain)],
                "screen": [
                    {"sender": seen.sender, "text": seen.text, "time_ns": seen.time_ns}
                    for seen in screen(script, run.logs, first)
                ],
            }
            for protocol, run in runs.items()
        },
    }
