"""`newtop`: Lamport clocks (Ezhilchelvan, Macêdo and Shrivastava 1995;
Almeida, section 3.1).

A broadcast carries one integer, the sender's Lamport clock. Links are FIFO, so once every peer
has reached a clock value, no message with that value or a lower one can still come: those that
are here are delivered, by clock and then by sender. A message carries a higher clock than all that
precedes it, so the order is causal; and it is the same everywhere: a total order.

A silent process holds up everyone, so on the timer a process whose clock has grown since it last
announced it sends a null message. If nothing is sent any more, all clocks become equal and
the nulls stop. One's own messages wait for their turn like those of others.

A peer that is gone for good no longer holds up deliveries. What had come from it is *kept*
and delivered in its turn (most other protocols discard it): on FIFO links that is the beginning of
what it sent, without a gap, so it can be delivered; and the survivors that got the same messages of
it deliver the same ones, in the same order. Which survivors got its last messages is not agreed on.

Invariants:

- the frames of one process carry ever higher clocks, so those up to `last_clock[k]` have all come;
- `clock` is at least every `last_clock[k]`, so the process itself never holds anything up;
- deliveries only go up in (clock, sender): whatever may still come is above what every peer has
  reached, and the next own message above `clock`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.clocks.membership import Membership, Processes, membership_of
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.support.numbering import NumberedFrame, foreign


class NewtopMessage(NumberedFrame):
    """A message, and the sender's clock with this send counted."""

    __slots__ = ("clock",)
    clock: Final[i64]

    def __init__(self, number: i64, clock: i64, payload: bytes) -> None:
        super().__init__(number, payload)
        self.clock = clock

    def key(self) -> tuple[object, ...]:
        return (int(self.number), int(self.clock), self.payload)


@dataclass(frozen=True, eq=False, repr=False)
class NewtopNull(Frame):
    """My clock has got to `clock`, and I have nothing to send."""

    clock: int


# Clock and sender's position, which no two messages share, then the message and the `now` of its coming.
Queued = tuple[int, int, NewtopMessage, int]


class Newtop(Core):
    """One process of the protocol."""

    members: Final[Membership]
    me: Final[int]  # the position of this process
    peers: list[str]  # those that take part: all others that have not been dropped
    last_clock: list[int]  # by position: the clock of the last frame from each peer
    numbers: list[int]  # by position: the number of the last message from each peer
    buffer: list[Queued]  # a heap: what waits for its turn
    # A heap of (clock, position) of the peers. An entry may be older than `last_clock`, never newer; it
    # is renewed when it comes to the top, once for each arrival at most.
    lowest: list[tuple[int, int]]

    def __init__(self, process: str, processes: Processes) -> None:
        super().__init__(process)
        self.clock: i64 = 0
        self.announced: i64 = 0  # the clock that was last sent to the others
        self.members = membership_of(process, processes)
        self.me = self.members.index[process]
        self.peers = self.members.others(process)
        self.last_clock = [0] * len(self.members)
        self.numbers = [0] * len(self.members)
        self.buffer = []
        self.lowest = [(0, self.members.index[name]) for name in self.peers]

    # ---- sending ----

    def _check_receivers(self, receivers: Sequence[str]) -> None:
        raise self._only_broadcasts()

    def _broadcast(self, payloads: list[bytes], now: i64, out: list[Effect]) -> None:
        for payload in payloads:
            self.sent += 1
            self.clock += 1
            self.announced = self.clock
            frame = NewtopMessage(self.sent, self.clock, payload)
            for peer in self.peers:
                self._transmit(out, peer, frame)
            heappush(self.buffer, (int(self.clock), self.me, frame, int(now)))
        self._deliver(out)  # where there are no peers to wait for

    def _tick(self, now: i64, out: list[Effect]) -> None:
        if self.clock > self.announced:
            self.announced = self.clock
            frame = NewtopNull(self.clock)
            for peer in self.peers:
                self._transmit(out, peer, frame)

    # ---- receiving ----

    def _check(self, sender: str, frame: Frame) -> None:
        if not isinstance(frame, (NewtopMessage, NewtopNull)):
            raise foreign(sender, frame, "newtop")
        if sender not in self.members.index:
            raise RemoteProtocolError(sender, "is not among the processes")
        position = self.members.index[sender]
        if frame.clock <= self.last_clock[position]:
            raise RemoteProtocolError(
                sender,
                f"its clock was {self.last_clock[position]} and must grow, not be {frame.clock}",
            )
        if isinstance(frame, NewtopMessage) and frame.number != self.numbers[position] + 1:
            raise RemoteProtocolError(
                sender, f"message {frame.number} came after message {self.numbers[position]}"
            )

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        position = self.members.index[sender]
        if isinstance(frame, NewtopMessage):
            self.numbers[position] = int(frame.number)
            heappush(self.buffer, (int(frame.clock), position, frame, int(now)))
            self._observe(position, frame.clock)
        else:
            assert isinstance(frame, NewtopNull)
            self._observe(position, frame.clock)
        self._deliver(out)

    def _observe(self, position: int, clock: i64) -> None:
        self.last_clock[position] = int(clock)
        if clock > self.clock:
            self.clock = clock

    def _deliver(self, out: list[Effect]) -> None:
        """Deliver what nothing can come before any more."""
        buffer = self.buffer
        upto = self._stable_clock()
        while buffer and buffer[0][0] <= upto:
            _, position, frame, _ = heappop(buffer)
            out.append(Deliver(self.members.names[position], frame.number, frame.payload))

    def _stable_clock(self) -> i64:
        """The clock that every peer has reached: one's own if there are no peers."""
        lowest = self.lowest
        while lowest:
            clock, position = lowest[0]
            if clock == self.last_clock[position]:
                return clock
            heapreplace(lowest, (self.last_clock[position], position))
        return self.clock

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        if peer not in self.members.index:
            return
        gone = self.members.index[peer]
        self.peers = [name for name in self.peers if name != peer]
        self.lowest = [entry for entry in self.lowest if entry[1] != gone]
        heapify(self.lowest)
        self._deliver(out)

    # ---- inspection ----

    def held(self) -> list[Held]:
        """What waits, in the order in which it will be delivered, and for whose clock."""
        held: list[Held] = []
        me = (self.process,)
        index = self.members.index
        for clock, position, frame, since in sorted(self.buffer):
            waits = [
                Wait("clock", peer, clock)
                for peer in self.peers
                if self.last_clock[index[peer]] < clock
            ]
            held.append(
                Held(self.members.names[position], int(frame.number), me, since, tuple(waits))
            )
        return held

    def entries(self) -> int:
        """The last message and clock of each peer, and number, clock and sender of what waits."""
        return 2 * len(self.members) + 3 * len(self.buffer)

    def integers(self) -> int:
        fence = 0 if self.fence is None else self.fence.integers()
        return 3 + self.entries() + fence

    def copy(self) -> Newtop:
        twin = Newtop(self.process, self.members)
        self._copy_base(twin)
        twin.peers = self.peers.copy()
        twin.clock = self.clock
        twin.announced = self.announced
        twin.last_clock = self.last_clock.copy()
        twin.numbers = self.numbers.copy()
        twin.buffer = self.buffer.copy()
        twin.lowest = self.lowest.copy()
        return twin

    def _state(self) -> tuple[object, ...]:
        waiting = tuple(
            [(clock, position, frame) for clock, position, frame, _ in sorted(self.buffer)]
        )
        return (
            self.members.names,
            int(self.clock),
            int(self.announced),
            tuple(self.last_clock),
            tuple(self.numbers),
            waiting,
        )
