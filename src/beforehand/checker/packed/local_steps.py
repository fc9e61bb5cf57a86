"""Local steps: what one core does in one state with one event, run once and remembered.

A core touches nothing but itself and the frames that it sends. So a step of a world is a step of one
process, and however many worlds there are, they are combinations of few local states. Each distinct
state of a process (its location in the program and its core, by fingerprint) gets a number here, and so
does each distinct frame on each link. An event at a state is run on a copy of the real core when it is
first needed; from then on it is a row in tables of integers (`tables.py`).

Events are numbers: first the steps of programs and the ticks, then, from `first_arrival` on, the
arrivals of frames.

With symmetry, the image of the event is run at once on the image of the core, for each renaming, and the
outcomes are compared: that is how the images of states and frames are learnt, and how a core that does
not treat names alike is detected (`NotSymmetric`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from beforehand.checker.actions import Action, ActionKind
from beforehand.checker.packed.program_events import ProgramEvents
from beforehand.checker.program import SendStep, payload_of, run_step
from beforehand.checker.search.reductions.images import Images, NotSymmetric
from beforehand.checker.search.reductions.symmetry import Renaming
from beforehand.checker.setting import Setting
from beforehand.errors import BeforehandError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame

NO_MESSAGE = -1  # no message, or a delivered one that nobody can have sent

# Coverage of a step, as bits; and whether the core failed.
HOLD, EAGER, PERMIT, FAILED = 1, 2, 4, 8


@dataclass(frozen=True)
class Outcome:
    """The result of an event: the state after it, and what leaves the core."""

    state: int
    frames: tuple[int, ...] = ()
    deliveries: tuple[int, ...] = ()  # messages by number, or NO_MESSAGE
    message: int = NO_MESSAGE  # the causal-sent message, if any, ...
    receivers: int = 0  # ... and its receivers, as bits
    flags: int = 0


@dataclass(frozen=True)
class LocalState:
    """A state of one process."""

    process: int
    location: int
    core: Core

    @cached_property
    def idle(self) -> bool:
        """Whether the core waits for nothing."""
        core = self.core
        return not (core.held() or core.unacknowledged() or core.permits_missing())


class LocalSteps:
    """All local states, frames and outcomes discovered so far."""

    def __init__(self, setting: Setting, group: Sequence[Renaming]) -> None:
        self.setting = setting
        self.names = setting.processes
        self.group = group
        self.indices = {name: index for index, name in enumerate(self.names)}
        # Messages have consecutive numbers: those of the first process, then those of the second, ...
        counts = [setting.program.sends(name) for name in self.names]
        self.first_message = [sum(counts[:index]) for index in range(len(counts) + 1)]
        self.program_events = ProgramEvents(setting.program, group)
        self.first_arrival = len(self.program_events.events)
        self.states: list[LocalState] = []
        self._state_numbers: dict[tuple[object, ...], int] = {}
        self.frames: list[tuple[int, int, Frame]] = []  # (from, to, frame)
        self._frame_numbers: dict[tuple[int, int, Frame], int] = {}
        self.outcomes: dict[tuple[int, int], Outcome] = {}
        self.state_images = Images(group)
        self.frame_images = Images(group)
        self.start = [
            self._state(LocalState(process, 0, setting.make(name)))
            for process, name in enumerate(self.names)
        ]
        for process, state in enumerate(self.start):
            images = [self.start[order[process]] for order in group]
            self._compare_waiting(images)
            self.state_images.check(state, images)

    def resolve(self, state: int, event: int) -> list[tuple[tuple[int, int], Outcome]]:
        """Run an event at a state, and its images; returns the outcomes that were not known before."""
        if (state, event) in self.outcomes:
            return []
        states = self.state_images.rows[state]
        events = self._event_images(event)
        outcomes = [self._run(s, e) for s, e in zip(states, events, strict=True)]
        if len(self.group) > 1:
            self._learn_images(outcomes)
        new = dict(zip(zip(states, events, strict=True), outcomes, strict=True))
        self.outcomes.update(new)
        return list(new.items())

    def _event_images(self, event: int) -> list[int]:
        if event < self.first_arrival:
            return self.program_events.images[event]
        images = self.frame_images.rows[event - self.first_arrival]
        return [self.first_arrival + image for image in images]

    def action(self, event: int, kind: ActionKind) -> Action:
        """An event as an action; `kind` is what happens if it is about a frame."""
        if event < self.first_arrival:
            process, step = self.program_events.events[event]
            return Action("tick" if step is None else "step", self.names[process], step)
        sender, to, frame = self.frames[event - self.first_arrival]
        return Action(kind, self.names[to], None, self.names[sender], frame)

    def _run(self, state: int, event: int) -> Outcome:
        local = self.states[state]
        core = local.core.copy()
        location, message, receivers = local.location, NO_MESSAGE, 0
        try:
            if event >= self.first_arrival:
                sender, _, frame = self.frames[event - self.first_arrival]
                effects = core.receive(self.names[sender], frame)
            else:
                step = self.program_events.events[event][1]
                if step is None:
                    effects = core.tick()
                else:
                    locations = self.setting.program.locations[core.process]
                    location = dict(locations[location])[step]
                    effects = run_step(core, step)
                    if isinstance(step, SendStep):
                        message = self.first_message[local.process] + core.sent - 1
                        receivers = self._receiver_bits(step)
        except RemoteProtocolError:
            return Outcome(state, flags=FAILED)
        except BeforehandError:
            raise  # a program that the protocol does not support, not a failure of the core
        except Exception:  # any failure of a core is a problem; replaying the run will name it
            return Outcome(state, flags=FAILED)
        after = LocalState(local.process, location, core)
        return self._outcome(after, effects, message, receivers)

    def _receiver_bits(self, step: SendStep) -> int:
        receivers = self.names if step.to is None else set(step.to)
        return sum(1 << self.indices[name] for name in receivers)

    def _outcome(
        self, after: LocalState, effects: list[Effect], message: int, receivers: int
    ) -> Outcome:
        frames, deliveries = [], []
        flags = HOLD if after.core.held() else 0
        for effect in effects:
            if isinstance(effect, Transmit):
                frames.append(self._frame(after.process, self.indices[effect.to], effect.frame))
                flags |= _frame_flags(effect.frame)
            elif isinstance(effect, Deliver):
                deliveries.append(self._message(effect))
        state = self._state(after)
        return Outcome(state, tuple(frames), tuple(deliveries), message, receivers, flags)

    def _message(self, delivery: Deliver) -> int:
        """The number of the delivered message; NO_MESSAGE if it is unknown or has a wrong payload."""
        sender, message_id = self.indices.get(delivery.sender), int(delivery.message_id)
        if sender is None or delivery.payload != payload_of(delivery.sender, message_id):
            return NO_MESSAGE
        number = self.first_message[sender] + message_id - 1
        known = self.first_message[sender] <= number < self.first_message[sender + 1]
        return number if known else NO_MESSAGE

    def _state(self, local: LocalState) -> int:
        key = (local.process, local.location, local.core.fingerprint())
        number = self._state_numbers.get(key)
        if number is None:
            number = self._state_numbers[key] = self.state_images.add()
            self.states.append(local)
        return number

    def _frame(self, sender: int, to: int, frame: Frame) -> int:
        key = (sender, to, frame)
        number = self._frame_numbers.get(key)
        if number is None:
            number = self._frame_numbers[key] = self.frame_images.add()
            self.frames.append(key)
        return number

    def _learn_images(self, outcomes: list[Outcome]) -> None:
        """Learn the images of new states and frames, and check those that are known."""
        first = outcomes[0]
        frames = []
        for order, outcome in zip(self.group, outcomes, strict=True):
            self._compare(first, outcome, order)
            frames.append(self._matched(first.frames, outcome.frames, order))
        states = [outcome.state for outcome in outcomes]
        self._compare_waiting(states)
        self.state_images.learn(states)
        for orbit in zip(*frames, strict=True):
            self.frame_images.learn(orbit)

    def _compare(self, first: Outcome, image: Outcome, order: Renaming) -> None:
        """Raise NotSymmetric unless one outcome is the image of the other, frames aside."""
        alike = (
            image.flags == first.flags
            and image.message == self.message_image(first.message, order)
            and image.deliveries == tuple(self.message_image(m, order) for m in first.deliveries)
        )
        if not alike:
            raise NotSymmetric

    def _compare_waiting(self, states: list[int]) -> None:
        """Raise NotSymmetric unless all of these cores are idle, or none."""
        if len({self.states[state].idle for state in states}) > 1:
            raise NotSymmetric

    def _matched(
        self, frames: tuple[int, ...], images: tuple[int, ...], order: Renaming
    ) -> list[int]:
        """The image of each frame: per receiver, the images in the order of sending."""
        by_receiver: dict[int, list[int]] = {}
        for image in images:
            by_receiver.setdefault(self.frames[image][1], []).append(image)
        if len(frames) != len(images):
            raise NotSymmetric
        matched = []
        for frame in frames:
            queue = by_receiver.get(order[self.frames[frame][1]])
            if not queue:
                raise NotSymmetric
            matched.append(queue.pop(0))
        return matched

    def message_image(self, message: int, order: Renaming) -> int:
        """The image of a message when processes are renamed."""
        if message == NO_MESSAGE:
            return NO_MESSAGE
        for sender in range(len(self.names)):
            if message < self.first_message[sender + 1]:
                return self.first_message[order[sender]] + message - self.first_message[sender]
        raise AssertionError(message)


def _frame_flags(frame: Frame) -> int:
    """The coverage bit of an eager message or a permit."""
    content = frame.content()
    if content.restriction():
        return EAGER
    return PERMIT if content.kind().permits else 0
