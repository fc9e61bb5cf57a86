"""All distributions of a run as counts of values, and a summary of each."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beforehand.pipeline.characterise.processes import Rows

OF_PROCESSES: Final = {
    "in-degree": "in_degree",
    "out-degree": "out_degree",
    "sent per process": "sent",
    "received per process": "received",
}
OF_ORDER: Final = {"causal depth": "depths", "requests per received request": "calls"}
QUANTILES: Final = {"median": 0.5, "p90": 0.9, "p99": 0.99}


def distributions(messages: pa.Table, processes: Rows, order: dict[str, Any]) -> Rows:
    """The rows of DISTRIBUTIONS: of the messages of one run, its processes and its causal order."""
    rows = []
    for what, column in OF_PROCESSES.items():
        rows += _counted(what, [process[column] for process in processes])
    rows += _counted("receivers per message", pc.list_value_length(messages["to"]).to_numpy())
    known = messages["payload_bytes"].drop_null()
    rows += _counted("payload bytes", known.to_numpy())
    for what, column in OF_ORDER.items():
        rows += [{"what": what, **value} for value in order.get(column) or ()]
    return rows


def summaries(counted: Rows) -> Iterator[dict[str, Any]]:
    """The rows of SUMMARIES for rows of DISTRIBUTIONS. Quantiles between two values are interpolated."""
    for what in dict.fromkeys(row["what"] for row in counted):
        mine = sorted((row["value"], row["count"]) for row in counted if row["what"] == what)
        values = np.array([value for value, _ in mine])
        reached = np.cumsum([count for _, count in mine])
        total = int(reached[-1])
        yield {
            "what": what,
            "count": total,
            "min": int(values[0]),
            "mean": sum(value * count for value, count in mine) / total,
            **{name: _quantile(values, reached, share) for name, share in QUANTILES.items()},
            "max": int(values[-1]),
        }


def _quantile(values: Any, reached: Any, share: float) -> float:
    """The value at a share of the way through all values, given how many come up to each."""
    position = share * (int(reached[-1]) - 1)
    low = int(position)
    below, above = (
        int(values[np.searchsorted(reached, index, side="right")])
        for index in (low, min(low + 1, int(reached[-1]) - 1))
    )
    return below + (above - below) * (position - low)


def _counted(what: str, values: Sequence[int] | Any) -> Rows:
    unique, counts = np.unique(values, return_counts=True)
    pairs = zip(unique.tolist(), counts.tolist(), strict=True)
    return [{"what": what, "value": value, "count": count} for value, count in pairs]
