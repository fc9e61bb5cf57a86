"""How `ks` goes on without a peer that is gone for ever (not in the papers).

A message M to q names an older message Y to q, and says nothing of X, to q and older still: Y
already makes q wait for X. If Y came from a process d that has been dropped, Y is never delivered
at q, and nothing is left that makes M wait for X. So whoever needs a message of d must not simply
go on when d is dropped: first there is a flush.

Each process that drops d tells every other one how many messages it has sent to it so far, and the
number of the last of them. X was sent before its sender dropped d, since nothing sent later can
come before a message of d (`fence.py`). So when everybody has spoken, and all those messages have been
*received* at q, X is here: delivered, or waiting. (To ask for its delivery would be a circle: it
may itself wait for d.) Then nobody waits for d any more, but each waiting message waits for all
those that precede it and are here. What precedes what can be read off the logs: the newest entry of
each sender, which is never dropped, makes them vector clocks.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.clocks.waiting_room import WaitingRoom
from beforehand.protocols.effects import Wait
from beforehand.protocols.frames import Frame


class KsFlush(Frame):
    """I have dropped `peer`. Before that I had sent you `count` messages, up to number `last`."""

    __slots__ = ("count", "last", "peer")
    peer: Final[str]
    count: Final[i64]
    last: Final[i64]

    def __init__(self, peer: str, count: i64, last: i64) -> None:
        self.peer = peer
        self.count = count
        self.last = last

    def key(self) -> tuple[object, ...]:
        return (self.peer, int(self.count), int(self.last))


class Flush:
    """What one process knows of the flushes that are not over, and the counts that they compare."""

    sent: dict[str, tuple[int, int]]  # receiver -> how many messages to it, number of the last
    delivered: dict[str, int]  # sender -> how many of its messages have been delivered
    spoken: dict[str, dict[str, KsFlush]]  # dropped peer -> who has spoken -> what it said

    def __init__(self) -> None:
        self.sent = {}
        self.delivered = {}
        self.spoken = {}

    def note_sent(self, receiver: str, number: i64) -> None:
        """A message was sent."""
        self.sent[receiver] = (self.sent.get(receiver, (0, 0))[0] + 1, int(number))

    def note_delivered(self, sender: str) -> None:
        """A message was delivered."""
        self.delivered[sender] = self.delivered.get(sender, 0) + 1

    def start(self, peer: str) -> None:
        """A peer was dropped; somebody may have spoken already."""
        self.spoken.setdefault(peer, {})
        self.sent.pop(peer, None)
        self.delivered.pop(peer, None)

    def say(self, peer: str, receiver: str) -> KsFlush:
        """What to tell a survivor about one's own messages."""
        count, last = self.sent.get(receiver, (0, 0))
        return KsFlush(peer, count, last)

    def waits(self, peer: str, survivors: list[str], room: WaitingRoom) -> list[Wait]:
        """What must come before nobody waits for a dropped peer any more."""
        waits: list[Wait] = []
        spoken = self.spoken.get(peer, {})
        for name in survivors:
            said = spoken.get(name)
            if said is None:
                waits.append(Wait("flush", name, 0))
            elif not self._received(name, said, room):
                waits.append(Wait("message", name, int(said.last)))
        return waits

    def _received(self, sender: str, said: KsFlush, room: WaitingRoom) -> bool:
        """Whether all that the sender has spoken of is here, delivered or not."""
        here = self.delivered.get(sender, 0)
        for name, number in room.messages:
            if name == sender and number <= said.last:
                here += 1
        return here >= said.count

    def integers(self) -> int:
        """Integers and identifiers held."""
        total = 2 * len(self.sent) + len(self.delivered)
        for said in self.spoken.values():
            total += 1 + 3 * len(said)
        return total

    def copy(self) -> Flush:
        """An independent flush in the same state."""
        twin = Flush()
        twin.sent = self.sent.copy()
        twin.delivered = self.delivered.copy()
        twin.spoken = {peer: said.copy() for peer, said in self.spoken.items()}
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for those that will behave alike."""
        spoken: list[tuple[object, ...]] = []
        for peer in sorted(self.spoken):
            said = self.spoken[peer]
            spoken.append((peer, tuple([(name, said[name]) for name in sorted(said)])))
        return (
            tuple(sorted(self.sent.items())),
            tuple(sorted(self.delivered.items())),
            tuple(spoken),
        )
