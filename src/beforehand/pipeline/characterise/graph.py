"""The order of the messages of one run, as plain arrays: chains, and who is concurrent with whom.

Message a happens before b if b lists a in `after`, or something that a happens before. Nothing else
orders them: two messages of one process may well be concurrent, as where many threads send.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from beforehand.pipeline.characterise import kernels
from beforehand.pipeline.characterise.kernels import Bits, Numbers

EXACT: Final = 100_000  # messages up to which all pairs are looked at: some seconds
SAMPLED: Final = 2_048  # messages of a larger run that are compared with all others
ROOM: Final = 2**28  # bytes for the rows of bits of one pass

_WORD: Final = 64


@dataclass(frozen=True)
class Concurrency:
    """How many of the unordered pairs of messages are concurrent."""

    pairs: int  # looked at
    share: float
    error: float  # standard error of the share; 0 where all pairs were looked at


@dataclass(frozen=True)
class Graph:
    """Messages, numbered so that causes come first, with their direct causes."""

    starts: Numbers
    causes: Numbers

    def __len__(self) -> int:
        return self.starts.size - 1

    @cached_property
    def depths(self) -> Numbers:
        """Of each message, how many messages the longest chain has that ends with it."""
        found: Numbers = kernels.depths(self.starts, self.causes)
        return found

    def concurrency(self, seed: int, exact: int = EXACT, sampled: int = SAMPLED) -> Concurrency:
        """Compare all messages with all others, or of more than `exact` a sample with all others."""
        count = len(self)
        if count < 2:
            return Concurrency(0, 0.0, 0.0)
        if count <= exact:
            pairs = count * (count - 1) // 2
            ordered = int(_followers(self, np.arange(count)).sum())
            return Concurrency(pairs, 1 - ordered / pairs, 0.0)
        chosen = np.sort(np.random.default_rng(seed).choice(count, sampled, replace=False))
        # Turned round, the same pass tells how many come before each.
        ordered_with = _followers(self, chosen)
        ordered_with += _followers(self.reversed(), count - 1 - chosen[::-1])[::-1]
        shares = 1 - ordered_with / (count - 1)
        # Drawn without putting back: the more of them were looked at, the less there is to err on.
        spread = float(shares.std(ddof=1)) / sampled**0.5
        error = spread * (1 - sampled / count) ** 0.5
        return Concurrency(sampled * (count - 1), float(shares.mean()), error)

    def reversed(self) -> Graph:
        """The same messages in the opposite order, effects as causes."""
        count = len(self)
        effects = np.repeat(np.arange(count), np.diff(self.starts))
        return _graph(count, count - 1 - self.causes, count - 1 - effects)


def arrange(starts: Numbers, causes: Numbers) -> tuple[Graph, Numbers]:
    """The graph, and the old numbers of its messages in its order.

    Messages that would happen before themselves are not in it: compare the lengths.
    """
    order: Numbers = kernels.topological(starts, causes)
    place = np.full(starts.size - 1, -1, np.int64)
    place[order] = np.arange(order.size)
    effects = place[np.repeat(np.arange(starts.size - 1), np.diff(starts))]
    kept = effects >= 0  # then its cause is there too, and comes before it
    return _graph(order.size, effects[kept], place[causes[kept]]), order


def _graph(count: int, effects: Numbers, causes: Numbers) -> Graph:
    """From pairs of an effect and its cause."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(effects, minlength=count), out=starts[1:])
    return Graph(starts, causes[np.argsort(effects, kind="stable")])


def _followers(graph: Graph, chosen: Numbers) -> Numbers:
    """`kernels.followers` in as many passes as the room for its rows demands."""
    words = max(1, min(ROOM // (8 * len(graph)), -(-chosen.size // _WORD)))
    step = words * _WORD
    reached: Bits = np.empty((len(graph), words), np.uint64)
    found = np.empty(chosen.size, np.int64)
    for first in range(0, chosen.size, step):
        reached.fill(0)
        part = slice(first, first + step)
        found[part] = kernels.followers(graph.starts, graph.causes, chosen[part], reached)
    return found
