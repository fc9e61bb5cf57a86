"""The first messages of a run, none of them without its causes. Plain Python for Spark's tasks."""

from typing import Any

import numpy as np
import pyarrow as pa

from beforehand.errors import PipelineError
from beforehand.pipeline.characterise import kernels
from beforehand.pipeline.characterise.causal_order import causes_of
from beforehand.pipeline.characterise.graph import arrange


def first_messages(messages: Any, count: int) -> Any:
    """The first messages of a run by time, as an Arrow table like the given one.

    A message with a time before one of its causes counts as sent with the last of them. So the causes of
    every selected message are selected too.
    """
    starts, causes, problem = causes_of(messages)
    graph, order = arrange(starts, causes) if problem is None else (None, np.empty(0, np.int64))
    if graph is None or order.size < len(messages):
        raise PipelineError(
            f"the messages have no order ({problem or 'one comes after itself'}); ingest them again"
        )
    times = kernels.corrected(graph.starts, graph.causes, messages["time_ns"].to_numpy()[order])
    chosen = order[np.argsort(times, kind="stable")[:count]]  # stable: causes stay first
    return messages.take(pa.array(chosen))
