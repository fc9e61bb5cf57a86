"""Small cores that break one promise each, so that every kind of problem can be met.

They keep to the contract of `Core` without extending it: compiled classes cannot be extended by
interpreted ones, and these are to run on both builds. All of them send `RawMessage` frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Self, cast

from beforehand.checker.program import written_program
from beforehand.checker.setting import NO_FAULTS, FaultBudget, Setting, make_core, setting
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.controls import RawMessage
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit
from beforehand.protocols.frames import Frame

NAMES = ("a", "b", "c")


class Plain:
    """Delivers every message on arrival. Not causal, but otherwise correct."""

    def __init__(self, process: str, names: tuple[str, ...] = NAMES) -> None:
        self.process = process
        self.names = names
        self.sent = 0

    def send(self, to: Iterable[str] | None, payload: bytes) -> list[Effect]:
        """Causal-send; to itself at once."""
        self.sent += 1
        return [
            Deliver(name, self.sent, payload)
            if name == self.process
            else Transmit(name, RawMessage(self.sent, payload))
            for name in (self.names if to is None else to)
        ]

    def receive(self, sender: str, frame: Frame) -> list[Effect]:
        """Deliver it."""
        assert isinstance(frame, RawMessage)
        return [Deliver(sender, frame.number, frame.payload)]

    def tick(self) -> list[Effect]:
        """Nothing to do."""
        return []

    def held(self) -> list[Held]:
        """Nothing is."""
        return []

    def unacknowledged(self) -> int:
        """Nothing is."""
        return 0

    def permits_missing(self) -> int:
        """None are."""
        return 0

    def copy(self) -> Self:
        """An independent core in the same state: all state is in immutable fields."""
        return copy(self)

    def fingerprint(self) -> tuple[object, ...]:
        """All fields."""
        return tuple(vars(self).values())


class Inventing(Plain):
    """Delivers the message after the one that came, which may never have been sent."""

    def receive(self, sender: str, frame: Frame) -> list[Effect]:
        """Deliver something."""
        assert isinstance(frame, RawMessage)
        number = frame.number + 1
        return [Deliver(sender, number, f"{sender}#{number}".encode())]


class Misquoting(Plain):
    """Delivers each message with the payload of another."""

    def receive(self, sender: str, frame: Frame) -> list[Effect]:
        """Deliver it with another payload."""
        assert isinstance(frame, RawMessage)
        return [Deliver(sender, frame.number, b"?")]


class Repeating(Plain):
    """Delivers every message twice."""

    def receive(self, sender: str, frame: Frame) -> list[Effect]:
        """Deliver it twice."""
        return super().receive(sender, frame) * 2


class Counting(Plain):
    """Delivers the first message and handles later ones differently."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.received = 0

    def receive(self, sender: str, frame: Frame) -> list[Effect]:
        """Count, and pass all messages but the first to `later_message`."""
        self.received += 1
        effects = super().receive(sender, frame)
        return effects if self.received == 1 else self.later_message(effects)

    def later_message(self, effects: list[Effect]) -> list[Effect]:
        """Handle the second message or a later one."""
        return effects


class Failing(Counting):
    """Raises an error at the second message."""

    def later_message(self, effects: list[Effect]) -> list[Effect]:
        """Fail."""
        raise KeyError("the second")


class Refusing(Counting):
    """Refuses the second message as invalid."""

    def later_message(self, effects: list[Effect]) -> list[Effect]:
        """Refuse."""
        raise RemoteProtocolError("somebody", "that cannot be")


class Swallowing(Counting):
    """Forgets the second message."""

    def later_message(self, effects: list[Effect]) -> list[Effect]:
        """Forget it."""
        return []


class Clinging(Counting):
    """Waits forever for an acknowledgement after the second message."""

    def unacknowledged(self) -> int:
        """One, from then on."""
        return int(self.received > 1)


class Roundabout(Plain):
    """Sends its messages to itself through the network, where answers overtake them."""

    def send(self, to: Iterable[str] | None, payload: bytes) -> list[Effect]:
        """Causal-send, always through the network."""
        self.sent += 1
        frame = RawMessage(self.sent, payload)
        return [Transmit(name, frame) for name in (self.names if to is None else to)]


class Panicking(Plain):
    """Fails when its timer goes off, once it has sent something."""

    def tick(self) -> list[Effect]:
        """Fail."""
        if self.sent:
            raise ValueError("no time")
        return []


class Dreaming(Plain):
    """Delivers what it has sent to others, when its timer goes off."""

    def tick(self) -> list[Effect]:
        """Deliver the last one."""
        payload = f"{self.process}#{self.sent}".encode()
        return [Deliver(self.process, self.sent, payload)] if self.sent else []


class Resending(Plain):
    """Assumes that only one receiver can miss a message, and resends to that one only."""

    def __init__(self, to: str, process: str) -> None:
        super().__init__(process)
        self.to = to

    def tick(self) -> list[Effect]:
        """Send the last one again."""
        frame = RawMessage(self.sent, f"{self.process}#{self.sent}".encode())
        return [Transmit(self.to, frame)] if self.sent else []


BROKEN: dict[type[Plain], str] = {  # the kind of problem that each has, if no other comes first
    Inventing: "invented",
    Misquoting: "invented",
    Repeating: "duplicate",
    Failing: "error",
    Refusing: "refused",
    Swallowing: "undelivered",
    Clinging: "stuck",
}


def setting_of(
    kind: Callable[[str], object], program: str, faults: FaultBudget = NO_FAULTS
) -> Setting:
    """A setting in which three cores of this kind follow the program."""
    return Setting("a test core", written_program(program, NAMES), partial(_core, kind), faults)


def unprotected(protocol: str, program: str, faults: FaultBudget) -> Setting:
    """A protocol on a network that it does not expect, without the reliable links that it asks for."""
    make = partial(make_core, protocol, NAMES, None, None, False)
    return replace(setting(protocol, program=program, faults=faults), make=make)


def _core(kind: Callable[[str], object], process: str) -> Core:
    return cast(Core, kind(process))
