"""The memory of links: of each delivered message, the links that will bring further copies.

Nédelec, Molli and Mostéfaoui keep for each link the set E of messages expected on it. Here it is the
other way round, for each message the links on which it is expected, so that one look-up decides
whether a copy is the first.

Invariant: `awaited[m]` is never empty, and names only incoming links that are in use.
"""

from __future__ import annotations

from collections.abc import Iterable

from beforehand.protocols.overlay.frames import RelayedId


class ExpectedCopies:
    """The copies that have yet to come to one process."""

    awaited: dict[RelayedId, set[str]]  # delivered message -> the links that will bring it again

    def __init__(self) -> None:
        self.awaited = {}

    def receive(self, relayed: RelayedId, sender: str, incoming: Iterable[str]) -> bool:
        """Take note of a copy; True if it is the first, which all other links will bring too."""
        links = self.awaited.get(relayed)
        if links is not None:
            links.discard(sender)
            if not links:
                del self.awaited[relayed]
            return False
        links = set(incoming)
        links.discard(sender)
        if links:
            self.awaited[relayed] = links
        return True

    def expect(self, relayed: RelayedId, sender: str) -> None:
        """A new link will bring a message that has been delivered already."""
        self.awaited.setdefault(relayed, set()).add(sender)

    def over(self, sender: str) -> set[RelayedId]:
        """The memory of one link: what has been delivered and will come over it."""
        return {relayed for relayed, links in self.awaited.items() if sender in links}

    def forget_link(self, sender: str) -> None:
        """A link is gone: no copy will come over it."""
        for relayed in self.over(sender):
            links = self.awaited[relayed]
            links.discard(sender)
            if not links:
                del self.awaited[relayed]

    def entries(self) -> int:
        """How many copies are expected."""
        return sum([len(links) for links in self.awaited.values()])

    def copy_into(self, twin: ExpectedCopies) -> None:
        """Give the memory of a new core this state."""
        twin.awaited = {relayed: links.copy() for relayed, links in self.awaited.items()}

    def fingerprint(self) -> tuple[object, ...]:
        """Equal exactly for equal memories."""
        return tuple(
            [(relayed, tuple(sorted(self.awaited[relayed]))) for relayed in sorted(self.awaited)]
        )
