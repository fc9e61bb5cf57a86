"""`ReliableLink`: runs a core that assumes a reliable network on one that isn't.

Every frame of the inner core travels as a segment with a sequence number of its own for each peer.
The other end passes the inner frames on in order, each exactly once, and acknowledges cumulatively;
`tick` retransmits what is not acknowledged. So the inner core sees a reliable network with FIFO links.

The link is a `Core` like any other. There is one fence, that of the inner core: drops travel inside
the segments, where the inner core finds them, and the link forgets the peers that it has dropped.
Acks of segments carry nothing that an application could see, so they need no fence.

Invariants:

- `outgoing[j]` numbers segments 1, 2, 3, ... without gaps; `incoming[j].last` of them have been
  used by the inner core, in order;
- a segment is used, and counted as used, only if the inner core accepts its frame. One that it
  refuses is refused as a whole: at once if it comes in its turn, and otherwise when it is retransmitted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.encoding.varint import PLAIN, size_of
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.core import Core, Via
from beforehand.protocols.effects import Effect, Held, Transmit, Wait
from beforehand.protocols.frames import Envelope, Frame, FrameKind
from beforehand.protocols.support.numbering import foreign
from beforehand.protocols.support.windows import ReceiveWindow, SendWindow


class Segment(Envelope):
    """The `seq`-th frame of the inner core to this receiver."""

    __slots__ = ("seq",)
    seq: Final[i64]

    def __init__(self, seq: i64, inner: Frame) -> None:
        super().__init__(inner)
        self.seq = seq

    def key(self) -> tuple[object, ...]:
        return (int(self.seq), self.inner)


class SegmentAck(Frame):
    """All your segments up to `seq` have arrived."""

    __slots__ = ("seq",)
    seq: Final[i64]

    def __init__(self, seq: i64) -> None:
        self.seq = seq

    def key(self) -> tuple[object, ...]:
        return (int(self.seq),)


class SegmentAckKind(FrameKind):
    """Acks are frequent, so their size is computed instead of measured."""

    def size(self, frame: Frame) -> i64:
        assert isinstance(frame, SegmentAck)
        return 1 + size_of(frame.seq, PLAIN)


class ReliableLink(Core):
    """The links of one process, and the core that they serve."""

    inner: Final[Core]
    outgoing: dict[str, SendWindow]
    incoming: dict[str, ReceiveWindow]

    def __init__(self, inner: Core) -> None:
        super().__init__(inner.process)
        self.drops: int = 0  # how many drops of the inner core have been noticed
        self.inner = inner
        self.sent = inner.sent
        self.outgoing = {}
        self.incoming = {}

    # ---- what callers use ----

    def send(self, to: str | Iterable[str] | None, payload: object, now: i64 = 0) -> list[Effect]:
        return self._wrap(self.inner.send(to, self._payload(payload), now), now)

    def send_many(
        self, to: str | Iterable[str] | None, payloads: Iterable[object], now: i64 = 0
    ) -> list[Effect]:
        return self._wrap(
            self.inner.send_many(to, [self._payload(payload) for payload in payloads], now), now
        )

    def send_checked(
        self, to: str | Iterable[object] | None, payloads: list[bytes], now: i64 = 0
    ) -> list[Effect]:
        return self._wrap(self.inner.send_checked(to, payloads, now), now)

    def receive(self, sender: str, frame: Frame, now: i64 = 0) -> list[Effect]:
        check_process(sender)
        if sender == self.process:
            raise RemoteProtocolError(sender, "a frame came from the receiver itself")
        if self.is_dropped(sender):
            return []
        if isinstance(frame, SegmentAck):
            window = self.outgoing.get(sender) or SendWindow()
            window.check_ack(sender, frame.seq)
            window.acknowledge(frame.seq)
            return []
        if not isinstance(frame, Segment):
            raise foreign(sender, frame, "a reliable link")
        return self._receive_segment(sender, frame, now)

    def tick(self, now: i64 = 0) -> list[Effect]:
        out: list[Effect] = []
        for peer in sorted(self.outgoing):
            for frame in self.outgoing[peer].to_resend():
                out.append(Transmit(peer, frame))
        out.extend(self._wrap(self.inner.tick(now), now))
        return out

    def flush(self) -> list[Effect]:
        return self._wrap(self.inner.flush(), 0)

    def drop(self, peer: str, now: i64 = 0) -> list[Effect]:
        return self._wrap(self.inner.drop(peer, now), now)

    def drop_log(self) -> list[str]:
        return self.inner.drop_log()

    def is_dropped(self, peer: str) -> bool:
        return self.inner.is_dropped(peer)

    def open(self, peer: str, via: Via = None, back: Via = None, now: i64 = 0) -> list[Effect]:
        return self._wrap(self.inner.open(peer, via, back, now), now)

    def close(self, peer: str, now: i64 = 0) -> list[Effect]:
        return self._wrap(self.inner.close(peer, now), now)

    def join(self, contact: str, now: i64 = 0) -> list[Effect]:
        return self._wrap(self.inner.join(contact, now), now)

    def leave(self, now: i64 = 0) -> list[Effect]:
        return self._wrap(self.inner.leave(now), now)

    def reparent(self, parent: str, now: i64 = 0) -> list[Effect]:
        return self._wrap(self.inner.reparent(parent, now), now)

    # ---- mechanics ----

    def _wrap(self, effects: list[Effect], now: i64) -> list[Effect]:
        """The effects of the inner core, with each frame in a segment."""
        self.sent = self.inner.sent
        self._forget_dropped()
        out: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Transmit):
                if self.is_dropped(effect.to):
                    continue  # a frame can bring several drops, and the first made it send
                window = self.outgoing.get(effect.to)
                if window is None:
                    window = SendWindow()
                    self.outgoing[effect.to] = window
                segment = Segment(window.last + 1, effect.frame)
                window.add(segment.seq, segment, now)
                out.append(Transmit(effect.to, segment))
            else:
                out.append(effect)
        return out

    def _receive_segment(self, sender: str, frame: Segment, now: i64) -> list[Effect]:
        window = self.incoming.get(sender) or ReceiveWindow()
        window.check(sender, frame.seq, frame.seq - 1)
        out: list[Effect] = []
        if frame.seq == window.last + 1:
            out = self._wrap(self.inner.receive(sender, frame.inner, now), now)
            window.take(frame.seq)
            self._go_on(sender, window, now, out)
        elif frame.seq > window.last:
            window.keep(frame.seq, frame.seq - 1, frame, now)
        self.incoming[sender] = window
        if frame.seq <= window.last:
            out.append(Transmit(sender, SegmentAck(window.last)))
        return out

    def _go_on(self, sender: str, window: ReceiveWindow, now: i64, out: list[Effect]) -> None:
        """Use the segments that had come too early, up to the next gap."""
        following = window.follower()
        while following is not None:
            segment = following.frame
            assert isinstance(segment, Segment)
            try:
                effects = self.inner.receive(sender, segment.inner, now)
            except RemoteProtocolError:
                return  # keep what has been used; the next copy will be refused
            window.take(segment.seq)
            out.extend(self._wrap(effects, now))
            following = window.follower()

    def _forget_dropped(self) -> None:
        log = self.inner.drop_log()
        if len(log) == self.drops:
            return
        for peer in log[self.drops :]:
            self.outgoing.pop(peer, None)
            self.incoming.pop(peer, None)
        self.drops = len(log)

    # ---- inspection ----

    def held(self) -> list[Held]:
        """What the inner core holds, and messages whose segment came too early."""
        held = self.inner.held()
        for sender in sorted(self.incoming):
            for kept in self.incoming[sender].sorted():
                if kept.frame.messages():
                    number = int(kept.frame.about())
                    waits = (Wait("segment", sender, int(kept.previous)),)
                    held.append(Held(sender, number, (self.process,), int(kept.since), waits))
        return held

    def entries(self) -> int:
        return self.inner.entries()

    def integers(self) -> int:
        outgoing = sum([1 + len(window.unacked) for window in self.outgoing.values()])
        incoming = sum([1 + len(window.early) for window in self.incoming.values()])
        return self.inner.integers() + outgoing + incoming

    def ignored_frames(self) -> int:
        return self.inner.ignored_frames()

    def unacknowledged(self) -> int:
        segments = sum([len(window.unacked) for window in self.outgoing.values()])
        return self.inner.unacknowledged() + segments

    def permits_missing(self) -> int:
        return self.inner.permits_missing()

    def copy(self) -> ReliableLink:
        twin = ReliableLink(self.inner.copy())
        twin.outgoing = {name: window.copy() for name, window in self.outgoing.items()}
        twin.incoming = {name: window.copy() for name, window in self.incoming.items()}
        twin.drops = self.drops
        return twin

    def _state(self) -> tuple[object, ...]:
        return (
            self.inner.fingerprint(),
            tuple([(name, self.outgoing[name].fingerprint()) for name in sorted(self.outgoing)]),
            tuple([(name, self.incoming[name].fingerprint()) for name in sorted(self.incoming)]),
        )
