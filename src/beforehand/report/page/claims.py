"""TableView 1 of Almeida, "Hybrid Buffering" (paper 000): what is claimed beside what was measured.

A claim such as O(n^2) is an upper bound. So a measured exponent is called as claimed if it differs from
the claimed one by at most `CLOSE`, and less than claimed if it is smaller still. Of a larger one nothing
is said: the claims are about one message and one process with other letters kept constant, and the
measured figures include copies, control frames, and whatever else grew with n.

Of the other claims, only those are judged that a run can contradict: no latency beyond what causal order
asks for, one message in transit, and liveness.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from beforehand.report.model import SweepView, TableView
from beforehand.report.page.axes import Scale
from beforehand.report.page.charts import Chart, DotSeries, dot_chart, series_style
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, records

CLOSE: Final = 0.25  # of an exponent: varints and logarithmic terms are no powers of n

Word = Literal["as claimed", "less than claimed", "more than claimed", ""]

_POWER: Final = re.compile(r"(?<![a-z])n(?:\^(\d+))?(?![a-z])")


@dataclass(frozen=True)
class ClaimGroup:
    """Columns of the table that belong together, under one title."""

    title: str
    columns: tuple[str, ...]


GROUPS: Final = (
    ClaimGroup(
        "message space (bytes per message)",
        ("claimed_message_space", "metadata_bytes", "metadata_exponent"),
    ),
    ClaimGroup(
        "process space (integers)",
        ("claimed_process_space", "integers_mean", "integers_peak", "state_exponent"),
    ),
    ClaimGroup(
        "work (of the whole simulator)",
        ("claimed_sender_work", "claimed_receiver_work", "work_us", "work_exponent"),
    ),
    ClaimGroup("latency", ("latency_ms", "claimed_noncausal", "noncausal_ms")),
    ClaimGroup("in transit", ("claimed_in_transit", "most_in_transit")),
    ClaimGroup("control", ("claimed_control", "control_frames")),
    ClaimGroup("liveness", ("claimed_liveness", "stalled")),
    ClaimGroup("the network may", ("claimed_failures", "claimed_order")),
    ClaimGroup("runs", ("runs",)),
)


@dataclass(frozen=True)
class Space:
    """What a chart compares."""

    name: str
    title: str
    claim: str  # column
    exponent: str  # column
    description: str


SPACES: Final = (
    Space(
        "message-space",
        "Message space: k of n^k",
        "claimed_message_space",
        "metadata_exponent",
        "How metadata per message grows with the number of processes.",
    ),
    Space(
        "process-space",
        "Process space: k of n^k",
        "claimed_process_space",
        "state_exponent",
        "How the state of a process grows with their number.",
    ),
)


def arranged(table: TableView) -> list[tuple[str, list[int]]]:
    """The places of the columns, group by group; columns of no group come last, so none is lost."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    first = places.pop("protocol", None)
    found = [("", [first])] if first is not None else []
    for group in GROUPS:
        there = [places.pop(name) for name in group.columns if name in places]
        if there:
            found.append((group.title, there))
    return [*found, ("other", list(places.values()))] if places else found


def claimed_exponent(claim: str) -> int | None:
    """The power of n in a claim: 2 in O(n^2 b), 0 in O(1); None if it is not such a claim."""
    if not claim.startswith("O("):
        return None
    powers = [int(power or 1) for power in _POWER.findall(claim)]
    return max(powers, default=0)


def judged_exponent(claim: str, measured: float | None) -> Word:
    """What to call a measured exponent beside the claimed one."""
    claimed = claimed_exponent(claim)
    if claimed is None or measured is None:
        return ""
    if abs(measured - claimed) <= CLOSE:
        return "as claimed"
    return "less than claimed" if measured < claimed else ""


def judged(row: Record) -> dict[str, Word]:
    """The words for a row of the table, by the column beside which they stand."""
    words: dict[str, Word] = {
        "metadata_exponent": judged_exponent(
            row.text("claimed_message_space"), row.figure("metadata_exponent")
        ),
        "state_exponent": judged_exponent(
            row.text("claimed_process_space"), row.figure("state_exponent")
        ),
    }
    if row.text("claimed_noncausal") == "no, 0":
        words["noncausal_ms"] = _exactly(row.figure("noncausal_ms"), 0)
    if row.text("claimed_in_transit") == "1":
        words["most_in_transit"] = _exactly(row.figure("most_in_transit"), 1)
    if row.text("claimed_liveness") == "yes":
        words["stalled"] = _exactly(row.figure("stalled"), 0)
    return {name: word for name, word in words.items() if word}


def _exactly(measured: float | None, most: float) -> Word:
    if measured is None:
        return ""
    return "as claimed" if measured <= most else "more than claimed"


def charts(sweep: SweepView) -> list[Chart]:
    """Claimed and measured exponents of n, of message space and of process space."""
    rows = records(sweep.table1)
    return [
        _chart(sweep, known, space)
        for space in SPACES
        if (known := [row for row in rows if row.figure(space.exponent) is not None])
    ]


def _chart(sweep: SweepView, rows: list[Record], space: Space) -> Chart:
    labels = [visible(row.text("protocol")) for row in rows]
    claims = [row.text(space.claim) for row in rows]
    measured = [row.figure(space.exponent) for row in rows]
    claimed = [_float(claimed_exponent(claim)) for claim in claims]
    texts = [
        f"{label}: claimed {visible(claim) or 'nothing'}, measured k = {shown(value, 'exponent')}"
        for label, claim, value in zip(labels, claims, measured, strict=True)
    ]
    description = (
        f"{space.description} Filled marks are measured, open ones claimed. {'; '.join(texts)}."
    )
    known = [each for each in (*claimed, *measured) if each is not None]
    axis = Scale(
        False, min(0.0, *known), max(2.0, *known), None, "number", (0.0, 0.5, 1.0, 1.5, 2.0)
    )
    series = [DotSeries("measured (open: claimed)", measured, claimed, series_style(0), texts)]
    return dot_chart(f"{sweep.name}-{space.name}", space.title, description, labels, series, axis)


def _float(value: int | None) -> float | None:
    return None if value is None else float(value)
