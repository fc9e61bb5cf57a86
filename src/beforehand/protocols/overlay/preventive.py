"""`preventive`: causal broadcast on safe links, with a filter of first receipts (Nédelec, Molli and
Mostéfaoui, SRDS 2018; the row "preventive broadcast" in Table 1 of "Causal Broadcast:
How to Forget?").

Every process forwards each message once, over all of its links, which are FIFO: so messages come in
causal order (`link_memory.py` explains why) as long as no link is used too early. A opens a link to
B like this: it sends a ping over the links that are in use, and keeps what it delivers from then
on. The ping comes after all that A had delivered before; so when B's pong is back, B has all of
that, and A sends what it kept over the new link, and uses it from then on.

A version vector decides whether a copy is the first: the newest number delivered of each process. It can
never forget anything: that is the price which `prc` does not pay. A newcomer gets it from its contact.

Invariant: from each source, messages are delivered in the order of their numbers, without gaps.
"""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.clocks.membership import Processes
from beforehand.protocols.effects import Deliver, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.core import MEMBER, OverlayCore
from beforehand.protocols.overlay.frames import (
    PING,
    Broadcast,
    Control,
    Flood,
    Pong,
    Relayed,
    RelayedId,
    Route,
)
from beforehand.protocols.overlay.links import Links
from beforehand.protocols.overlay.opening import FIRST_TIMEOUT, MAX_TIMEOUT, Opening


class Preventive(OverlayCore):
    """One process of an overlay that may change at any time."""

    signals: ClassVar[tuple[type[Frame], ...]] = (Pong,)
    controls: ClassVar[tuple[int, ...]] = (PING,)
    versions: dict[str, int]  # source -> its newest message delivered here
    floods: dict[str, int]  # the same for control information that goes to everybody

    def __init__(self, process: str, links: Links = (), processes: Processes | None = None) -> None:
        super().__init__(process, links, processes)
        self.versions = {}
        self.floods = {}

    # ---- messages ----

    def _newest(self, frame: Relayed) -> i64:
        versions = self.versions if isinstance(frame, Broadcast) else self.floods
        return versions.get(frame.source, 0)

    def _check_relayed(self, sender: str, frame: Relayed) -> None:
        super()._check_relayed(sender, frame)
        newest = self._newest(frame)
        if frame.number > newest + 1 and self._accepts_from(sender):
            raise RemoteProtocolError(
                sender,
                f"brings number {frame.number} of {frame.source} after {newest}: some are lost",
            )

    def _accepts_from(self, sender: str) -> bool:
        """Duplicates do no harm, so it does not matter over which link a copy comes."""
        return (
            self.stage == MEMBER and not self.links.left and sender not in self.links.departed_names
        )

    def _receive_relayed(self, frame: Relayed, sender: str, now: i64, out: list[Effect]) -> None:
        if not self._accepts_from(sender):
            self.ignored += 1
            return
        if frame.number <= self._newest(frame):
            return
        versions = self.versions if isinstance(frame, Broadcast) else self.floods
        versions[frame.source] = int(frame.number)
        # Before the delivery: what that causes must come after it on every link.
        self._forward(frame, out)
        for pinging in self.opening.values():
            self._keep(pinging, frame)
        if isinstance(frame, Broadcast):
            out.append(Deliver(frame.source, frame.number, frame.payload))
        elif isinstance(frame, Flood) and frame.control.target() == self.process:
            self._receive_control(frame.control, out)

    def _keep(self, pinging: Opening, frame: Relayed) -> None:
        if pinging.e == 0:
            return
        pinging.buffer.append(frame)
        if len(pinging.buffer) > self.max_buffered:  # no answer to this ping will do any more
            pinging.e = 0
            pinging.age = pinging.timeout
            pinging.buffer = []

    # ---- a link is made ----

    def _start_link(self, peer: str, e: i64, route: Route, back: Route, out: list[Effect]) -> None:
        self._ping(peer, e, route, FIRST_TIMEOUT, out)

    def _ping(self, peer: str, e: i64, route: Route, timeout: i64, out: list[Effect]) -> None:
        self.opening[peer] = Opening(e, route, timeout)
        self._send_control(route, Control(PING, self.process, peer, e), out)

    def _receive_control(self, control: Control, out: list[Effect]) -> None:
        if control.opener in self.links.departed_names:
            self.ignored += 1
        else:
            out.append(Transmit(control.opener, Pong(control.e)))

    def _receive_signal(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        pinging = self.opening.get(sender)
        if pinging is None or not isinstance(frame, Pong) or pinging.e != frame.e:
            self.ignored += 1
            return
        del self.opening[sender]
        for relayed in pinging.buffer:
            out.append(Transmit(sender, relayed))
        self.links.out[sender] = int(pinging.e)
        out.append(Safe(sender))

    def _announce_close(self, peer: str, e: i64, out: list[Effect]) -> None:
        """The other end knows nothing of the link."""

    def _tick(self, now: i64, out: list[Effect]) -> None:
        super()._tick(now, out)
        for peer in list(self.opening):
            pinging = self.opening[peer]
            pinging.age += 1
            if pinging.age > pinging.timeout:
                e = self.links.next_incarnation()
                # Without a route: a mediator that is gone may be why it took so long.
                self._ping(peer, e, (), min(2 * pinging.timeout, MAX_TIMEOUT), out)

    # ---- joining ----

    def _version_vector(self) -> tuple[RelayedId, ...]:
        known = [*self.versions.items(), *[(name, -newest) for name, newest in self.floods.items()]]
        return tuple(sorted(known))

    def _adopt_versions(self, versions: tuple[RelayedId, ...]) -> None:
        for source, newest in versions:
            if newest > 0:
                self.versions[source] = newest
            else:
                self.floods[source] = -newest

    # ---- inspection ----

    def entries(self) -> int:
        buffered = sum([len(pinging.buffer) for pinging in self.opening.values()])
        return len(self.versions) + len(self.floods) + buffered

    def integers(self) -> int:
        return super().integers() + 2 * len(self.opening)

    def copy(self) -> Preventive:
        twin = Preventive(self.process, (), self.links.members)
        self._copy_overlay(twin)
        twin.versions = self.versions.copy()
        twin.floods = self.floods.copy()
        return twin

    def _state(self) -> tuple[object, ...]:
        return (
            self._overlay_state(),
            tuple(sorted(self.versions.items())),
            tuple(sorted(self.floods.items())),
        )
