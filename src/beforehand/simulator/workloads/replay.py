"""Replay: runs a program under any protocol."""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.application import Application
from beforehand.simulator.world.event_queue import ScheduledEvent
from beforehand.simulator.world.processes import OpenMessage, Process


class PlannedSend(ScheduledEvent):
    """A causal-send of the program that waits for its dependencies, and then for its time."""

    def __init__(
        self, replay: Replay, process: Process, receivers: list[Process], at: i64, pause: i64
    ) -> None:
        super().__init__()
        self.replay = replay
        self.process = process
        self.receivers = receivers
        self.at = at
        self.pause = pause
        self.payload_bytes: i64 = -1
        self.missing: i64 = 0  # dependencies that have not happened
        self.followers: list[PlannedSend] = []  # of the same process: depend on the send
        self.reactions: list[DeliveryDependency] = []  # of its receivers: depend on the delivery

    def dependency_met(self) -> None:
        """One of its dependencies has happened."""
        self.missing -= 1
        if self.missing == 0:
            self.ready(self.replay.application.queue.now + self.pause)

    def ready(self, time: i64) -> None:
        """It may be sent from a time on: if that is now, before anything else happens."""
        queue = self.replay.application.queue
        if max(time, self.at) > queue.now:
            queue.schedule(self, max(time, self.at))
        else:
            self.replay.dispatch(self)

    def fire(self) -> None:
        if not self.process.stopped:
            self.replay.application.send(self.process, self.receivers, self, self.payload_bytes)


class DeliveryDependency:
    """A send that must follow the delivery of another one at its process."""

    def __init__(self, planned: PlannedSend) -> None:
        self.planned = planned
        self.happened = False


class Replay(Workload):
    """The sends of a program, each as early as its dependencies and times allow."""

    application: Application

    def __init__(
        self,
        senders: list[int],
        receivers: list[list[int]],
        after: list[list[int]],
        times: list[tuple[int, int]],
        sizes: list[int],
    ) -> None:
        """Sends by their position in the program, processes by their index; see `Program`.

        `times` are pairs (not before, pause). A negative size leaves it to the scenario.
        """
        self._senders = senders
        self._receivers = receivers
        self._after = after
        self._times = times
        self._sizes = sizes
        self._plan: list[PlannedSend] = []
        self._by_sender: list[list[PlannedSend]] = []  # process -> its sends
        self._due: list[PlannedSend] = []  # to be sent now, one after the other
        self._dispatching = False

    def start(self, application: Application) -> None:
        self.application = application
        processes = application.processes
        self._by_sender = [[] for _ in processes]
        for position, sender in enumerate(self._senders):
            receivers = [processes[index] for index in self._receivers[position]]
            at, pause = self._times[position]
            planned = PlannedSend(self, processes[sender], receivers, at, pause)
            planned.payload_bytes = self._sizes[position]
            self._plan.append(planned)
            self._by_sender[sender].append(planned)
        for position, planned in enumerate(self._plan):
            for cause in self._after[position]:
                self._link(self._plan[cause], planned)
        for planned in [planned for planned in self._plan if planned.missing == 0]:
            planned.ready(planned.pause)

    def dispatch(self, planned: PlannedSend) -> None:
        """Send, after what is being sent: in a loop, since a program may be one long chain."""
        self._due.append(planned)
        if self._dispatching:
            return
        self._dispatching = True
        position: i64 = 0
        while position < len(self._due):
            self._due[position].fire()
            position += 1
        self._due = []
        self._dispatching = False

    def _link(self, cause: PlannedSend, planned: PlannedSend) -> None:
        planned.missing += 1
        if cause.process is planned.process:
            cause.followers.append(planned)
        else:
            cause.reactions.append(DeliveryDependency(planned))

    def sent(self, process: Process, tag: object) -> None:
        self._release_followers(tag)

    def skipped(self, process: Process, tag: object) -> None:
        self._release_followers(tag)

    def _release_followers(self, tag: object) -> None:
        assert isinstance(tag, PlannedSend)
        followers = tag.followers
        tag.followers = []  # they are released once, however often the send is reported
        for follower in followers:
            follower.dependency_met()

    def delivered(self, process: Process, message: OpenMessage) -> None:
        planned = message.tag
        assert isinstance(planned, PlannedSend)
        self._release_reactions(planned, process)

    def _release_reactions(self, planned: PlannedSend, process: Process) -> None:
        """A message was delivered at a process, or never will be."""
        for reaction in planned.reactions:
            if reaction.planned.process is process and not reaction.happened:
                reaction.happened = True
                reaction.planned.dependency_met()

    def dropped(self, process: Process, peer: Process) -> None:
        """What has not arrived from the peer never will: stop waiting for it."""
        for planned in self._by_sender[peer.index]:
            self._release_reactions(planned, process)

    def expected(self) -> int:
        return len(self._senders)
