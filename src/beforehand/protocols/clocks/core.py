"""The common part of `rst`, `ks` and `vector`: a fixed membership and a hold-back queue.

A message that is received has an order among those of its sender, and needs: how far the deliveries from
other processes must have got (`holdback.py`). A protocol reads both off its frames, and updates its
clock with each delivery.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.clocks.holdback import FOREVER, HeldBack, HoldBackQueue
from beforehand.protocols.clocks.membership import Membership, Processes, membership_of
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Wait


class HoldBackCore(Core):
    """One process that holds messages back. Not to be instantiated itself."""

    members: Final[Membership]
    queue: HoldBackQueue  # progress: the order of the last message delivered from each peer

    def __init__(self, process: str, processes: Processes) -> None:
        super().__init__(process)
        self.members = membership_of(process, processes)
        self.queue = HoldBackQueue()

    def _learn(self, message: HeldBack) -> None:
        """Update the clock: the message is delivered now."""
        raise NotImplementedError

    def _check_receivers(self, receivers: Sequence[str]) -> None:
        self.members.check_receivers(self.process, receivers)

    def _deliver(self, ready: list[HeldBack], out: list[Effect]) -> None:
        """Deliver these, and whatever waited for nothing else."""
        for message in ready:  # the list grows meanwhile
            self._learn(message)
            frame = message.frame
            out.append(Deliver(message.sender, frame.number, frame.payload))
            ready.extend(self.queue.advance(message.sender, message.order))

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        self.queue.discard(peer)
        self._deliver(self.queue.advance(peer, FOREVER), out)

    # ---- inspection ----

    def held(self) -> list[Held]:
        held: list[Held] = []
        for message in self.queue.sorted():
            waits = tuple(self._waits(message))
            number = int(message.frame.number)
            held.append(Held(message.sender, number, (self.process,), int(message.since), waits))
        return held

    def _waits(self, message: HeldBack) -> list[Wait]:
        return [Wait("message", peer, order) for peer, order in self.queue.unmet(message.needs)]

    def _copy_base(self, twin: Core) -> None:
        super()._copy_base(twin)
        assert isinstance(twin, HoldBackCore)
        twin.queue = self.queue.copy()
