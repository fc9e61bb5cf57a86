"""`prc`: causal broadcast that forgets, on an overlay that changes (Nédelec, Molli and Mostéfaoui 2018,
Algorithm 2, corrected).

`link-memory` needs to know of each link which messages will yet come over it. For a link that is
opened while messages are in flight, this protocol finds out. A opens a link to B; both are
connected by links that are in use (safe) already, over which the control messages beta, pi and rho
travel in between the messages, each after all that its sender had delivered before:

    A                                   B
    alpha, over the new link  ------->  starts to record what it delivers (B-alpha)
            <--------  beta, routed  ---
    starts to keep what it
    delivers (B-beta)
    --------  pi, routed  ------------> records separately what it delivers from now on (B-pi)
            <--------  rho, routed  ----
    B-beta, over the new link  -------> sorts it out; the link is safe
    from here on all messages

When B-beta comes, B has delivered all that A had delivered before pi, and A, when it sent it, all that B
had delivered before rho. So of B-beta, what is in B-alpha or B-pi has been delivered, and the rest is
news; and of B-pi, what is not in B-beta is what A had yet to deliver: it will come over the link, which
is its memory.

What is different from the printed algorithm, because it would fail:

- S is removed and the link counts as safe *before* the messages of B-beta are used, since a reaction to
  one of them may come back over it; B-beta is a sequence, with payloads;
- frames count only if their link is in use (data, routed control) or being made (B-beta), and control
  only in its turn and for this very incarnation of the link;
- a message is forwarded before it is delivered, and control is never ahead of data on a hop;
- `close` forgets the link at both ends; opening a link that is open does nothing; a link in the making
  that takes too long, or whose buffers overflow, is closed and started again as a new incarnation (by B
  only before rho: after that A may use the link, and have given up another one for it);
- a newcomer starts with one contact (`core.py`).

Preconditions: the links in use connect everybody with everybody, also when one is closed (open the new
one first); and every close or crash becomes known at the other end, otherwise its memory stays.
"""

from __future__ import annotations

from typing import ClassVar, Final

from mypy_extensions import i64

from beforehand.protocols.clocks.membership import Processes
from beforehand.protocols.effects import Deliver, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.core import MEMBER, OverlayCore
from beforehand.protocols.overlay.expected import ExpectedCopies
from beforehand.protocols.overlay.frames import (
    BETA,
    PI,
    RHO,
    Alpha,
    Broadcast,
    Buffered,
    Close,
    Control,
    Flood,
    Refuse,
    Relayed,
    RelayedId,
    Route,
)
from beforehand.protocols.overlay.links import Links
from beforehand.protocols.overlay.opening import (
    ASKED,
    FIRST_TIMEOUT,
    MAX_TIMEOUT,
    RECORDING,
    REFUSED,
    Opening,
)


class Accepting:
    """A link that a peer opens to this process."""

    e: Final[i64]
    back: Final[Route]
    alpha: set[RelayedId]  # delivered before pi came
    pi: set[RelayedId]  # delivered since

    def __init__(self, e: i64, back: Route) -> None:
        self.got_pi: bool = False
        self.e = e
        self.back = back
        self.alpha = set()
        self.pi = set()

    def copy(self) -> Accepting:
        """An independent record in the same state."""
        twin = Accepting(self.e, self.back)
        twin.got_pi = self.got_pi
        twin.alpha = self.alpha.copy()
        twin.pi = self.pi.copy()
        return twin

    def key(self) -> tuple[object, ...]:
        """Equal exactly for equal records."""
        seen = (tuple(sorted(self.alpha)), tuple(sorted(self.pi)))
        return (int(self.e), self.back, self.got_pi, *seen)


