"""What a protocol stands on: the overlay of a scenario at the start, and how it is to change."""

from __future__ import annotations

from functools import cached_property

from beforehand.errors import ScenarioError
from beforehand.protocols import Capabilities, Tree
from beforehand.simulator.overlays import churn as changes
from beforehand.simulator.overlays.churn import Churn
from beforehand.simulator.overlays.dynamics import Overlay
from beforehand.simulator.overlays.layouts import Layout, lay_out
from beforehand.simulator.world.random_streams import Stream

Timed = tuple[str, str]  # a kind of change, and when to whom, as people write it


class Ground:
    """For a protocol without an overlay it is even: everybody reaches everybody."""

    def __init__(
        self,
        protocol: Capabilities,
        names: list[str],
        overlay: str | None,
        churn: Churn,
        timed: list[Timed],
        seed: int,
    ) -> None:
        self.protocol = protocol
        self.names = names  # newcomers at the end
        self.founders = len(names) - churn.newcomers
        self.name = overlay or ("tree" if protocol.overlay == "tree" else "random")
        self.churn = churn
        self.timed = timed
        self.seed = seed
        self._check()

    def _check(self) -> None:
        kinds = {kind for kind, _ in self.timed}
        name, needs = self.protocol.name, self.protocol.overlay
        if needs != "links" and (self.churn.anybody() or kinds & {"open", "close"}):
            raise ScenarioError(
                f"{name} has no links that come and go; leave out churn, opens and closes, or choose a "
                "protocol whose overlay is links"
            )
        if needs != "tree" and "reparent" in kinds:
            raise ScenarioError(f"{name} has no tree; leave out reparents")

    @cached_property
    def layout(self) -> Layout | None:
        """The overlay at the start; None if the protocol has none."""
        if self.protocol.overlay == "none":
            return None
        layout = lay_out(self.name, self.names[: self.founders], self.seed)
        if self.protocol.overlay == "tree" and not layout.parents and self.founders > 1:
            raise ScenarioError(
                f"{self.protocol.name} runs on a tree, not on {self.name!r}; give the overlay tree, "
                "tree:ARITY or tree:child=parent,..."
            )
        if self.churn.anybody() and not layout.views:
            raise ScenarioError("churn needs an overlay whose links go both ways; choose another")
        return layout

    @cached_property
    def parents(self) -> dict[str, str]:
        """For protocols that run on a tree: child -> parent."""
        if self.layout is None or self.protocol.overlay != "tree":
            return {}
        names = self.names
        parents = {names[child]: names[parent] for child, parent in self.layout.parents.items()}
        return parents or {names[0]: names[0]}

    @cached_property
    def tree(self) -> Tree | None:
        """The same, checked once for all."""
        return Tree(self.parents) if self.parents else None

    def links(self, name: str) -> list[tuple[str, str]]:
        """The links of a process at the start, in both directions."""
        place = self._places[name]
        if self.layout is None or place >= self.founders:
            return []
        out = [(name, self.names[peer]) for peer in self.layout.links[place]]
        return out + [(self.names[peer], name) for peer in self._incoming[place]]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _incoming(self) -> list[list[int]]:
        """Where links come from, by the place where they lead."""
        found: list[list[int]] = [[] for _ in self.names]
        for place, links in enumerate([] if self.layout is None else self.layout.links):
            for peer in links:
                found[peer].append(place)
        return found

    def inner(self) -> set[str]:
        """Of a tree: who has somebody below it, or will have."""
        targets = [text.partition(">")[2].rpartition("@")[0] for _, text in self.timed]
        return {*self.parents.values(), *targets} if self.parents else set()

    def overlay(self, notice: int) -> Overlay | None:
        """What changes it during the run; a crash is known to neighbours after `notice`."""
        if self.layout is None:
            return None
        wanted = [changes.timed(kind, text, self._places) for kind, text in self.timed]
        wanted += self.churn.changes(Stream(f"{self.seed}/churn"))
        return Overlay(self.layout, wanted, self.churn.newcomers, notice)
