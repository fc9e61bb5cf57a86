"""What a report shows, as plain values: `reading` creates them, `page` renders them.

Figures stay as the pipeline wrote them: a `Field` gives their meaning, and the page formats them.
Every row of figures names the run behind it, so that the page can link to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from beforehand.report.commands import Suggestions
from beforehand.report.diagram.model import Diagram
from beforehand.report.diagram.side_by_side import SideBySide
from beforehand.results.schema import Field

Value = str | int | float | bool | None  # None: unknown, or not applicable


@dataclass(frozen=True)
class TableView:
    """A table of the pipeline, or a part of one."""

    name: str  # unique in the report: letters, digits and dashes; also the name of its CSV file
    title: str
    columns: tuple[Field, ...]
    rows: tuple[tuple[Value, ...], ...]
    runs: tuple[str | None, ...] = ()  # for each row the anchor of its run; or empty


@dataclass(frozen=True)
class Provenance:
    """How something was made; empty where that is not known."""

    command: str  # the command line that reproduces it
    when: str = ""  # UTC
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PartView:
    """Something that was run, with a section of its own."""

    name: str  # for anchors
    title: str  # such as "shop: 16 processes, 1,687 messages"
    folder: str
    made: Provenance


@dataclass(frozen=True)
class RunView:
    """One run of the simulator: where its figures link to."""

    anchor: str  # unique in the report
    name: str  # the pipeline's
    title: str  # such as "hybrid on lan"
    made: Provenance
    figures: TableView  # columns `figure` and `value`
    scenario: str  # indented JSON
    diagram: str = ""  # the command that draws it; empty if it has no trace
    error: str = ""


@dataclass(frozen=True)
class ViolationView:
    """A broken guarantee."""

    run: str  # the pipeline's name
    anchor: str | None  # of that run, if it is in the report
    title: str  # of that run, such as "fifo on wan"
    kind: str
    sentence: str
    diagram: Diagram | None  # of the chain of messages; None without a chain


@dataclass(frozen=True)
class AuditView(PartView):
    """The auditor's verdicts on some runs."""

    verdicts: TableView
    violations: tuple[ViolationView, ...]  # those that are listed
    counted: int  # all violations, listed or not
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class AdviceView:
    """What to choose in a situation."""

    situation: str
    protocols: tuple[str, ...]  # the first is the choice; empty for a remark
    sentence: str


@dataclass(frozen=True)
class StudyView(PartView):
    """A workload, replayed under every eligible protocol; or one that has not been replayed yet."""

    replayed: str = ""  # which part of which run, in a sentence
    sentences: tuple[str, ...] = ()  # what the workload is like
    advice: tuple[AdviceView, ...] = ()
    protocols: TableView | None = None  # one row per protocol and network
    characteristics: tuple[TableView, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()  # protocols, and why
    runs: tuple[RunView, ...] = ()
    audit: AuditView | None = None
    command: str = ""  # that makes the study, or completes it


@dataclass(frozen=True)
class SweepView(PartView):
    """A grid of simulations."""

    results: TableView | None  # one row per run
    table1: TableView | None  # claimed and measured
    exponents: TableView | None
    runs: tuple[RunView, ...]


@dataclass(frozen=True)
class ClusterView(PartView):
    """Real processes on a bad network."""

    clean: bool
    sentences: tuple[str, ...]  # plan, faults and verdict
    processes: TableView
    diagram: Diagram | None  # the beginning of its trace
    diagram_command: str  # that draws all of it; empty without a trace


@dataclass(frozen=True)
class IncidentView:
    """What first made no sense to a user, and the same messages in another run."""

    process: str
    sentence: str
    pictures: SideBySide


@dataclass(frozen=True)
class ComparisonView(PartView):
    """A program, run by real processes under several protocols on the same faults."""

    program: str  # such as "A group chat"
    harm: str  # what users saw without order, in the plural
    setting: str  # who took part, and what the network did
    runs: TableView  # one row per protocol
    incident: IncidentView | None  # of the first run
    diagrams: tuple[tuple[str, str], ...]  # protocols, and the command that draws the whole run


@dataclass(frozen=True)
class MissingPart:
    """A part that is absent or incomplete."""

    what: str  # such as "the audit of shop-study"
    why: str  # the problem and the remedy


@dataclass(frozen=True)
class ReportView:
    """A whole report."""

    folder: str  # that was read
    made: Provenance  # of the demo that made the whole folder; otherwise of the report
    clusters: tuple[ClusterView, ...] = ()
    studies: tuple[StudyView, ...] = ()
    sweeps: tuple[SweepView, ...] = ()
    audits: tuple[AuditView, ...] = ()  # those that belong to no study
    missing: tuple[MissingPart, ...] = ()
    suggestions: Suggestions = field(default_factory=Suggestions)  # for empty sections
    comparisons: tuple[ComparisonView, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing could be read."""
        parts = (self.comparisons, self.clusters, self.studies, self.sweeps, self.audits)
        return not any(parts)
