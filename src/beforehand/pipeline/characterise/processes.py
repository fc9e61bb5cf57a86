"""Each process of a run: its degrees, how much it sends and receives, and how evenly."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beforehand.pipeline.characterise.rates import evenness, rate

Rows = list[dict[str, Any]]


def processes(messages: pa.Table, span: int) -> Rows:
    """The rows of PROCESSES for the messages of one run, but for its name.

    A message to itself counts as sent and received, but in no degree.
    """
    receivers = pc.list_flatten(messages["to"])
    names = sorted({*messages["sender"].unique().to_pylist(), *receivers.unique().to_pylist()})
    known = pa.array(names, pa.string())
    sender = pc.index_in(messages["sender"], value_set=known).to_numpy().astype(np.int64)
    receiver = pc.index_in(receivers, value_set=known).to_numpy().astype(np.int64)
    sizes = pc.list_value_length(messages["to"]).to_numpy()
    pairs = np.unique(np.repeat(sender, sizes) * len(names) + receiver)
    origin, target = np.divmod(pairs, len(names))
    between = origin != target
    counts = {
        "in_degree": np.bincount(target[between], minlength=len(names)),
        "out_degree": np.bincount(origin[between], minlength=len(names)),
        "sent": np.bincount(sender, minlength=len(names)),
        "received": np.bincount(receiver, minlength=len(names)),
    }
    # The times of each sender are next to each other.
    times = messages["time_ns"].to_numpy()[np.argsort(sender, kind="stable")]
    mine = np.split(times, np.cumsum(counts["sent"])[:-1])
    return [
        {
            "process": name,
            **{what: int(count[index]) for what, count in counts.items()},
            "rate": rate(int(counts["sent"][index]), span),
            **evenness(mine[index]),
        }
        for index, name in enumerate(names)
    ]
