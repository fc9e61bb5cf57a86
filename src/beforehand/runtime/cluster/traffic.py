"""What a process of a cluster sends, and to whom: draws from its seed.

A part of the messages are reactions: they are sent right after a delivery, to a third process. That
process may be a receiver of what caused them too, or of something before it, and must not deliver
the effect first.
"""

import random
from collections import deque
from collections.abc import Collection
from typing import Final

REACTIONS: Final = 0.5  # share of deliveries that trigger a message, until all are sent
MAX_REACTIONS: Final = 64  # pending; further deliveries trigger nothing
MULTICASTS: Final = 0.25  # share of messages, if the protocol supports them
BROADCASTS: Final = 0.1  # share of messages, if the protocol supports them and others
MAX_RECEIVERS: Final = 4
LONGEST_BURST: Final = 8


class TrafficSource:
    """What one process sends, and to whom."""

    def __init__(self, seed: int, casts: Collection[str]) -> None:
        self.reacted = 0
        self._random = random.Random(seed)
        self._casts = casts
        self._causes: deque[str] = deque()

    def delivered(self, sender: str) -> None:
        """A message of `sender` was delivered: it may trigger another."""
        if len(self._causes) < MAX_REACTIONS and self._random.random() < REACTIONS:
            self._causes.append(sender)

    def receivers(self, connected: Collection[str]) -> str | tuple[str, ...] | None:
        """The receivers of the next message among connected peers; None for a broadcast."""
        cause = self._causes.popleft() if self._causes else None
        self.reacted += cause is not None
        draw = self._random.random()
        if "unicast" not in self._casts or ("broadcast" in self._casts and draw < BROADCASTS):
            return None
        others = sorted(connected)
        if "multicast" in self._casts and draw > 1 - MULTICASTS and len(others) > 1:
            count = self._random.randint(2, min(MAX_RECEIVERS, len(others)))
            return tuple(self._random.sample(others, count))
        third = [name for name in others if name != cause] or others
        return self._random.choice(third)

    def burst(self) -> int:
        """How many messages to send before yielding."""
        return self._random.randint(1, LONGEST_BURST)


def payload_of(sender: str, number: int, size: int) -> bytes:
    """The expected content of message `number`, which receivers verify."""
    text = b"%b#%d " % (sender.encode(), number)
    return (text * (size // len(text) + 1))[:size]
