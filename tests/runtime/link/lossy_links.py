"""Two links and a simulated wire between them, which loses, doubles and delays datagrams by a seed.

Each end does what an engine does with its links: it opens what arrives, hands acknowledgements to
the link, keeps every other frame, writes at once, and calls when a timer runs out.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from beforehand.encoding.reader import Reader
from beforehand.protocols.frames import Frame
from beforehand.runtime.link import frames
from beforehand.runtime.link.datagrams import HEADER, packet_number
from beforehand.runtime.link.link import LATER, NOW, Link
from beforehand.runtime.link.sealing import PlainOpener, PlainSealer, make_opener, make_sealer
from beforehand.wire.codec import decode, decode_at

MS = 1_000_000
START = 10**12
DATAGRAM = 1_400
HEARTBEAT = 10**9
LIMIT = 1 << 26

Lose = Callable[[bytes], bool]


def link_pair(datagram: int = DATAGRAM, secrets: tuple[bytes, bytes] | None = None) -> list[Link]:
    """Both ends of a session, plain unless there are secrets for its two directions."""
    links = []
    for end in (0, 1):
        sealer = make_sealer(secrets[end], False) if secrets else PlainSealer()
        opener = make_opener(secrets[1 - end], False) if secrets else PlainOpener()
        own, other = bytes([end]) * 8, bytes([1 - end]) * 8
        sealing = (sealer, opener, datagram, LIMIT)
        links.append(Link(own, other, f"end {end}", *sealing, preferred=True, now=START))
    return links


def frames_of(body: bytes, link: Link | None = None, now: int = 0) -> list[bytes | Frame]:
    """The frames of a body; with a link, its acknowledgements and fragments are processed there."""
    decoded: list[bytes | Frame] = []
    at = 0
    while at < len(body) and body[at] != frames.PADDING:
        tag = body[at]
        if tag < frames.ACK or tag & 0x20:
            frame, at = decode_at(body, at, "peer")
            decoded.append(frame)
            continue
        reader = Reader(body, at + 1, "peer")
        if tag == frames.ACK:
            ranges, delay = frames.read_ack(reader)
            if link is not None:
                link.acknowledged(ranges, delay, now)
        elif tag == frames.FRAGMENT and link is not None:
            whole = link.reassembly.add(reader)
            if whole is not None:
                decoded.append(decode(whole, "peer"))
        else:
            if tag == frames.FRAGMENT:
                reader.varint(), reader.varint(), reader.varint(), reader.payload()
            elif tag == frames.PING:
                reader.take(frames.TOKEN)
            decoded.append(bytes([tag]))
        at = int(reader.position)
    return decoded


@dataclass
class LossyLinks:
    """The two ends `0` and `1`; what is posted to one arrives in `got` of the other."""

    seed: int
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    back: float | None = None  # the loss from 1 to 0, if it is another one
    delay: int = 5 * MS
    datagram: int = DATAGRAM
    now: int = START
    got: tuple[list[Frame], list[Frame]] = field(default_factory=lambda: ([], []))
    lost_frames: list[int] = field(default_factory=lambda: [0, 0])  # that end 0, end 1 sent
    lost: int = 0  # datagrams
    doubled: int = 0
    refused: int = 0
    longest: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.links = link_pair(self.datagram)
        self.wire: list[tuple[int, int, int, bytes]] = []  # time, order, to which end, datagram
        self.order = 0

    def run(self, most: int = 200_000) -> None:
        """Until both ends have nothing to do and nothing is on the wire."""
        for end in (0, 1):
            self.write(end)
        for _ in range(most):
            if not self.wire and all(link.done() and not link.ack_owed for link in self.links):
                return
            self.step()
        raise AssertionError(f"seed {self.seed}: no end after {most} steps")

    def run_for(self, duration: int) -> None:
        """Run for this many nanoseconds."""
        until = self.now + duration
        for end in (0, 1):
            self.write(end)
        while self.next_time() <= until:
            self.step()
        self.now = until

    def next_time(self) -> int:
        """When something happens next."""
        times = [int(link.deadline(self.now, HEARTBEAT)) for link in self.links]
        return min([*times, self.wire[0][0]] if self.wire else times)

    def step(self) -> None:
        """Let time pass until the next thing happens."""
        deadlines = [int(link.deadline(self.now, HEARTBEAT)) for link in self.links]
        self.now = max(self.now, self.next_time())
        while self.wire and self.wire[0][0] <= self.now:
            _, _, end, datagram = heapq.heappop(self.wire)
            self.arrive(end, datagram)
        for end, link in enumerate(self.links):
            if deadlines[end] <= self.now:
                link.expired(self.now, HEARTBEAT)
            self.write(end)

    def arrive(self, end: int, datagram: bytes) -> None:
        """One end receives a datagram."""
        link = self.links[end]
        body = link.open(datagram, packet_number(datagram), self.now)
        if body is None:
            self.refused += 1
            return
        decoded = frames_of(body, link, self.now)
        self.got[end].extend([frame for frame in decoded if isinstance(frame, Frame)])
        if any(isinstance(frame, Frame) and frame.messages() for frame in decoded):
            link.owe_ack(NOW, self.now)
        elif any(tag != frames.ACK for tag in body[:1]):
            link.owe_ack(LATER if decoded else NOW, self.now)

    def write(self, end: int) -> None:
        """Put on the wire what one end wants to send."""
        for datagram in self.links[end].write(self.now):
            self.longest = max(self.longest, len(datagram))
            self.carry(end, datagram)

    def carry(self, end: int, datagram: bytes) -> None:
        """Lose, double or delay a datagram of one end."""
        loss = self.loss if end == 0 or self.back is None else self.back
        if self.rng.random() < loss:
            self.lost += 1
            self.lost_frames[end] += len(frames_of(datagram[HEADER:-4]))
            return
        copies = 2 if self.rng.random() < self.duplicate else 1
        self.doubled += copies - 1
        for _ in range(copies):
            late = self.rng.randrange(3 * MS) if self.rng.random() < self.reorder else 0
            self.order += 1
            heapq.heappush(self.wire, (self.now + self.delay + late, self.order, 1 - end, datagram))
