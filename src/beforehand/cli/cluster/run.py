"""Run a cluster and write its note: what `beforehand cluster` and `beforehand demo` share."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beforehand.cli import command_lines
from beforehand.cli.cluster import view as cluster_view
from beforehand.results.layout import ClusterFolder
from beforehand.results.notes import write_note
from beforehand.results.provenance import provenance

if TYPE_CHECKING:
    from beforehand.runtime.cluster.costs import ClusterCosts
    from beforehand.runtime.cluster.plan import ClusterPlan
    from beforehand.runtime.cluster.programs.incident import Incident, Logs
    from beforehand.runtime.cluster.supervisor import ClusterRun, Observer
    from beforehand.runtime.cluster.verdict import ClusterVerdict


@dataclass(frozen=True)
class JudgedCluster:
    """A cluster that has finished, and its verdict."""

    plan: ClusterPlan
    encrypted: bool
    course: ClusterRun
    verdict: ClusterVerdict
    costs: ClusterCosts

    @property
    def logs(self) -> Logs:
        """What each process of a program sent and saw."""
        return {child.name: child.log for child in self.course.children}

    @property
    def incidents(self) -> list[Incident]:
        """What made no sense to the users of a program, the first one first."""
        from beforehand.runtime.cluster.programs.incident import incidents

        return incidents(self.plan.script, self.logs)

    @property
    def clean(self) -> bool:
        """Whether everything was delivered once, in causal order and undamaged."""
        return cluster_view.is_clean(self.course, self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON."""
        return cluster_view.to_dict(self.plan, self.course, self.verdict) | {
            "costs": asdict(self.costs)
        }


def run(
    plan: ClusterPlan, encrypted: bool, folder: Path, timeout: float, watch: Observer
) -> JudgedCluster:
    """Run a cluster that leaves its traces in the folder, and judge them."""
    from beforehand.runtime.cluster.costs import measure
    from beforehand.runtime.cluster.supervisor import run_cluster
    from beforehand.runtime.cluster.verdict import judge
    from beforehand.runtime.identity.keys import keygen

    course = run_cluster(plan, keygen() if encrypted else None, folder, timeout, watch)
    watch(course.children, "judging")
    labels = {child.process: child.label for child in course.children}
    verdict = judge(folder, labels, [child.label for child in course.killed])
    return JudgedCluster(plan, encrypted, course, verdict, measure(folder, course.children))


def write_run_note(run: JudgedCluster, folder: Path) -> None:
    """Describe the run next to its traces; written last, so that it implies complete traces."""
    note = {**run.to_dict(), "encrypted": run.encrypted}
    write_note(
        folder / ClusterFolder.NOTE,
        note | provenance(command_lines.cluster(run.plan, run.encrypted, folder)),
    )
