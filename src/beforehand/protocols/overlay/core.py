"""The common part of protocols that broadcast on an overlay: links that come and go, joining, leaving.

An overlay is a directed graph of which a process knows only its own links: `links.out`, over which it
sends, and `links.incoming`, from which it expects messages. Each process forwards each message once over
every link, so a message reaches everyone as long as the links in use connect everyone with everyone
(strongly). That is the caller's responsibility: open the new link before closing the old one.

A frame out of turn (of an earlier link, an answer that nobody awaits, data over a link that is not in
use) can come from a correct peer that does not know yet. It has no effect and is counted in `ignored`.

A link may be opened with the help of mediators: `open("b", via=["c"])` means that links are in use
from here to c and from c to b, and the same back (or `back=[...]`). Control messages then take that
route. Without a route, or where it is broken, they are flooded: broadcast, for one process.

Joining: a newcomer asks one contact. From the moment the contact answers (`Admit`), the newcomer
delivers everything that the contact has not delivered yet, and nothing else. What it sends before it is
admitted waits. If the contact is gone before that, it may ask another one. A process that has taken part
before (had a link, broadcast, admitted someone) cannot join: it might deliver messages again.

Dropping a peer here means forgetting the links with it: nobody else needs to know, since its messages
are not waited for. Agreement is among those who stay: what a process broadcasts and delivers to itself
just before it crashes may be lost with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols.clocks.membership import Processes, membership_of
from beforehand.protocols.core import Core, Via
from beforehand.protocols.effects import Admit, Effect, Held, Safe, Transmit, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.checks import check_control, check_link_frame, check_routed
from beforehand.protocols.overlay.frames import (
    Broadcast,
    Buffered,
    Close,
    Control,
    Flood,
    Join,
    Leave,
    Refuse,
    Relayed,
    RelayedId,
    Route,
    Routed,
    Welcome,
)
from beforehand.protocols.overlay.links import Links, LinkTable
from beforehand.protocols.overlay.opening import MAX_BUFFERED, Opening
from beforehand.protocols.sender_side.output_buffer import Outgoing
from beforehand.protocols.support.numbering import foreign

# The stages of a process.
NEW: Final = 0  # it may join, or become the first of an overlay
JOINING: Final = 1  # it has asked to be admitted
MEMBER: Final = 2


class OverlayCore(Core):
    """One process of an overlay. Not to be instantiated itself."""

    signals: ClassVar[tuple[type[Frame], ...]] = ()  # frames beyond those of every overlay
    controls: ClassVar[tuple[int, ...]] = ()  # the kinds of control messages that it knows
    links: Final[LinkTable]
    opening: dict[str, Opening]  # by peer: the links from here that are being made
    stage: i64  # NEW, JOINING or MEMBER
    unsent: list[Outgoing]  # broadcast since it asked, to be sent once it is admitted

    def __init__(self, process: str, links: Links = (), processes: Processes | None = None) -> None:
        super().__init__(process)
        self.contact: str = ""  # the process to join through; empty: not joining, or it is gone
        # The incarnation that it asked its contact for; 0: it has to ask again.
        self.requested: i64 = 0
        self.flooded: i64 = 0  # the number of the last control message that this process flooded
        # Messages kept at either end of a link that is being made.
        self.max_buffered: i64 = MAX_BUFFERED
        self.ignored: i64 = 0  # frames that came out of turn
        members = None if processes is None else membership_of(process, processes)
        self.links = LinkTable(process, members)
        for link in links:
            self.links.add_initial(link)
        self.stage = MEMBER if self.links.out or self.links.incoming else NEW
        self.opening = {}
        self.unsent = []

    # ---- what callers use ----

    def open(self, peer: str, via: Via = None, back: Via = None, now: i64 = 0) -> list[Effect]:
        links = self.links
        name = links.check_peer(peer)
        if self.stage == JOINING:
            raise LocalProtocolError(
                f"{self.process}: isn't admitted yet; open further links after that"
            )
        route, answer = links.check_routes(name, via, back)
        out: list[Effect] = []
        if name not in links.out and not self.is_opening(name):
            self.stage = MEMBER
            self._start_link(name, links.next_incarnation(), route, answer, out)
        return out

    def close(self, peer: str, now: i64 = 0) -> list[Effect]:
        name = self.links.check_peer(peer)
        out: list[Effect] = []
        e = self.links.out.pop(name, -1)
        if e < 0:
            e = self._cancel_opening(name)
        if e < 0:
            raise LocalProtocolError(
                f"{self.process}: there is no link to {name} to close; open it first"
            )
        self._announce_close(name, e, out)
        return out

    def join(self, contact: str, now: i64 = 0) -> list[Effect]:
        name = self.links.check_peer(contact)
        if self.contact:
            raise LocalProtocolError(
                f"{self.process}: is already joining through {self.contact}, and joining through two "
                "contacts would deliver messages twice; open further links once it is admitted"
            )
        if self.stage == MEMBER:
            raise LocalProtocolError(
                f"{self.process}: already takes part; open a link to {name}, or join under a new name"
            )
        self.stage = JOINING
        self.contact = name
        out: list[Effect] = []
        self._request_admission(out)
        return out

    def leave(self, now: i64 = 0) -> list[Effect]:
        out: list[Effect] = []
        links = self.links
        peers = {*links.out, *links.incoming, *self._pending_peers(), self.contact}
        for peer in sorted(peers - {""}):
            out.append(Transmit(peer, Leave()))
            self._forget_links(peer)
        self.contact = ""
        self.unsent = []
        links.left = True
        return out

    def is_opening(self, peer: str) -> bool:
        """Whether a link to this peer is being made."""
        return peer in self.opening

    def drop_log(self) -> list[str]:
        return self.links.departed

    def is_dropped(self, peer: str) -> bool:
        return peer in self.links.departed_names

    # ---- what the protocols fill in ----

    def _receive_relayed(self, frame: Relayed, sender: str, now: i64, out: list[Effect]) -> None:
        """Take a broadcast from a link; the sender is empty for what starts here."""
        raise NotImplementedError

    def _receive_control(self, control: Control, out: list[Effect]) -> None:
        """Take a control message for this process."""
        self.ignored += 1

    def _receive_signal(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        """Take a frame by which one end of a link in the making speaks to the other."""
        self.ignored += 1

    def _start_link(self, peer: str, e: i64, route: Route, back: Route, out: list[Effect]) -> None:
        """Start to make link `e` to a peer."""
        raise NotImplementedError

    def _pending_peers(self) -> list[str]:
        """The other ends of the links that are being made, in either direction."""
        return list(self.opening)

    def _cancel_opening(self, peer: str) -> i64:
        """Give up a link that is being made to a peer; its incarnation, negative if there is none."""
        opening = self.opening.pop(peer, None)
        return -1 if opening is None else opening.e

    def _abandon_pending(self, peer: str) -> None:
        """Forget the links with a peer that are being made, in both directions."""
        self.opening.pop(peer, None)

    def _incoming_removed(self, peer: str) -> None:
        """A link from a peer that was in use is gone."""

    def _announce_close(self, peer: str, e: i64, out: list[Effect]) -> None:
        out.append(Transmit(peer, Close(e)))

    def _version_vector(self) -> tuple[RelayedId, ...]:
        """What a newcomer must know about what was delivered here."""
        return ()

    def _adopt_versions(self, versions: tuple[RelayedId, ...]) -> None:
        """Start from the version vector of the contact."""

    # ---- sending ----

    def _check_receivers(self, receivers: Sequence[str]) -> None:
        raise self._only_broadcasts()

    def _broadcast(self, payloads: list[bytes], now: i64, out: list[Effect]) -> None:
        self.links.check_present()
        for payload in payloads:
            self.sent += 1
            if self.stage == JOINING:
                self.unsent.append(Outgoing("", self.sent, payload, now))
            else:
                self.stage = MEMBER
                self._receive_relayed(Broadcast(self.process, self.sent, payload), "", now, out)

    def _forward(self, frame: Relayed, out: list[Effect]) -> None:
        """Send a broadcast over all links, also back to where it came from."""
        for peer in self.links.out:
            out.append(Transmit(peer, frame))

    def _send_control(self, path: Route, control: Control, out: list[Effect]) -> None:
        """Send a control message along its route, or flood it if the route is unknown or broken."""
        if path and path[0] in self.links.out:
            out.append(Transmit(path[0], Routed(path[1:], control)))
        else:
            self.flooded += 1
            self._receive_relayed(Flood(self.process, self.flooded, control), "", 0, out)

    # ---- receiving ----

    def _check(self, sender: str, frame: Frame) -> None:
        if isinstance(frame, Relayed):
            self._check_relayed(sender, frame)
        elif isinstance(frame, Routed):
            check_control(sender, frame.control, frame.control.kind in self.controls)
            check_routed(self.process, sender, frame)
        elif isinstance(frame, (Close, Refuse, Join, Leave, Welcome, *self.signals)):
            if isinstance(frame, Buffered):
                for relayed in frame.frames:
                    self._check_relayed(sender, relayed)
            check_link_frame(self.process, sender, frame)
        else:
            raise foreign(sender, frame, "this overlay")

    def _check_relayed(self, sender: str, frame: Relayed) -> None:
        mine = self.sent if isinstance(frame, Broadcast) else self.flooded
        if frame.number < 1 or (frame.source == self.process and frame.number > mine):
            raise RemoteProtocolError(
                sender, f"forwards number {frame.number} of {frame.source}, which was never sent"
            )
        if isinstance(frame, Flood):
            check_control(sender, frame.control, frame.control.kind in self.controls)

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, Relayed):
            self._receive_relayed(frame, sender, now, out)
        elif self.links.left or sender in self.links.departed_names:
            self.ignored += 1
        elif isinstance(frame, Routed):
            if not self._accepts_from(sender):
                self.ignored += 1
            elif frame.path:
                self._send_control(frame.path, frame.control, out)
            else:
                self._receive_control(frame.control, out)
        elif isinstance(frame, Close):
            self._receive_close(sender, frame.e)
        elif isinstance(frame, Refuse):
            self._receive_refusal(sender, frame.e)
        elif isinstance(frame, Join):
            self._receive_join(sender, frame.e, out)
        elif isinstance(frame, Welcome):
            self._receive_welcome(sender, frame, now, out)
        elif isinstance(frame, Leave):
            self._remove_peer(sender)
        else:
            self._receive_signal(sender, frame, now, out)

    def _receive_fenced(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        raise foreign(sender, frame, "an overlay")

    def _accepts_from(self, sender: str) -> bool:
        """Whether what comes from a peer comes over a link that is in use."""
        return sender in self.links.incoming

    def _receive_close(self, sender: str, e: i64) -> None:
        if self.links.incoming.get(sender, -1) == e:
            del self.links.incoming[sender]
            self._incoming_removed(sender)
        else:
            self.ignored += 1

    def _receive_refusal(self, sender: str, e: i64) -> None:
        if self.contact == sender and self.requested == e:
            self.requested = 0
        else:
            self.ignored += 1

    # ---- joining and leaving ----

    def _request_admission(self, out: list[Effect]) -> None:
        self.requested = self.links.next_incarnation()
        out.append(Transmit(self.contact, Join(self.requested)))

    def _tick(self, now: i64, out: list[Effect]) -> None:
        if self.contact and not self.requested:
            self._request_admission(out)

    def _receive_join(self, sender: str, e: i64, out: list[Effect]) -> None:
        links = self.links
        if sender in links.out or sender in links.incoming:
            self.ignored += 1
        elif self.stage == JOINING:
            out.append(Transmit(sender, Refuse(e)))
        else:
            # No link could be made to a process that was not admitted, so giving it up loses nothing.
            self._abandon_pending(sender)
            self.stage = MEMBER
            # At one moment: whatever is forwarded from here on goes to the newcomer and comes back.
            incarnation = links.next_incarnation()
            links.out[sender] = int(incarnation)
            links.incoming[sender] = int(e)
            out.append(Transmit(sender, Welcome(incarnation, self._version_vector())))
            out.append(Admit(sender))

    def _receive_welcome(self, sender: str, frame: Welcome, now: i64, out: list[Effect]) -> None:
        if sender != self.contact or not self.requested:
            self.ignored += 1
            return
        self.links.out[sender] = int(self.requested)
        self.links.incoming[sender] = int(frame.e)
        self.stage = MEMBER
        self.contact = ""
        self.requested = 0
        self._adopt_versions(frame.versions)
        out.append(Safe(sender))
        unsent, self.unsent = self.unsent, []
        for message in unsent:
            broadcast = Broadcast(self.process, message.number, message.payload)
            self._receive_relayed(broadcast, "", now, out)

    def _apply_drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        if peer not in self.links.departed_names:
            self._remove_peer(peer)
            out.append(Transmit(peer, Leave()))  # if it is alive, it must not wait for this process

    def _remove_peer(self, peer: str) -> None:
        self.links.depart(peer)
        self._forget_links(peer)
        if self.contact == peer:
            self.contact = ""
            self.requested = 0

    def _forget_links(self, peer: str) -> None:
        self.links.out.pop(peer, None)
        if self.links.incoming.pop(peer, -1) >= 0:
            self._incoming_removed(peer)
        self._abandon_pending(peer)

    # ---- inspection ----

    def held(self) -> list[Held]:
        """The messages that wait for this process's admission."""
        waits = (Wait("welcome", self.contact, 0),) if self.contact else ()
        return [
            Held(self.process, int(message.number), (), int(message.since), waits)
            for message in self.unsent
        ]

    def integers(self) -> int:
        return 3 + self.links.integers() + len(self.unsent) + self.entries()

    def unacknowledged(self) -> int:
        """Links that are being made: each waits for an answer."""
        return len(self.opening)

    def ignored_frames(self) -> int:
        return int(self.ignored)

    def _copy_overlay(self, twin: OverlayCore) -> None:
        twin.sent = self.sent
        self.links.copy_into(twin.links)
        twin.opening = {peer: opening.copy() for peer, opening in self.opening.items()}
        twin.stage = self.stage
        twin.contact = self.contact
        twin.requested = self.requested
        twin.unsent = self.unsent.copy()
        twin.flooded = self.flooded
        twin.max_buffered = self.max_buffered
        twin.ignored = self.ignored

    def _overlay_state(self) -> tuple[object, ...]:
        return (
            self.links.fingerprint(),
            (int(self.flooded), int(self.max_buffered), int(self.stage)),
            (self.contact, int(self.requested), tuple([message.key() for message in self.unsent])),
            tuple([(peer, self.opening[peer].key()) for peer in sorted(self.opening)]),
        )
