"""What a process of an overlay has: its links, its place in the overlay, and what may be said to it.

The base of `overlay.py`, which tells what the links are for and what happens on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, PeerDroppedError, RemoteProtocolError
from beforehand.protocols.clocks.membership import Membership, membership_of
from beforehand.protocols.effects import Held, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import (
    Alpha,
    Broadcast,
    Buffered,
    Close,
    Control,
    Flood,
    Join,
    Leave,
    LinkSignal,
    Refuse,
    Relayed,
    Route,
    Routed,
    Welcome,
)
from beforehand.protocols.sender_side.output_buffer import Outgoing
from beforehand.protocols.support.broadcast import BroadcastCore
from beforehand.protocols.support.numbering import foreign

# Ticks until the making of a link starts anew: twice as many each time, for it may only have been slow.
PATIENCE: Final = 8
MOST_PATIENCE: Final = 1 << 10
MOST_BUFFERED: Final = 1 << 16  # messages: a link for which more would be kept is started anew

# What a process is to the overlay.
FRESH: Final = 0  # nothing has happened yet: it may join, or be the first of an overlay
JOINING: Final = 1  # it has asked to be let in
TAKING_PART: Final = 2


class OverlayLinks(BroadcastCore):
    """The state of one process. Not to be instantiated itself."""

    members: Final[Membership | None]  # all that may ever take part, if that is known
    out: dict[str, int]  # peer -> incarnation of the link to it that is in use
    incoming: dict[str, int]  # peer -> incarnation of the link from it that is in use
    opened: i64  # the newest incarnation of a link that this process opened
    flooded: i64  # how much control information it has sent to everybody
    stage: i64  # FRESH, JOINING or TAKING_PART
    contact: str  # through whom it is joining; empty: it is not, or that one is gone
    asked: i64  # the incarnation that it asked its contact for; 0: it has to ask again
    unsent: list[Outgoing]  # what it broadcast since it asked
    gone: list[str]  # the dropped peers, and those who left
    gone_names: set[str]  # the same, for look-up
    left: bool
    most_buffered: i64  # messages kept at either end of a link that is being made
    ignored: i64  # frames that came out of turn

    def __init__(
        self,
        process: str,
        links: Iterable[object] = (),
        processes: Membership | Iterable[str] | None = None,
    ) -> None:
        super().__init__(process)
        self.members = None if processes is None else membership_of(process, processes)
        self.out = {}
        self.incoming = {}
        self.opened = 0
        self.flooded = 0
        self.stage = FRESH
        self.contact = ""
        self.asked = 0
        self.unsent = []
        self.gone = []
        self.gone_names = set()
        self.left = False
        self.most_buffered = MOST_BUFFERED
        self.ignored = 0
        for link in links:
            self._add_first(link)

    def _add_first(self, link: object) -> None:
        """A link that is there from the start, and known to both its ends."""
        if isinstance(link, str):
            peer = self._peer(link)
            self.out[peer] = 0
            self.incoming[peer] = 0
            self.stage = TAKING_PART
            return
        if not isinstance(link, (tuple, list)) or len(link) != 2:
            raise LocalProtocolError(
                f"{self.process}: {link!r} is no link; give a neighbour, or a pair (from, to)"
            )
        start, end = check_process(link[0]), check_process(link[1])
        if start == self.process:
            self.out[self._peer(end)] = 0
            self.stage = TAKING_PART
        elif end == self.process:
            self.incoming[self._peer(start)] = 0
            self.stage = TAKING_PART

    def drop_log(self) -> list[str]:
        return self.gone

    def is_dropped(self, peer: str) -> bool:
        return peer in self.gone_names

    # ---- what frames may say ----

    def _check(self, sender: str, frame: Frame) -> None:
        if isinstance(frame, Relayed):
            self._check_relayed(sender, frame)
        elif isinstance(frame, Routed):
            self._check_control(sender, frame.control)
            self._check_route(sender, frame.path)
            end = frame.path[-1] if frame.path else self.process
            if frame.control.target() != end:
                raise RemoteProtocolError(sender, f"directs {frame.control} to {end}")
        elif isinstance(frame, Welcome):
            if frame.e < 1:
                raise RemoteProtocolError(sender, f"opens link {frame.e}; they start at 1")
            for _, number in frame.versions:
                if number == 0:
                    raise RemoteProtocolError(sender, "knows of a message 0")
        elif isinstance(frame, (Close, Refuse, Join)) or self._speaks(frame):
            if isinstance(frame, LinkSignal) and frame.e < (0 if isinstance(frame, Close) else 1):
                raise RemoteProtocolError(sender, f"speaks of link {frame.e}")
            if isinstance(frame, Buffered):
                if frame.e < 1:
                    raise RemoteProtocolError(sender, f"speaks of link {frame.e}")
                for each in frame.frames:
                    self._check_relayed(sender, each)
                if len({each.id for each in frame.frames}) < len(frame.frames):
                    raise RemoteProtocolError(sender, "has delivered a message twice")
            if isinstance(frame, Alpha):
                self._check_route(sender, frame.back)
                if frame.e < 1 or (frame.back and frame.back[-1] != sender):
                    raise RemoteProtocolError(sender, f"{frame} does not lead back to it")
        elif not isinstance(frame, Leave):
            raise foreign(sender, frame, "this overlay")

    def _check_control(self, sender: str, control: Control) -> None:
        if control.e < 1 or not self._takes(control.kind):
            raise RemoteProtocolError(sender, f"{control} cannot be")
        if control.opener == control.acceptor:
            raise RemoteProtocolError(sender, f"{control} is about a link to oneself")

    def _check_route(self, sender: str, path: Route) -> None:
        if self.process in path or len(set(path)) < len(path):
            raise RemoteProtocolError(sender, f"a route that comes back: {path}")

    def _check_relayed(self, sender: str, frame: Relayed) -> None:
        mine = self.sent if isinstance(frame, Broadcast) else self.flooded
        if frame.number < 1 or (frame.source == self.process and frame.number > mine):
            raise RemoteProtocolError(
                sender, f"brings number {frame.number} of {frame.source}, which cannot be"
            )
        if isinstance(frame, Flood):
            self._check_control(sender, frame.control)

    def _takes(self, kind: i64) -> bool:
        """Whether control information of this kind belongs to the protocol."""
        return False

    def _speaks(self, frame: Frame) -> bool:
        """Whether frames of this class, other than those of every overlay, belong to the protocol."""
        return False

    # ---- checks of what callers say ----

    def _peer(self, peer: str) -> str:
        self._check_present()
        name = check_process(peer)
        if name == self.process:
            raise LocalProtocolError(f"{self.process}: a link to oneself; name another process")
        if self.members is not None and name not in self.members.places:
            raise LocalProtocolError(
                f"{self.process}: {name} is a stranger, not among the processes that were named"
            )
        if name in self.gone_names:
            raise PeerDroppedError(
                f"{self.process}: {name} was dropped; it comes back under a new name only"
            )
        return name

    def _route(self, via: Iterable[object], end: str) -> Route:
        if isinstance(via, str):
            via = [via]
        route = (*[check_process(name) for name in via], end)
        if self.process in route[:-1] or len(set(route)) < len(route):
            raise LocalProtocolError(
                f"{self.process}: {route} is no route; name the mediators in their order, each once"
            )
        return route

    def _check_present(self) -> None:
        if self.left:
            raise LocalProtocolError(
                f"{self.process}: has left; it comes back as a new process, under a new name"
            )

    # ---- looking inside ----

    def held(self) -> list[Held]:
        """What waits until this process is let in."""
        waits = (Wait("welcome", self.contact, 0),) if self.contact else ()
        return [
            Held(self.process, int(each.number), (), int(each.since), waits) for each in self.unsent
        ]

    def integers(self) -> int:
        links = 2 * (len(self.out) + len(self.incoming))
        return 3 + links + len(self.gone) + len(self.unsent) + self.entries()

    def ignored_frames(self) -> int:
        return int(self.ignored)

    def _copy_links(self, twin: OverlayLinks) -> None:
        twin.sent = self.sent
        twin.out = self.out.copy()
        twin.incoming = self.incoming.copy()
        twin.opened = self.opened
        twin.flooded = self.flooded
        twin.stage = self.stage
        twin.contact = self.contact
        twin.asked = self.asked
        twin.unsent = self.unsent.copy()
        twin.gone = self.gone.copy()
        twin.gone_names = self.gone_names.copy()
        twin.left = self.left
        twin.most_buffered = self.most_buffered
        twin.ignored = self.ignored

    def _links_state(self) -> tuple[object, ...]:
        return (
            tuple(sorted(self.out.items())),
            tuple(sorted(self.incoming.items())),
            (int(self.opened), int(self.flooded), int(self.most_buffered), int(self.stage)),
            (self.contact, int(self.asked), tuple([each.key() for each in self.unsent])),
            (tuple(sorted(self.gone)), self.left),
        )
