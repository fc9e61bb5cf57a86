"""`vector`: vector clocks, for broadcasts (Birman, Schiper and Stephenson 1991).

Everybody counts how many messages of each process it has delivered, its own sends included. A
broadcast carries these counts, itself among them: they name exactly what precedes it. Its receiver
delivers it as the next message of its sender, once it has delivered as many of everybody else.

Releases at once, needs no order of the network and no acknowledgements, and delivers as early as
any protocol can. The price is n integers in each message and, permanently, in each process.

A peer that is gone for good is no longer waited for, and what had come from it and still waits is
discarded. That alone is safe here: the counts of a message name *all* that precedes it, so a message
that follows a lost one of the dropped peer still waits for whatever came before that one.

Invariants:

- `clock[k]` messages of k have been delivered here, numbers 1 to `clock[k]`; those of the process
  itself are delivered at their send, so its own count is `sent`;
- `queue.progress[k]` is the same number where it is not 0, or FOREVER once k has been dropped. The
  clock itself stays where it was: it is only ever sent to processes that have made the same drop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.clocks.core import HoldBackCore
from beforehand.protocols.clocks.holdback import HeldBack, Need
from beforehand.protocols.clocks.membership import Processes
from beforehand.protocols.effects import Deliver, Effect
from beforehand.protocols.frames import Frame
from beforehand.protocols.support.numbering import NumberedFrame, foreign

Counts = tuple[int, ...]  # by position in the membership


class VectorMessage(NumberedFrame):
    """A message, and the sender's clock with this send counted."""

    __slots__ = ("clock",)
    clock: Final[Counts]

    def __init__(self, number: i64, clock: Counts, payload: bytes) -> None:
        super().__init__(number, payload)
        self.clock = clock

    def key(self) -> tuple[object, ...]:
        return (int(self.number), self.clock, self.payload)


class Vector(HoldBackCore):
    """One process of the vector protocol."""

    me: Final[int]  # the position of this process
    peers: list[str]  # to whom a broadcast goes: all others that have not been dropped
    clock: list[int]

    def __init__(self, process: str, processes: Processes) -> None:
        super().__init__(process, processes)
        self.me = self.members.index[process]
        self.peers = self.members.others(process)
        self.clock = [0] * len(self.members)

    # ---- sending ----

    def _check_receivers(self, receivers: Sequence[str]) -> None:
        raise self._only_broadcasts()

    def _broadcast(self, payloads: list[bytes], now: i64, out: list[Effect]) -> None:
        for payload in payloads:
            self.sent += 1
            self.clock[self.me] = int(self.sent)
            frame = VectorMessage(self.sent, tuple(self.clock), payload)
            for peer in self.peers:
                self._transmit(out, peer, frame)
            out.append(Deliver(self.process, self.sent, payload))

    # ---- receiving ----

    def _check(self, sender: str, frame: Frame) -> None:
        if not isinstance(frame, VectorMessage):
            raise foreign(sender, frame, "vector")
        if sender not in self.members.index:
            raise RemoteProtocolError(sender, "is not among the processes")
        clock = frame.clock
        if len(clock) != len(self.members):
            raise RemoteProtocolError(sender, f"a clock of {len(clock)}, not {len(self.members)}")
        if min(clock) < 0:
            raise RemoteProtocolError(sender, "a clock with a negative count")
        number = int(frame.number)
        counted = clock[self.members.index[sender]]
        if number < 1 or number != counted:
            raise RemoteProtocolError(sender, f"message {number} counts itself as {counted}")
        if clock[self.me] > self.sent:
            raise RemoteProtocolError(
                sender,
                f"knows of {clock[self.me]} messages from {self.process}, of which there are "
                f"{self.sent}",
            )
        if number <= self.queue.progress.get(sender, 0) or (sender, number) in self.queue.messages:
            raise RemoteProtocolError(sender, f"message {number} came a second time")

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        assert isinstance(frame, VectorMessage)
        message = HeldBack(sender, int(frame.number), frame, self._needs(sender, frame.clock), now)
        if self.queue.admit(message):
            self._deliver([message], out)

    def _needs(self, sender: str, theirs: Counts) -> list[Need]:
        """From whom more must be delivered first, and up to which number."""
        needs: list[Need] = []
        mine = self.clock
        for position in range(len(mine)):
            count = theirs[position]
            if count > mine[position]:
                name = self.members.names[position]
                if name == sender:
                    count -= 1  # its last count is the message itself
                if count > self.queue.progress.get(name, 0):
                    needs.append((name, count))
        return needs

    def _learn(self, message: HeldBack) -> None:
        self.clock[self.members.index[message.sender]] = message.order

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        if peer not in self.members.index:
            return
        self.peers = [name for name in self.peers if name != peer]
        super()._drop(peer, now, out)

    # ---- inspection ----

    def entries(self) -> int:
        """A clock counts messages, so its n integers are never given back."""
        return len(self.members) * (1 + len(self.queue.messages))

    def integers(self) -> int:
        fence = 0 if self.fence is None else self.fence.integers()
        return 1 + self.entries() + fence

    def copy(self) -> Vector:
        twin = Vector(self.process, self.members)
        self._copy_base(twin)
        twin.peers = self.peers.copy()
        twin.clock = self.clock.copy()
        return twin

    def _state(self) -> tuple[object, ...]:
        return (self.members.names, tuple(self.clock), self.queue.fingerprint())
