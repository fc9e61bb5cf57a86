"""`cykas-unsafe`: the tempting variant of Cykas that breaks causal order (section 2.3 of its paper).

Surely a process may discuss a secret with the one that shared it? So here a process in
secret mode may send to the sender of the eager message that it delivered last. It may not: that sender
need not know another secret, which the answer gives away (figure 3 of the paper).

Not for use, but to test checkers: they must find the violation.
"""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.protocols.effects import Effect
from beforehand.protocols.frames import Frame
from beforehand.protocols.sender_side.cykas import Cykas


class CykasUnsafe(Cykas):
    """One process of the variant: as in `cykas`, but it may send to one process in secret mode."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.confidant: str = ""  # sender of the eager message delivered last

    def _may_send_to(self, to: str) -> bool:
        return to == self.confidant

    def _keep_secret(self, sender: str, number: i64) -> None:
        super()._keep_secret(sender, number)
        self.confidant = sender

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        super()._receive(sender, frame, now, out)
        self._release(out)  # a new confidant may be the one that the oldest message is for

    def copy(self) -> CykasUnsafe:
        twin = CykasUnsafe(self.process)
        self._copy_into(twin)
        twin.confidant = self.confidant
        return twin

    def _state(self) -> tuple[object, ...]:
        return (*super()._state(), self.confidant if self.secrets else "")
