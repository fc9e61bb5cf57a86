"""One incarnation of one other process, and the accounts between it and us.

Flow control is end to end and counts messages (and bytes) of each ordered pair: what `send` accepted
for a peer, less what the application over there has taken, never exceeds the window that the peer
granted. So one window bounds everything between the two applications: messages held by the core
here, in flight, early or waiting to be read there.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.runtime.link.link import Link

# The parts of a window after which the peer is told that it may go on.
CREDIT_STEPS: Final = 4


class Span:
    """Our messages `first` to `last`; to this peer they are the `place`-th and following ones."""

    first: i64
    last: i64
    place: i64

    def __init__(self, first: i64, last: i64, place: i64) -> None:
        self.first = first
        self.last = last
        self.place = place


class Peer:
    """What we know of a process under one incarnation; also of ourselves, without a link."""

    name: Final[str]  # what users call it
    process: Final[str]  # what the cores call it
    incarnation: Final[bytes]  # empty as long as it was never heard
    link: Link | None  # None: not connected yet, or oneself
    proven: bool  # it has shown that it holds the keys of the session
    gone: bool  # dropped: it is not heard and not sent to any more
    backlog: list[Frame]  # what the core sent it before there was a link
    # from us to it
    window: i64
    window_bytes: i64
    accepted: i64
    accepted_bytes: i64
    delivered: i64  # how many of those it has told us to have delivered,
    consumed: i64  # and how many its application has taken
    consumed_bytes: i64
    spans: deque[Span]  # which of our messages went to it, until they are delivered
    # from it to us
    got: i64  # delivered here,
    taken: i64  # and taken by the application
    taken_bytes: i64
    told_got: i64  # what it was told of these
    told_taken: i64
    told_bytes: i64
    owed: bool  # is in the engine's list of peers that are owed credit

    def __init__(self, name: str, process: str, incarnation: bytes = b"") -> None:
        self.name = name
        self.process = process
        self.incarnation = incarnation
        self.link = None
        self.proven = False
        self.gone = False
        self.backlog = []
        self.window = 0
        self.window_bytes = 0
        self.accepted = 0
        self.accepted_bytes = 0
        self.delivered = 0
        self.consumed = 0
        self.consumed_bytes = 0
        self.spans = deque()
        self.got = 0
        self.taken = 0
        self.taken_bytes = 0
        self.told_got = 0
        self.told_taken = 0
        self.told_bytes = 0
        self.owed = False

    def room(self, messages: i64, size: i64) -> bool:
        """May that much more be accepted?

        What is under way may be less than we know, by what the peer has not told yet. So if there is
        that little, a message larger than the window may go too.
        """
        waiting = self.accepted - self.consumed
        if waiting + messages > self.window:
            return False
        size_waiting = self.accepted_bytes - self.consumed_bytes
        if size_waiting + size <= self.window_bytes:
            return True
        return (
            waiting * CREDIT_STEPS < self.window and size_waiting * CREDIT_STEPS < self.window_bytes
        )

    def accept(self, messages: i64, size: i64) -> None:
        """`send` has taken them."""
        self.accepted += messages
        self.accepted_bytes += size

    def note(self, first: i64, count: i64) -> None:
        """The core numbered `count` accepted messages from `first` on."""
        last = first + count - 1
        if self.spans:
            newest = self.spans[-1]
            if newest.last + 1 == first:
                newest.last = last
                return
            place = newest.place + newest.last - newest.first + 1
        else:
            place = self.delivered + 1
        self.spans.append(Span(first, last, place))

    def place_of(self, number: i64) -> i64:
        """The how many-th of ours to it message `number` is; 0 if it is none, or was delivered."""
        for span in reversed(self.spans):  # those who ask have mostly just sent it
            if span.last < number:
                break
            if span.first <= number:
                return span.place + number - span.first
        return 0

    def credited(self, delivered: i64, consumed: i64, consumed_bytes: i64) -> bool:
        """It told us how far it is; False if it claims more than it can have."""
        if (
            delivered > self.accepted
            or consumed > delivered
            or consumed_bytes > self.accepted_bytes
        ):
            return False
        if delivered > self.delivered:
            self.delivered = delivered
            while self.spans:
                span = self.spans[0]
                if span.place + span.last - span.first > delivered:
                    break
                self.spans.popleft()
        if consumed > self.consumed:
            self.consumed = consumed
            self.consumed_bytes = consumed_bytes
        return True
