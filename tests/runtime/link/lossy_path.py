"""A simulated path with a real sender and receiver of packets: it loses, doubles and reorders by a seed.

The sender carries tokens to the receiver, one per packet, as a link does with frames: what is lost
goes out again in a new packet, a probe carries the oldest packet's token again.
"""

import heapq
import random
from collections import deque
from dataclasses import dataclass, field

from beforehand.runtime.link.flight import Packet
from beforehand.runtime.link.received import Received
from beforehand.runtime.link.recovery import Recovery
from beforehand.runtime.link.rtt import MILLISECOND

DATAGRAM = 1400


@dataclass
class LossyPath:
    """Both directions of the path, and what happened to every packet."""

    seed: int
    loss: float = 0.0  # in both directions
    duplicate: float = 0.0
    reorder: float = 0.0
    delay: int = 10 * MILLISECOND  # one way
    late: int = 2 * MILLISECOND  # by which a reordered packet comes later, at most
    gap: int = 20_000  # between packets, on the wire
    now: int = 10**12
    sent: int = 0  # packets
    dropped: set[int] = field(default_factory=set)
    acked: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    delivered: set[bytes] = field(default_factory=set)
    windows: list[int] = field(default_factory=list)  # after each acknowledgement

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.recovery = Recovery(DATAGRAM)
        self.received = Received()
        self.wire: list[
            tuple[int, int, int, list[bytes] | None]
        ] = []  # time, order, number, content
        self.wire_free = self.now
        self.order = 0
        self.tokens: deque[bytes] = deque()

    def run(self, tokens: int, most_events: int = 200_000) -> None:
        """Carry that many tokens, until all are there and nothing is in flight."""
        self.tokens.extend(b"%d" % token for token in range(tokens))
        for _ in range(most_events):
            self.fill()
            if not self.tokens and self.recovery.in_flight == 0:
                return
            self.step()
        raise AssertionError(f"seed {self.seed}: no end after {most_events} events")

    def fill(self) -> None:
        """Send what may be sent now."""
        while self.tokens and self.recovery.room(self.now) > 0:
            self.send([self.tokens.popleft()])

    def send(self, content: list[bytes]) -> None:
        """Send one packet."""
        packet = Packet(self.sent, self.now, DATAGRAM, True, content)
        self.recovery.sent(packet, self.now)
        self.sent += 1
        self.wire_free = max(self.wire_free, self.now) + self.gap
        if not self.carry(self.wire_free, packet.number, content):
            self.dropped.add(packet.number)

    def carry(self, start: int, number: int, content: list[bytes] | None) -> bool:
        """Put a datagram on the wire; content None is an acknowledgement on its way back."""
        if self.rng.random() < self.loss:
            return False
        for _ in range(2 if self.rng.random() < self.duplicate else 1):
            arrival = start + self.delay
            if self.rng.random() < self.reorder:
                arrival += self.rng.randrange(self.late)
            self.order += 1
            heapq.heappush(self.wire, (arrival, self.order, number, content))
        return True

    def step(self) -> None:
        """Let time pass until the next thing that happens."""
        times = [self.wire[0][0]] if self.wire else []
        times += [time for time in (self.recovery.timer(),) if time]
        if self.tokens:
            times += [time for time in (self.recovery.when_room(self.now),) if time]
        self.now = max(self.now, min(times))
        while self.wire and self.wire[0][0] <= self.now:
            _, _, number, content = heapq.heappop(self.wire)
            if content is None:
                self.take_ack()
            elif self.received.add(number):
                self.delivered.update(content)
                self.carry(self.now, -1, None)
        if self.recovery.expired(self.now):
            oldest = self.recovery.oldest()
            assert oldest is not None
            self.send(oldest.content)
        self.take_lost()

    def take_ack(self) -> None:
        """Acknowledge what the receiver has by now."""
        packets = self.recovery.acknowledged(self.received.ranges(64), 0, self.now)
        self.acked += [packet.number for packet in packets]
        self.take_lost()
        self.windows.append(self.recovery.congestion.window)

    def take_lost(self) -> None:
        """Queue what was lost, to go first."""
        for packet in self.recovery.take_lost():
            self.lost.append(packet.number)
            self.tokens.extendleft(packet.content)
