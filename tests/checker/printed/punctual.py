"""A watched core: its permits go out as soon as they are due, once, and again on request.

Permits that come late or too often break no promise to the application, so no oracle sees them. This
observer does: it knows what the core sent, and which acks came, and looks after every step whether a
permit is owed. If so it fails, which the exploration reports as an error, with the shortest way there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from tests.checker.printed.around import Around


class UnpunctualError(Exception):
    """A permit is late, or was given twice, or an ack that asks for it was ignored."""


class Rules(NamedTuple):
    """When a permit is due, and what acks and permits mean."""

    conservative: bool  # CSPS: older messages to the same receiver must be acknowledged too
    cumulative: bool  # acks and permits stand for all older messages as well


class Copy(NamedTuple):
    """A message on its way to one receiver."""

    to: str
    id: int


class Punctual(Around):
    """Watches one core; it must not send to itself."""

    def __init__(self, inside: Core, rules: Rules) -> None:
        super().__init__(inside)
        self.rules = rules
        self.unacked: set[Copy] = set()  # causal-sent, not acknowledged
        self.acked: set[Copy] = set()
        self.owed: set[Copy] = set()  # released with the flag, without a permit
        self.given: set[Copy] = set()  # had their permits

    def send(  # type: ignore[override]  # only what the checker uses
        self, to: Iterable[str], payload: bytes, now: int = 0
    ) -> list[Effect]:
        """Causal-send."""
        self.unacked.update(Copy(name, int(self.sent) + 1) for name in to)
        effects = super().send(to, payload)
        self._look(effects, None)
        return effects

    def receive(self, sender: str, frame: Frame, now: int = 0) -> list[Effect]:
        """Take a frame."""
        request: Copy | None = None
        if isinstance(frame, HybridAck):
            closed = self._covered(self.unacked, Copy(sender, int(frame.upto)))
            request = None if closed else Copy(sender, int(frame.upto))
            self.unacked -= closed
            self.acked |= closed
        effects = super().receive(sender, frame)
        self._look(effects, request)
        return effects

    def _covered(self, copies: set[Copy], upto: Copy) -> set[Copy]:
        """The copies that an ack or a permit covers."""
        if self.rules.cumulative:
            return {copy for copy in copies if copy.to == upto.to and copy.id <= upto.id}
        return copies & {upto}

    def _look(self, effects: list[Effect], request: Copy | None) -> None:
        """Judge what was sent, and what was not."""
        permits: list[Copy] = []
        for effect in effects:
            if isinstance(effect, Transmit) and isinstance(effect.frame, HybridMessage):
                if effect.frame.flagged:
                    numbers = range(effect.frame.messages())
                    sent = {Copy(effect.to, int(effect.frame.first) + number) for number in numbers}
                    self.owed |= sent - self.given
            elif isinstance(effect, Transmit) and isinstance(effect.frame, HybridPermit):
                permits.append(Copy(effect.to, int(effect.frame.upto)))
        if request is not None and self._is_latest(request):
            self._look_for_answer(request, permits)
            permits = [permit for permit in permits if permit.to != request.to]
        for permit in permits:
            covered = self._covered(self.owed, permit)
            if not covered:
                raise UnpunctualError(f"{permit.to} gets the permit for {permit.id} again")
            self.owed -= covered
            self.given |= covered
        for copy in sorted(self.owed):
            if self._is_due(copy):
                raise UnpunctualError(f"the permit of {copy.to} for {copy.id} is due, and not sent")

    def _is_latest(self, request: Copy) -> bool:
        """Cumulative acks that came too late ask for nothing."""
        if not self.rules.cumulative:
            return True
        return all(copy.id <= request.id for copy in self.acked if copy.to == request.to)

    def _look_for_answer(self, request: Copy, permits: list[Copy]) -> None:
        for copy in self._covered(self.given, request):
            if not any(copy in self._covered({copy}, permit) for permit in permits):
                raise UnpunctualError(f"{copy.to} asks again for its permit for {copy.id} in vain")

    def _is_due(self, copy: Copy) -> bool:
        older = [other for other in self.unacked if other.id <= copy.id and other != copy]
        return not older if self.rules.conservative else all(o.to == copy.to for o in older)

    def copy(self) -> Punctual:
        other = Punctual(self.inside.copy(), self.rules)
        self._copy_into(other)
        for own, twin in zip(self._sets(), other._sets(), strict=True):
            twin.update(own)
        return other

    def _sets(self) -> list[set[Copy]]:
        return [self.unacked, self.acked, self.owed, self.given]

    def _state(self) -> tuple[object, ...]:
        return (*super()._state(), *(tuple(sorted(numbers)) for numbers in self._sets()))
