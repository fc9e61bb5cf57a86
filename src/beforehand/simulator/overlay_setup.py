"""The overlay of a scenario: its layout at the start, and how it is to change."""

from functools import cached_property

from beforehand.errors import ScenarioError
from beforehand.protocols import Capabilities, Tree
from beforehand.simulator.overlays.churn import Churn, parse_change
from beforehand.simulator.overlays.dynamics import OverlayDynamics
from beforehand.simulator.overlays.layouts import OverlayLayout, build_layout
from beforehand.simulator.world.random_streams import Stream

TimedChange = tuple[str, str]  # a kind of change, and its specification, like a>b@2s


class OverlaySetup:
    """Without a layout, for protocols without an overlay: every process reaches every other."""

    def __init__(
        self,
        protocol: Capabilities,
        names: list[str],
        overlay: str | None,
        churn: Churn,
        timed: list[TimedChange],
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
        if needs != "links" and (self.churn.happens() or kinds & {"open", "close"}):
            raise ScenarioError(
                f"{name} has no links that come and go; omit churn, opens and closes, or choose a "
                "protocol whose overlay is links"
            )
        if needs != "tree" and "reparent" in kinds:
            raise ScenarioError(f"{name} has no tree; omit reparents")

    @cached_property
    def layout(self) -> OverlayLayout | None:
        """The overlay at the start; None if the protocol has none."""
        if self.protocol.overlay == "none":
            return None
        layout = build_layout(self.name, self.names[: self.founders], self.seed)
        if self.protocol.overlay == "tree" and not layout.parents and self.founders > 1:
            raise ScenarioError(
                f"{self.protocol.name} runs on a tree, not on {self.name!r}; give the overlay tree, "
                "tree:ARITY or tree:child=parent,..."
            )
        if self.churn.happens() and not layout.views:
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
        """The same, validated once for all cores."""
        return Tree(self.parents) if self.parents else None

    def links(self, name: str) -> list[tuple[str, str]]:
        """The links of a process at the start, in both directions."""
        index = self._indexes[name]
        if self.layout is None or index >= self.founders:
            return []
        out = [(name, self.names[peer]) for peer in self.layout.links[index]]
        return out + [(self.names[peer], name) for peer in self._incoming[index]]

    @cached_property
    def _indexes(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    @cached_property
    def _incoming(self) -> list[list[int]]:
        """Process -> the peers that have links to it."""
        incoming: list[list[int]] = [[] for _ in self.names]
        for index, links in enumerate([] if self.layout is None else self.layout.links):
            for peer in links:
                incoming[peer].append(index)
        return incoming

    def inner(self) -> set[str]:
        """The processes of a tree that have children, or will have."""
        targets = [text.partition(">")[2].rpartition("@")[0] for _, text in self.timed]
        return {*self.parents.values(), *targets} if self.parents else set()

    def dynamics(self, notice: int) -> OverlayDynamics | None:
        """What changes it during the run; neighbours notice a crash after `notice` nanoseconds."""
        if self.layout is None:
            return None
        changes = [parse_change(kind, text, self._indexes) for kind, text in self.timed]
        changes += self.churn.changes(Stream(f"{self.seed}/churn"))
        return OverlayDynamics(self.layout, changes, self.churn.newcomers, notice)
