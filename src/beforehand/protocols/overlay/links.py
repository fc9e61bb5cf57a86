"""The links of one process of an overlay, and which peers are gone.

Every link has an incarnation, a number that its opener gives to no other link, so that a frame that
was meant for an earlier link between the same two processes is never mistaken for this one's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, PeerDroppedError
from beforehand.protocols.clocks.membership import Membership
from beforehand.protocols.overlay.frames import Route

Links = Iterable[object]  # neighbours, or pairs (from, to)


class LinkTable:
    """The links in use at one process. Links that are still being made belong to the protocol."""

    process: Final[str]
    members: Final[Membership | None]  # everyone who may ever take part, if that is known
    out: dict[str, int]  # peer -> incarnation of the link to it
    incoming: dict[str, int]  # peer -> incarnation of the link from it
    departed: list[str]  # peers that were dropped or left, in that order
    departed_names: set[str]  # the same, for look-up

    def __init__(self, process: str, members: Membership | None) -> None:
        self.opened: i64 = 0  # the newest incarnation of a link that this process opened
        self.left: bool = False  # this process itself has left
        self.process = process
        self.members = members
        self.out = {}
        self.incoming = {}
        self.departed = []
        self.departed_names = set()

    def add_initial(self, link: object) -> None:
        """Add a link that exists from the start and is known at both ends; skip links of others."""
        if isinstance(link, str):
            peer = self.check_peer(link)
            self.out[peer] = 0
            self.incoming[peer] = 0
            return
        if not isinstance(link, (tuple, list)) or len(link) != 2:
            raise LocalProtocolError(
                f"{self.process}: {link!r} isn't a link; give a neighbour, or a pair (from, to)"
            )
        start, end = check_process(link[0]), check_process(link[1])
        if start == self.process:
            self.out[self.check_peer(end)] = 0
        elif end == self.process:
            self.incoming[self.check_peer(start)] = 0

    def next_incarnation(self) -> i64:
        """The incarnation of a new link from here."""
        self.opened += 1
        return self.opened

    def depart(self, peer: str) -> None:
        """Record that a peer is gone for good."""
        self.departed.append(peer)
        self.departed_names.add(peer)

    # ---- arguments of callers ----

    def check_peer(self, peer: str) -> str:
        """The name, if this process may have a link to it."""
        self.check_present()
        name = check_process(peer)
        if name == self.process:
            raise LocalProtocolError(f"{self.process}: a link to oneself; name another process")
        if self.members is not None and name not in self.members.index:
            raise LocalProtocolError(
                f"{self.process}: {name} isn't among the processes named at the start"
            )
        if name in self.departed_names:
            raise PeerDroppedError(
                f"{self.process}: {name} was dropped; it can only come back under a new name"
            )
        return name

    def check_routes(
        self, peer: str, via: Iterable[object] | None, back: Iterable[object] | None
    ) -> tuple[Route, Route]:
        """The routes to a peer and back, over these mediators; empty if there are none."""
        there = () if via is None else self._route(via, peer)
        answer = () if back is None else self._route(back, self.process)
        if via is not None and back is None:
            answer = (*reversed(there[:-1]), self.process)
        if peer in answer:
            raise LocalProtocolError(
                f"{self.process}: {peer} is on the way back from itself; name those in between"
            )
        if there and there[0] not in self.out:
            raise LocalProtocolError(
                f"{self.process}: no link to {there[0]} is in use, so it cannot mediate; name a "
                "neighbour, or leave out the route"
            )
        return there, answer

    def _route(self, via: Iterable[object], end: str) -> Route:
        if isinstance(via, str):
            via = [via]
        route = (*[check_process(name) for name in via], end)
        if self.process in route[:-1] or len(set(route)) < len(route):
            raise LocalProtocolError(
                f"{self.process}: {route} isn't a route; name the mediators in order, each once"
            )
        return route

    def check_present(self) -> None:
        """Refuse to go on after leaving."""
        if self.left:
            raise LocalProtocolError(
                f"{self.process}: has left; it can only come back as a new process, under a new name"
            )

    # ---- inspection ----

    def integers(self) -> int:
        """How many integers and identifiers this table holds."""
        return 2 * (len(self.out) + len(self.incoming)) + len(self.departed)

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for equal tables, whatever the order in which peers departed."""
        links = (tuple(sorted(self.out.items())), tuple(sorted(self.incoming.items())))
        return (links, int(self.opened), tuple(sorted(self.departed)), self.left)

    def copy_into(self, twin: LinkTable) -> None:
        """Give the links of a new core this state."""
        twin.out = self.out.copy()
        twin.incoming = self.incoming.copy()
        twin.opened = self.opened
        if self.departed:
            twin.departed = self.departed.copy()
            twin.departed_names = self.departed_names.copy()
        twin.left = self.left
