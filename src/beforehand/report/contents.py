"""What a report shows, as plain values: whoever reads results makes these, and the page shows them.

Figures stay as the pipeline wrote them: a `Column` says what a number means, and the page how it looks.
Every row of figures names the run that made it, so that the page can lead there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from beforehand.report.diagram.model import Diagram

Value = str | int | float | bool | None  # None: not known, or it does not apply

# text; whole numbers; other numbers; nanoseconds; bytes; a part of 1; a power of n
Kind = Literal["text", "count", "number", "time", "bytes", "share", "exponent"]


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str  # as the pipeline calls it; the page gives it to CSV files too
    title: str  # for people
    kind: Kind
    told: str = ""  # what it means, in a sentence


@dataclass(frozen=True)
class Table:
    """A table of the pipeline, or a part of one."""

    name: (
        str  # one of its kind in the report: letters, digits and dashes; also that of its CSV file
    )
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    runs: tuple[str | None, ...] = ()  # for each row the anchor of the run that made it; or empty


@dataclass(frozen=True)
class Made:
    """How something came about."""

    command: str  # that makes it again; empty if it is not known
    when: str = ""  # UTC; empty if it is not known
    environment: Mapping[str, str] = field(default_factory=dict)  # empty if it is not known


@dataclass(frozen=True)
class Run:
    """One run of the simulator, all of it: where a figure leads to."""

    anchor: str  # one of its kind in the report, for links
    name: str  # as the pipeline calls it
    title: str  # such as "hybrid on lan"
    made: Made
    figures: Table  # columns `figure` and `value`
    scenario: str  # JSON, to be read by people
    diagram: str = ""  # the command that draws it; empty if it has no trace
    error: str = ""


@dataclass(frozen=True)
class Violation:
    """A promise that was broken."""

    run: str  # as the pipeline calls it
    anchor: str | None  # of that run, if the report has it
    title: str  # whose run it was, such as "fifo on wan"
    kind: str
    sentence: str
    diagram: Diagram | None  # of the chain of messages; None where there is no chain


@dataclass(frozen=True)
class Audit:
    """What the auditor said of some runs."""

    name: str  # for anchors
    title: str
    folder: str
    made: Made
    verdicts: Table
    violations: tuple[Violation, ...]  # those that are listed, clean runs have none
    counted: int  # all violations, also those that are not listed
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Advice:
    """What to choose in a situation."""

    situation: str
    protocols: tuple[str, ...]  # the first is the choice; none: it is a remark
    sentence: str


@dataclass(frozen=True)
class Study:
    """A traffic, replayed under every protocol that suits it."""

    name: str  # for anchors
    title: str  # such as "shop: 16 processes, 1,687 messages"
    folder: str
    made: Made
    replayed: str  # which part of which run, in a sentence
    sentences: tuple[str, ...]  # what the traffic is like
    advice: tuple[Advice, ...]
    protocols: Table | None  # the table study/protocols: a row for each protocol and network
    characteristics: tuple[Table, ...]  # of the traffic
    left_out: tuple[tuple[str, str], ...]  # protocols, and why
    runs: tuple[Run, ...]
    audit: Audit | None


@dataclass(frozen=True)
class Sweep:
    """A grid of simulations."""

    name: str  # for anchors
    title: str
    folder: str
    made: Made
    results: Table | None  # a row for each run
    table1: Table | None  # the table metrics/table1: claimed and measured
    exponents: Table | None  # the table metrics/exponents
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Cluster:
    """Real processes on a bad network."""

    name: str  # for anchors
    title: str
    folder: str
    made: Made
    clean: bool
    sentences: tuple[str, ...]  # plan, faults and verdict, in words
    processes: Table
    diagram: Diagram | None  # the beginning of its trace
    diagram_command: str  # that draws all of it; empty if there is no trace


@dataclass(frozen=True)
class Missing:
    """Something that should be there and is not, or only in part."""

    what: str  # such as "the audit of shop-study"
    why: str  # what was found instead, and what to do


@dataclass(frozen=True)
class Contents:
    """All of a report."""

    folder: str  # that was read
    made: Made  # of the folder as a whole, if it is one that `beforehand demo` made; else of the report
    clusters: tuple[Cluster, ...] = ()
    studies: tuple[Study, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    audits: tuple[Audit, ...] = ()  # those that belong to no study
    missing: tuple[Missing, ...] = ()
