"""Logs with vector clocks, generated from a seed, and compared with the messages ingested from them."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from tests.pipeline.ingest.plain import Ingested

Clock = dict[str, int]
EventId = tuple[str, int]  # host and its count


@dataclass
class Log:
    """A log, and the clock of each of its events."""

    text: str
    clocks: dict[EventId, Clock] = field(default_factory=dict)


def random_log(rng: random.Random, hosts: int = 4, events: int = 60) -> Log:
    """Hosts do local work, send to one or several others, and receive, in any order."""
    names = [f"h{i}" for i in range(hosts)]
    now: dict[str, Clock] = {name: {} for name in names}
    inbox: dict[str, list[Clock]] = {name: [] for name in names}
    lines, clocks = [], {}
    for _ in range(events):
        host = rng.choice(names)
        if inbox[host] and rng.random() < 0.6:
            for _ in range(rng.randint(1, len(inbox[host]))):
                received = inbox[host].pop(rng.randrange(len(inbox[host])))
                for peer, count in received.items():
                    now[host][peer] = max(count, now[host].get(peer, 0))
        now[host][host] = now[host].get(host, 0) + 1
        clock = dict(now[host])
        clocks[host, clock[host]] = clock
        lines.append(f"something\n{host} {json.dumps(clock)}")
        if rng.random() < 0.5:
            for other in rng.sample(names, rng.randint(1, hosts - 1)):
                if other != host:
                    inbox[other].append(clock)
    rng.shuffle(lines)  # hosts write to one file in any order
    return Log("\n".join(lines) + "\n", clocks)


def disagreements(
    ingested: Ingested, run: str, clocks: dict[EventId, Clock]
) -> list[tuple[EventId, EventId]]:
    """The pairs of send and receive events that clocks and messages order differently."""
    events = [event for event in ingested.events if event["run"] == run]
    by_host: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for event in events:
        by_host[str(event["process"])].append(event)
    causes: defaultdict[EventId, set[EventId]] = defaultdict(set)
    sent = {(e["sender"], e["mid"]): _event_id(e) for e in events if e["kind"] == "send"}
    for own in by_host.values():
        own.sort(key=lambda event: int(str(event["seq"])))
        assert [event["seq"] for event in own] == list(range(1, len(own) + 1))
        for previous, event in pairwise(own):
            if _event_id(previous) != _event_id(event):
                causes[_event_id(event)].add(_event_id(previous))
    for event in events:
        if event["kind"] == "deliver":
            causes[_event_id(event)].add(sent[event["sender"], event["mid"]])
    nodes = {_event_id(event) for event in events}
    reach = _reachable(nodes, causes)
    return [
        (a, b)
        for a in nodes
        for b in nodes
        if a != b and (a in reach[b]) != (clocks[b].get(a[0], 0) >= a[1])
    ]


def _reachable(
    nodes: set[EventId], causes: dict[EventId, set[EventId]]
) -> dict[EventId, set[EventId]]:
    reachable: dict[EventId, set[EventId]] = {}
    for node in nodes:
        stack = [node]
        while stack:
            missing = [cause for cause in causes[stack[-1]] if cause not in reachable]
            if missing:
                stack += missing
                continue
            top = stack.pop()
            reachable[top] = causes[top].union(*(reachable[cause] for cause in causes[top]))
    return reachable


def _event_id(event: dict[str, object]) -> EventId:
    host, _, number = str(event["detail"]).rpartition(":")
    return host, int(number)
