"""All rows about one run, from its messages."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beforehand.pipeline.characterise.causal_order import LIMIT, order_figures
from beforehand.pipeline.characterise.distributions import distributions, summaries
from beforehand.pipeline.characterise.processes import Rows, processes
from beforehand.pipeline.characterise.rates import evenness, peak_rate, rate, window_of
from beforehand.pipeline.characterise.table1 import table1


def tables_of_run(messages: pa.Table, seed: int, limit: int = LIMIT) -> dict[str, Rows]:
    """The rows of each of `results.tables.characteristics.TABLES`, given all messages of one run."""
    run = messages["run"][0].as_py()
    counts = _counts(messages)
    members = processes(messages, counts["span_ns"])
    if len(messages) > limit:
        order: dict[str, Any] = {
            "problem": f"{len(messages):,} messages are more than {limit:,}, so their order was not "
            "analysed"
        }
    else:
        order = order_figures(messages, seed)
    counted = distributions(messages, members, order)
    flags = Counter(flag for flags in messages["flags"].to_pylist() for flag in flags)
    tables: dict[str, Rows] = {
        "runs": [
            {**counts, **order, "processes": len(members), "note": order.get("problem") or ""}
        ],
        "processes": members,
        "summaries": list(summaries(counted)),
        "distributions": counted,
        "flags": [{"flag": flag, "count": count} for flag, count in sorted(flags.items())],
        "table1": table1(members),
    }
    return {name: [{"run": run, **row} for row in rows] for name, rows in tables.items()}


def _counts(messages: pa.Table) -> dict[str, Any]:
    """What needs no causal order."""
    times = messages["time_ns"].to_numpy()
    span = int(times.max()) - int(times.min())
    window = window_of(span)
    return {
        "messages": len(messages),
        "copies": _sum(pc.list_value_length(messages["to"])),
        "requests": _sum(pc.equal(messages["kind"], "request")),
        "replies": _sum(pc.equal(messages["kind"], "reply")),
        "payload_known": len(messages) - messages["payload_bytes"].null_count,
        "flagged": _sum(pc.greater(pc.list_value_length(messages["flags"]), 0)),
        "span_ns": span,
        "rate": rate(len(messages), span),
        "window_ns": window,
        "peak_rate": peak_rate(times, window),
        **evenness(times),
    }


def _sum(values: Any) -> int:
    return int(pc.sum(values).as_py())
