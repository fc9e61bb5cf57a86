"""The hold-back queue: where received messages wait for what must be delivered first.

What a message must wait for is a list of needs (peer, order): `progress[peer]` must have reached
`order`. Progress only grows, so a message is filed under its first unmet need only, in a heap by that
order, and checked again when that need is met: each need of each message is checked once.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.support.numbering import NumberedFrame

FOREVER: Final = 2**62  # the progress of a peer that is no longer waited for

Need = tuple[str, int]  # a peer, and how far its deliveries here must have got


class HeldBack:
    """A received message. Immutable, so that copies of a core may share it."""

    __slots__ = ("frame", "needs", "order", "sender", "since")
    sender: Final[str]
    order: Final[int]  # its position among the messages of that sender, in the protocol's own count
    frame: Final[NumberedFrame]
    needs: Final[list[Need]]
    since: Final[i64]

    def __init__(
        self, sender: str, order: int, frame: NumberedFrame, needs: list[Need], since: i64
    ) -> None:
        self.sender = sender
        self.order = order
        self.frame = frame
        self.needs = needs
        self.since = since


# Needed order, then what distinguishes two messages: a heap of these never compares messages.
Filed = tuple[int, str, int, HeldBack]


class HoldBackQueue:
    """The messages that wait at one process, and how far the deliveries from each peer have got."""

    progress: dict[str, int]  # peer -> how far; 0 if absent
    messages: dict[Need, HeldBack]  # by (sender, order)
    blocked: dict[str, list[Filed]]  # by the peer of the first unmet need: a heap

    def __init__(self) -> None:
        self.progress = {}
        self.messages = {}
        self.blocked = {}

    def unmet(self, needs: list[Need]) -> list[Need]:
        """Those needs that deliveries have not met yet."""
        return [need for need in needs if self.progress.get(need[0], 0) < need[1]]

    def admit(self, message: HeldBack) -> bool:
        """True if the message needs nothing more; otherwise it is kept."""
        for peer, order in message.needs:
            if self.progress.get(peer, 0) < order:
                self.messages[message.sender, message.order] = message
                filed = (order, message.sender, message.order, message)
                heappush(self.blocked.setdefault(peer, []), filed)
                return False
        return True

    def advance(self, peer: str, order: int) -> list[HeldBack]:
        """Deliveries from `peer` have got to `order`: the messages that need nothing more, in order.

        They leave the queue. Their order depends on what they are, not on when they came.
        """
        self.progress[peer] = order
        ready: list[HeldBack] = []
        heap = self.blocked.get(peer)
        while heap and heap[0][0] <= order:
            message = heappop(heap)[3]
            if self.admit(message):
                del self.messages[message.sender, message.order]
                ready.append(message)
        if not heap:
            self.blocked.pop(peer, None)
        if len(ready) > 1:
            ready.sort(key=_position)
        return ready

    def discard(self, peer: str) -> None:
        """Keep no message of `peer` any more."""
        for key in [key for key in self.messages if key[0] == peer]:
            del self.messages[key]
        for name in list(self.blocked):
            others = [filed for filed in self.blocked[name] if filed[1] != peer]
            heapify(others)
            self.blocked[name] = others
            if not others:
                del self.blocked[name]

    def clear(self) -> None:
        """Keep no message any more."""
        self.messages = {}
        self.blocked = {}

    def sorted(self) -> list[HeldBack]:
        """The messages that wait, by sender and order."""
        return [self.messages[key] for key in sorted(self.messages)]

    def copy(self) -> HoldBackQueue:
        """An independent queue in the same state."""
        twin = HoldBackQueue()
        twin.progress = self.progress.copy()
        twin.messages = self.messages.copy()
        twin.blocked = {peer: messages.copy() for peer, messages in self.blocked.items()}
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for queues that will behave alike: where a message is filed follows."""
        return (
            tuple(sorted(self.progress.items())),
            tuple([self._fingerprint(message) for message in self.sorted()]),
        )

    def _fingerprint(self, message: HeldBack) -> tuple[object, ...]:
        return (message.sender, message.frame, tuple(sorted(set(self.unmet(message.needs)))))


def _position(message: HeldBack) -> Need:
    return (message.sender, message.order)
