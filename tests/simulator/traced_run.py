"""A trace in memory, and questions that tests ask of it."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from beforehand import protocols
from beforehand.simulator import Result, Scenario, run
from beforehand.trace import Columns, Event, Recorder, Sink
from beforehand.trace.sinks import table_of


class KeptSink(Sink):
    """Keeps all events in memory."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.closed = False

    def write(self, columns: Columns) -> None:
        """Take them."""
        self.events += [Event(*row) for row in zip(*table_of(columns), strict=True)]

    def close(self) -> None:
        """Nothing more will come."""
        self.closed = True

    def abort(self) -> None:
        """Discard the trace."""
        self.events = []


def traced(audit: bool = False, **fields: Any) -> tuple[Result, list[Event]]:
    """Run a scenario and keep its trace."""
    scenario = Scenario(**fields)
    sink = KeptSink()
    with Recorder(scenario.digest(), sink) as recorder:
        result = run(scenario, audit=audit, recorder=recorder)
    return result, sink.events


def traffic_for(protocol: str, rate: int = 300) -> dict[str, str]:
    """Broadcasts for a protocol that can do nothing else; otherwise what the scenario has anyway."""
    only_broadcasts = protocols.describe(protocol).casts == ("broadcast",)
    return {"workload": f"broadcast:{rate}"} if only_broadcasts else {}


def of_kind(events: list[Event], *kinds: str) -> list[Event]:
    """The events of some kinds."""
    return [event for event in events if event.kind in kinds]


def digest(events: list[Event]) -> str:
    """A hash of all fields but the name of the run, which is itself a hash of the scenario."""
    whole = sha256()
    for event in events:
        whole.update(repr(tuple(event[1:])).encode())
    return whole.hexdigest()[:16]
