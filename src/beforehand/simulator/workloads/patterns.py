"""Synthetic traffic: processes send at intervals to receivers that they choose at random."""

from mypy_extensions import i64

from beforehand.simulator.workloads.workload import PacedStep, PacedWorkload, Workload
from beforehand.simulator.world.application import Application
from beforehand.simulator.world.distributions import Distribution
from beforehand.simulator.world.event_queue import ScheduledEvent
from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream


class UniformTraffic(PacedWorkload):
    """Each message goes to a random other process."""

    def act(self, process: Process, step: PacedStep) -> None:
        self.application.send(process, [step.choose(self.application.processes)], None)


class PeerTraffic(UniformTraffic):
    """Each process has a few fixed peers, and sends to one of them at random."""

    def __init__(self, steps: int, interval: Distribution, peers: int, neighbours: bool) -> None:
        super().__init__(steps, interval)
        self.peers = peers
        self.neighbours = neighbours  # the nearest on a ring, instead of random ones
        self._peers_of: list[list[Process]] = []

    def prepare(self) -> None:
        processes = self.application.processes
        stream = self.application.stream("peers")
        for process in processes:
            if self.neighbours:
                self._peers_of.append(_nearest(processes, process.index, self.peers))
            else:
                self._peers_of.append(_random_peers(processes, process, self.peers, stream))

    def act(self, process: Process, step: PacedStep) -> None:
        self.application.send(process, [step.choose(self._peers_of[process.index])], None)


def _nearest(processes: list[Process], index: i64, count: int) -> list[Process]:
    """The nearest to a process on a ring, on both sides."""
    steps = [step for reach in range(1, count // 2 + 2) for step in (reach, -reach)]
    return [processes[(int(index) + step) % len(processes)] for step in steps[:count]]


def _random_peers(
    processes: list[Process], process: Process, count: int, stream: Stream
) -> list[Process]:
    chosen: dict[int, Process] = {}
    while len(chosen) < count:
        peer = processes[stream.below(len(processes))]
        if peer is not process:
            chosen[int(peer.index)] = peer
    return list(chosen.values())


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
        processes = self.application.processes
        count = max(1, int(self.hot_share * len(processes) + 0.5))
        self._hot = processes[:count]
        self._cold = processes[count:]

    def act(self, process: Process, step: PacedStep) -> None:
        hot = step.stream.uniform() < self.probability
        candidates = self._hot if hot else self._cold
        if not candidates or (len(candidates) == 1 and candidates[0] is process):
            candidates = self.application.processes
        self.application.send(process, [step.choose(candidates)], None)


class GroupTraffic(PacedWorkload):
    """Processes are members of overlapping groups; a message goes to all others of one group."""

    def __init__(self, steps: int, interval: Distribution, size: int, groups: int = 0) -> None:
        super().__init__(steps, interval)
        self.size = size
        self.groups = groups  # 0: about twice as many as it takes to cover all processes
        self._groups_of: list[list[list[Process]]] = []  # process -> its groups

    def prepare(self) -> None:
        stream = self.application.stream("groups")
        count = len(self.application.processes)
        size = min(self.size, count)
        self._groups_of = [[] for _ in range(count)]
        rounds = -(-count // size)
        wanted = max(self.groups or 2 * rounds, rounds)
        created = 0
        while created < wanted:
            processes = self.application.processes
            shuffled = [processes[index] for index in stream.permutation(count)]
            for start in range(0, count, size):
                if created < wanted:
                    # The last group of a round is filled up with members of the first.
                    members = (shuffled[start:] + shuffled)[:size]
                    for member in members:
                        self._groups_of[member.index].append(members)
                    created += 1

    def act(self, process: Process, step: PacedStep) -> None:
        groups = self._groups_of[process.index]
        group = groups[step.stream.below(len(groups))]
        self.application.send(process, [member for member in group if member is not process], None)


class BroadcastTimer(ScheduledEvent):
    """One broadcast after the other, at a constant rate, each by a process chosen at random."""

    def __init__(self, application: Application, period: i64, count: i64) -> None:
        super().__init__()
        self.application = application
        self.period = period
        self.left = count
        self.stream = application.stream("broadcast")

    def fire(self) -> None:
        processes = self.application.present()
        chosen = processes[self.stream.below(len(processes))]
        if not chosen.stopped:
            self.application.send(chosen, None, None)
        self.left -= 1
        if self.left > 0:
            self.application.queue.schedule(self, self.time + self.period)


class BroadcastTraffic(Workload):
    """Broadcasts at a rate, from a time on."""

    def __init__(self, count: int, period: i64, start_at: i64) -> None:
        self.count = count
        self.period = period
        self.start_at = start_at

    def start(self, application: Application) -> None:
        if self.count:
            timer = BroadcastTimer(application, self.period, self.count)
            application.queue.schedule(timer, self.start_at)

    def expected(self) -> int:
        return self.count
