"""`mattern`: the buffer protocol of Mattern and Fünfrocken (1995, section 3).

Each process has one FIFO output buffer. Its oldest message is released and stays there until its
receiver has acknowledged the delivery; only then the next one goes. So when a message is
released, everything that its sender sent before has been delivered: no chain of messages can
overtake anything, and messages need no causal metadata. The price is one message in flight.

With `fifo_links` (footnote 4) messages to one and the same receiver are pipelined: while all
unacknowledged messages go to j, another one to j may follow, since no third party is involved.
The paper requires FIFO links for that. Here each message carries the number of the message
before it to the same receiver, and a receiver accepts only the next one, so any network will do.

Invariants:

- all unacknowledged messages go to one receiver, and without `fifo_links` there is at most one;
- release order is causal-send order;
- ACK n from j means that everything released to j up to number n has been delivered, so acks may be
  lost, duplicated and reordered: the highest one counts.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.effects import Deliver, Effect, Held, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.sender_side.output_buffer import OutputBuffer
from beforehand.protocols.support.numbering import ChainedFrame, Signal, foreign
from beforehand.protocols.support.windows import MAX_RESENT


class MatternMessage(ChainedFrame):
    """A message."""


class MatternAck(Signal):
    """All messages of its receiver up to `number` have been delivered."""


class Mattern(OutputBuffer):
    """One process of the buffer protocol."""

    fifo_links: Final[bool]
    in_flight: deque[MatternMessage]  # released and not acknowledged, oldest first
    last_released: dict[str, int]  # receiver -> number of the last message released to it
    last_delivered: dict[str, int]  # sender -> number of the last message delivered from it

    def __init__(self, process: str, fifo_links: bool = False) -> None:
        super().__init__(process)
        self.receiver: str = ""  # of everything in flight
        self.fifo_links = fifo_links
        self.in_flight = deque()
        self.last_released = {}
        self.last_delivered = {}

    # ---- sending ----

    def _release(self, out: list[Effect]) -> None:
        """Hand to the network what may go now."""
        while self.waiting:
            message = self.waiting[0]
            if self.in_flight and not (self.fifo_links and message.to == self.receiver):
                return
            self.waiting.popleft()
            self.receiver = message.to
            previous = self.last_released.get(message.to, 0)
            self.last_released[message.to] = int(message.number)
            frame = MatternMessage(message.number, previous, message.payload)
            self.in_flight.append(frame)
            self._transmit(out, message.to, frame)

    def _tick(self, now: i64, out: list[Effect]) -> None:
        for frame in islice(self.in_flight, MAX_RESENT):
            self._transmit(out, self.receiver, frame)

    # ---- receiving ----

    def _check(self, sender: str, frame: Frame) -> None:
        if isinstance(frame, MatternMessage):
            last = self.last_delivered.get(sender, 0)
            if frame.previous < 0 or frame.number <= frame.previous:
                raise RemoteProtocolError(
                    sender, f"message {frame.number} cannot follow message {frame.previous}"
                )
            if frame.previous < last < frame.number:
                raise RemoteProtocolError(
                    sender, f"message {frame.number} skips message {last}, which was delivered"
                )
        elif isinstance(frame, MatternAck):
            if not self._was_released(sender, frame.number):
                raise RemoteProtocolError(
                    sender, f"acknowledges message {frame.number}, which was not sent to it"
                )
        else:
            raise foreign(sender, frame, "mattern")

    def _was_released(self, receiver: str, number: i64) -> bool:
        """Whether `number` can be a message to `receiver`, as far as it is still known."""
        if number < 1 or number > self.last_released.get(receiver, 0):
            return False
        if not self.in_flight or receiver != self.receiver:
            return True
        for frame in self.in_flight:
            if frame.number >= number:
                return frame.number == number or number <= self.in_flight[0].previous
        return False

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, MatternMessage):
            self._receive_message(sender, frame, out)
        elif isinstance(frame, MatternAck):
            # From any other process than the present receiver it is older than everything in flight.
            while self.in_flight and self.in_flight[0].number <= frame.number:
                self.in_flight.popleft()
            self._release(out)

    def _receive_message(self, sender: str, frame: MatternMessage, out: list[Effect]) -> None:
        last = self.last_delivered.get(sender, 0)
        if frame.number > last:
            if frame.previous != last:
                return  # one before it is missing: it will be sent again after that one
            last = int(frame.number)
            self.last_delivered[sender] = last
            out.append(Deliver(sender, frame.number, frame.payload))
        self._transmit(out, sender, MatternAck(last))

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        self.waiting = deque([message for message in self.waiting if message.to != peer])
        if self.receiver == peer:
            self.in_flight.clear()
        self.last_released.pop(peer, None)
        self.last_delivered.pop(peer, None)
        self._release(out)

    # ---- inspection ----

    def held(self) -> list[Held]:
        """Each message waits for one acknowledgement, which implies all those before it.

        That is the one of the message just ahead, or, pipelined, of the last one ahead that goes
        to another process: the same that the message just ahead waits for.
        """
        held: list[Held] = []
        ahead = Wait("ack", self.receiver, int(self.in_flight[-1].number) if self.in_flight else 0)
        wait = ahead
        for message in self.waiting:
            if not (self.fifo_links and message.to == ahead.peer):
                wait = ahead
            since = int(message.since)
            held.append(Held(self.process, int(message.number), (message.to,), since, (wait,)))
            ahead = Wait("ack", message.to, int(message.number))
        return held

    def integers(self) -> int:
        maps = len(self.last_released) + len(self.last_delivered)
        fence = 0 if self.fence is None else self.fence.integers()
        return 2 + 2 * len(self.waiting) + 2 * len(self.in_flight) + maps + fence

    def unacknowledged(self) -> int:
        return len(self.in_flight)

    def copy(self) -> Mattern:
        twin = Mattern(self.process, self.fifo_links)
        self._copy_base(twin)
        twin.waiting = self.waiting.copy()
        twin.in_flight = self.in_flight.copy()
        twin.receiver = self.receiver
        twin.last_released = self.last_released.copy()
        twin.last_delivered = self.last_delivered.copy()
        return twin

    def _state(self) -> tuple[object, ...]:
        return (
            self.fifo_links,
            tuple([message.key() for message in self.waiting]),
            tuple(self.in_flight),
            self.receiver if self.in_flight else "",
            tuple(sorted(self.last_released.items())),
            tuple(sorted(self.last_delivered.items())),
        )
