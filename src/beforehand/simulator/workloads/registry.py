"""The workloads by name, with the syntax of their parameters.

    uniform[:PEERS]                  to a random process, or to one of PEERS fixed random peers
    ring[:PEERS]                     to one of the nearest on a ring
    hotspot:SHARE,PROBABILITY        to a hot process with that probability, to a cold one otherwise
    pipeline:STAGES                  items pass through stages of services
    fanout:LAYERS,WIDTH              requests through layers; a service calls WIDTH of the next
    request-reply:SERVERS            clients and servers; SERVERS is the share of servers
    groups:SIZE[,GROUPS]             multicasts within overlapping groups
    broadcast:RATE[,FROM,TO]         RATE broadcasts per second, by random processes
    shop                             customers, a shop and a bank
    replay                           a program of causal-sends (`program.py`)

`messages` of a scenario is how many a process sends of its own accord: items, requests, purchases.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from beforehand.errors import ScenarioError
from beforehand.simulator import units
from beforehand.simulator.workloads.patterns import (
    BroadcastTraffic,
    GroupTraffic,
    HotspotTraffic,
    PeerTraffic,
    UniformTraffic,
)
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
class WorkloadParameters:
    """The fields of a scenario that every workload depends on."""

    processes: int
    messages: int
    interval: Distribution


@dataclass(frozen=True)
class WorkloadEntry:
    """A workload in the table: its syntax, what it needs, and how to create it."""

    syntax: str  # as in the module's docstring
    create: Callable[[list[str], WorkloadParameters], Workload]
    max_parameters: int
    min_parameters: int = 0
    min_processes: int = 2
    multicast: bool = False  # whether it sends to several receivers at once
    broadcast: bool = False  # whether it only sends to everybody


def _uniform(fields: list[str], scenario: WorkloadParameters) -> Workload:
    peers = units.whole(fields[0], "uniform: PEERS") if fields else 0
    if not peers or peers >= scenario.processes - 1:
        return UniformTraffic(scenario.messages, scenario.interval)
    return PeerTraffic(scenario.messages, scenario.interval, peers, neighbours=False)


def _ring(fields: list[str], scenario: WorkloadParameters) -> Workload:
    peers = min(units.whole(fields[0], "ring: PEERS") if fields else 2, scenario.processes - 1)
    return PeerTraffic(scenario.messages, scenario.interval, peers, neighbours=True)


def _hotspot(fields: list[str], scenario: WorkloadParameters) -> Workload:
    hot = _share(fields[0], "hotspot: SHARE")
    probability = _share(fields[1], "hotspot: PROBABILITY")
    if hot == 0.0:  # no hot processes: uniform, as in figure 6 of Tong et al. (2024)
        return UniformTraffic(scenario.messages, scenario.interval)
    return HotspotTraffic(scenario.messages, scenario.interval, hot, probability)


def _pipeline(fields: list[str], scenario: WorkloadParameters) -> Workload:
    stages = _layers(fields[0], "pipeline: STAGES", scenario)
    return PipelineTraffic(scenario.messages, scenario.interval, stages)


def _fanout(fields: list[str], scenario: WorkloadParameters) -> Workload:
    layers = _layers(fields[0], "fanout: LAYERS", scenario)
    return FanOutTraffic(
        scenario.messages, scenario.interval, layers, units.whole(fields[1], "fanout: WIDTH")
    )


def _request_reply(fields: list[str], scenario: WorkloadParameters) -> Workload:
    servers = _share(fields[0], "request-reply: SERVERS") if fields else 0.2
    return RequestReplyTraffic(scenario.messages, scenario.interval, servers)


def _groups(fields: list[str], scenario: WorkloadParameters) -> Workload:
    size = units.whole(fields[0], "groups: SIZE") if fields else 5
    if not 2 <= size <= scenario.processes:
        raise ScenarioError(
            f"groups: SIZE is {size}; a group has from 2 to {scenario.processes} of the processes"
        )
    groups = units.whole(fields[1], "groups: GROUPS") if len(fields) > 1 else 0
    if groups > 10 * scenario.processes:
        raise ScenarioError(f"groups: GROUPS is {groups}; give at most {10 * scenario.processes}")
    return GroupTraffic(scenario.messages, scenario.interval, size, groups)


def _broadcast(fields: list[str], scenario: WorkloadParameters) -> Workload:
    rate = units.number(fields[0], "broadcast: RATE", "a number of broadcasts per second")
    if not 1e-6 <= rate <= 1e9:
        raise ScenarioError(f"broadcast: RATE is {fields[0]}; give one from 1e-6 to 1e9 per second")
    period = max(1, int(SECOND / rate))
    if len(fields) == 1:
        return BroadcastTraffic(scenario.processes * scenario.messages, period, 0)
    if len(fields) != 3:
        raise ScenarioError("broadcast: FROM needs TO, as in broadcast:10,2min,50min")
    begin, end = (units.duration(field, "broadcast: FROM and TO") for field in fields[1:])
    if begin >= end:
        raise ScenarioError(f"broadcast: FROM {fields[1]} is not before TO {fields[2]}")
    return BroadcastTraffic(-(-(end - begin) // period), period, begin)


def _shop(fields: list[str], scenario: WorkloadParameters) -> Workload:
    return ShopTraffic(scenario.messages, scenario.interval)


WORKLOADS: Final[dict[str, WorkloadEntry]] = {
    "uniform": WorkloadEntry("uniform[:PEERS]", _uniform, 1),
    "ring": WorkloadEntry("ring[:PEERS]", _ring, 1),
    "hotspot": WorkloadEntry("hotspot:SHARE,PROBABILITY", _hotspot, 2, 2),
    "pipeline": WorkloadEntry("pipeline:STAGES", _pipeline, 1, 1),
    "fanout": WorkloadEntry("fanout:LAYERS,WIDTH", _fanout, 2, 2),
    "request-reply": WorkloadEntry("request-reply[:SERVERS]", _request_reply, 1),
    "groups": WorkloadEntry("groups[:SIZE[,GROUPS]]", _groups, 2, multicast=True),
    "broadcast": WorkloadEntry(
        "broadcast:RATE[,FROM,TO]", _broadcast, 3, 1, multicast=True, broadcast=True
    ),
    "shop": WorkloadEntry("shop", _shop, 0, min_processes=3),
}
REPLAY: Final = "replay"


def entry(text: str) -> WorkloadEntry:
    """The entry of a workload, from its name with parameters."""
    name = text.partition(":")[0]
    if name not in WORKLOADS:
        known = ", ".join([*(workload.syntax for workload in WORKLOADS.values()), REPLAY])
        raise ScenarioError(f"there is no workload {text!r}; the workloads: {known}")
    return WORKLOADS[name]


def create(text: str, scenario: WorkloadParameters) -> Workload:
    """A workload other than replay, from its name and parameters."""
    workload = entry(text)
    name, colon, rest = text.partition(":")
    fields = [field.strip() for field in rest.split(",")] if colon else []
    if not workload.min_parameters <= len(fields) <= workload.max_parameters:
        raise ScenarioError(f"workload {text!r}: write it as {workload.syntax}")
    if scenario.processes < workload.min_processes:
        raise ScenarioError(
            f"workload {name} needs at least {workload.min_processes} processes, "
            f"not {scenario.processes}"
        )
    return workload.create(fields, scenario)


def _share(text: str, what: str) -> float:
    return units.share(text, what)


def _layers(text: str, what: str, scenario: WorkloadParameters) -> int:
    layers = units.whole(text, what)
    if not 2 <= layers <= scenario.processes:
        raise ScenarioError(
            f"{what} is {layers}; give from 2 to {scenario.processes}, the number of processes"
        )
    return layers
