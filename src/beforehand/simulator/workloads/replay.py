"""Replay: a program under any protocol."""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.simulator.workloads.workload import Stage, Workload
from beforehand.simulator.world.engine import Event
from beforehand.simulator.world.processes import Message, Process


class Planned(Event):
    """A causal-send of the program that waits for what it must follow, and then for its time."""

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
        self.missing: i64 = 0  # of what it must follow, what has not happened
        self.followers: list[Planned] = []  # of the same process: follow the send
        self.reactions: list[Reaction] = []  # of its receivers: follow the delivery

    def happened(self) -> None:
        """One thing that it must follow has happened."""
        self.missing -= 1
        if self.missing == 0:
            self.ready(self.replay.stage.engine.now + self.pause)

    def ready(self, time: i64) -> None:
        """It may go from a time on: if that is now, before anything else happens."""
        engine = self.replay.stage.engine
        if max(time, self.at) > engine.now:
            engine.schedule(self, max(time, self.at))
        else:
            self.replay.go(self)

    def happen(self) -> None:
        if not self.process.stopped:
            self.replay.stage.send(self.process, self.receivers, self, self.payload_bytes)


class Reaction:
    """A send that must follow the delivery of another one at its process."""

    def __init__(self, planned: Planned) -> None:
        self.planned = planned
        self.happened = False


class Replay(Workload):
    """The sends of a program, each as soon as it may be."""

    stage: Stage

    def __init__(
        self,
        senders: list[int],
        receivers: list[list[int]],
        after: list[list[int]],
        times: list[tuple[int, int]],
        sizes: list[int],
    ) -> None:
        """Sends by their place in the program, processes by their index; see `Program`.

        `times` are pairs (not before, pause). A negative size leaves it to the scenario.
        """
        self._senders = senders
        self._receivers = receivers
        self._after = after
        self._times = times
        self._sizes = sizes
        self._plan: list[Planned] = []
        self._by_sender: list[list[Planned]] = []  # process -> its sends
        self._going: list[Planned] = []  # what goes now, one after the other
        self._busy = False

    def start(self, stage: Stage) -> None:
        self.stage = stage
        self._by_sender = [[] for _ in stage.processes]
        for place, sender in enumerate(self._senders):
            receivers = [stage.processes[index] for index in self._receivers[place]]
            at, pause = self._times[place]
            planned = Planned(self, stage.processes[sender], receivers, at, pause)
            planned.payload_bytes = self._sizes[place]
            self._plan.append(planned)
            self._by_sender[sender].append(planned)
        for place, planned in enumerate(self._plan):
            for cause in self._after[place]:
                self._link(self._plan[cause], planned)
        for planned in [planned for planned in self._plan if planned.missing == 0]:
            planned.ready(planned.pause)

    def go(self, planned: Planned) -> None:
        """Send, after what goes already: in a loop, since a program may be one long chain."""
        self._going.append(planned)
        if self._busy:
            return
        self._busy = True
        place: i64 = 0
        while place < len(self._going):
            self._going[place].happen()
            place += 1
        self._going = []
        self._busy = False

    def _link(self, cause: Planned, planned: Planned) -> None:
        planned.missing += 1
        if cause.process is planned.process:
            cause.followers.append(planned)
        else:
            cause.reactions.append(Reaction(planned))

    def sent(self, process: Process, note: object) -> None:
        self._went(note)

    def skipped(self, process: Process, note: object) -> None:
        self._went(note)

    def _went(self, note: object) -> None:
        assert isinstance(note, Planned)
        followers = note.followers
        note.followers = []  # a send that is split into unicasts is told of several times
        for follower in followers:
            follower.happened()

    def delivered(self, process: Process, message: Message) -> None:
        planned = message.note
        assert isinstance(planned, Planned)
        self._happened(planned, process)

    def _happened(self, planned: Planned, process: Process) -> None:
        """A message was delivered at a process, or never will be."""
        for reaction in planned.reactions:
            if reaction.planned.process is process and not reaction.happened:
                reaction.happened = True
                reaction.planned.happened()

    def dropped(self, process: Process, peer: Process) -> None:
        """What has not come from there will not come: nobody waits for it any more."""
        for planned in self._by_sender[peer.index]:
            self._happened(planned, process)

    def expected(self) -> int:
        return len(self._senders)
