"""Traffic without a purpose: everybody sends, now and then, to whom it happens to choose."""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.simulator.distributions import Distribution, Draw
from beforehand.simulator.engine import Event
from beforehand.simulator.records import Process
from beforehand.simulator.workload import Stage, Stepping, Workload


class UniformTraffic(Stepping):
    """Each message goes to a random other process, or to one of a few fixed random peers."""

    def __init__(self, steps: int, interval: Distribution, peers: int = 0) -> None:
        super().__init__(steps, interval)
        self.peers = peers  # 0: everybody
        self._known: list[list[Process]] = []

    def prepare(self) -> None:
        if self.peers:
            self._known = [self._some_peers(process) for process in self.stage.processes]

    def _some_peers(self, process: Process) -> list[Process]:
        everybody = self.stage.processes
        found: dict[int, Process] = {}
        while len(found) < min(self.peers, len(everybody) - 1):
            peer = self.choose(process, everybody)
            found[int(peer.index)] = peer
        return list(found.values())

    def act(self, process: Process) -> None:
        among = self._known[process.index] if self.peers else self.stage.processes
        self.stage.send(process, [self.choose(process, among)], None)

    def expected(self) -> int:
        return self.steps * len(self.stage.processes)


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

    def act(self, process: Process) -> None:
        hot = self.uniform(process) < self.probability
        among = self._hot if hot else self._cold
        if not among or (len(among) == 1 and among[0] is process):
            among = self.stage.processes
        self.stage.send(process, [self.choose(process, among)], None)


class GroupTraffic(Stepping):
    """Processes are members of groups, which overlap; each message goes to all others of one."""

    def __init__(self, steps: int, interval: Distribution, size: int, groups: int = 0) -> None:
        super().__init__(steps, interval)
        self.size = size
        self.groups = groups  # 0: about twice as many as it takes to have everybody in one
        self._groups_of: list[list[list[Process]]] = []  # process -> its groups

    def prepare(self) -> None:
        draw = self.stage.stream("groups")
        count = len(self.stage.processes)
        size = min(self.size, count)
        self._groups_of = [[] for _ in range(count)]
        rounds = -(-count // size)
        wanted = max(self.groups or 2 * rounds, rounds)
        made = 0
        while made < wanted:
            shuffled = _shuffled(self.stage.processes, draw)
            for start in range(0, count, size):
                if made < wanted:
                    # The last group of a round is filled up with members of the first.
                    members = (shuffled[start:] + shuffled)[:size]
                    for member in members:
                        self._groups_of[member.index].append(members)
                    made += 1

    def act(self, process: Process) -> None:
        groups = self._groups_of[process.index]
        group = groups[i64(self.uniform(process) * float(len(groups)))]
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
        self.draw = stage.stream("broadcast")

    def happen(self) -> None:
        everybody = self.stage.processes
        chosen = everybody[i64(self.draw() * float(len(everybody)))]
        if not chosen.stopped:
            self.stage.send(chosen, [each for each in everybody if each is not chosen], None)
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


def _shuffled(processes: list[Process], draw: Draw) -> list[Process]:
    """Fisher and Yates."""
    shuffled = processes.copy()
    for place in range(len(shuffled) - 1, 0, -1):
        other = i64(draw() * float(place + 1))
        shuffled[place], shuffled[other] = shuffled[other], shuffled[place]
    return shuffled
