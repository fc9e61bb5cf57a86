"""The dependency log of `ks`: which messages may still be missing where.

A log has entries (sender, clock, destinations): that message of that sender precedes whatever
is sent from here, and it is not known here that it has been delivered, or will be before anything
sent later, at these destinations. All pruning of the protocol happens here.

An entry without destinations is dropped only if a newer one of the same sender is there: the newest
entry of a sender also means "and of all its older messages, nothing else is missing".
"""

from __future__ import annotations

Destinations = frozenset[str]
Entry = tuple[str, int, Destinations]


class DependencyLog:
    """Entries by sender and clock."""

    entries: dict[str, dict[int, Destinations]]

    def __init__(self) -> None:
        self.entries = {}

    def add(self, sender: str, clock: int, destinations: Destinations) -> None:
        """Put an entry in; the sender's empty older ones have served."""
        if sender in self.entries:
            self.entries[sender][clock] = destinations
            self.entries[sender] = _purged(self.entries[sender])
        else:
            self.entries[sender] = {clock: destinations}

    def without(self, destinations: Destinations) -> DependencyLog:
        """A new log without these destinations."""
        fresh = DependencyLog()
        for sender, clocks in self.entries.items():
            fresh.entries[sender] = _purged({at: to - destinations for at, to in clocks.items()})
        return fresh

    def merge(self, other: DependencyLog) -> None:
        """Know what both know: where one has seen further, what only the other has is obsolete."""
        for sender, theirs in other.entries.items():
            if sender in self.entries:
                self.entries[sender] = _merged(self.entries[sender], theirs)
            else:
                self.entries[sender] = theirs.copy()

    def listed(self) -> tuple[Entry, ...]:
        """The entries in a canonical order."""
        entries: list[Entry] = []
        for sender in sorted(self.entries):
            clocks = self.entries[sender]
            for clock in sorted(clocks):
                entries.append((sender, clock, clocks[clock]))
        return tuple(entries)

    def copy(self) -> DependencyLog:
        """An independent log in the same state."""
        twin = DependencyLog()
        twin.entries = {sender: clocks.copy() for sender, clocks in self.entries.items()}
        return twin


def log_of(entries: tuple[Entry, ...]) -> DependencyLog:
    """The log with these entries."""
    log = DependencyLog()
    for sender, clock, destinations in entries:
        log.entries.setdefault(sender, {})[clock] = destinations
    return log


def identifiers(entries: tuple[Entry, ...]) -> int:
    """How many integers and identifiers the entries take."""
    return sum([2 + len(destinations) for _, _, destinations in entries])


def _merged(
    mine: dict[int, Destinations], theirs: dict[int, Destinations]
) -> dict[int, Destinations]:
    """One sender's entries of two logs; what is obsolete is decided by both as they were."""
    my_newest = max(mine)
    their_newest = max(theirs)
    united: dict[int, Destinations] = {}
    for clock, destinations in mine.items():
        if clock in theirs:
            united[clock] = destinations & theirs[clock]
        elif clock > their_newest:
            united[clock] = destinations
    for clock, destinations in theirs.items():
        if clock not in mine and clock > my_newest:
            united[clock] = destinations
    return _purged(united)


def _purged(clocks: dict[int, Destinations]) -> dict[int, Destinations]:
    newest = max(clocks)
    return {at: to for at, to in clocks.items() if to or at == newest}
