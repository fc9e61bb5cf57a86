"""The steps of a full demo; each reports its progress and returns plain values."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from beforehand.cli import command_lines
from beforehand.cli import study as study_command
from beforehand.cli.cluster import run as cluster_run
from beforehand.cli.engine import show_tasks
from beforehand.cli.ui.progress import ProgressCallback, progress_steps
from beforehand.results.layout import DemoFolder

if TYPE_CHECKING:
    from beforehand.pipeline.engine import PipelineEngine
    from beforehand.pipeline.sweep import Grid, SweepProgress
    from beforehand.runtime.cluster.child import Child

StepResult = dict[str, Any]

CLUSTER_TIMEOUT: Final = 120.0  # seconds; the cluster takes a few
# The number of neighbours is constant, so that growth is due to the number of processes alone.
NEIGHBOURS: Final = "ring:4"


@dataclass(frozen=True)
class Demo:
    """What to run; the default sizes take a couple of minutes on two cores."""

    folder: Path
    seed: int = 1
    nodes: int = 5
    messages: int = 2_000  # of the cluster
    loss: float = 0.05
    duplicate: float = 0.05
    reorder: float = 0.2
    protocols: Sequence[str] = ()  # to replay under; none: all that suit the workload
    networks: Sequence[str] = ("lan", "wan", "mobile")
    replayed: int = 20_000  # messages of each workload, at most
    sizes: Sequence[int] = (8, 16, 32, 64)  # processes, for growth
    sent: int = 20  # messages of each process, for growth

    def part(self, name: str) -> str:
        """The path of a part of the folder."""
        return str(self.folder / name)


# ---- the steps ----


def run_cluster(engine: PipelineEngine, demo: Demo, progress: ProgressCallback) -> StepResult:
    """Run real processes, encrypted, on a network that loses, duplicates and delays."""
    from beforehand.runtime.cluster.plan import ClusterPlan

    def watch(children: list[Child], step: str) -> None:
        progress(sum(child.figures.sent for child in children), demo.messages, step)

    plan = ClusterPlan(
        nodes=demo.nodes,
        messages=demo.messages,
        loss=demo.loss,
        duplicate=demo.duplicate,
        reorder=demo.reorder,
        seed=demo.seed,
    )
    folder = demo.folder / DemoFolder.CLUSTER
    folder.mkdir()
    run = cluster_run.run(plan, True, folder, CLUSTER_TIMEOUT, watch)
    cluster_run.write_run_note(run, folder)
    return run.to_dict()


def audit_cluster(engine: PipelineEngine, demo: Demo, progress: ProgressCallback) -> StepResult:
    """Judge the trace of the cluster again, with the independent code of the pipeline."""
    from beforehand.pipeline.audit import audit

    traces, out = demo.part(DemoFolder.CLUSTER), demo.part(DemoFolder.AUDIT)
    with (
        show_tasks(engine, lambda text: progress(0, 0, text or "judging")),
        audit(engine, [traces]) as audited,
    ):
        audited.write(out, command_lines.audit([traces], out))
    names = ("runs", "events", "violated", "incomplete", "unreadable", "exit_code")
    return {"out": out, **{name: getattr(audited, name) for name in names}}


def study_cluster(engine: PipelineEngine, demo: Demo, progress: ProgressCallback) -> StepResult:
    """Replay the cluster's own messages under every protocol."""
    return _study(engine, demo, DemoFolder.CLUSTER_STUDY, [demo.part(DemoFolder.CLUSTER)], progress)


def study_shop(engine: PipelineEngine, demo: Demo, progress: ProgressCallback) -> StepResult:
    """Replay the built-in workload under every protocol."""
    return _study(engine, demo, DemoFolder.SHOP_STUDY, [], progress)


def measure_growth(engine: PipelineEngine, demo: Demo, progress: ProgressCallback) -> StepResult:
    """Measure the protocols of Table 1 in Almeida's paper with a growing number of processes."""
    from beforehand.cli.sweep.command_line import grid_options, point_options, sweep_line
    from beforehand.pipeline import metrics
    from beforehand.pipeline.sweep import run_sweep

    out = demo.part(DemoFolder.GROWTH)
    grid = _grid(demo)
    swept = run_sweep(
        engine,
        grid,
        out,
        progress=_counted(progress, "simulating"),
        command=sweep_line(out, grid_options(grid), traces=False, audit=False),
        run_command=lambda point: sweep_line(out, point_options(point), traces=False, audit=False),
    )
    with show_tasks(engine, lambda text: progress(0, 0, text or "fitting")):
        tables = metrics.write_tables(
            engine, swept.results, out, command_lines.line("sweep", "--out", out, "--tables")
        )
        rows = tables["table1"].to_pylist()
    return {
        "out": out,
        "processes": list(demo.sizes),
        "runs": swept.done + swept.reused,
        "failed": swept.failed,
        "table1": rows,
    }


Step = Callable[["PipelineEngine", Demo, ProgressCallback], StepResult]

# name -> what is printed when the step begins, and the step
STEPS: Final[dict[str, tuple[str, Step]]] = {
    "cluster": ("real processes on a network that loses, duplicates and delays", run_cluster),
    "audit": ("judging every delivery in their trace", audit_cluster),
    "cluster study": ("replaying their messages under every protocol", study_cluster),
    "shop study": ("replaying a web shop's messages under every protocol", study_shop),
    "growth": ("measuring cost with a growing number of processes", measure_growth),
}


def run(engine: PipelineEngine, demo: Demo, done: Callable[[str, float], None]) -> StepResult:
    """Run all steps; `done` is called after each, with its name and seconds."""
    results: StepResult = {}
    with progress_steps(list(STEPS)) as steps:
        for name, (text, step) in STEPS.items():
            steps.begin(name, text)
            began = time.monotonic()
            results[name] = step(engine, demo, steps.update)
            done(name, time.monotonic() - began)
    return results


def is_sound(results: StepResult) -> bool:
    """Whether everything ran, and every promise was kept."""
    return (
        results["cluster"]["verdict"]["clean"]
        and results["audit"]["exit_code"] == 0
        and results["cluster study"]["sound"]
        and results["shop study"]["sound"]
        and not results["growth"]["failed"]
    )


# ---- parts ----


def _study(
    engine: PipelineEngine,
    demo: Demo,
    name: str,
    sources: Sequence[str],
    progress: ProgressCallback,
) -> StepResult:
    from beforehand.pipeline.study import Study

    study = Study(
        out=demo.part(name),
        candidates=study_command.candidates(list(demo.protocols)),
        sources=sources,
        networks=demo.networks,
        messages=demo.replayed,
        seed=demo.seed,
        named=bool(demo.protocols),
    )
    findings = study_command.run(
        engine, study, lambda step, text: progress(0, 0, text), _counted(progress, "replaying")
    )
    return study_command.to_dict(study, findings)


def _counted(progress: ProgressCallback, what: str) -> Callable[[SweepProgress], None]:
    return lambda so_far: progress(so_far.done, so_far.total, what)


def _grid(demo: Demo) -> Grid:
    """Without the protocols that only broadcast: their figures are not comparable with the others."""
    from beforehand import protocols
    from beforehand.pipeline.metrics.claims import CLAIMS
    from beforehand.pipeline.sweep import Grid

    names = [claim.protocol for claim in CLAIMS]
    return Grid(
        protocol=[name for name in names if "unicast" in protocols.describe(name).casts],
        workload=[NEIGHBOURS],
        processes=demo.sizes,
        seed=[demo.seed],
        fields={"messages": [demo.sent]},
    )
