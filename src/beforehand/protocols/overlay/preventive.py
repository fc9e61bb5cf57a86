"""`preventive`: causal broadcast on safe links, with a filter of first receipts (Nédelec, Molli and
Mostéfaoui, SRDS 2018; the row "preventive broadcast" of paper 004, Table 1).

Every process passes each message on once, over all of its links, which are FIFO: so messages come in
causal order (`link_memory.py` tells why) as long as no link is used too early. A opens a link to B like
this: it sends a ping over the links that are in use, and keeps what it delivers from then on. The ping
comes after all that A had delivered before; so when B's pong is back, B has all of that, and A sends
what it kept over the new link, and uses it from then on.

Whether a copy is news is told by a version vector: the newest number delivered of each process. It can
never forget anything: that is the price which `prc` does not pay. A newcomer gets it from its contact.

Invariant: from each source, messages are delivered in the order of their numbers, without gaps.
"""

from __future__ import annotations

from collections.abc import Iterable

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.clocks.membership import Membership
from beforehand.protocols.effects import Deliver, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.core import Overlay
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
from beforehand.protocols.overlay.links import MOST_PATIENCE, PATIENCE, TAKING_PART


class Pinging:
    """A link that this process opens."""

    __slots__ = ("age", "buffer", "e", "patience", "there")
    e: i64
    there: Route
    patience: i64
    age: i64  # ticks since the ping
    buffer: list[Relayed]

    def __init__(self, e: i64, there: Route, patience: i64) -> None:
        self.e = e
        self.there = there
        self.patience = patience
        self.age = 0
        self.buffer = []

    def copy(self) -> Pinging:
        """An independent one in the same state."""
        twin = Pinging(self.e, self.there, self.patience)
        twin.age = self.age
        twin.buffer = self.buffer.copy()
        return twin

    def key(self) -> tuple[object, ...]:
        """All of it, to compare."""
        times = (int(self.patience), int(self.age))
        return (int(self.e), self.there, times, tuple(self.buffer))


