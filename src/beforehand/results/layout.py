"""Folders and notes of every kind of output, by name.

An output is complete when its note is there, which is written last; a table when Spark has left
`SUCCESS` in its folder. Names that start with `_` or `.` are never read as data.
"""

from pathlib import Path
from typing import Final, Literal

SUCCESS: Final = "_SUCCESS"  # Spark's mark of a finished table


def unfinished(name: str) -> str:
    """The name that a file has while it is being written."""
    return f".{name}.unfinished"


class SimulationFolder:
    """One run of the simulator."""

    TRACE: Final = "trace.parquet"
    RESULT: Final = "result.json"


class ClusterFolder:
    """The traces of real processes, and what they did."""

    NOTE: Final = "_cluster.json"


class ComparisonFolder:
    """One program, run by real processes under several protocols: a cluster folder for each."""

    NOTE: Final = "_comparison.json"


class IngestFolder:
    """Traces and logs of other tools, as events and messages."""

    NOTE: Final = "_ingest.json"
    MESSAGES: Final = "messages"
    EVENTS: Final = "events"
    REJECTS: Final = "rejects"
    FILES: Final = "files"
    CHARACTERISTICS: Final = "characteristics"  # derived from the messages, and void without them
    TABLES: Final = (MESSAGES, EVENTS, REJECTS, FILES)


class CharacteristicsFolder:
    """What a workload is like; its tables are `tables.characteristics.TABLES`."""

    NOTE: Final = "_characteristics.json"


class AuditFolder:
    """Verdicts and violations."""

    NOTE: Final = "_audit.json"
    AUDITED: Final = "_audited.json"  # in a study: the runs that the tables cover
    VERDICTS: Final = "verdicts"
    VIOLATIONS: Final = "violations"
    PARTS: Final = (NOTE, AUDITED, VERDICTS, VIOLATIONS)


class SweepFolder:
    """A grid of simulations, run in waves; a wave counts once its note is in WAVES."""

    MARK: Final = "_sweep.json"  # written first: the folder belongs to a sweep
    WAVES: Final = "waves"  # WAVE.json
    RESULTS: Final = "results"  # WAVE/
    TRACES: Final = "traces"  # WAVE/
    METRICS: Final = "metrics"
    METRICS_NOTE: Final = "_metrics.json"
    TABLE1: Final = "table1"
    EXPONENTS: Final = "exponents"
    FIGURES_001: Final = "figures_001"
    FIGURE_004: Final = "figure_004"


class StudyFolder:
    """A workload, replayed under every eligible protocol."""

    SOURCE: Final = "_source.json"  # written first: what is studied
    NOTE: Final = "_study.json"
    ADVICE: Final = "recommendation.md"
    INGEST: Final = "ingest"
    CHARACTERISTICS: Final = "characteristics"
    SWEEP: Final = "sweep"
    AUDIT: Final = "audit"
    TABLES: Final = "study"
    PROTOCOLS: Final = "protocols"  # in TABLES
    RECOMMENDATION: Final = "recommendation"  # in TABLES
    PARTS: Final = (INGEST, CHARACTERISTICS, SWEEP, AUDIT, TABLES)


class DemoFolder:
    """All of it once, on one machine: first what takes seconds, then the rest."""

    NOTE: Final = "_demo.json"  # written first, and again after every step
    CHAT: Final = "chat"
    SHOP: Final = "shop"
    CLUSTER: Final = "cluster"
    AUDIT: Final = "cluster-audit"
    CLUSTER_STUDY: Final = "cluster-study"
    SHOP_STUDY: Final = "shop-study"
    GROWTH: Final = "growth"
    COMPARISONS: Final = (CHAT, SHOP)
    FULL: Final = (CLUSTER, AUDIT, CLUSTER_STUDY, SHOP_STUDY, GROWTH)


REPORT_PAGE: Final = "report.html"  # in the folder that it reports on

OutputKind = Literal["comparison", "study", "sweep", "audit", "ingest", "cluster"]

# What identifies each kind, first match wins: its note, or else a folder that only it has.
MARKS: Final[tuple[tuple[OutputKind, tuple[str, ...]], ...]] = (
    ("comparison", (ComparisonFolder.NOTE,)),
    ("study", (StudyFolder.NOTE, StudyFolder.SOURCE, "study/protocols")),
    ("sweep", (SweepFolder.MARK, SweepFolder.WAVES, "metrics/table1")),
    ("audit", (AuditFolder.NOTE, AuditFolder.AUDITED, AuditFolder.VERDICTS)),
    ("ingest", (IngestFolder.NOTE, CharacteristicsFolder.NOTE)),
    ("cluster", (ClusterFolder.NOTE,)),
)


def kind_of(folder: Path) -> OutputKind | None:
    """What a folder holds, if it is an output of ours."""
    for kind, names in MARKS:
        if any((folder / name).exists() for name in names):
            return kind
    return None
