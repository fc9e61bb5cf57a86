"""Who is to do what in a cluster: decided by one seed, before any process starts."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import Any, Final

from beforehand import protocols
from beforehand.errors import LocalProtocolError
from beforehand.protocols.capabilities import Capabilities
from beforehand.runtime.engine.outbox import MAX_PAYLOAD

MOST_NODES: Final = 64  # interpreters on one machine, each in touch with all others
LEAST_SURVIVORS: Final = 2  # who is left must have somebody to talk to
# Where the middle of the run is: victims die half-way, and the last quarter of everybody's messages
# waits until that is over, so that those who are left, or back, have something to do.
HALF: Final = 0.5
REST: Final = 0.75
# Small enough that a process has to listen while it sends, so that causes and effects are mixed well;
# large enough that frames share datagrams.
LEAST_WINDOW: Final = 16
MOST_WINDOW: Final = 256
WINDOWS: Final = 8  # of messages that each process sends, at least


@dataclass(frozen=True)
class Job:
    """What one process is told at its start; a line of JSON."""

    name: str
    others: tuple[str, ...]
    protocol: str
    tree: dict[str, str] | None
    links: tuple[tuple[str, str], ...] | None
    messages: int  # to causal-send
    halfway: int  # after how many of them to report; 0: never
    pause: int  # after how many to wait for the word to go on; 0: never
    payload: int
    loss: float
    duplicate: float
    reorder: float
    seed: int
    key: str | None  # hexadecimal
    trace: str
    run: str
    drop_after: float | None
    window: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """A run of a cluster; what cannot be run is refused at once."""

    nodes: int = 8
    messages: int = 20_000
    protocol: str = "hybrid-sps"
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    payload: int = 32
    kill: int = 0
    restart: bool = False
    drop_after: float = 2.0
    seed: int = 1

    def __post_init__(self) -> None:
        _check_range("nodes", self.nodes, 2, MOST_NODES)
        _check_range("messages", self.messages, self.nodes, 10**9)
        _check_range("payload", self.payload, 0, MAX_PAYLOAD)
        _check_rates(self.loss, self.duplicate, self.reorder)
        overlay = self.capabilities.overlay
        if self.kill < 0 or (self.kill and self.nodes - self.kill < LEAST_SURVIVORS):
            raise LocalProtocolError(
                f"kill {self.kill} of {self.nodes} nodes? At least {LEAST_SURVIVORS} must be left, "
                "to have somebody to talk to; kill fewer, or start more"
            )
        if self.kill and overlay != "none":
            raise LocalProtocolError(
                f"{self.protocol} runs on an overlay, which falls apart when processes are killed; "
                "choose a protocol without one, or kill nobody"
            )
        if self.restart and not self.kill:
            raise LocalProtocolError(
                "no process is killed, so none can be restarted; set `kill` to 1 or more"
            )
        if self.restart and self.capabilities.membership == "fixed":
            raise LocalProtocolError(
                f"{self.protocol} knows its processes by name from the start, so none can come back; "
                "choose a protocol of open membership, or restart nobody"
            )
        if not 0.1 <= self.drop_after <= 3600:
            raise LocalProtocolError(
                f"drop-after is {self.drop_after}; give seconds, from 0.1 to 3,600"
            )

    @property
    def capabilities(self) -> Capabilities:
        """Of the protocol."""
        return protocols.describe(self.protocol)

    @property
    def names(self) -> list[str]:
        """All processes: n1, n2, ..., so written that their names sort like their numbers."""
        width = len(str(self.nodes))
        return [f"n{number:0{width}d}" for number in range(1, self.nodes + 1)]

    @property
    def victims(self) -> list[str]:
        """Who is killed."""
        return sorted(self._draws("victims").sample(self.names, self.kill))

    def share(self, name: str) -> int:
        """How many messages a process sends: as many as the others, or one more."""
        place = self.names.index(name)
        return self.messages // self.nodes + (place < self.messages % self.nodes)

    def job(self, name: str, key: bytes | None, trace: str, run: str, life: int = 1) -> Job:
        """What a process is told at its start; in its second life, it sends what it had not sent."""
        share = self.share(name)
        half = max(1, int(share * HALF))
        victim = name in self.victims
        again = life > 1
        return Job(
            name=name,
            others=tuple(other for other in self.names if other != name),
            protocol=self.protocol,
            tree=self._tree(),
            links=self._links(),
            messages=max(1, share - half) if again else share,
            halfway=half if victim and not again else 0,
            pause=max(1, int(share * REST)) if self.kill and not victim else 0,
            payload=self.payload,
            loss=self.loss,
            duplicate=self.duplicate,
            reorder=self.reorder,
            seed=self._draws(f"{name}/{life}").getrandbits(63),
            key=None if key is None else key.hex(),
            trace=trace,
            run=run,
            drop_after=self.drop_after if self.kill else None,
            window=max(LEAST_WINDOW, min(share // WINDOWS, MOST_WINDOW)),
        )

    def _draws(self, what: str) -> random.Random:
        return random.Random(f"{self.seed}/{what}")

    def _tree(self) -> dict[str, str] | None:
        """Each hangs under one of those before it."""
        if self.capabilities.overlay != "tree":
            return None
        draws = self._draws("tree")
        names = self.names
        return {names[place]: names[draws.randrange(place)] for place in range(1, len(names))}

    def _links(self) -> tuple[tuple[str, str], ...] | None:
        """A ring, and for each one more neighbour; in both directions."""
        if self.capabilities.overlay != "links":
            return None
        draws = self._draws("links")
        ring = self.names
        draws.shuffle(ring)
        pairs = {(ring[place - 1], name) for place, name in enumerate(ring)}
        for name in ring:
            pairs.add((name, draws.choice([other for other in ring if other != name])))
        return tuple(sorted(pairs | {(there, here) for here, there in pairs}))


def _check_range(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise LocalProtocolError(f"{what} is {value}; give a number from {least:,} to {most:,}")


def _check_rates(loss: float, duplicate: float, reorder: float) -> None:
    if not 0 <= loss < 1:
        raise LocalProtocolError(
            f"loss is {loss}; give a rate from 0 to less than 1, so that something arrives"
        )
    for what, rate in (("duplicate", duplicate), ("reorder", reorder)):
        if not 0 <= rate <= 1:
            raise LocalProtocolError(f"{what} is {rate}; give a rate from 0 to 1")
