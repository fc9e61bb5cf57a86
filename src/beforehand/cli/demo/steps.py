"""What a demo does, step by step; each tells how far it is, and returns plain values."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from beforehand.cli import command_lines
from beforehand.cli.cluster import run as cluster_run
from beforehand.cli.demo import folder as demo_folder
from beforehand.cli.report_commands import report_commands
from beforehand.cli.study import candidates, everything
from beforehand.cli.ui.progress import Tell, progress_steps
from beforehand.cli.ui.spark import watched
from beforehand.results.layout import REPORT_PAGE, DemoFolder

if TYPE_CHECKING:
    from beforehand.pipeline.session import Session
    from beforehand.pipeline.sweep import Grid, SweepProgress
    from beforehand.runtime.cluster.child import Child

Told = dict[str, Any]

PATIENCE: Final = 120.0  # seconds for the cluster, which takes a few
# Neighbours stay as many when the ring grows, so that growth is due to the number of processes alone.
NEIGHBOURS: Final = "ring:4"


@dataclass(frozen=True)
class Demo:
    """What is asked for; the sizes make it a couple of minutes on two cores."""

    folder: Path
    seed: int = 1
    nodes: int = 5
    messages: int = 2_000  # of the cluster
    loss: float = 0.05
    duplicate: float = 0.05
    reorder: float = 0.2
    protocols: Sequence[str] = ()  # to replay under; none: all that suit
    networks: Sequence[str] = ("lan", "wan", "mobile")
    replayed: int = 20_000  # messages of each traffic, at most
    sizes: Sequence[int] = (8, 16, 32, 64)  # processes, for growth
    sent: int = 20  # messages of each process, for growth

    def part(self, name: str) -> str:
        """The path of a part of the folder."""
        return str(self.folder / name)


# ---- the steps ----


def run_cluster(spark: Session, demo: Demo, tell: Tell) -> Told:
    """Real processes, encrypted, on a network that loses, doubles and delays."""
    from beforehand.runtime.cluster.plan import ClusterPlan

    def watch(children: list[Child], step: str) -> None:
        tell(sum(child.figures.sent for child in children), demo.messages, step)

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
    ran = cluster_run.run(plan, True, folder, PATIENCE, watch)
    cluster_run.leave_note(ran, folder)
    return ran.everything()


def audit_cluster(spark: Session, demo: Demo, tell: Tell) -> Told:
    """Its trace, judged again by other code: that of the pipeline."""
    from beforehand.pipeline.audit import audit

    traces, out = demo.part(DemoFolder.CLUSTER), demo.part(DemoFolder.AUDIT)
    with watched(spark, lambda text: tell(0, 0, text or "judging")):
        found = audit(spark, [traces])
        try:
            found.write(out, command_lines.audit([traces], out))
        finally:
            found.close()
    return {
        "out": out,
        "runs": found.runs,
        "events": found.events,
        "violated": found.violated,
        "incomplete": found.incomplete,
        "unreadable": found.unreadable,
        "exit_code": found.exit_code,
    }


def study_cluster(spark: Session, demo: Demo, tell: Tell) -> Told:
    """The cluster's own traffic under every protocol."""
    return _study(spark, demo, DemoFolder.CLUSTER_STUDY, [demo.part(DemoFolder.CLUSTER)], tell)


def study_shop(spark: Session, demo: Demo, tell: Tell) -> Told:
    """The built-in traffic under every protocol."""
    return _study(spark, demo, DemoFolder.SHOP_STUDY, [], tell)


def measure_growth(spark: Session, demo: Demo, tell: Tell) -> Told:
    """The protocols of paper 000's Table 1, with more and more processes."""
    from beforehand.cli.sweep.command_line import grid_options, point_options, sweep_line
    from beforehand.pipeline import metrics
    from beforehand.pipeline.sweep import run_sweep

    out = demo.part(DemoFolder.GROWTH)
    grid = _grid(demo)
    swept = run_sweep(
        spark,
        grid,
        out,
        progress=_counted(tell, "simulating"),
        command=sweep_line(out, grid_options(grid), traces=False, audit=False),
        run_command=lambda point: sweep_line(out, point_options(point), traces=False, audit=False),
    )
    with watched(spark, lambda text: tell(0, 0, text or "fitting")):
        tables = metrics.write_tables(
            swept.results, out, command_lines.line("sweep", "--out", out, "--tables")
        )
        rows = [row.asDict() for row in tables["table1"].orderBy("protocol").collect()]
    return {
        "out": out,
        "processes": list(demo.sizes),
        "runs": swept.done + swept.reused,
        "failed": swept.failed,
        "table1": rows,
    }


def write_report(spark: Session, demo: Demo, tell: Tell) -> Told:
    """All of it on one page."""
    from beforehand import report

    file = demo.folder / REPORT_PAGE
    contents = report.write(demo.folder, file, commands=report_commands())
    return {"file": str(file), "missing": [asdict(each) for each in contents.missing]}


Step = Callable[["Session", Demo, Tell], Told]

# What a step is called, what it says when it begins, and what it does.
STEPS: Final[dict[str, tuple[str, Step]]] = {
    "cluster": ("real processes on a network that loses, doubles and delays", run_cluster),
    "audit": ("every delivery in their trace is judged, on Spark", audit_cluster),
    "cluster study": ("their traffic again, under every protocol", study_cluster),
    "shop study": ("the traffic of a shop's services, under every protocol", study_shop),
    "growth": ("what happens when there are more and more processes", measure_growth),
    "report": ("everything on one page", write_report),
}


def run(spark: Session, demo: Demo, note: Told) -> Told:
    """All steps into a folder that is claimed already; `note` is what its mark says so far."""
    told: Told = {}
    seconds: dict[str, float] = {}
    with progress_steps(list(STEPS)) as steps:
        for name, (text, do) in STEPS.items():
            steps.begin(name, text)
            began = time.monotonic()
            told[name] = do(spark, demo, steps.tell)
            seconds[name] = round(time.monotonic() - began, 1)
            demo_folder.mark(demo.folder, note | {"seconds": seconds})
    told |= {"seconds": seconds, "sound": is_sound(told)}
    over = {"finished": True, "seconds": seconds, "sound": told["sound"]}
    demo_folder.mark(demo.folder, note | over)
    return told


def is_sound(told: Told) -> bool:
    """Whether everything ran, and every promise was kept."""
    return (
        told["cluster"]["verdict"]["clean"]
        and told["audit"]["exit_code"] == 0
        and told["cluster study"]["sound"]
        and told["shop study"]["sound"]
        and not told["growth"]["failed"]
        and not told["report"]["missing"]
    )


# ---- parts ----


def _study(spark: Session, demo: Demo, name: str, sources: Sequence[str], tell: Tell) -> Told:
    from beforehand.pipeline.study import Study, run_study

    asked = Study(
        out=demo.part(name),
        candidates=candidates(list(demo.protocols)),
        sources=sources,
        networks=demo.networks,
        messages=demo.replayed,
        seed=demo.seed,
        named=bool(demo.protocols),
    )
    found = run_study(
        spark,
        asked,
        lambda step, text: tell(0, 0, text),
        _counted(tell, "replaying"),
        command=command_lines.study(asked),
        audit_command=command_lines.audit,
    )
    return everything(asked, found)


def _counted(tell: Tell, what: str) -> Callable[[SweepProgress], None]:
    return lambda now: tell(now.done, now.total, what)


def _grid(demo: Demo) -> Grid:
    """Those that only broadcast stay out: their figures are of other traffic, and compare to nothing."""
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
