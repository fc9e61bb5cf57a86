"""What the protocols share that broadcast on an overlay: links that come and go, joining, leaving.

An overlay is a directed graph. A process knows its links only: `out`, those over which it sends, and
`incoming`, those from which it expects to hear. Each message is passed on once over every link, so it
reaches everybody as long as the links that are in use connect everybody with everybody (strongly).
That is for the caller to see to: open the new link before closing the old one.

What a process is told that is not its turn (a frame of an earlier link, an answer that nobody awaits,
data over a link that is not in use) can come from a correct peer that does not know yet. It is dropped
without effect, and counted in `ignored`.

A link may be opened with the help of mediators: `open("b", via=["c"])` says that there are links in use
from here to c and from c to b, and the same back (or `back=[...]`). Control information then takes that
route. Without one, or where it is broken, it goes to everybody, as a broadcast for one process.

Joining: a newcomer asks one contact. From the moment at which the contact answers (`Admit`), the
newcomer delivers all that the contact has not delivered yet, and nothing else. What it sends
before it is let in waits. If the contact is gone before that, it may ask another one. Who has taken
part before (had a link, broadcast, let somebody in) cannot join: what it has delivered may come again.

Dropping a peer here is to forget the links with it: nobody else need know, since its messages are not
waited for. Agreement is among those who stay: what a process broadcasts and delivers to itself just
before it crashes may be lost with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError
from beforehand.protocols.effects import Admit, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import (
    Broadcast,
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
from beforehand.protocols.overlay.links import JOINING, TAKING_PART, OverlayLinks
from beforehand.protocols.sender_side.output_buffer import Outgoing
from beforehand.protocols.support.numbering import foreign


class Overlay(OverlayLinks):
    """One process of an overlay. Not to be instantiated itself."""

    # ---- what callers use ----

    def open(
        self,
        peer: str,
        via: Iterable[str] | None = None,
        back: Iterable[str] | None = None,
        now: i64 = 0,
    ) -> list[Effect]:
        name = self._peer(peer)
        if self.stage == JOINING:
            raise LocalProtocolError(
                f"{self.process}: is not let in yet; open further links after that"
            )
        there = () if via is None else self._route(via, name)
        answer = () if back is None else self._route(back, self.process)
        if via is not None and back is None:
            answer = (*reversed(there[:-1]), self.process)
        if name in answer:
            raise LocalProtocolError(
                f"{self.process}: {name} is on the way back from itself; name those in between"
            )
        if there and there[0] not in self.out:
            raise LocalProtocolError(
                f"{self.process}: no link to {there[0]} is in use, so it cannot mediate; name a "
                "neighbour, or leave out the route"
            )
        out: list[Effect] = []
        if name not in self.out and not self._is_opening(name):
            self.stage = TAKING_PART
            self.opened += 1
            self._open(name, self.opened, there, answer, out)
        return out

    def close(self, peer: str, now: i64 = 0) -> list[Effect]:
        name = self._peer(peer)
        out: list[Effect] = []
        e = self.out.pop(name, -1)
        if e < 0:
            e = self._cancel(name)
        if e < 0:
            raise LocalProtocolError(
                f"{self.process}: there is no link to {name} to close; open it first"
            )
        self._tell_closed(name, e, out)
        return out

    def join(self, contact: str, now: i64 = 0) -> list[Effect]:
        name = self._peer(contact)
        if self.contact:
            raise LocalProtocolError(
                f"{self.process}: is joining through {self.contact} already, and joining through two "
                "contacts would deliver messages twice; open further links once it is in"
            )
        if self.stage == TAKING_PART:
            raise LocalProtocolError(
                f"{self.process}: takes part already; open a link to {name}, or join under a new name"
            )
        self.stage = JOINING
        self.contact = name
        out: list[Effect] = []
        self._ask(out)
        return out

    def leave(self, now: i64 = 0) -> list[Effect]:
        out: list[Effect] = []
        contact = [self.contact] if self.contact else []
        for peer in sorted({*self.out, *self.incoming, *self._neighbours(), *contact}):
            out.append(Transmit(peer, Leave()))
            self._forget(peer)
        self.contact = ""
        self.unsent = []
        self.left = True
        return out

    # ---- what the protocols fill in ----

    def _open(self, peer: str, e: i64, there: Route, back: Route, out: list[Effect]) -> None:
        """Start to make link `e` to a peer."""
        raise NotImplementedError

    def _is_opening(self, peer: str) -> bool:
        """Whether a link to this peer is being made."""
        return False

    def _cancel(self, peer: str) -> i64:
        """Give up a link that is being made; its incarnation, negative if there is none."""
        return -1

    def _neighbours(self) -> list[str]:
        """The other ends of the links that are being made, in either direction."""
        return []

    def _first(self, frame: Relayed, sender: str, now: i64, out: list[Effect]) -> None:
        """Something broadcast comes over a link; the sender is empty for what starts here."""
        raise NotImplementedError

    def _steer(self, control: Control, out: list[Effect]) -> None:
        """Control information has come that is for this process."""
        self.ignored += 1

    def _signal(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        """A frame has come by which one end of a link in the making speaks to the other."""
        self.ignored += 1

    def _refused(self, peer: str, e: i64) -> bool:
        """A peer refuses link `e`, which is not in use; whether it was being made."""
        return False

    def _forget_incoming(self, peer: str) -> None:
        """A link from a peer that was in use is gone."""

    def _forget_making(self, peer: str) -> None:
        """Links with a peer that are being made are gone, in both directions."""

    def _closed(self, peer: str, e: i64) -> bool:
        """The peer closes link `e` to here, which is not in use; whether it was being made."""
        return False

    def _tell_closed(self, peer: str, e: i64, out: list[Effect]) -> None:
        out.append(Transmit(peer, Close(e)))

    def _versions(self) -> tuple[RelayedId, ...]:
        """What a newcomer must know of what was delivered here."""
        return ()

    def _inherit(self, versions: tuple[RelayedId, ...]) -> None:
        """What the contact of a newcomer knew."""

    # ---- sending ----

    def _broadcast(self, payloads: list[bytes], now: i64, out: list[Effect]) -> None:
        self._check_present()
        for payload in payloads:
            self.sent += 1
            if self.stage == JOINING:
                self.unsent.append(Outgoing("", self.sent, payload, now))
            else:
                self.stage = TAKING_PART
                self._first(Broadcast(self.process, self.sent, payload), "", now, out)

    def _pass_on(self, frame: Relayed, out: list[Effect]) -> None:
        """Send something broadcast over all links, also back to where it came from."""
        for peer in self.out:
            out.append(Transmit(peer, frame))

    def _direct(self, path: Route, control: Control, out: list[Effect]) -> None:
        """Send control information on its route, or to everybody if that does not exist."""
        if path and path[0] in self.out:
            out.append(Transmit(path[0], Routed(path[1:], control)))
        else:
            self.flooded += 1
            self._first(Flood(self.process, self.flooded, control), "", 0, out)

    # ---- receiving ----

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, Relayed):
            self._first(frame, sender, now, out)
        elif self.left or sender in self.gone_names:
            self.ignored += 1
        elif isinstance(frame, Routed):
            if not self._accepts(sender):
                self.ignored += 1
            elif frame.path:
                self._direct(frame.path, frame.control, out)
            else:
                self._steer(frame.control, out)
        elif isinstance(frame, Close):
            self._receive_close(sender, frame.e)
        elif isinstance(frame, Refuse):
            self._receive_refusal(sender, frame.e)
        elif isinstance(frame, Join):
            self._receive_join(sender, frame.e, out)
        elif isinstance(frame, Welcome):
            self._receive_welcome(sender, frame, now, out)
        elif isinstance(frame, Leave):
            self._let_go(sender)
        else:
            self._signal(sender, frame, now, out)

    def _accepts(self, sender: str) -> bool:
        """Whether what comes from a peer comes over a link that is in use."""
        return sender in self.incoming

    def _receive_fenced(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        raise foreign(sender, frame, "an overlay")

    def _receive_close(self, sender: str, e: i64) -> None:
        if self.incoming.get(sender, -1) == e:
            del self.incoming[sender]
            self._forget_incoming(sender)
        elif not self._closed(sender, e):
            self.ignored += 1

    def _receive_refusal(self, sender: str, e: i64) -> None:
        if self.contact == sender and self.asked == e:
            self.asked = 0
        elif not self._refused(sender, e):
            self.ignored += 1

    # ---- joining and leaving ----

    def _ask(self, out: list[Effect]) -> None:
        self.opened += 1
        self.asked = self.opened
        out.append(Transmit(self.contact, Join(self.asked)))

    def _receive_join(self, sender: str, e: i64, out: list[Effect]) -> None:
        if sender in self.out or sender in self.incoming:
            self.ignored += 1
        elif self.stage == JOINING:
            out.append(Transmit(sender, Refuse(e)))
        else:
            # A link to who was not in yet could not be made, so nothing is lost by giving it up.
            self._forget_making(sender)
            self.stage = TAKING_PART
            # All at once: whatever is passed on from here on goes to the newcomer, and comes back.
            self.opened += 1
            self.out[sender] = int(self.opened)
            self.incoming[sender] = int(e)
            out.append(Transmit(sender, Welcome(self.opened, self._versions())))
            out.append(Admit(sender))

    def _receive_welcome(self, sender: str, frame: Welcome, now: i64, out: list[Effect]) -> None:
        if sender != self.contact or not self.asked:
            self.ignored += 1
            return
        self.out[sender] = int(self.asked)
        self.incoming[sender] = int(frame.e)
        self.stage = TAKING_PART
        self.contact = ""
        self.asked = 0
        self._inherit(frame.versions)
        out.append(Safe(sender))
        unsent = self.unsent
        self.unsent = []
        for each in unsent:
            self._first(Broadcast(self.process, each.number, each.payload), "", now, out)

    def _apply_drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        if peer not in self.gone_names:
            self._let_go(peer)
            out.append(Transmit(peer, Leave()))  # if it is alive, it must not wait for this process

    def _let_go(self, peer: str) -> None:
        self.gone.append(peer)
        self.gone_names.add(peer)
        self._forget(peer)
        if self.contact == peer:
            self.contact = ""
            self.asked = 0

    def _forget(self, peer: str) -> None:
        self.out.pop(peer, None)
        if self.incoming.pop(peer, -1) >= 0:
            self._forget_incoming(peer)
        self._forget_making(peer)

    def _tick(self, now: i64, out: list[Effect]) -> None:
        if self.contact and not self.asked:
            self._ask(out)
