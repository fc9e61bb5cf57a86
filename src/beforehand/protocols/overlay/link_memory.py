"""`link-memory`: causal broadcast that forgets (Nédelec, Molli and Mostéfaoui 2018, Algorithm 1).

Every process forwards each message once, over all of its links. So a process gets each message exactly
once over each link that leads to it, and after the first copy it knows which others are to come: the
*memory* of those links (`expected.py`). A copy that comes over a link that remembers it is a duplicate.
With the last copy every trace of the message is gone, everywhere. Since links are FIFO and a message is
forwarded before anything that its delivery causes, messages arrive in causal order, and carry nothing
but their identifier.

That holds while the links stay as they are. A newly opened link has no memory: what its two ends have
delivered by then comes too late or not at all, and figure 2 of the paper, where a message is delivered
twice, is what happens. `prc` is the remedy; here a link is used at once, to show why.
"""

from __future__ import annotations

from typing import ClassVar, Final

from mypy_extensions import i64

from beforehand.protocols.clocks.membership import Processes
from beforehand.protocols.effects import Deliver, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.core import MEMBER, OverlayCore
from beforehand.protocols.overlay.expected import ExpectedCopies
from beforehand.protocols.overlay.frames import Broadcast, Linked, Relayed, Route
from beforehand.protocols.overlay.links import Links


class LinkMemory(OverlayCore):
    """One process of an overlay that should not change."""

    signals: ClassVar[tuple[type[Frame], ...]] = (Linked,)
    expected: Final[ExpectedCopies]  # the memory of its incoming links

    def __init__(self, process: str, links: Links = (), processes: Processes | None = None) -> None:
        super().__init__(process, links, processes)
        self.expected = ExpectedCopies()

    # ---- messages ----

    def _receive_relayed(self, frame: Relayed, sender: str, now: i64, out: list[Effect]) -> None:
        if sender and sender not in self.links.incoming:
            self.ignored += 1
        elif self.expected.receive(frame.id, sender, self.links.incoming):
            assert isinstance(frame, Broadcast)
            # Before the delivery: what that causes must come after it on every link.
            self._forward(frame, out)
            out.append(Deliver(frame.source, frame.number, frame.payload))

    def _incoming_removed(self, peer: str) -> None:
        self.expected.forget_link(peer)

    # ---- links ----

    def _start_link(self, peer: str, e: i64, route: Route, back: Route, out: list[Effect]) -> None:
        self.links.out[peer] = int(e)
        out.append(Transmit(peer, Linked(e)))
        out.append(Safe(peer))

    def _receive_signal(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, Linked) and sender not in self.links.incoming:
            self.links.incoming[sender] = int(frame.e)
            self.stage = MEMBER
        else:
            self.ignored += 1

    # ---- inspection ----

    def entries(self) -> int:
        return self.expected.entries()

    def copy(self) -> LinkMemory:
        twin = LinkMemory(self.process, (), self.links.members)
        self._copy_overlay(twin)
        self.expected.copy_into(twin.expected)
        return twin

    def _state(self) -> tuple[object, ...]:
        return (self._overlay_state(), self.expected.fingerprint())
