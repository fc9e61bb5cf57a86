"""From messages to a program: an ingested run, ready to be replayed under any protocol."""

from collections.abc import Iterable, Mapping
from typing import Any

from beforehand.errors import PipelineError
from beforehand.simulator.program import Program, Send
from beforehand.simulator.units import LONGEST
from beforehand.simulator.workloads.message_sizes import MAX_PAYLOAD


def program_of(rows: Iterable[Mapping[str, Any]]) -> Program:
    """The program of one run, from rows of the table `messages`.

    A message without causes is sent at its own time, counted from the first message of the run. Any
    other is sent as long after its last cause as it was in the source; at once if its time is earlier.
    Values beyond the simulator's limits are capped: waits at a year, payloads at the largest one.
    """
    messages = list(rows)
    runs = sorted({row["run"] for row in messages})
    if len(runs) > 1:
        raise PipelineError(
            f"a program replays one run, and these messages are from several ({', '.join(runs[:5])}); "
            "select one run"
        )
    if not messages:
        raise PipelineError("no messages, so there is nothing to replay; ingest some first")
    times = {row["id"]: row["time_ns"] for row in messages}
    first = min(times.values())
    return Program(_send(row, times, first) for row in sorted(messages, key=_by_time))


def _by_time(row: Mapping[str, Any]) -> tuple[int, str]:
    """Rows come from Spark in any order; equal runs must give equal programs."""
    return row["time_ns"], row["id"]


def _send(row: Mapping[str, Any], times: Mapping[str, int], first: int) -> Send:
    causes = [times[name] for name in row["after"] if name in times]
    size = row["payload_bytes"]
    return Send(
        row["id"],
        row["sender"],
        tuple(row["to"]),
        tuple(row["after"]),
        at_ns=0 if row["after"] else min(row["time_ns"] - first, LONGEST),
        pause_ns=min(max(0, row["time_ns"] - max(causes)), LONGEST) if causes else 0,
        payload_bytes=None if size is None else min(size, MAX_PAYLOAD),
    )
