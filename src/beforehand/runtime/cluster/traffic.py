"""What a process of a cluster sends, and to whom: draws from its seed.

A part of the messages are reactions: they are sent right after a delivery, to a third process. That
process may be a receiver of what caused them too, or of something before it, and must not hear of
the effect first.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection
from typing import Final

REACTIONS: Final = 0.5  # of the deliveries cause a message, as long as there is something to send
MOST_REACTIONS: Final = 64  # that wait; older ones are worth more than younger ones
MULTICASTS: Final = 0.25  # of the messages, where the protocol has them
BROADCASTS: Final = 0.1  # of the messages, where the protocol has those and others
MOST_RECEIVERS: Final = 4
LONGEST_BURST: Final = 8


class Traffic:
    """The choices of one process."""

    def __init__(self, seed: int, casts: Collection[str]) -> None:
        self.reacted = 0
        self._random = random.Random(seed)
        self._casts = casts
        self._causes: deque[str] = deque()

    def delivered(self, sender: str) -> None:
        """A message of `sender` came: it may cause another."""
        if len(self._causes) < MOST_REACTIONS and self._random.random() < REACTIONS:
            self._causes.append(sender)

    def receivers(self, there: Collection[str]) -> str | tuple[str, ...] | None:
        """Whom the next message is for, out of those that are there; None is everybody."""
        cause = self._causes.popleft() if self._causes else None
        self.reacted += cause is not None
        draw = self._random.random()
        if "unicast" not in self._casts or ("broadcast" in self._casts and draw < BROADCASTS):
            return None
        others = sorted(there)
        if "multicast" in self._casts and draw > 1 - MULTICASTS and len(others) > 1:
            count = self._random.randint(2, min(MOST_RECEIVERS, len(others)))
            return tuple(self._random.sample(others, count))
        third = [name for name in others if name != cause] or others
        return self._random.choice(third)

    def burst(self) -> int:
        """How many messages to send before others have their turn."""
        return self._random.randint(1, LONGEST_BURST)


def payload_of(sender: str, number: int, size: int) -> bytes:
    """What message `number` of a process holds: its receivers know it too, and compare."""
    text = b"%b#%d " % (sender.encode(), number)
    return (text * (size // len(text) + 1))[:size]
