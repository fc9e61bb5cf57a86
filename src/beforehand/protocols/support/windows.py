"""The two ends of an ordered stream of frames over a network that loses, duplicates and reorders.

Frames of a stream have ids that grow, and each comes with the id of the one before it (0 for none),
so the receiver knows where it belongs. Early frames are kept, acks are cumulative, and what is not
acknowledged is retransmitted from time to time, the oldest first.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.frames import Frame

MAX_RESENT: Final = 64  # frames to one peer per tick: enough to make progress, too few to flood it
MAX_EARLY: Final = 4096  # frames kept from one peer; further ones count as lost


class Streamed:
    """A frame and its id in the stream. Immutable, so that copies may share it."""

    __slots__ = ("frame", "position", "previous", "since")
    position: Final[i64]
    previous: Final[i64]
    frame: Final[Frame]
    since: Final[i64]  # the caller's clock when it was sent or received

    def __init__(self, position: i64, previous: i64, frame: Frame, since: i64) -> None:
        self.position = position
        self.previous = previous
        self.frame = frame
        self.since = since


class SendWindow:
    """The sending end of a stream to one peer."""

    unacked: deque[Streamed]  # oldest first

    def __init__(self) -> None:
        self.last: i64 = 0  # id of the newest frame
        self.unacked = deque()

    def add(self, position: i64, frame: Frame, now: i64) -> None:
        """Append a frame, which goes out now."""
        self.unacked.append(Streamed(position, self.last, frame, now))
        self.last = position

    def check_ack(self, peer: str, upto: i64) -> None:
        """Raise RemoteProtocolError unless `upto` can be the id of a frame sent to the peer."""
        known = 1 <= upto <= self.last
        if known and self.unacked and upto > self.unacked[0].previous:
            for sent in self.unacked:
                if sent.position >= upto:
                    known = sent.position == upto
                    break
        if not known:
            raise RemoteProtocolError(peer, f"acknowledges {upto}, which was not sent to it")

    def acknowledge(self, upto: i64) -> None:
        """Everything up to this id has arrived."""
        while self.unacked and self.unacked[0].position <= upto:
            self.unacked.popleft()

    def to_resend(self) -> list[Frame]:
        """The oldest frames that may be lost."""
        return [sent.frame for sent in islice(self.unacked, MAX_RESENT)]

    def copy(self) -> SendWindow:
        """An independent window in the same state."""
        twin = SendWindow()
        twin.last = self.last
        twin.unacked = self.unacked.copy()
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for windows that will behave alike."""
        oldest = int(self.unacked[0].previous) if self.unacked else int(self.last)
        return (int(self.last), oldest, tuple([sent.frame for sent in self.unacked]))


class ReceiveWindow:
    """The receiving end of a stream from one peer."""

    early: dict[int, Streamed]  # by the id of the frame that must come before

    def __init__(self) -> None:
        self.last: i64 = 0  # id of the newest frame that was taken in its turn
        self.early = {}

    def check(self, peer: str, position: i64, previous: i64) -> None:
        """Raise RemoteProtocolError if this contradicts what the peer sent before."""
        if previous < 0 or position <= previous:
            raise RemoteProtocolError(peer, f"{position} cannot follow {previous}")
        if previous < self.last < position:
            raise RemoteProtocolError(peer, f"{position} skips {self.last}, which has come")
        known = self.early.get(int(previous))
        if known is not None and known.position != position:
            raise RemoteProtocolError(
                peer, f"{position} and {known.position} cannot both follow {previous}"
            )

    def keep(self, position: i64, previous: i64, frame: Frame, now: i64) -> None:
        """Keep a frame that has not been taken yet; only the next one is sure of being kept."""
        if previous == self.last or len(self.early) < MAX_EARLY:
            self.early[int(previous)] = Streamed(position, previous, frame, now)

    def follower(self) -> Streamed | None:
        """The next frame in order, if it has come; remove it with `take`."""
        return self.early.get(int(self.last))

    def take(self, position: i64) -> None:
        """The frame with this id was next, and has been used."""
        self.early.pop(int(self.last), None)
        self.last = position

    def sorted(self) -> list[Streamed]:
        """The frames that came too early, in their order."""
        return [self.early[previous] for previous in sorted(self.early)]

    def copy(self) -> ReceiveWindow:
        """An independent window in the same state."""
        twin = ReceiveWindow()
        twin.last = self.last
        twin.early = self.early.copy()
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for windows that will behave alike."""
        early = [(int(kept.position), int(kept.previous), kept.frame) for kept in self.sorted()]
        return (int(self.last), tuple(early))
