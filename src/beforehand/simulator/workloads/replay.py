"""Replay: runs a program under any protocol."""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.simulator.program import Program, Send
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.application import Application
from beforehand.simulator.world.event_queue import ScheduledEvent
from beforehand.simulator.world.processes import OpenMessage, Process


class PlannedSend(ScheduledEvent):
    """A causal-send of the program that waits for its dependencies, and then for its time."""

    def __init__(
        self, replay: Replay, process: Process, receivers: list[Process], send: Send
    ) -> None:
        super().__init__()
        self.replay = replay
        self.process = process
        self.receivers = receivers
        self.at: i64 = send.at_ns
        self.pause: i64 = send.pause_ns
        self.payload_bytes: i64 = -1 if send.payload_bytes is None else send.payload_bytes
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

    def __init__(self, program: Program) -> None:
        self._program = program
        self._by_sender: list[list[PlannedSend]] = []  # process -> its sends
        self._due: list[PlannedSend] = []  # to be sent now, one after the other
        self._dispatching = False

    def start(self, application: Application) -> None:
        self.application = application
        processes = {process.name: process for process in application.processes}
        self._by_sender = [[] for _ in processes]
        plan: dict[str, PlannedSend] = {}
        for send in self._program.sends:
            receivers = [processes[name] for name in {*send.to}]
            receivers.sort(key=lambda process: process.index)
            planned = PlannedSend(self, processes[send.sender], receivers, send)
            self._by_sender[planned.process.index].append(planned)
            plan[send.id] = planned
        for send in self._program.sends:
            for cause in {*send.after}:
                self._link(plan[cause], plan[send.id])
        for planned in [planned for planned in plan.values() if planned.missing == 0]:
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
        return len(self._program.sends)