class Prc(OverlayCore):
    """One process of an overlay that may change at any time."""

    signals: ClassVar[tuple[type[Frame], ...]] = (Alpha, Buffered)
    controls: ClassVar[tuple[int, ...]] = (BETA, PI, RHO)
    expected: Final[ExpectedCopies]  # the memory of its incoming links, as in `link-memory`
    accepting: dict[str, Accepting]  # by peer: the links to here that are being made

    def __init__(self, process: str, links: Links = (), processes: Processes | None = None) -> None:
        super().__init__(process, links, processes)
        self.expected = ExpectedCopies()
        self.accepting = {}

    # ---- messages ----

    def _receive_relayed(self, frame: Relayed, sender: str, now: i64, out: list[Effect]) -> None:
        if sender and sender not in self.links.incoming:
            self.ignored += 1
        elif self.expected.receive(frame.id, sender, self.links.incoming):
            # Before the delivery: what that causes must come after it on every link.
            self._forward(frame, out)
            self._deliver(frame, out)

    def _deliver(self, frame: Relayed, out: list[Effect]) -> None:
        if self.opening or self.accepting:
            self._record_delivery(frame, out)
        if isinstance(frame, Broadcast):
            out.append(Deliver(frame.source, frame.number, frame.payload))
        elif isinstance(frame, Flood) and frame.control.target() == self.process:
            self._receive_control(frame.control, out)

    def _incoming_removed(self, peer: str) -> None:
        self.expected.forget_link(peer)

    def _record_delivery(self, frame: Relayed, out: list[Effect]) -> None:
        """Record a delivery at the links that are being made."""
        for peer, opening in self.opening.items():
            if opening.phase == RECORDING:
                opening.buffer.append(frame)
                if len(opening.buffer) > self.max_buffered:
                    out.append(Transmit(peer, Close(opening.e)))
                    self._retry_later(opening)
        for peer in list(self.accepting):
            accepting = self.accepting[peer]
            delivered = accepting.pi if accepting.got_pi else accepting.alpha
            delivered.add(frame.id)
            # After rho the opener may use the link already, so it is too late to refuse.
            if not accepting.got_pi and len(accepting.alpha) > self.max_buffered:
                out.append(Transmit(peer, Refuse(accepting.e)))
                del self.accepting[peer]

    # ---- a link is made: alpha, beta, pi, rho, B-beta ----

    def _start_link(self, peer: str, e: i64, route: Route, back: Route, out: list[Effect]) -> None:
        self.opening[peer] = Opening(e, route, FIRST_TIMEOUT)
        out.append(Transmit(peer, Alpha(e, back)))

    def _receive_signal(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, Alpha):
            self._receive_alpha(sender, frame, out)
        elif isinstance(frame, Buffered):
            self._receive_buffered(sender, frame, now, out)

    def _receive_alpha(self, sender: str, frame: Alpha, out: list[Effect]) -> None:
        if sender in self.accepting or sender in self.links.incoming:
            self.ignored += 1
            return
        if self.stage != MEMBER:  # nothing sent from here would reach the opener
            out.append(Transmit(sender, Refuse(frame.e)))
            return
        self.accepting[sender] = Accepting(frame.e, frame.back)
        self._send_control(frame.back, Control(BETA, sender, self.process, frame.e), out)

    def _receive_control(self, control: Control, out: list[Effect]) -> None:
        if control.kind == BETA:
            self._receive_beta(control, out)
        elif control.kind == PI:
            self._receive_pi(control, out)
        else:
            self._receive_rho(control, out)

    def _receive_beta(self, control: Control, out: list[Effect]) -> None:
        opening = self.opening.get(control.acceptor)
        if opening is None or opening.e != control.e or opening.phase != ASKED:
            self.ignored += 1
            return
        opening.phase = RECORDING
        pi = Control(PI, self.process, control.acceptor, control.e)
        self._send_control(opening.route, pi, out)

    def _receive_pi(self, control: Control, out: list[Effect]) -> None:
        accepting = self.accepting.get(control.opener)
        if accepting is None or accepting.e != control.e or accepting.got_pi:
            self.ignored += 1
            return
        accepting.got_pi = True
        rho = Control(RHO, control.opener, self.process, control.e)
        self._send_control(accepting.back, rho, out)

    def _receive_rho(self, control: Control, out: list[Effect]) -> None:
        peer = control.acceptor
        opening = self.opening.get(peer)
        if opening is None or opening.e != control.e or opening.phase != RECORDING:
            self.ignored += 1
            return
        del self.opening[peer]
        self.links.out[peer] = int(opening.e)
        out.append(Transmit(peer, Buffered(opening.e, tuple(opening.buffer))))
        out.append(Safe(peer))

    def _receive_buffered(self, sender: str, frame: Buffered, now: i64, out: list[Effect]) -> None:
        accepting = self.accepting.get(sender)
        if accepting is None or accepting.e != frame.e or not accepting.got_pi:
            self.ignored += 1
            return
        # The link is safe from here on: what the messages below cause may come back over it.
        del self.accepting[sender]
        self.links.incoming[sender] = int(frame.e)
        for relayed_id in accepting.pi.difference([relayed.id for relayed in frame.frames]):
            self.expected.expect(relayed_id, sender)
        for relayed in frame.frames:
            if relayed.id not in accepting.alpha and relayed.id not in accepting.pi:
                self._receive_relayed(relayed, sender, now, out)

    # ---- a link is not made ----

    def _pending_peers(self) -> list[str]:
        return [*self.opening, *self.accepting]

    def _receive_refusal(self, sender: str, e: i64) -> None:
        opening = self.opening.get(sender)
        if opening is not None and opening.e == e:
            self._retry_later(opening)
        else:
            super()._receive_refusal(sender, e)

    def _retry_later(self, opening: Opening) -> None:
        opening.phase = REFUSED
        opening.buffer = []

    def _receive_close(self, sender: str, e: i64) -> None:
        accepting = self.accepting.get(sender)
        if accepting is not None and accepting.e == e:
            del self.accepting[sender]
        else:
            super()._receive_close(sender, e)

    def _abandon_pending(self, peer: str) -> None:
        super()._abandon_pending(peer)
        self.accepting.pop(peer, None)

    def _tick(self, now: i64, out: list[Effect]) -> None:
        super()._tick(now, out)
        for peer, opening in self.opening.items():
            opening.age += 1
            if opening.phase == REFUSED or opening.age > opening.timeout:
                timeout = opening.timeout
                if opening.phase != REFUSED:
                    out.append(Transmit(peer, Close(opening.e)))
                    timeout = min(2 * timeout, MAX_TIMEOUT)
                e = self.links.next_incarnation()
                # Without a route: a mediator that is gone may be why it took so long.
                self.opening[peer] = Opening(e, (), timeout)
                out.append(Transmit(peer, Alpha(e, ())))

    # ---- inspection ----

    def entries(self) -> int:
        opening = sum([len(link.buffer) for link in self.opening.values()])
        accepting = sum([len(link.alpha) + len(link.pi) for link in self.accepting.values()])
        return self.expected.entries() + opening + accepting

    def integers(self) -> int:
        return super().integers() + 3 * len(self.opening) + 2 * len(self.accepting)

    def copy(self) -> Prc:
        twin = Prc(self.process, (), self.links.members)
        self._copy_overlay(twin)
        self.expected.copy_into(twin.expected)
        twin.accepting = {peer: accepting.copy() for peer, accepting in self.accepting.items()}
        return twin

    def _state(self) -> tuple[object, ...]:
        return (
            (self._overlay_state(), self.expected.fingerprint()),
            tuple([(peer, self.accepting[peer].key()) for peer in sorted(self.accepting)]),
        )
