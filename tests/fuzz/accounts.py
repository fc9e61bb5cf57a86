"""The figures of a run once more, from its trace alone: each copy is followed event by event."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from beforehand.trace import Event

Name = tuple[str, int]  # a message: its sender and its number


@dataclass
class Copy:
    """One receiver's copy of a message: when what first happened to it."""

    sent: int
    to_itself: bool
    released: int | None = None
    arrived: int | None = None
    closed: bool = False


@dataclass
class Waiting:
    """A level over time."""

    value: int = 0
    since: int = 0
    area: int = 0
    peak: int = 0

    def change(self, by: int, now: int) -> None:
        """It rises or falls; what does not last is no peak."""
        if now > self.since:
            self.settle(now)
        self.value += by

    def settle(self, now: int) -> None:
        """Time has passed."""
        self.peak = max(self.peak, self.value)
        self.area += self.value * (now - self.since)
        self.since = now


@dataclass
class Accounts:
    """What a trace adds up to."""

    copies: dict[tuple[Name, str], Copy] = field(default_factory=dict)
    to: dict[Name, tuple[str, ...]] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)
    evicted: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    latencies: list[int] = field(default_factory=list)
    held_times: list[int] = field(default_factory=list)
    held: Waiting = field(default_factory=Waiting)
    buffered: Waiting = field(default_factory=Waiting)
    in_transit: Counter[str] = field(default_factory=Counter)
    most_in_transit: int = 0
    holds: Counter[tuple[str, Name, str]] = field(default_factory=Counter)
    busy: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    last: int = 0  # when something was last sent, released, received, delivered or signalled
    job: int = 0  # how long each delivery keeps its receiver busy
    relays: bool = False  # processes pass on the messages of others
    keeps_dropped: bool = False  # what had arrived from a dropped process is still delivered
    started: list[str] = field(default_factory=list)
    present: list[str] = field(default_factory=list)
    evictions: set[tuple[str, str | None]] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """One more event."""
        self.counts[event.kind] += 1
        if event.kind in ("start", "stop", "evict"):
            self._ends(event)
            return
        self.last = max(self.last, event.time_ns)
        if event.kind == "control":
            self._frame(event, at_sender=event.process == event.sender)
            return
        assert event.sender is not None and event.mid is not None
        getattr(self, f"_{event.kind}")(event, (event.sender, event.mid))

    def _frame(self, event: Event, at_sender: bool) -> None:
        where = "out" if at_sender else "in"
        if event.meta_bytes:
            self.counts[f"frames {where}"] += 1
        self.counts[f"metadata {where}"] += event.meta_bytes
        self.counts[f"payload {where}"] += event.payload_bytes
        if event.kind == "control" and at_sender:
            self.counts["control frames"] += 1

    def _send(self, event: Event, message: Name) -> None:
        assert self.busy[event.process] <= event.time_ns, "sent during a job"
        assert event.process not in self.stopped
        to = event.to
        if to is None:
            dropped = {peer for process, peer in self.evictions if process == event.process}
            known = self.present if self.relays else self.started
            to = tuple([name for name in known if name not in dropped])
        self.to[message] = to
        self.counts["copies"] += len(to)
        for name in to:
            copy = Copy(event.time_ns, name == event.process)
            self.copies[message, name] = copy
            self.held.change(not copy.to_itself, event.time_ns)
            if name in self.stopped:
                self._give_up(copy, event.process, event.time_ns)

    def _release(self, event: Event, message: Name) -> None:
        assert event.to
        self._frame(event, at_sender=True)
        if self.relays:
            self._let_go(event, message)
            return
        copy = self.copies[message, event.to[0]]
        if copy.released is not None or copy.closed:
            assert event.detail == "again" or copy.released is None
            copy.released = copy.released or event.time_ns
            return
        assert event.detail == ""
        copy.released = event.time_ns
        self.held.change(-1, event.time_ns)
        self.held_times.append(event.time_ns - copy.sent)
        self.in_transit[event.process] += 1
        self.most_in_transit = max(self.most_in_transit, self.in_transit[event.process])
        if event.time_ns > copy.sent:
            assert self.holds["at sender", message, event.to[0]] == 1

    def _let_go(self, event: Event, message: Name) -> None:
        """Where messages are passed on, the first release by the sender counts for all copies."""
        assert (event.detail == "relay") == (event.process != event.sender)
        for name in self.to[message] if event.process == event.sender else ():
            copy = self.copies[message, name]
            if copy.released is not None or copy.to_itself:
                continue
            copy.released = event.time_ns
            if copy.closed:
                continue
            self.held.change(-1, event.time_ns)
            self.held_times.append(event.time_ns - copy.sent)
            self.in_transit[event.process] += 1
            self.most_in_transit = max(self.most_in_transit, self.in_transit[event.process])

    def _receive(self, event: Event, message: Name) -> None:
        self._frame(event, at_sender=False)
        if self.relays and event.process not in self.to[message]:
            return
        copy = self.copies[message, event.process]
        if self.relays and copy.to_itself:
            assert event.detail == "again"
            return
        assert copy.released is not None and event.process not in self.stopped
        if copy.arrived is not None or copy.closed:
            assert event.detail == "again" or copy.arrived is None
            copy.arrived = copy.arrived or event.time_ns
            return
        assert event.detail == ""
        copy.arrived = event.time_ns
        self.in_transit[message[0]] -= 1
        self.buffered.change(1, event.time_ns)

    def _deliver(self, event: Event, message: Name) -> None:
        assert event.process not in self.stopped
        copy = self.copies[message, event.process]
        if copy.closed:
            self.counts["duplicates"] += 1
            return
        copy.closed = True
        if copy.arrived is not None:
            self.buffered.change(-1, event.time_ns)
            if event.time_ns > copy.arrived:
                assert self.holds["at receiver", message, event.process] == 1
        else:
            assert copy.to_itself
        self.latencies.append(event.time_ns - copy.sent)
        if self.job:
            start = max(self.busy[event.process], event.time_ns)
            self.counts["job starts"] += start
            self.busy[event.process] = start + self.job

    def _hold(self, event: Event, message: Name) -> None:
        assert event.to
        for name in event.to:
            self.holds[event.detail, message, name] += 1
            assert self.holds[event.detail, message, name] == 1, "began to wait twice"

    def _ends(self, event: Event) -> None:
        now = event.time_ns
        if event.kind == "evict":
            self.evictions.add((event.process, event.sender))
        if event.kind == "start":
            self.started.append(event.process)
            self.present.append(event.process)
        elif self.relays and event.kind == "evict":
            return  # what the dead had sent may yet be passed on
        elif event.kind == "evict" and event.sender not in self.evicted:
            assert event.sender is not None
            self.evicted.add(event.sender)
            self._give_up_all(
                now,
                lambda sender, _to, copy: (
                    sender == event.sender and not (self.keeps_dropped and copy.arrived is not None)
                ),
            )
        elif event.kind == "stop" and event.detail == "crashed":
            gone = event.process
            self.stopped.add(gone)
            self.present.remove(gone)
            self._give_up_all(
                now,
                lambda sender, to, copy: to == gone or (sender == gone and copy.released is None),
            )

    def _give_up_all(self, now: int, which: object) -> None:
        assert callable(which)
        for ((sender, _), to), copy in self.copies.items():
            if not copy.closed and which(sender, to, copy):
                self._give_up(copy, sender, now)

    def _give_up(self, copy: Copy, sender: str, now: int) -> None:
        copy.closed = True
        if copy.arrived is not None:
            self.buffered.change(-1, now)
        elif copy.released is not None:
            self.in_transit[sender] -= 1
        elif not copy.to_itself:
            self.held.change(-1, now)

    def undelivered(self) -> int:
        """Copies that are neither delivered nor given up, of senders that are alive."""
        return sum(
            not copy.closed
            for ((sender, _), _), copy in self.copies.items()
            if sender not in self.stopped
        )


def accounts(
    events: list[Event], job: int = 0, relays: bool = False, keeps_dropped: bool = False
) -> Accounts:
    """Add up a trace, in which every delivery starts a job of that length."""
    totals = Accounts(job=job, relays=relays, keeps_dropped=keeps_dropped)
    for event in events:
        totals.take(event)
    return totals
