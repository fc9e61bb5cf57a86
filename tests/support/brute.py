"""Sender permission to send by brute force: what may go, what is flagged, what is permitted.

One `BruteForce` follows one process. It keeps everything that ever happened there as plain sets and,
after each event, rescans all of it with Almeida's definitions (4.1 for SPS, 4.3 for CSPS),
message by message: no windows, no positions, no runs for SPS. Nothing of it is shared with the cores.

CSPS is judged with a run as one message (ALGORITHMS: a run's own older members need no permit, by
SPS), so for that rule alone the runs are derived here, from their definition.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Copy = tuple[int, str]  # (message id, receiver)


@dataclass
class Sent:
    """A causal-sent message: its receivers and what had to be permitted when it was sent."""

    receivers: tuple[str, ...]
    depends: frozenset[tuple[str, int]]  # (sender, id) of delivered messages without permit then
    run: int  # the id of the first message of its run


@dataclass
class BruteForce:
    """Everything that happened at one process, and what follows from it."""

    rule: str  # "sps" or "csps"
    sent: dict[int, Sent] = field(default_factory=dict)
    acked: set[Copy] = field(default_factory=set)
    released: dict[Copy, bool] = field(default_factory=dict)  # -> flagged
    granted: set[Copy] = field(default_factory=set)
    missing: set[tuple[str, int]] = field(default_factory=set)
    permits: dict[str, int] = field(default_factory=dict)
    disturbed: bool = False  # something that needs a permit was delivered since the last send

    # ---- events ----

    def causal_send(self, receivers: list[str], count: int) -> None:
        """`count` messages in one call."""
        to = tuple(sorted(receivers))
        for _ in range(count):
            mid = len(self.sent) + 1
            run = mid
            before = self.sent.get(mid - 1)
            if before is not None and before.receivers == to and not self.disturbed:
                run = before.run
            self.sent[mid] = Sent(to, frozenset(self.missing), run)
            self.disturbed = False
        self._rescan()

    def delivered(self, sender: str, mid: int, flagged: bool) -> None:
        """A message was delivered here."""
        if flagged and mid > self.permits.get(sender, 0):
            self.missing.add((sender, mid))
            self.disturbed = True

    def ack(self, peer: str, upto: int) -> None:
        """Cumulative: everything to `peer` up to that id was delivered."""
        self.acked |= {
            (mid, peer) for mid, m in self.sent.items() if mid <= upto and peer in m.receivers
        }
        self._rescan()

    def permit(self, peer: str, upto: int) -> None:
        """Cumulative: everything from `peer` up to that id is permitted."""
        self.permits[peer] = max(self.permits.get(peer, 0), upto)
        self.missing = {(k, mid) for k, mid in self.missing if mid > self.permits.get(k, 0)}
        self._rescan()

    # ---- what follows ----

    def open(self) -> set[Copy]:
        """Copies that are not known to be delivered, released or not."""
        return {(mid, j) for mid, m in self.sent.items() for j in m.receivers} - self.acked

    def due(self, mid: int, receiver: str) -> bool:
        """Would a permit for this copy be due now?"""
        if self.rule == "sps":
            return not any(x <= mid and q != receiver for x, q in self.open())
        run = self.sent[mid].run
        return not any(
            x <= mid and (self.sent[x].run != run or q != receiver) for x, q in self.open()
        )

    def may_go(self, mid: int, receiver: str) -> bool:
        """Does the rule allow this copy to be released now?"""
        depends = self.sent[mid].depends & self.missing
        if self.rule == "sps":
            return all(sender == receiver for sender, _ in depends)
        earlier = [(x, j) for x in range(1, mid) for j in self.sent[x].receivers]
        return not depends and all(copy in self.released for copy in earlier)

    def _rescan(self) -> None:
        for mid in sorted(self.sent):
            for receiver in self.sent[mid].receivers:
                copy = (mid, receiver)
                if copy not in self.released and self.may_go(mid, receiver):
                    self.released[copy] = not self.due(mid, receiver)
                if self.released.get(copy) and self.due(mid, receiver):
                    self.granted.add(copy)
