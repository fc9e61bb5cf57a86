"""A cluster from its start to its note: what `beforehand cluster` and `beforehand demo` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beforehand.cli import command_lines
from beforehand.cli.cluster import view as cluster_view
from beforehand.results.layout import ClusterFolder
from beforehand.results.notes import write_note
from beforehand.results.provenance import provenance

if TYPE_CHECKING:
    from beforehand.runtime.cluster.plan import ClusterPlan
    from beforehand.runtime.cluster.supervisor import ClusterRun, Observer
    from beforehand.runtime.cluster.verdict import ClusterVerdict


@dataclass(frozen=True)
class Ran:
    """A cluster that came to its end."""

    plan: ClusterPlan
    encrypted: bool
    course: ClusterRun
    verdict: ClusterVerdict

    @property
    def clean(self) -> bool:
        """Whether everything arrived, once, in order and as it was sent."""
        return cluster_view.is_clean(self.course, self.verdict)

    def everything(self) -> dict[str, Any]:
        """For programs."""
        return cluster_view.everything(self.plan, self.course, self.verdict)


def run(plan: ClusterPlan, encrypted: bool, folder: Path, timeout: float, watch: Observer) -> Ran:
    """Run a cluster, whose traces are in the folder afterwards, and judge it."""
    from beforehand.runtime.cluster.supervisor import run_cluster
    from beforehand.runtime.cluster.verdict import judge
    from beforehand.runtime.identity.keys import keygen

    course = run_cluster(plan, keygen() if encrypted else None, folder, timeout, watch)
    watch(course.children, "judging")
    labels = {child.process: child.label for child in course.children}
    verdict = judge(folder, labels, [child.label for child in course.killed])
    return Ran(plan, encrypted, course, verdict)


def leave_note(ran: Ran, folder: Path) -> None:
    """Say beside the traces what they are of; written last, so that there is none without them."""
    told = {**ran.everything(), "encrypted": ran.encrypted}
    write_note(
        folder / ClusterFolder.NOTE,
        told | provenance(command_lines.cluster(ran.plan, ran.encrypted, folder)),
    )
