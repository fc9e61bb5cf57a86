"""The workloads by name, each with its parameters as people write them.

    uniform[:PEERS]                  to a random process, or to one of PEERS fixed random peers
    ring[:PEERS]                     to one of the nearest on a ring
    hotspot:SHARE,PROBABILITY        to a hot process with that probability, to a cold one otherwise
    pipeline:STAGES                  items pass through stages of services
    fanout:LAYERS,WIDTH              requests through layers, each service asks WIDTH of the next
    request-reply:SERVERS            clients and servers; SERVERS is the share of the latter
    groups:SIZE[,GROUPS]             multicasts within overlapping groups
    broadcast:RATE[,FROM,TO]         RATE broadcasts per second, by random processes
    shop                             customers, a shop and a bank (paper 003)
    replay                           a program of causal-sends (`program.py`)

`messages` of a scenario is how many a process sends of its own accord: items, requests, purchases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from beforehand.errors import ScenarioError
from beforehand.simulator import units
from beforehand.simulator.program import Program
from beforehand.simulator.workloads.patterns import (
    BroadcastTraffic,
    GroupTraffic,
    HotspotTraffic,
    PeerTraffic,
    UniformTraffic,
)
from beforehand.simulator.workloads.replay import Replay
from beforehand.simulator.workloads.services import (
    FanOutTraffic,
    PipelineTraffic,
    RequestReplyTraffic,
    ShopTraffic,
)
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.distributions import Distribution

SECOND: Final = 10**9


@dataclass(frozen=True)
class Setting:
    """What every workload is given."""

    processes: int
    messages: int
    interval: Distribution


@dataclass(frozen=True)
class Kind:
    """A workload in the table: how it is written, whom it needs, and how it is made."""

    form: str  # with its parameters, as in the module's text
    make: Callable[[list[str], Setting], Workload]
    most: int  # parameters
    least: int = 0
    needs: int = 2  # processes
    multicast: bool = False  # whether it sends to several receivers at once
    broadcast: bool = False  # whether all it sends goes to everybody


def _uniform(fields: list[str], to: Setting) -> Workload:
    peers = units.whole(fields[0], "uniform: PEERS") if fields else 0
    if not peers or peers >= to.processes - 1:
        return UniformTraffic(to.messages, to.interval)
    return PeerTraffic(to.messages, to.interval, peers, neighbours=False)


def _ring(fields: list[str], to: Setting) -> Workload:
    peers = min(units.whole(fields[0], "ring: PEERS") if fields else 2, to.processes - 1)
    return PeerTraffic(to.messages, to.interval, peers, neighbours=True)


def _hotspot(fields: list[str], to: Setting) -> Workload:
    hot = _share(fields[0], "hotspot: SHARE")
    probability = _share(fields[1], "hotspot: PROBABILITY")
    if hot == 0.0:  # no hot processes: that is uniform, as in paper 001, figure 6
        return UniformTraffic(to.messages, to.interval)
    return HotspotTraffic(to.messages, to.interval, hot, probability)


def _pipeline(fields: list[str], to: Setting) -> Workload:
    stages = _layers(fields[0], "pipeline: STAGES", to)
    return PipelineTraffic(to.messages, to.interval, stages)


def _fanout(fields: list[str], to: Setting) -> Workload:
    layers = _layers(fields[0], "fanout: LAYERS", to)
    return FanOutTraffic(to.messages, to.interval, layers, units.whole(fields[1], "fanout: WIDTH"))


def _request_reply(fields: list[str], to: Setting) -> Workload:
    servers = _share(fields[0], "request-reply: SERVERS") if fields else 0.2
    return RequestReplyTraffic(to.messages, to.interval, servers)


def _groups(fields: list[str], to: Setting) -> Workload:
    size = units.whole(fields[0], "groups: SIZE") if fields else 5
    if not 2 <= size <= to.processes:
        raise ScenarioError(
            f"groups: SIZE is {size}; a group has from 2 to {to.processes} of the processes"
        )
    groups = units.whole(fields[1], "groups: GROUPS") if len(fields) > 1 else 0
    if groups > 10 * to.processes:
        raise ScenarioError(f"groups: GROUPS is {groups}; give at most {10 * to.processes}")
    return GroupTraffic(to.messages, to.interval, size, groups)


def _broadcast(fields: list[str], to: Setting) -> Workload:
    rate = units.number(fields[0], "broadcast: RATE", "a number of broadcasts per second")
    if not 1e-6 <= rate <= 1e9:
        raise ScenarioError(f"broadcast: RATE is {fields[0]}; give one from 1e-6 to 1e9 per second")
    period = max(1, int(SECOND / rate))
    if len(fields) == 1:
        return BroadcastTraffic(to.processes * to.messages, period, 0)
    if len(fields) != 3:
        raise ScenarioError("broadcast: with FROM goes TO, as in broadcast:10,2min,50min")
    begin, end = (units.duration(field, "broadcast: FROM and TO") for field in fields[1:])
    if begin >= end:
        raise ScenarioError(f"broadcast: FROM {fields[1]} is not before TO {fields[2]}")
    return BroadcastTraffic(-(-(end - begin) // period), period, begin)


def _shop(fields: list[str], to: Setting) -> Workload:
    return ShopTraffic(to.messages, to.interval)


KINDS: Final[dict[str, Kind]] = {
    "uniform": Kind("uniform[:PEERS]", _uniform, 1),
    "ring": Kind("ring[:PEERS]", _ring, 1),
    "hotspot": Kind("hotspot:SHARE,PROBABILITY", _hotspot, 2, 2),
    "pipeline": Kind("pipeline:STAGES", _pipeline, 1, 1),
    "fanout": Kind("fanout:LAYERS,WIDTH", _fanout, 2, 2),
    "request-reply": Kind("request-reply[:SERVERS]", _request_reply, 1),
    "groups": Kind("groups[:SIZE[,GROUPS]]", _groups, 2, multicast=True),
    "broadcast": Kind("broadcast:RATE[,FROM,TO]", _broadcast, 3, 1, multicast=True, broadcast=True),
    "shop": Kind("shop", _shop, 0, needs=3),
}
REPLAY: Final = "replay"


def kind(text: str) -> Kind:
    """The entry of a workload that is written with its parameters."""
    name = text.partition(":")[0]
    if name not in KINDS:
        forms = ", ".join([*(each.form for each in KINDS.values()), REPLAY])
        raise ScenarioError(f"there is no workload {text!r}; the workloads: {forms}")
    return KINDS[name]


def make(text: str, to: Setting) -> Workload:
    """A workload other than replay, from its name and parameters."""
    entry = kind(text)
    name, colon, rest = text.partition(":")
    fields = [field.strip() for field in rest.split(",")] if colon else []
    if not entry.least <= len(fields) <= entry.most:
        raise ScenarioError(f"workload {text!r}: write it as {entry.form}")
    if to.processes < entry.needs:
        raise ScenarioError(
            f"workload {name} needs at least {entry.needs} processes, not {to.processes}"
        )
    return entry.make(fields, to)


def replay(program: Program, names: list[str]) -> Workload:
    """The workload of a program, among these processes."""
    places = {name: index for index, name in enumerate(names)}
    numbers = {send.id: number for number, send in enumerate(program.sends)}
    return Replay(
        [places[send.sender] for send in program.sends],
        [sorted({places[name] for name in send.to}) for send in program.sends],
        [sorted({numbers[name] for name in send.after}) for send in program.sends],
        [(send.at_ns, send.pause_ns) for send in program.sends],
        [-1 if send.payload_bytes is None else send.payload_bytes for send in program.sends],
    )


def _share(text: str, what: str) -> float:
    return units.share(units.number(text, what, "a share from 0 to 1"), what)


def _layers(text: str, what: str, to: Setting) -> int:
    layers = units.whole(text, what)
    if not 2 <= layers <= to.processes:
        raise ScenarioError(
            f"{what} is {layers}; give from 2 to {to.processes}, the number of processes"
        )
    return layers
