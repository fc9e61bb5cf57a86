"""Peers that are gone for good, and how the others learn of it (not in the papers).

To drop a peer d is to treat everything sent to it as acknowledged and everything it permitted as
permitted. That alone is not safe: if d is suspected wrongly and still alive, a third process that
knows of no drop may send it an effect whose cause was written off. Hence the fence: the process
never again accepts a frame from d nor sends to it, and whatever it transmits from then on carries
its drops, which the receiver applies *before* it uses the frame. So no process can act on something
that rests on a drop without having made the same drop itself.

Drops only ever grow, so each process keeps them as a log and sends each peer the part that the peer
has not confirmed: a `Fenced` frame brings `names` from position `start` of the sender's log, and
`confirmed`, how much of the receiver's log the sender has applied. Once both sides have confirmed,
frames travel bare again.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.frames import Envelope, Frame


class Fenced(Envelope):
    """A frame of any protocol, with the drops that its receiver may not know yet."""

    __slots__ = ("confirmed", "names", "start")
    start: Final[i64]
    names: Final[tuple[str, ...]]
    confirmed: Final[i64]

    def __init__(self, start: i64, names: tuple[str, ...], confirmed: i64, inner: Frame) -> None:
        super().__init__(inner)
        self.start = start
        self.names = names
        self.confirmed = confirmed

    def key(self) -> tuple[object, ...]:
        return (int(self.start), self.names, int(self.confirmed), self.inner)


class Fence:
    """The drops of one process, and which peers have confirmed them."""

    log: list[str]  # the dropped peers in the order in which this process dropped them
    known: set[str]  # the same, for look-up
    confirmed: dict[str, int]  # peer -> how much of `log` it has confirmed
    applied: dict[str, int]  # peer -> how much of its log has been applied here
    owing: set[str]  # peers that brought drops and have not been answered yet

    def __init__(self) -> None:
        self.log = []
        self.known = set()
        self.confirmed = {}
        self.applied = {}
        self.owing = set()

    def add(self, peer: str) -> bool:
        """Record a drop; False if it was known."""
        if peer in self.known:
            return False
        self.known.add(peer)
        self.log.append(peer)
        self.confirmed.pop(peer, None)
        self.applied.pop(peer, None)
        self.owing.discard(peer)
        return True

    def wrap(self, to: str, frame: Frame) -> Frame:
        """The frame, with whatever `to` has not confirmed."""
        start = self.confirmed.get(to, 0)
        if start == len(self.log) and to not in self.owing:
            return frame
        self.owing.discard(to)
        return Fenced(start, tuple(self.log[start:]), self.applied.get(to, 0), frame)

    def check(self, sender: str, frame: Fenced, me: str) -> None:
        """Raise RemoteProtocolError if no correct peer could report these drops."""
        if isinstance(frame.inner, Fenced):
            raise RemoteProtocolError(sender, "a fence inside a fence")
        if me in frame.names:
            raise RemoteProtocolError(
                sender, f"claims that {me} was dropped, yet still sends to it"
            )
        if sender in frame.names or "" in frame.names:
            raise RemoteProtocolError(sender, "names itself or an empty name as dropped")
        if frame.confirmed < 0 or frame.confirmed > len(self.log):
            raise RemoteProtocolError(
                sender, f"confirms {frame.confirmed} of {len(self.log)} drops"
            )
        applied = self.applied.get(sender, 0)
        if frame.start < 0 or frame.start > applied:
            raise RemoteProtocolError(
                sender, f"sends its drops from {frame.start} on, but only {applied} came before"
            )

    def merge(self, sender: str, frame: Fenced) -> list[str]:
        """Merge what `check` has passed; return the drops that are new."""
        if frame.confirmed > self.confirmed.get(sender, 0):
            self.confirmed[sender] = int(frame.confirmed)
        if frame.names:
            self.owing.add(sender)
            known = int(frame.start) + len(frame.names)
            self.applied[sender] = max(self.applied.get(sender, 0), known)
        return [name for name in frame.names if name not in self.known]

    def copy(self) -> Fence:
        """An independent fence in the same state."""
        twin = Fence()
        twin.log = self.log.copy()
        twin.known = self.known.copy()
        twin.confirmed = self.confirmed.copy()
        twin.applied = self.applied.copy()
        twin.owing = self.owing.copy()
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for fences that will wrap and judge alike."""
        return (
            tuple(self.log),
            tuple(sorted(self.confirmed.items())),
            tuple(sorted(self.applied.items())),
            tuple(sorted(self.owing)),
        )

    def integers(self) -> int:
        """Identifiers and integers held."""
        return len(self.log) + len(self.confirmed) + len(self.applied) + len(self.owing)
