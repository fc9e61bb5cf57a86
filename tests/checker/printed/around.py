"""A core that delegates everything to another one; its subclasses change single steps."""

from __future__ import annotations

from collections.abc import Iterable

from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect, Held, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage


class Around(Core):
    """Delegates to the inner core."""

    def __init__(self, inside: Core) -> None:
        super().__init__(inside.process)
        self.inside = inside

    def send(  # type: ignore[override]  # only what the checker uses
        self, to: Iterable[str], payload: bytes, now: int = 0
    ) -> list[Effect]:
        """Causal-send."""
        effects = self.inside.send(to, payload)
        self.sent = self.inside.sent
        return effects

    def receive(self, sender: str, frame: Frame, now: int = 0) -> list[Effect]:
        """Take a frame."""
        return self.inside.receive(sender, frame)

    def tick(self, now: int = 0) -> list[Effect]:
        """Send again what may be lost."""
        return self.inside.tick()

    def held(self) -> list[Held]:
        """What waits."""
        return self.inside.held()

    def unacknowledged(self) -> int:
        """What is not acknowledged."""
        return self.inside.unacknowledged()

    def permits_missing(self) -> int:
        """What permits are missing."""
        return self.inside.permits_missing()

    def _state(self) -> tuple[object, ...]:
        return self.inside.fingerprint()

    def _copy_into(self, other: Around) -> None:
        other.sent = self.sent


class Liar(Around):
    """Acknowledges, with each message that comes, another one of the same sender.

    `shift` is how far that one's id is from what came: the message after it, which was not sent yet, or
    the one before it, if that went to another process.
    """

    def __init__(self, inside: Core, shift: int) -> None:
        super().__init__(inside)
        self.shift = shift

    def receive(self, sender: str, frame: Frame, now: int = 0) -> list[Effect]:
        """Take a frame, and acknowledge another one."""
        effects = super().receive(sender, frame)
        if isinstance(frame, HybridMessage):
            other = frame.first + self.shift
            if other not in (0, frame.prev):
                effects.append(Transmit(sender, HybridAck(other)))
        return effects

    def copy(self) -> Liar:
        other = Liar(self.inside.copy(), self.shift)
        self._copy_into(other)
        return other
