"""The routing table of one process of a tree: its neighbours, and who is behind which of them.

Invariants, while no subtree moves:

- the neighbours are the parent and the children; every other process is behind exactly one of them,
  and `hop` returns that one;
- what comes from a neighbour was sent by a process behind it, and goes to nobody behind it.

During a slide the two ends of the new edge, and the old parent, see some names behind another neighbour
than before: `behind` takes the slide into account. Only a process whose tree has changed around it has a
table of its own; the others share one tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.tree.slide import MOVING, PASSED, READY, Slide
from beforehand.protocols.tree.topology import Tree

NO_NAMES: Final[frozenset[str]] = frozenset()


class Routes:
    """Where the frames of one process go, and where they may come from."""

    process: Final[str]
    tree: Final[Tree]  # as it was at the start
    position: Final[int]  # of this process in that tree
    parent: str  # empty for the root
    children: tuple[str, ...]  # sorted

    def __init__(self, process: str, tree: Tree) -> None:
        # Name -> the neighbour on the way; None: as in `tree`.
        self.table: dict[str, str] | None = None
        self.dropped: frozenset[str] = NO_NAMES  # no route leads to or through these any more
        self.process = process
        self.tree = tree
        self.position = tree.index[process]
        above = tree.parent(process)
        self.parent = "" if above == process else above
        self.children = tree.children(process)

    # ---- look-up ----

    def hop(self, name: str) -> str:
        """The neighbour on the way to a process of the tree; oneself for oneself."""
        if self.table is None:
            return self.tree.hop(self.position, self.tree.index[name])
        return self.table[name]

    def side(self, neighbour: str) -> list[str]:
        """Every process behind a neighbour, itself included, sorted."""
        return sorted([name for name in self.tree.names if self.hop(name) == neighbour])

    def behind(self, sender: str, name: str, slide: Slide | None) -> bool:
        """Whether what comes from `sender` may be sent by `name`, and so cannot go to it."""
        if slide is not None:
            if slide.phase == READY and sender == slide.mover:
                return name in slide.side
            if slide.phase == MOVING and sender == slide.old:
                return self.hop(name) == slide.new
        return self.hop(name) == sender

    def unreachable(self, name: str) -> bool:
        """Whether a process was dropped, or is behind one that was."""
        dropped = self.dropped
        return len(dropped) > 0 and (name in dropped or self.hop(name) in dropped)

    def leads_on(self, peer: str) -> bool:
        """Whether a peer is a neighbour with another process behind it."""
        if peer == self.process or self.hop(peer) != peer:
            return False
        for name in self.tree.names:
            if name != peer and name not in self.dropped and self.hop(name) == peer:
                return True
        return False

    def branches(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The names by the neighbour on their way; those that cannot be reached are left out."""
        branches: dict[str, list[str]] = {}
        for name in names:
            if not self.unreachable(name):
                branches.setdefault(self.hop(name), []).append(name)
        return branches

    # ---- changes ----

    def reroute(self, names: Iterable[str], neighbour: str) -> None:
        """From now on the way to these leads over another neighbour."""
        if self.table is None:
            self.table = {name: self.hop(name) for name in self.tree.names}
        for name in names:
            self.table[name] = neighbour

    def add_child(self, name: str) -> None:
        """A process hangs under this one from now on."""
        self.children = tuple(sorted([*self.children, name]))

    def remove_neighbour(self, name: str) -> None:
        """A process is no longer a neighbour."""
        if name == self.parent:
            self.parent = ""
        else:
            self.children = tuple([child for child in self.children if child != name])

    # ---- what cannot come ----

    def check_link(self, sender: str, slide: Slide | None) -> None:
        """Refuse a frame of a process that isn't a neighbour, or has sent its last frame."""
        if sender not in self.tree.index or not self.behind(sender, sender, slide):
            raise RemoteProtocolError(sender, f"isn't a neighbour of {self.process}")
        if slide is not None and slide.phase == PASSED and sender == slide.mover:
            raise RemoteProtocolError(sender, "sends a frame after its last one")

    def check_names(self, sender: str, names: tuple[str, ...]) -> None:
        """Refuse names that aren't in the tree, are repeated, or are out of order."""
        before = ""
        for name in names:
            if name not in self.tree.index:
                raise RemoteProtocolError(sender, f"{name!r} isn't in the tree")
            if name <= before:
                raise RemoteProtocolError(sender, f"{name!r} cannot come after {before!r}")
            before = name

    # ---- inspection ----

    def integers(self) -> int:
        """Its neighbours, and its own table if it has one; not the tree that all share."""
        return len(self.children) + (0 if self.table is None else len(self.table))

    def copy_into(self, twin: Routes) -> None:
        """Give the routes of a new core this state."""
        twin.parent = self.parent
        twin.children = self.children
        if self.table is not None:
            twin.table = self.table.copy()
        twin.dropped = self.dropped
