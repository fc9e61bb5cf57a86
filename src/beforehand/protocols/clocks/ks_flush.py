"""How `ks` goes on without a peer that is gone for good (not in the papers).

A message M to q names an older message Y to q, and does not name X, to q and older still: Y
already makes q wait for X. If Y came from a process d that has been dropped, Y is never delivered
at q, and nothing makes M wait for X any more. So a process that needs a message of d must not
simply go on when d is dropped: first there is a flush.

Each process that drops d reports to every other one how many messages it has sent to it so far, and the
number of the last of them. X was sent before its sender dropped d, since nothing sent later can
come before a message of d (`fence.py`). So when all have reported, and all those messages have been
*received* at q, X is here: delivered, or waiting. (To ask for its delivery would be a circle: it
may itself wait for d.) Then no process waits for d any more, but each waiting message waits for all
those that precede it and are here. What precedes what can be read off the logs: the newest entry of
each sender, which is never dropped, makes them vector clocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from mypy_extensions import i64

from beforehand.protocols.clocks.holdback import HoldBackQueue
from beforehand.protocols.effects import Wait
from beforehand.protocols.frames import Frame


@dataclass(frozen=True, eq=False, repr=False)
class KsFlush(Frame):
    """I have dropped `peer`. Before that I had sent you `count` messages, up to number `last`."""

    peer: str
    count: int
    last: int


class Flush:
    """What one process knows of the flushes that are not over, and the counts that they compare."""

    sent: dict[str, tuple[int, int]]  # receiver -> how many messages to it, number of the last
    delivered: dict[str, int]  # sender -> how many of its messages have been delivered
    reports: dict[str, dict[str, KsFlush]]  # dropped peer -> sender -> its report

    def __init__(self) -> None:
        self.sent = {}
        self.delivered = {}
        self.reports = {}

    def count_sent(self, receiver: str, number: i64) -> None:
        """A message was sent."""
        self.sent[receiver] = (self.sent.get(receiver, (0, 0))[0] + 1, int(number))

    def count_delivered(self, sender: str) -> None:
        """A message was delivered."""
        self.delivered[sender] = self.delivered.get(sender, 0) + 1

    def start(self, peer: str) -> None:
        """A peer was dropped; other reports may have come already."""
        self.reports.setdefault(peer, {})
        self.sent.pop(peer, None)
        self.delivered.pop(peer, None)

    def report_for(self, peer: str, receiver: str) -> KsFlush:
        """The report to a survivor: the messages that this process has sent to it."""
        count, last = self.sent.get(receiver, (0, 0))
        return KsFlush(peer, count, last)

    def waits(self, peer: str, survivors: list[str], queue: HoldBackQueue) -> list[Wait]:
        """What must come before the flush of a dropped peer is complete."""
        waits: list[Wait] = []
        reports = self.reports.get(peer, {})
        for name in survivors:
            report = reports.get(name)
            if report is None:
                waits.append(Wait("flush", name, 0))
            elif not self._received(name, report, queue):
                waits.append(Wait("message", name, int(report.last)))
        return waits

    def _received(self, sender: str, report: KsFlush, queue: HoldBackQueue) -> bool:
        """Whether all that the sender has reported is here, delivered or not."""
        here = self.delivered.get(sender, 0)
        for name, number in queue.messages:
            if name == sender and number <= report.last:
                here += 1
        return here >= report.count

    def integers(self) -> int:
        """Integers and identifiers held."""
        reports = sum([1 + 3 * len(reports) for reports in self.reports.values()])
        return 2 * len(self.sent) + len(self.delivered) + reports

    def copy(self) -> Flush:
        """An independent flush in the same state."""
        twin = Flush()
        twin.sent = self.sent.copy()
        twin.delivered = self.delivered.copy()
        twin.reports = {peer: reports.copy() for peer, reports in self.reports.items()}
        return twin

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for those that will behave alike."""
        entries: list[tuple[object, ...]] = []
        for peer in sorted(self.reports):
            reports = self.reports[peer]
            entries.append((peer, tuple([(name, reports[name]) for name in sorted(reports)])))
        return (
            tuple(sorted(self.sent.items())),
            tuple(sorted(self.delivered.items())),
            tuple(entries),
        )
