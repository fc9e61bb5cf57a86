"""`link-memory`: causal broadcast that forgets (Nédelec, Molli and Mostéfaoui 2018, Algorithm 1).

Every process passes each message on once, over all of its links. So a process gets each message exactly
once over each link that leads to it, and after the first copy it knows which others are to come: the
*memory* of those links. A copy that comes over a link that remembers it is not news. At the last copy
nothing is left of the message, anywhere. Since links are FIFO and a message is passed on before
anything that its delivery causes, messages come in causal order, with nothing in them but their name.

That holds while the links stay as they are. A link that is opened has no memory: what its two ends have
delivered by then comes too late or not at all, and figure 2 of the paper, where a message is delivered
twice, is what happens. `prc` is the remedy; here a link is used at once, to show why.

The paper keeps for each link the set of messages expected on it. Here it is the other way round, for
each message the links on which it is expected: then one look-up tells whether a copy is news.

Invariant: `awaited[m]` is never empty, and names links of `incoming` only.
"""

from __future__ import annotations

from collections.abc import Iterable

from mypy_extensions import i64

from beforehand.protocols.clocks.membership import Membership
from beforehand.protocols.effects import Deliver, Effect, Safe, Transmit
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.core import Overlay
from beforehand.protocols.overlay.frames import Broadcast, Linked, Relayed, RelayedId, Route
from beforehand.protocols.overlay.links import TAKING_PART


class LinkMemory(Overlay):
    """One process of an overlay that should not change."""

    awaited: dict[RelayedId, set[str]]  # delivered messages -> the links that will bring them again

    def __init__(
        self,
        process: str,
        links: Iterable[object] = (),
        processes: Membership | Iterable[str] | None = None,
    ) -> None:
        super().__init__(process, links, processes)
        self.awaited = {}

    def expected(self, peer: str) -> set[RelayedId]:
        """The memory of the link from a peer: what has been delivered and will come over it."""
        return {relayed for relayed, links in self.awaited.items() if peer in links}

    # ---- messages ----

    def _first(self, frame: Relayed, sender: str, now: i64, out: list[Effect]) -> None:
        if sender and sender not in self.incoming:
            self.ignored += 1
            return
        links = self.awaited.get(frame.id)
        if links is not None:
            links.discard(sender)
            if not links:
                del self.awaited[frame.id]
            return
        links = set(self.incoming)
        links.discard(sender)
        if links:
            self.awaited[frame.id] = links
        # Before the delivery: what that causes must come after it on every link.
        self._pass_on(frame, out)
        self._deliver(frame, out)

    def _deliver(self, frame: Relayed, out: list[Effect]) -> None:
        assert isinstance(frame, Broadcast)
        out.append(Deliver(frame.source, frame.number, frame.payload))

    def _forget_incoming(self, peer: str) -> None:
        for relayed in self.expected(peer):
            links = self.awaited[relayed]
            links.discard(peer)
            if not links:
                del self.awaited[relayed]

    # ---- links ----

    def _open(self, peer: str, e: i64, there: Route, back: Route, out: list[Effect]) -> None:
        self.out[peer] = int(e)
        out.append(Transmit(peer, Linked(e)))
        out.append(Safe(peer))

    def _speaks(self, frame: Frame) -> bool:
        return isinstance(frame, Linked)

    def _signal(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, Linked) and sender not in self.incoming:
            self.incoming[sender] = int(frame.e)
            self.stage = TAKING_PART
        else:
            self.ignored += 1

    # ---- looking inside ----

    def entries(self) -> int:
        return sum([len(links) for links in self.awaited.values()])

    def copy(self) -> LinkMemory:
        twin = LinkMemory(self.process, (), self.members)
        self._copy_memory(twin)
        return twin

    def _copy_memory(self, twin: LinkMemory) -> None:
        self._copy_links(twin)
        twin.awaited = {relayed: links.copy() for relayed, links in self.awaited.items()}

    def _state(self) -> tuple[object, ...]:
        memory = [(each, tuple(sorted(self.awaited[each]))) for each in sorted(self.awaited)]
        return (self._links_state(), tuple(memory))
