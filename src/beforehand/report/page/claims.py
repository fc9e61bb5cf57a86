"""Table 1 of Almeida's "Hybrid Buffering": claims compared with measurements.

A claim such as O(n^2) is an upper bound. A measured exponent is *as claimed* if it differs from the
claimed one by at most `CLOSE`, and *less than claimed* if it is smaller still. A larger one is not
judged: claims are about one message and one process with all other variables constant, and measured
figures include copies, control frames, and whatever else grew with n.

Of the other claims, only those are judged that a run can contradict: no latency beyond what causal order
requires, one message in transit, and liveness.
"""

import re
from typing import Final, Literal

from beforehand.report.model import SweepView, TableView
from beforehand.report.page.axes import Scale
from beforehand.report.page.charts import Chart, DotSeries, Quantity, dot_chart, series_style
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, records

CLOSE: Final = 0.25  # of an exponent: varints and logarithmic terms aren't powers of n

Judgement = Literal["as claimed", "less than claimed", "more than claimed", ""]

_POWER: Final = re.compile(r"(?<![a-z])n(?:\^(\d+))?(?![a-z])")

# Columns of the table that belong together, by their common title.
GROUPS: Final = {
    "message space (bytes per message)": [
        "claimed_message_space",
        "metadata_bytes",
        "metadata_exponent",
    ],
    "process space (integers)": [
        "claimed_process_space",
        "integers_mean",
        "integers_peak",
        "state_exponent",
    ],
    "work (of the whole simulator)": [
        "claimed_sender_work",
        "claimed_receiver_work",
        "work_us",
        "work_exponent",
    ],
    "latency": ["latency_ms", "claimed_noncausal", "noncausal_ms"],
    "in transit": ["claimed_in_transit", "most_in_transit"],
    "control": ["claimed_control", "control_frames"],
    "liveness": ["claimed_liveness", "stalled"],
    "the network may": ["claimed_failures", "claimed_order"],
    "runs": ["runs"],
}
# Exponents of n, next to the claims about them.
SPACES: Final = (
    Quantity(
        "message-space",
        "Message space: k of n^k",
        "metadata_exponent",
        "exponent k",
        "claimed_message_space",
    ),
    Quantity(
        "process-space",
        "Process space: k of n^k",
        "state_exponent",
        "exponent k",
        "claimed_process_space",
    ),
)
# A claim, its text where it is an exact limit, the measured column, and the limit.
_LIMITS: Final = (
    ("claimed_noncausal", "no, 0", "noncausal_ms", 0),
    ("claimed_in_transit", "1", "most_in_transit", 1),
    ("claimed_liveness", "yes", "stalled", 0),
)


def arranged(table: TableView) -> list[tuple[str, list[int]]]:
    """The indices of the columns, group by group; columns without a group come last."""
    indices = {column.name: index for index, column in enumerate(table.columns)}
    groups = [("", [indices.pop("protocol")])] if "protocol" in indices else []
    for title, names in GROUPS.items():
        if present := [indices.pop(name) for name in names if name in indices]:
            groups.append((title, present))
    return [*groups, ("other", list(indices.values()))] if indices else groups


def claimed_exponent(claim: str) -> int | None:
    """The power of n in a claim: 2 in O(n^2 b), 0 in O(1); None if it is not such a claim."""
    if not claim.startswith("O("):
        return None
    return max((int(power or 1) for power in _POWER.findall(claim)), default=0)


def judged_exponent(claim: str, measured: float | None) -> Judgement:
    """A measured exponent compared with the claimed one."""
    claimed = claimed_exponent(claim)
    if claimed is None or measured is None:
        return ""
    if abs(measured - claimed) <= CLOSE:
        return "as claimed"
    return "less than claimed" if measured < claimed else ""


def judged(row: Record) -> dict[str, Judgement]:
    """The judgements on a row of the table, by column."""
    judgements: dict[str, Judgement] = {
        space.column: judged_exponent(row.text(space.end), row.figure(space.column))
        for space in SPACES
    }
    for claim, exact, name, limit in _LIMITS:
        measured = row.figure(name)
        if row.text(claim) == exact and measured is not None:
            judgements[name] = "as claimed" if measured <= limit else "more than claimed"
    return {name: judgement for name, judgement in judgements.items() if judgement}


def charts(sweep: SweepView) -> list[Chart]:
    """Claimed and measured exponents of n, of message space and of process space."""
    rows = records(sweep.table1)
    return [
        _chart(sweep, known, space)
        for space in SPACES
        if (known := [row for row in rows if row.figure(space.column) is not None])
    ]


def _chart(sweep: SweepView, rows: list[Record], space: Quantity) -> Chart:
    labels = [visible(row.text("protocol")) for row in rows]
    claims = [row.text(space.end) for row in rows]
    measured = [row.figure(space.column) for row in rows]
    powers = [claimed_exponent(claim) for claim in claims]
    claimed = [None if power is None else float(power) for power in powers]
    texts = [
        f"{label}: claimed {visible(claim) or 'nothing'}, measured k = {shown(value, 'exponent')}"
        for label, claim, value in zip(labels, claims, measured, strict=True)
    ]
    description = (
        f"{space.title.partition(':')[0]} grows as n^k, n being the number of processes. "
        f"Filled marks are measured, open ones claimed. {'; '.join(texts)}."
    )
    known = [value for value in (*claimed, *measured) if value is not None]
    ticks = (0.0, 0.5, 1.0, 1.5, 2.0)
    axis = Scale(False, min(0.0, *known), max(2.0, *known), None, "number", ticks)
    series = [DotSeries("measured (open: claimed)", measured, claimed, series_style(0), texts)]
    return dot_chart(sweep.name, space, description, labels, series, axis)
