"""A run as events, in the vocabulary of the papers: causal-send, release, receive, hold, deliver.

A run is only a list of actions; replaying it in a `CheckedWorld` shows what each of them made the
cores do. Diagrams, traces and the recognition of known runs are based on these events.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from beforehand.causality.ids import MessageId
from beforehand.checker.actions import Action, Run
from beforehand.checker.program import CloseStep, OpenStep, SendStep
from beforehand.checker.setting import Setting
from beforehand.checker.world import CheckedWorld
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from beforehand.protocols.frames import Frame

RunEventKind = Literal[
    "send", "open", "close", "release", "receive", "deliver", "hold", "control", "lose", "tick"
]


@dataclass(frozen=True)
class RunEvent:
    """Something that happens at `process` in one step of a run. Steps count from 1."""

    step: int
    process: str
    kind: RunEventKind
    message: MessageId | None = None
    to: tuple[str, ...] | None = None  # its receivers; None: everybody, or not applicable
    frame: Frame | None = None  # released, received, lost, or (control) sent or received
    sender: str = ""  # of the frame
    again: bool = False  # this copy was released, or received, before
    repeated: bool = False  # received, and another copy stays in flight
    waits: tuple[Wait, ...] = ()  # what a held message waits for
    wrong: bool = False  # a delivery that violates a guarantee


def run_events(setting: Setting, run: Run) -> list[RunEvent]:
    """All events of a run in order, up to the first wrong delivery, if there is one."""
    return list(_Replay(setting).events(run))


def messages_in(sender: str, frame: Frame) -> list[MessageId]:
    """The application messages that a frame from `sender` carries."""
    return [
        MessageId(part.origin() or sender, int(part.about()) + offset)
        for part in frame.bundle() or (frame,)
        for offset in range(part.messages())
    ]


class _Replay:
    """Replays a run and reports its events."""

    def __init__(self, setting: Setting) -> None:
        self._world = CheckedWorld(setting)
        self._released: set[tuple[str, str, MessageId]] = set()
        self._received: set[tuple[str, MessageId]] = set()
        self._delivered: set[tuple[str, MessageId]] = set()
        self._sent = dict.fromkeys(setting.processes, 0)

    def events(self, run: Run) -> Iterator[RunEvent]:
        for step, action in enumerate(run, start=1):
            actions = [action]
            if action.kind == "timers":
                actions = [Action("tick", name) for name in self._world.cores]
            for single in actions:
                for event in self._apply(step, single):
                    yield event
                    if event.wrong:
                        return

    def _apply(self, step: int, action: Action) -> Iterator[RunEvent]:
        process = action.process
        held_before = self._held(process)
        self._world.apply(action)
        yield from self._cause(step, action)
        for effect in self._world.effects:
            yield from self._effect(step, process, effect)
        for key, held in self._held(process).items():
            if key not in held_before:
                message = MessageId(held.sender, held.message_id)
                yield RunEvent(step, process, "hold", message, held.receivers, waits=held.waits)

    def _held(self, process: str) -> dict[tuple[object, ...], Held]:
        messages = self._world.cores[process].held()
        return {(held.sender, held.message_id, held.receivers): held for held in messages}

    def _cause(self, step: int, action: Action) -> Iterator[RunEvent]:
        """The event that is the action itself."""
        process, program_step, frame = action.process, action.step, action.frame
        if isinstance(program_step, SendStep):
            self._sent[process] += 1
            yield RunEvent(
                step, process, "send", MessageId(process, self._sent[process]), program_step.to
            )
        elif isinstance(program_step, OpenStep):
            yield RunEvent(step, process, "open", to=(program_step.peer,))
        elif isinstance(program_step, CloseStep):
            yield RunEvent(step, process, "close", to=(program_step.peer,))
        elif frame is None:
            yield RunEvent(step, process, "tick")
        elif action.kind == "lose":
            yield RunEvent(step, process, "lose", to=(process,), frame=frame, sender=action.sender)
        else:
            yield from self._arrival(step, action, frame)

    def _arrival(self, step: int, action: Action, frame: Frame) -> Iterator[RunEvent]:
        process = action.process
        event = RunEvent(
            step,
            process,
            "receive",
            to=(process,),
            frame=frame,
            sender=action.sender,
            repeated=action.kind == "duplicate",
        )
        messages = messages_in(action.sender, frame)
        for message in messages:
            again = (process, message) in self._received
            self._received.add((process, message))
            yield replace(event, message=message, again=again)
        if not messages:
            yield replace(event, kind="control")

    def _effect(self, step: int, process: str, effect: Effect) -> Iterator[RunEvent]:
        if isinstance(effect, Deliver):
            message = MessageId(effect.sender, int(effect.message_id))
            wrong = self._is_wrong(process, message)
            self._delivered.add((process, message))
            yield RunEvent(step, process, "deliver", message, (process,), wrong=wrong)
        elif isinstance(effect, Transmit):
            to = (effect.to,)
            event = RunEvent(step, process, "release", to=to, frame=effect.frame, sender=process)
            messages = messages_in(process, effect.frame)
            for message in messages:
                copy = (process, effect.to, message)
                yield replace(event, message=message, again=copy in self._released)
                self._released.add(copy)
            if not messages:
                yield replace(event, kind="control")

    def _is_wrong(self, process: str, message: MessageId) -> bool:
        """Whether the oracle, which has seen the whole step by now, reports this delivery."""
        for violation in self._world.oracle.violations:
            if (violation.process, violation.message) == (process, message):
                return violation.kind != "duplicate" or (process, message) in self._delivered
        return False
