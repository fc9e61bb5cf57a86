"""What a run did, in the words of the papers: causal-sends, releases, arrivals, holds, deliveries.

A run is only a list of actions; what each of them made the cores do shows when it is done again, in
a `World`. Diagrams, traces and the recognition of known runs are made of the events told here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from beforehand.causality.ids import MessageId
from beforehand.checker.actions import Action, Run
from beforehand.checker.program import Close, Open, Send
from beforehand.checker.setting import Setting
from beforehand.checker.world import World
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from beforehand.protocols.frames import Frame

Kind = Literal[
    "send", "open", "close", "release", "receive", "deliver", "hold", "control", "lose", "tick"
]


@dataclass(frozen=True)
class Event:
    """Something that happens at `process` in one step of a run. Steps count from 1."""

    step: int
    process: str
    kind: Kind
    message: MessageId | None = None
    to: tuple[str, ...] | None = None  # its receivers; None: everybody, or that it does not apply
    frame: Frame | None = None  # that is released, received, lost, or (control) sent or received
    sender: str = ""  # of the frame
    again: bool = False  # the same copy was released, or received, before
    repeated: bool = False  # received, while another copy stays in flight
    waits: tuple[Wait, ...] = ()  # what a held message waits for
    wrong: bool = False  # the delivery that the oracle objects to


def tell(setting: Setting, run: Run) -> list[Event]:
    """All events of a run, in their order, up to the one that breaks a promise, if one does."""
    return list(_Teller(setting).tell(run))


def messages_in(sender: str, frame: Frame) -> list[MessageId]:
    """The application messages that a frame from `sender` carries."""
    return [
        MessageId(part.origin() or sender, int(part.about()) + offset)
        for part in frame.bundle() or (frame,)
        for offset in range(part.messages())
    ]


class _Teller:
    """Does a run again and notes what happens."""

    def __init__(self, setting: Setting) -> None:
        self._world = World(setting)
        self._released: set[tuple[str, str, MessageId]] = set()
        self._received: set[tuple[str, MessageId]] = set()
        self._delivered: set[tuple[str, MessageId]] = set()
        self._sent = dict.fromkeys(setting.processes, 0)

    def tell(self, run: Run) -> Iterator[Event]:
        for step, action in enumerate(run, start=1):
            parts = [action]
            if action.kind == "timers":
                parts = [Action("tick", name) for name in self._world.cores]
            for part in parts:
                for event in self._happens(step, part):
                    yield event
                    if event.wrong:
                        return

    def _happens(self, step: int, action: Action) -> Iterator[Event]:
        process = action.process
        waiting = self._held(process)
        self._world.do(action)
        yield from self._cause(step, action)
        for effect in self._world.effects:
            yield from self._effect(step, process, effect)
        for key, held in self._held(process).items():
            if key not in waiting:
                message = MessageId(held.sender, held.message_id)
                yield Event(step, process, "hold", message, held.receivers, waits=held.waits)

    def _held(self, process: str) -> dict[tuple[object, ...], Held]:
        found = self._world.cores[process].held()
        return {(each.sender, each.message_id, each.receivers): each for each in found}

    def _cause(self, step: int, action: Action) -> Iterator[Event]:
        """What the action itself is."""
        process, choice, frame = action.process, action.choice, action.frame
        if isinstance(choice, Send):
            self._sent[process] += 1
            yield Event(step, process, "send", MessageId(process, self._sent[process]), choice.to)
        elif isinstance(choice, Open):
            yield Event(step, process, "open", to=(choice.peer,))
        elif isinstance(choice, Close):
            yield Event(step, process, "close", to=(choice.peer,))
        elif frame is None:
            yield Event(step, process, "tick")
        elif action.kind == "lose":
            yield Event(step, process, "lose", to=(process,), frame=frame, sender=action.sender)
        else:
            yield from self._arrival(step, action, frame)

    def _arrival(self, step: int, action: Action, frame: Frame) -> Iterator[Event]:
        process = action.process
        event = Event(
            step,
            process,
            "receive",
            to=(process,),
            frame=frame,
            sender=action.sender,
            repeated=action.kind == "duplicate",
        )
        found = messages_in(action.sender, frame)
        for message in found:
            again = (process, message) in self._received
            self._received.add((process, message))
            yield replace(event, message=message, again=again)
        if not found:
            yield replace(event, kind="control")

    def _effect(self, step: int, process: str, effect: Effect) -> Iterator[Event]:
        if isinstance(effect, Deliver):
            message = MessageId(effect.sender, int(effect.message_id))
            wrong = self._is_wrong(process, message)
            self._delivered.add((process, message))
            yield Event(step, process, "deliver", message, (process,), wrong=wrong)
        elif isinstance(effect, Transmit):
            to = (effect.to,)
            event = Event(step, process, "release", to=to, frame=effect.frame, sender=process)
            found = messages_in(process, effect.frame)
            for message in found:
                copy = (process, effect.to, message)
                yield replace(event, message=message, again=copy in self._released)
                self._released.add(copy)
            if not found:
                yield replace(event, kind="control")

    def _is_wrong(self, process: str, message: MessageId) -> bool:
        """Whether the oracle, which has seen the whole step by now, objects to this delivery."""
        for broken in self._world.oracle.violations:
            if (broken.process, broken.message) == (process, message):
                return broken.kind != "duplicate" or (process, message) in self._delivered
        return False
