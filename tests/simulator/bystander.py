"""Non-causal latency by brute force: whole vector clocks, all deliveries of all processes."""

from __future__ import annotations

from dataclasses import dataclass, field

from beforehand.trace import Event

Name = tuple[str, int]  # a message: its sender and its number


@dataclass
class Sent:
    """A causal-send, with how many messages of each process happened before it."""

    time: int
    past: dict[str, int]


@dataclass
class Known:
    """A process: how many messages of each process happened before now, and what it delivered."""

    past: dict[str, int] = field(default_factory=dict)
    delivered: list[tuple[int, Name]] = field(default_factory=list)


def lateness(events: list[Event]) -> list[int]:
    """For each first delivery in a trace, in their order: how much later than it could have been.

    The definition is in the text of `noncausal.py`, and nothing else is taken from there.
    """
    sent: dict[Name, Sent] = {}
    released: dict[tuple[Name, str], int] = {}
    arrived: dict[tuple[Name, str], int] = {}
    processes: dict[str, Known] = {}
    delays: list[int] = []
    for event in events:
        if event.sender is None or event.mid is None:
            continue
        message = (event.sender, event.mid)
        process = processes.setdefault(event.process, Known())
        if event.kind == "send":
            assert process.past.get(event.process, 0) == event.mid - 1
            sent[message] = Sent(event.time_ns, dict(process.past))
            process.past[event.process] = event.mid
        elif event.kind == "release":
            assert event.to is not None
            released.setdefault((message, event.to[0]), event.time_ns)
        elif event.kind == "receive":
            arrived.setdefault((message, event.process), event.time_ns)
        elif event.kind == "deliver":
            if message in [delivered_message for _, delivered_message in process.delivered]:
                continue
            of, copy = sent[message], (message, event.process)
            possible = of.time + arrived[copy] - released[copy]
            for time, (sender, number) in process.delivered:
                if number <= of.past.get(sender, 0):
                    possible = max(possible, time)
            delays.append(event.time_ns - possible)
            process.delivered.append((event.time_ns, message))
            for sender, number in [*of.past.items(), message]:
                process.past[sender] = max(process.past.get(sender, 0), number)
    return delays
