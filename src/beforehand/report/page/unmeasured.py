"""Figures that were not measured, and those of runs that did not do the work: why, in words.

A mean over a workload of which a run sent only a part says nothing about the protocol.
"""

from typing import Final

from beforehand.report.model import StudyView
from beforehand.report.page.formats import visible
from beforehand.report.page.tables import Record, records
from beforehand.results.format import counted
from beforehand.results.schema import Field
from beforehand.results.tables.study import COSTS
from beforehand.results.tables.sweep import METRICS

UNMEASURED: Final = "not measured"
NOT_AUDITED: Final = "not audited"


def absent(column: Field) -> str:
    """What to show where there is no value."""
    if column.name == "violations":
        return NOT_AUDITED
    measured = column.name in METRICS.names or column.name in COSTS.names
    return UNMEASURED if measured or column.unit not in ("text", "count") else ""


def incomplete(row: Record) -> str:
    """Why the costs of a replay mean nothing; empty if they do."""
    outcome = row.text("outcome")
    if outcome == "complete":
        return ""
    if row.text("error"):
        return "the run failed"
    delivered = counted(row.total("deliveries"), "delivery", "deliveries")
    return f"the run {_OUTCOMES.get(outcome, 'did not complete')} after {delivered}"


_OUTCOMES: Final = {"stalled": "stalled", "cut short": "was cut short"}


def is_void(row: Record, name: str) -> bool:
    """Whether a figure is a cost of a run that did not do the work."""
    return name in COSTS.names and bool(incomplete(row))


def remarks(study: StudyView) -> list[str]:
    """For each run of a study without meaningful costs, a sentence."""
    return [
        f"{visible(row.text('protocol'))} on {visible(row.text('network'))}: costs not measured: "
        f"{incomplete(row)}."
        for row in records(study.protocols)
        if incomplete(row)
    ]
