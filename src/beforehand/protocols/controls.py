"""Two protocols that are *not* causal, so that every checker can be shown to catch something.

`raw` delivers what arrives, when it arrives: the network itself. A lost message is never delivered, a
duplicate is delivered twice.

`fifo` keeps the order between any two processes and repairs loss and duplication, as a TCP connection
or a message queue does. Many systems rely on that, and it isn't enough: an answer may overtake its
question on the way to a third process (Mattern and Fünfrocken, figure 4).

Invariants of `fifo`: frames to one receiver form a stream (`support/windows.py`) in which each carries
the number of the message before it; messages are delivered in the order of their stream.
"""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.support.numbering import ChainedFrame, NumberedFrame, Signal, foreign
from beforehand.protocols.support.windows import ReceiveWindow, SendWindow


class RawMessage(NumberedFrame):
    """A message, and nothing else."""


class Raw(Core):
    """One process that sends and delivers at once."""

    def _send(self, to: str, payload: bytes, now: i64, out: list[Effect]) -> None:
        check_process(to)
        self.sent += 1
        self._transmit(out, to, RawMessage(self.sent, payload))

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        for payload in payloads:
            self.sent += 1
            frame = RawMessage(self.sent, payload)
            for receiver in receivers:
                self._transmit(out, receiver, frame)

    def _check(self, sender: str, frame: Frame) -> None:
        if not isinstance(frame, RawMessage):
            raise foreign(sender, frame, "raw")
        if frame.number < 1:
            raise RemoteProtocolError(sender, f"a message has the number {frame.number}")

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        assert isinstance(frame, RawMessage)
        out.append(Deliver(sender, frame.number, frame.payload))

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        pass  # it has no state per peer

    def integers(self) -> int:
        return 1 + (0 if self.fence is None else self.fence.integers())

    def copy(self) -> Raw:
        twin = Raw(self.process)
        self._copy_base(twin)
        return twin

    def _state(self) -> tuple[object, ...]:
        return ()


class FifoMessage(ChainedFrame):
    """A message."""


class FifoAck(Signal):
    """All messages of its receiver up to `number` have been delivered."""


class Fifo(Core):
    """One process that keeps the order of each sender, and nothing more."""

    outgoing: dict[str, SendWindow]
    incoming: dict[str, ReceiveWindow]

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.outgoing = {}
        self.incoming = {}

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        for payload in payloads:
            self.sent += 1
            for receiver in receivers:
                window = self.outgoing.get(receiver)
                if window is None:
                    window = SendWindow()
                    self.outgoing[receiver] = window
                frame = FifoMessage(self.sent, window.last, payload)
                window.add(self.sent, frame, now)
                self._transmit(out, receiver, frame)

    def _tick(self, now: i64, out: list[Effect]) -> None:
        for receiver in sorted(self.outgoing):
            for frame in self.outgoing[receiver].to_resend():
                self._transmit(out, receiver, frame)

    def _check(self, sender: str, frame: Frame) -> None:
        if isinstance(frame, FifoMessage):
            window = self.incoming.get(sender) or ReceiveWindow()
            window.check(sender, frame.number, frame.previous)
        elif isinstance(frame, FifoAck):
            sent = self.outgoing.get(sender) or SendWindow()
            sent.check_ack(sender, frame.number)
        else:
            raise foreign(sender, frame, "fifo")

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, FifoAck):
            self.outgoing[sender].acknowledge(frame.number)
            return
        assert isinstance(frame, FifoMessage)
        window = self.incoming.get(sender)
        if window is None:
            window = ReceiveWindow()
            self.incoming[sender] = window
        if frame.number > window.last:
            window.keep(frame.number, frame.previous, frame, now)
        following = window.follower()
        while following is not None:
            message = following.frame
            assert isinstance(message, FifoMessage)
            window.take(message.number)
            out.append(Deliver(sender, message.number, message.payload))
            following = window.follower()
        if frame.number <= window.last:
            self._transmit(out, sender, FifoAck(window.last))

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        self.outgoing.pop(peer, None)
        self.incoming.pop(peer, None)

    def held(self) -> list[Held]:
        held: list[Held] = []
        for sender in sorted(self.incoming):
            for kept in self.incoming[sender].sorted():
                waits = (Wait("message", sender, int(kept.previous)),)
                number = int(kept.position)
                held.append(Held(sender, number, (self.process,), int(kept.since), waits))
        return held

    def integers(self) -> int:
        fence = 0 if self.fence is None else self.fence.integers()
        outgoing = sum([1 + 2 * len(window.unacked) for window in self.outgoing.values()])
        incoming = sum([1 + 2 * len(window.early) for window in self.incoming.values()])
        return 1 + fence + outgoing + incoming

    def unacknowledged(self) -> int:
        return sum([len(window.unacked) for window in self.outgoing.values()])

    def copy(self) -> Fifo:
        twin = Fifo(self.process)
        self._copy_base(twin)
        twin.outgoing = {name: window.copy() for name, window in self.outgoing.items()}
        twin.incoming = {name: window.copy() for name, window in self.incoming.items()}
        return twin

    def _state(self) -> tuple[object, ...]:
        return (
            tuple([(name, self.outgoing[name].fingerprint()) for name in sorted(self.outgoing)]),
            tuple([(name, self.incoming[name].fingerprint()) for name in sorted(self.incoming)]),
        )