class Preventive(Overlay):
    """One process of an overlay that may change at any time."""

    versions: dict[str, int]  # source -> its newest message delivered here
    floods: dict[str, int]  # the same for control information that goes to everybody
    pinging: dict[str, Pinging]

    def __init__(
        self,
        process: str,
        links: Iterable[object] = (),
        processes: Membership | Iterable[str] | None = None,
    ) -> None:
        super().__init__(process, links, processes)
        self.versions = {}
        self.floods = {}
        self.pinging = {}

    # ---- messages ----

    def _newest(self, frame: Relayed) -> i64:
        versions = self.versions if isinstance(frame, Broadcast) else self.floods
        return versions.get(frame.source, 0)

    def _check_relayed(self, sender: str, frame: Relayed) -> None:
        super()._check_relayed(sender, frame)
        newest = self._newest(frame)
        if frame.number > newest + 1 and self._accepts(sender):
            raise RemoteProtocolError(
                sender,
                f"brings number {frame.number} of {frame.source} after {newest}: some are lost",
            )

    def _accepts(self, sender: str) -> bool:
        """What is not news does no harm, so nobody need know which links lead here."""
        return self.stage == TAKING_PART and not self.left and sender not in self.gone_names

    def _first(self, frame: Relayed, sender: str, now: i64, out: list[Effect]) -> None:
        if not self._accepts(sender):
            self.ignored += 1
            return
        if frame.number <= self._newest(frame):
            return
        versions = self.versions if isinstance(frame, Broadcast) else self.floods
        versions[frame.source] = int(frame.number)
        # Before the delivery: what that causes must come after it on every link.
        self._pass_on(frame, out)
        for pinging in self.pinging.values():
            self._keep(pinging, frame)
        if isinstance(frame, Broadcast):
            out.append(Deliver(frame.source, frame.number, frame.payload))
        elif isinstance(frame, Flood) and frame.control.target() == self.process:
            self._steer(frame.control, out)

    def _keep(self, pinging: Pinging, frame: Relayed) -> None:
        if pinging.e == 0:
            return
        pinging.buffer.append(frame)
        if len(pinging.buffer) > self.most_buffered:  # no answer to this ping will do any more
            pinging.e = 0
            pinging.age = pinging.patience
            pinging.buffer = []

    # ---- a link is made ----

    def _open(self, peer: str, e: i64, there: Route, back: Route, out: list[Effect]) -> None:
        self._ping(peer, e, there, PATIENCE, out)

    def _ping(self, peer: str, e: i64, there: Route, patience: i64, out: list[Effect]) -> None:
        self.pinging[peer] = Pinging(e, there, patience)
        self._direct(there, Control(PING, self.process, peer, e), out)

    def _steer(self, control: Control, out: list[Effect]) -> None:
        if control.opener in self.gone_names:
            self.ignored += 1
        else:
            out.append(Transmit(control.opener, Pong(control.e)))

    def _speaks(self, frame: Frame) -> bool:
        return isinstance(frame, Pong)

    def _takes(self, kind: i64) -> bool:
        return kind == PING

    def _signal(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        pinging = self.pinging.get(sender)
        if pinging is None or not isinstance(frame, Pong) or pinging.e != frame.e:
            self.ignored += 1
            return
        del self.pinging[sender]
        for each in pinging.buffer:
            out.append(Transmit(sender, each))
        self.out[sender] = int(pinging.e)
        out.append(Safe(sender))

    def _is_opening(self, peer: str) -> bool:
        return peer in self.pinging

    def _neighbours(self) -> list[str]:
        return list(self.pinging)

    def _cancel(self, peer: str) -> i64:
        pinging = self.pinging.pop(peer, None)
        return -1 if pinging is None else pinging.e

    def _tell_closed(self, peer: str, e: i64, out: list[Effect]) -> None:
        """The other end knows nothing of the link."""

    def _forget_making(self, peer: str) -> None:
        self.pinging.pop(peer, None)

    def _tick(self, now: i64, out: list[Effect]) -> None:
        super()._tick(now, out)
        for peer in list(self.pinging):
            pinging = self.pinging[peer]
            pinging.age += 1
            if pinging.age > pinging.patience:
                self.opened += 1
                # Without a route: a mediator that is gone may be why it took so long.
                self._ping(peer, self.opened, (), min(2 * pinging.patience, MOST_PATIENCE), out)

    # ---- joining ----

    def _versions(self) -> tuple[RelayedId, ...]:
        known = [*self.versions.items(), *[(name, -newest) for name, newest in self.floods.items()]]
        return tuple(sorted(known))

    def _inherit(self, versions: tuple[RelayedId, ...]) -> None:
        for source, newest in versions:
            if newest > 0:
                self.versions[source] = newest
            else:
                self.floods[source] = -newest

    # ---- looking inside ----

    def entries(self) -> int:
        buffered = sum([len(pinging.buffer) for pinging in self.pinging.values()])
        return len(self.versions) + len(self.floods) + buffered

    def unacknowledged(self) -> int:
        """Links that are being made: each waits for an answer."""
        return len(self.pinging)

    def integers(self) -> int:
        return super().integers() + 2 * len(self.pinging)

    def copy(self) -> Preventive:
        twin = Preventive(self.process, (), self.members)
        self._copy_links(twin)
        twin.versions = self.versions.copy()
        twin.floods = self.floods.copy()
        twin.pinging = {peer: each.copy() for peer, each in self.pinging.items()}
        return twin

    def _state(self) -> tuple[object, ...]:
        return (
            self._links_state(),
            tuple(sorted(self.versions.items())),
            tuple(sorted(self.floods.items())),
            tuple([(peer, self.pinging[peer].key()) for peer in sorted(self.pinging)]),
        )
