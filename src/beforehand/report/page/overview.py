"""The parts of a report in the order of the page: what was run, how large it was, and where."""

from collections.abc import Iterator
from dataclasses import dataclass

from beforehand.report.model import PartView, ReportView, RunView, TableView
from beforehand.report.page.tables import records
from beforehand.results.format import counted


@dataclass(frozen=True)
class PartSummary:
    """Something that was run."""

    what: str  # comparison, cluster, study, sweep or audit
    view: PartView
    size: str  # in words
    link: str  # an anchor of the page


@dataclass(frozen=True)
class RunGroup:
    """The runs of a part."""

    title: str
    link: str  # back to that part
    runs: tuple[RunView, ...]


@dataclass(frozen=True)
class EnvironmentGroup:
    """A machine and its software, and what was run there."""

    facts: tuple[tuple[str, str], ...]
    parts: tuple[str, ...]  # titles


def parts(report: ReportView) -> Iterator[PartSummary]:
    """All that was run, in the order of the page."""
    for comparison in report.comparisons:
        deliveries = _total(comparison.runs, "deliveries")
        size = (
            f"{counted(len(comparison.runs.rows), 'run')}, "
            f"{counted(deliveries, 'delivery', 'deliveries')}"
        )
        yield PartSummary("comparison", comparison, size, f"comparison-{comparison.name}")
    for cluster in report.clusters:
        size = (
            f"{counted(len(cluster.processes.rows), 'process', 'processes')}, "
            f"{counted(_total(cluster.processes, 'delivered'), 'delivery', 'deliveries')}"
        )
        yield PartSummary("cluster", cluster, size, f"cluster-{cluster.name}")
    for study in report.studies:
        size = counted(len(records(study.protocols)), "replay")
        if study.audit is not None:
            size += f", {counted(_total(study.audit.verdicts, 'events'), 'event')} judged"
        yield PartSummary("study", study, size, f"protocols-{study.name}")
    for sweep in report.sweeps:
        size = counted(len(records(sweep.results)), "run")
        yield PartSummary("sweep", sweep, size, f"growth-{sweep.name}")
    for audit in report.audits:
        events = counted(_total(audit.verdicts, "events"), "event")
        size = f"{counted(len(audit.verdicts.rows), 'run')}, {events} judged"
        yield PartSummary("audit", audit, size, f"audit-{audit.name}")


def _total(table: TableView, column: str) -> int:
    return sum(row.total(column) for row in records(table))


def run_groups(report: ReportView) -> list[RunGroup]:
    """All runs that figures link to, by part."""
    groups = [
        *(RunGroup(study.title, f"protocols-{study.name}", study.runs) for study in report.studies),
        *(RunGroup(sweep.title, f"growth-{sweep.name}", sweep.runs) for sweep in report.sweeps),
    ]
    return [group for group in groups if group.runs]


def environments(report: ReportView) -> list[EnvironmentGroup]:
    """The environments, each once, with the parts that were run in it."""
    titles: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for part in parts(report):
        titles.setdefault(tuple(part.view.made.environment.items()), []).append(part.view.title)
    if report.made.environment:
        titles.setdefault(tuple(report.made.environment.items()), [])
    return [EnvironmentGroup(facts, tuple(names)) for facts, names in titles.items()]
