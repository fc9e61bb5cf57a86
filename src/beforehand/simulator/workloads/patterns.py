"""Traffic without a purpose: everybody sends, now and then, to whom it happens to choose."""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.simulator.workloads.workload import Stage, Step, Stepping, Workload
from beforehand.simulator.world.distributions import Distribution
from beforehand.simulator.world.engine import Event
from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream


class UniformTraffic(Stepping):
    """Each message goes to a random other process."""

    def act(self, process: Process, step: Step) -> None:
        self.stage.send(process, [step.choose(self.stage.processes)], None)

    def expected(self) -> int:
        return self.steps * len(self.stage.processes)


class PeerTraffic(UniformTraffic):
    """Each process has a few peers, which do not change, and sends to one of them at random."""

    def __init__(self, steps: int, interval: Distribution, peers: int, neighbours: bool) -> None:
        super().__init__(steps, interval)
        self.peers = peers
        self.neighbours = neighbours  # the nearest on a ring, not just anybody
        self._peers_of: list[list[Process]] = []

    def prepare(self) -> None:
        everybody = self.stage.processes
        stream = self.stage.stream("peers")
        for process in everybody:
            if self.neighbours:
                self._peers_of.append(_nearest(everybody, process.index, self.peers))
            else:
                self._peers_of.append(_some(everybody, process, self.peers, stream))

    def act(self, process: Process, step: Step) -> None:
        self.stage.send(process, [step.choose(self._peers_of[process.index])], None)


def _nearest(everybody: list[Process], index: i64, count: int) -> list[Process]:
    """Those next to a process on a ring, on both sides."""
    steps = [step for reach in range(1, count // 2 + 2) for step in (reach, -reach)]
    return [everybody[(int(index) + step) % len(everybody)] for step in steps[:count]]


def _some(everybody: list[Process], process: Process, count: int, stream: Stream) -> list[Process]:
    found: dict[int, Process] = {}
    while len(found) < count:
        peer = everybody[stream.below(len(everybody))]
        if peer is not process:
            found[int(peer.index)] = peer
    return list(found.values())


class HotspotTraffic(UniformTraffic):
    """With a given probability a message goes to one of the hot processes, else to a cold one."""

    def __init__(
        self, steps: int, interval: Distribution, hot_share: float, probability: float
    ) -> None:
        super().__init__(steps, interval)
        self.hot_share = hot_share
        self.probability = probability
        self._hot: list[Process] = []
        self._cold: list[Process] = []

    def prepare(self) -> None:
        processes = self.stage.processes
        count = max(1, int(self.hot_share * len(processes) + 0.5))
        self._hot = processes[:count]
        self._cold = processes[count:]

    def act(self, process: Process, step: Step) -> None:
        hot = step.stream.uniform() < self.probability
        among = self._hot if hot else self._cold
        if not among or (len(among) == 1 and among[0] is process):
            among = self.stage.processes
        self.stage.send(process, [step.choose(among)], None)


class GroupTraffic(Stepping):
    """Processes are members of groups, which overlap; each message goes to all others of one."""

    def __init__(self, steps: int, interval: Distribution, size: int, groups: int = 0) -> None:
        super().__init__(steps, interval)
        self.size = size
        self.groups = groups  # 0: about twice as many as it takes to have everybody in one
        self._groups_of: list[list[list[Process]]] = []  # process -> its groups

    def prepare(self) -> None:
        stream = self.stage.stream("groups")
        count = len(self.stage.processes)
        size = min(self.size, count)
        self._groups_of = [[] for _ in range(count)]
        rounds = -(-count // size)
        wanted = max(self.groups or 2 * rounds, rounds)
        made = 0
        while made < wanted:
            everybody = self.stage.processes
            shuffled = [everybody[place] for place in stream.permutation(count)]
            for start in range(0, count, size):
                if made < wanted:
                    # The last group of a round is filled up with members of the first.
                    members = (shuffled[start:] + shuffled)[:size]
                    for member in members:
                        self._groups_of[member.index].append(members)
                    made += 1

    def act(self, process: Process, step: Step) -> None:
        groups = self._groups_of[process.index]
        group = groups[step.stream.below(len(groups))]
        self.stage.send(process, [member for member in group if member is not process], None)

    def expected(self) -> int:
        return self.steps * len(self.stage.processes)


class Broadcasting(Event):
    """One broadcast after the other, at a constant rate, each by a process chosen at random."""

    def __init__(self, stage: Stage, period: i64, count: i64) -> None:
        super().__init__()
        self.stage = stage
        self.period = period
        self.left = count
        self.stream = stage.stream("broadcast")

    def happen(self) -> None:
        everybody = self.stage.present
        chosen = everybody[self.stream.below(len(everybody))]
        if not chosen.stopped:
            self.stage.send(chosen, None, None)
        self.left -= 1
        if self.left > 0:
            self.stage.engine.schedule(self, self.time + self.period)


class BroadcastTraffic(Workload):
    """Broadcasts at a rate, from a time on."""

    def __init__(self, count: int, period: i64, start_at: i64) -> None:
        self.count = count
        self.period = period
        self.start_at = start_at

    def start(self, stage: Stage) -> None:
        if self.count:
            stage.engine.schedule(Broadcasting(stage, self.period, self.count), self.start_at)

    def expected(self) -> int:
        return self.count
