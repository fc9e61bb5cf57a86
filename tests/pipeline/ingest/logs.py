"""Logs with vector clocks: made up from a seed, and compared with the messages that come out."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from tests.pipeline.ingest.plain import Ingested

Clock = dict[str, int]
At = tuple[str, int]


@dataclass
class Log:
    """A log, and the clock of each of its events."""

    text: str
    clocks: dict[At, Clock] = field(default_factory=dict)


def random_log(rng: random.Random, hosts: int = 4, events: int = 60) -> Log:
    """Hosts that work, send to one or several others, and receive, in any order."""
    names = [f"h{i}" for i in range(hosts)]
    now: dict[str, Clock] = {name: {} for name in names}
    inbox: dict[str, list[Clock]] = {name: [] for name in names}
    lines, clocks = [], {}
    for _ in range(events):
        host = rng.choice(names)
        if inbox[host] and rng.random() < 0.6:
            for _ in range(rng.randint(1, len(inbox[host]))):
                got = inbox[host].pop(rng.randrange(len(inbox[host])))
                for q, count in got.items():
                    now[host][q] = max(count, now[host].get(q, 0))
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


def disagreements(found: Ingested, run: str, clocks: dict[At, Clock]) -> list[tuple[At, At]]:
    """The pairs of send and receive events about which the clocks and the messages disagree."""
    events = [each for each in found.events if each["run"] == run]
    by_host: defaultdict[str, list[dict[str, object]]] = defaultdict(list)
    for each in events:
        by_host[str(each["process"])].append(each)
    causes: defaultdict[At, set[At]] = defaultdict(set)
    sent = {(e["sender"], e["mid"]): _at(e) for e in events if e["kind"] == "send"}
    for mine in by_host.values():
        mine.sort(key=lambda each: int(str(each["seq"])))
        assert [each["seq"] for each in mine] == list(range(1, len(mine) + 1))
        for one, two in pairwise(mine):
            if _at(one) != _at(two):
                causes[_at(two)].add(_at(one))
    for each in events:
        if each["kind"] == "deliver":
            causes[_at(each)].add(sent[each["sender"], each["mid"]])
    nodes = {_at(each) for each in events}
    reach = _reachable(nodes, causes)
    return [
        (a, b)
        for a in nodes
        for b in nodes
        if a != b and (a in reach[b]) != (clocks[b].get(a[0], 0) >= a[1])
    ]


def _reachable(nodes: set[At], causes: dict[At, set[At]]) -> dict[At, set[At]]:
    done: dict[At, set[At]] = {}
    for node in nodes:
        stack = [node]
        while stack:
            missing = [each for each in causes[stack[-1]] if each not in done]
            if missing:
                stack += missing
                continue
            top = stack.pop()
            done[top] = causes[top].union(*(done[each] for each in causes[top]))
    return done


def _at(event: dict[str, object]) -> At:
    host, _, number = str(event["detail"]).rpartition(":")
    return host, int(number)
