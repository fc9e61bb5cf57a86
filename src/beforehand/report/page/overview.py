"""The parts of a report as a reader meets them: what was run, each with its size and how it was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from beforehand.report.model import Provenance, ReportView, RunView
from beforehand.report.page.tables import records
from beforehand.results.format import counted


@dataclass(frozen=True)
class PartSummary:
    """Something that was run."""

    what: str  # cluster, study, sweep or audit
    title: str
    folder: str
    size: str  # in words
    made: Provenance
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


def parts(contents: ReportView) -> list[PartSummary]:
    """All that was run, in the order of the page."""
    return [*_clusters(contents), *_studies(contents), *_sweeps(contents), *_audits(contents)]


def _clusters(contents: ReportView) -> Iterator[PartSummary]:
    for each in contents.clusters:
        rows = records(each.processes)
        size = (
            f"{counted(len(rows), 'process', 'processes')}, "
            f"{counted(sum(row.total('delivered') for row in rows), 'delivery', 'deliveries')}"
        )
        link = f"cluster-{each.name}"
        yield PartSummary("cluster", each.title, each.folder, size, each.made, link)


def _studies(contents: ReportView) -> Iterator[PartSummary]:
    for each in contents.studies:
        size = counted(len(records(each.protocols)), "replay")
        if each.audit is not None:
            events = sum(row.total("events") for row in records(each.audit.verdicts))
            size += f", {counted(events, 'event')} judged"
        link = f"protocols-{each.name}"
        yield PartSummary("study", each.title, each.folder, size, each.made, link)


def _sweeps(contents: ReportView) -> Iterator[PartSummary]:
    for each in contents.sweeps:
        size = counted(len(records(each.results)), "run")
        yield PartSummary("sweep", each.title, each.folder, size, each.made, f"growth-{each.name}")


def _audits(contents: ReportView) -> Iterator[PartSummary]:
    for each in contents.audits:
        rows = records(each.verdicts)
        events = sum(row.total("events") for row in rows)
        size = f"{counted(len(rows), 'run')}, {counted(events, 'event')} judged"
        yield PartSummary("audit", each.title, each.folder, size, each.made, f"audit-{each.name}")


def run_groups(contents: ReportView) -> list[RunGroup]:
    """All runs that figures lead to, by part."""
    found = [
        *(RunGroup(each.title, f"protocols-{each.name}", each.runs) for each in contents.studies),
        *(RunGroup(each.title, f"growth-{each.name}", each.runs) for each in contents.sweeps),
    ]
    return [group for group in found if group.runs]


def environments(contents: ReportView) -> list[EnvironmentGroup]:
    """The environments, each once, with the parts that were made in it."""
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for part in parts(contents):
        found.setdefault(tuple(part.made.environment.items()), []).append(part.title)
    whole = tuple(contents.made.environment.items())
    if whole and whole not in found:
        found[whole] = []
    return [EnvironmentGroup(facts, tuple(titles)) for facts, titles in found.items()]
