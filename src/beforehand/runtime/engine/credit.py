"""The credit accounts between this process and one peer, one for each direction.

Flow control is end to end and counts messages (and bytes) of each ordered pair: the messages accepted
for a peer minus those its application has consumed never exceed the window the peer granted. So one
window bounds everything between the two applications: messages held by the core here, in flight, out
of order or unread over there.
"""

from collections import deque
from typing import Final

from mypy_extensions import i64

CREDIT_STEPS: Final = 4  # a receiver reports its progress at least once per this part of a window


class Span:
    """Our messages `first` to `last`; among those to this peer, `first` is the `position`-th."""

    def __init__(self, first: i64, last: i64, position: i64) -> None:
        self.first = first
        self.last = last
        self.position = position


class SendCredit:
    """What was accepted for the peer, and how far the peer has reported to be with it."""

    def __init__(self, window: i64, window_bytes: i64) -> None:
        self.accepted: i64 = 0
        self.accepted_bytes: i64 = 0
        self.delivered: i64 = 0  # how many of the accepted messages the peer has delivered,
        self.consumed: i64 = 0  # and how many its application has taken
        self.consumed_bytes: i64 = 0
        self.window = window  # granted by the peer; 0 until there is a session
        self.window_bytes = window_bytes
        self.spans: deque[Span] = (
            deque()
        )  # our messages to the peer, until it reports their delivery

    def has_room(self, messages: i64, size: i64) -> bool:
        """Whether this many more messages and bytes may be accepted.

        Less may be outstanding than we know, by what the peer has not reported yet. So while less
        than one report is outstanding, a message larger than the whole window may go too.
        """
        outstanding = self.accepted - self.consumed
        if outstanding + messages > self.window:
            return False
        outstanding_bytes = self.accepted_bytes - self.consumed_bytes
        if outstanding_bytes + size <= self.window_bytes:
            return True
        return (
            outstanding * CREDIT_STEPS < self.window
            and outstanding_bytes * CREDIT_STEPS < self.window_bytes
        )

    def accept(self, messages: i64, size: i64) -> None:
        """Charge the account."""
        self.accepted += messages
        self.accepted_bytes += size

    def assign_numbers(self, first: i64, count: i64) -> None:
        """The next `count` accepted messages got the numbers from `first` on."""
        last = first + count - 1
        if self.spans:
            newest = self.spans[-1]
            if newest.last + 1 == first:
                newest.last = last
                return
            position = newest.position + newest.last - newest.first + 1
        else:
            position = self.delivered + 1
        self.spans.append(Span(first, last, position))

    def position_of(self, number: i64) -> i64:
        """The position of our message `number` among those to the peer; 0 if delivered, or not to it."""
        for span in reversed(self.spans):  # callers have mostly just sent the message
            if span.last < number:
                break
            if span.first <= number:
                return span.position + number - span.first
        return 0

    def credit(self, delivered: i64, consumed: i64, consumed_bytes: i64) -> bool:
        """Take a report of the peer; False if it claims more than was ever accepted for it."""
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
                if span.position + span.last - span.first > delivered:
                    break
                self.spans.popleft()
        if consumed > self.consumed:
            self.consumed = consumed
            self.consumed_bytes = consumed_bytes
        return True


class ReceiveCredit:
    """What of the peer's messages was delivered and consumed here, and what of that it knows."""

    def __init__(self) -> None:
        self.delivered: i64 = 0
        self.consumed: i64 = 0  # taken by the application
        self.consumed_bytes: i64 = 0
        self._reported_delivered: i64 = 0
        self._reported_consumed: i64 = 0
        self._reported_bytes: i64 = 0

    def consume(self, messages: i64, size: i64) -> None:
        """The application took messages of the peer."""
        self.consumed += messages
        self.consumed_bytes += size

    def worth_reporting(self, window: i64, window_bytes: i64) -> bool:
        """Whether the peer waits for this report: of a delivery, or of a part of its window."""
        return (
            self.delivered != self._reported_delivered
            or (self.consumed - self._reported_consumed) * CREDIT_STEPS >= window
            or (self.consumed_bytes - self._reported_bytes) * CREDIT_STEPS >= window_bytes
        )

    def mark_reported(self) -> None:
        """The peer is being sent the current figures."""
        self._reported_delivered = self.delivered
        self._reported_consumed = self.consumed
        self._reported_bytes = self.consumed_bytes
