"""Local steps: what one core does in one state with one event, run once and remembered.

A world is made of cores that touch nothing but themselves and the frames that they send. So a step of
the world is a step of one process, and however many worlds there are, few local states make them up.
Here each distinct state of a process (its place in the program and its core, by fingerprint) gets a
number, each distinct frame on each link too, and an event at a state is run on a copy of the real core
when it is first asked for. From then on it is a row in tables of integers (`tables.py`).

Events are numbers: first the choices of the programs and the ticks, then, from `first_arrival` on, the
arrivals of frames.

With symmetry, the mirrored event is at once run on the mirrored core, for each renaming, and it is
checked that the mirrored thing happens: what the images of states and frames are is found by doing, and
a core that does not treat names alike is noticed (`NotSymmetric`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from beforehand.checker.actions import Action, Kind
from beforehand.checker.packed.static_events import StaticEvents
from beforehand.checker.perform import payload_of, perform
from beforehand.checker.program import Send
from beforehand.checker.search.images import Images, NotSymmetric
from beforehand.checker.search.symmetry import Renaming
from beforehand.checker.setting import Setting
from beforehand.errors import BeforehandError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridMessage, HybridPermit
from beforehand.protocols.reliable import Segment
from beforehand.protocols.sender_side.cykas import CykasMessage, CykasYouCanTell

NO_MESSAGE = -1  # delivered, but nobody could have sent it

# What was seen in a step, as bits; and that the core failed.
HOLD, EAGER, PERMIT, FAILED = 1, 2, 4, 8


@dataclass(frozen=True)
class Outcome:
    """What an event does: the state after it, and what leaves the core."""

    state: int
    frames: tuple[int, ...] = ()
    deliveries: tuple[int, ...] = ()  # messages by number, or NO_MESSAGE
    message: int = NO_MESSAGE  # the message that was causal-sent, if any, ...
    receivers: int = 0  # ... and to whom, as bits
    flags: int = 0


@dataclass(frozen=True)
class Local:
    """A state of one process."""

    process: int
    place: int
    core: Core

    @cached_property
    def idle(self) -> bool:
        """Whether the core waits for nothing."""
        core = self.core
        return not (core.held() or core.unacknowledged() or core.permits_missing())


class LocalSteps:
    """All local states, frames and outcomes known so far."""

    def __init__(self, setting: Setting, group: Sequence[Renaming]) -> None:
        self.setting = setting
        self.names = setting.processes
        self.group = group
        self.places = {name: place for place, name in enumerate(self.names)}
        # Messages are numbered through: those of the first process, then those of the second, ...
        counts = [setting.program.sends(name) for name in self.names]
        self.first_message = [sum(counts[:place]) for place in range(len(counts) + 1)]
        self.static = StaticEvents(setting.program, group)
        self.first_arrival = len(self.static.events)
        self.locals: list[Local] = []
        self._local_ids: dict[tuple[object, ...], int] = {}
        self.frames: list[tuple[int, int, Frame]] = []  # (from, to, frame)
        self._frame_ids: dict[tuple[int, int, Frame], int] = {}
        self.outcomes: dict[tuple[int, int], Outcome] = {}
        self.state_images = Images(group)
        self.frame_images = Images(group)
        self.start = [
            self._state(Local(place, 0, setting.make(name)))
            for place, name in enumerate(self.names)
        ]
        for place, state in enumerate(self.start):
            images = [self.start[order[place]] for order in group]
            self._compare_waiting(images)
            self.state_images.check(state, images)

    # ---- asking ----

    def resolve(self, state: int, event: int) -> list[tuple[tuple[int, int], Outcome]]:
        """Find out what an event does at a state, and the images; returns what was not known."""
        if (state, event) in self.outcomes:
            return []
        states = self.state_images.rows[state]
        events = self._event_images(event)
        found = [self._run(s, e) for s, e in zip(states, events, strict=True)]
        if len(self.group) > 1:
            self._mirror(found)
        fresh = dict(zip(zip(states, events, strict=True), found, strict=True))
        self.outcomes.update(fresh)
        return list(fresh.items())

    def _event_images(self, event: int) -> list[int]:
        if event < self.first_arrival:
            return self.static.images[event]
        images = self.frame_images.rows[event - self.first_arrival]
        return [self.first_arrival + image for image in images]

    def action(self, event: int, kind: Kind) -> Action:
        """An event as an action; `kind` says what happens to a frame."""
        if event < self.first_arrival:
            process, choice = self.static.events[event]
            return Action("tick" if choice is None else "step", self.names[process], choice)
        sender, to, frame = self.frames[event - self.first_arrival]
        return Action(kind, self.names[to], None, self.names[sender], frame)

    # ---- running ----

    def _run(self, state: int, event: int) -> Outcome:
        local = self.locals[state]
        core = local.core.copy()
        place, message, receivers = local.place, NO_MESSAGE, 0
        try:
            if event >= self.first_arrival:
                sender, _, frame = self.frames[event - self.first_arrival]
                effects = core.receive(self.names[sender], frame)
            else:
                choice = self.static.events[event][1]
                if choice is None:
                    effects = core.tick()
                else:
                    here = self.setting.program.places[self.names[local.process]][local.place]
                    place = next(after for each, after in here if each == choice)
                    effects = perform(core, choice)
                    if isinstance(choice, Send):
                        message = self.first_message[local.process] + core.sent - 1
                        receivers = self._bits(choice)
        except RemoteProtocolError:
            return Outcome(state, flags=FAILED)
        except BeforehandError:
            raise  # a program that the protocol cannot run, which is no fault of the core
        except Exception:  # whatever a broken core does is a finding; replaying it says what it was
            return Outcome(state, flags=FAILED)
        return self._outcome(local, place, core, effects, message, receivers)

    def _bits(self, choice: Send) -> int:
        receivers = self.names if choice.to is None else set(choice.to)
        return sum(1 << self.places[name] for name in receivers)

    def _outcome(
        self,
        local: Local,
        place: int,
        core: Core,
        effects: list[Effect],
        message: int,
        receivers: int,
    ) -> Outcome:
        frames, deliveries = [], []
        flags = HOLD if core.held() else 0
        for effect in effects:
            if isinstance(effect, Transmit):
                frames.append(self._frame(local.process, self.places[effect.to], effect.frame))
                flags |= _nature(effect.frame)
            elif isinstance(effect, Deliver):
                deliveries.append(self._message(effect))
        state = self._state(Local(local.process, place, core))
        return Outcome(state, tuple(frames), tuple(deliveries), message, receivers, flags)

    def _message(self, delivery: Deliver) -> int:
        """The number of the message that was delivered, if it says what it should."""
        place = self.places.get(delivery.sender)
        if place is None or delivery.payload != payload_of(
            delivery.sender, int(delivery.message_id)
        ):
            return NO_MESSAGE
        number = self.first_message[place] + int(delivery.message_id) - 1
        known = self.first_message[place] <= number < self.first_message[place + 1]
        return number if known else NO_MESSAGE

    def _state(self, local: Local) -> int:
        key = (local.process, local.place, local.core.fingerprint())
        known = self._local_ids.get(key)
        if known is None:
            known = self._local_ids[key] = self.state_images.add()
            self.locals.append(local)
        return known

    def _frame(self, sender: int, to: int, frame: Frame) -> int:
        key = (sender, to, frame)
        known = self._frame_ids.get(key)
        if known is None:
            known = self._frame_ids[key] = self.frame_images.add()
            self.frames.append(key)
        return known

    # ---- symmetry ----

    def _mirror(self, found: list[Outcome]) -> None:
        """Learn the images of what is new in these outcomes, and check those that were known."""
        first = found[0]
        turned = []
        for order, outcome in zip(self.group, found, strict=True):
            self._compare(first, outcome, order)
            turned.append(self._matched(first.frames, outcome.frames, order))
        states = [outcome.state for outcome in found]
        self._compare_waiting(states)
        self.state_images.learn(states)
        for column in zip(*turned, strict=True):
            self.frame_images.learn(column)

    def _compare(self, first: Outcome, image: Outcome, order: Renaming) -> None:
        """All but the frames must be mirrored."""
        alike = (
            image.flags == first.flags
            and image.message == self.message_image(first.message, order)
            and image.deliveries == tuple(self.message_image(m, order) for m in first.deliveries)
        )
        if not alike:
            raise NotSymmetric

    def _compare_waiting(self, states: list[int]) -> None:
        """Either all of these cores wait for something, or none."""
        if len({self.locals[state].idle for state in states}) > 1:
            raise NotSymmetric

    def _matched(
        self, frames: tuple[int, ...], images: tuple[int, ...], order: Renaming
    ) -> list[int]:
        """The images in the order of the frames: to each receiver, one by one as they were sent."""
        waiting: dict[int, list[int]] = {}
        for image in images:
            waiting.setdefault(self.frames[image][1], []).append(image)
        if len(frames) != len(images):
            raise NotSymmetric
        matched = []
        for frame in frames:
            queue = waiting.get(order[self.frames[frame][1]])
            if not queue:
                raise NotSymmetric
            matched.append(queue.pop(0))
        return matched

    def message_image(self, message: int, order: Renaming) -> int:
        """The message that takes the place of another when processes are renamed."""
        if message == NO_MESSAGE:
            return NO_MESSAGE
        for place in range(len(self.names)):
            if message < self.first_message[place + 1]:
                return self.first_message[order[place]] + message - self.first_message[place]
        raise AssertionError(message)


def _nature(frame: Frame) -> int:
    """Whether it is an eager message, or a permit."""
    if isinstance(frame, Segment):
        frame = frame.inner
    if isinstance(frame, HybridMessage):
        return EAGER if frame.flagged else 0
    if isinstance(frame, CykasMessage):
        return EAGER if frame.eager else 0
    return PERMIT if isinstance(frame, HybridPermit | CykasYouCanTell) else 0
