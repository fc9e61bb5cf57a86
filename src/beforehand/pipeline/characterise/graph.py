"""The causal order of one run's messages as plain arrays: chains and concurrency.

Message a happens before b if b lists a in `after`, or lists a message that a happens before. Nothing
else orders them: two messages of one process may be concurrent, as when several threads send.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from beforehand.pipeline.characterise import kernels
from beforehand.pipeline.characterise.kernels import Bits, Numbers

EXACT: Final = 100_000  # messages up to which all pairs are compared: a few seconds
SAMPLED: Final = 2_048  # messages of a larger run that are compared with all others
ROOM: Final = 2**28  # bytes for the rows of bits of one pass

_WORD: Final = 64


@dataclass(frozen=True)
class Concurrency:
    """How many of the unordered pairs of messages are concurrent."""

    pairs: int  # compared
    share: float
    error: float  # standard error of the share; 0 where all pairs were compared


@dataclass(frozen=True)
class Graph:
    """Messages, numbered so that causes come first, with their direct causes."""

    starts: Numbers
    causes: Numbers

    def __len__(self) -> int:
        return self.starts.size - 1

    @cached_property
    def depths(self) -> Numbers:
        """Of each message, the length of the longest chain that ends with it."""
        lengths: Numbers = kernels.depths(self.starts, self.causes)
        return lengths

    def concurrency(self, seed: int, exact: int = EXACT, sampled: int = SAMPLED) -> Concurrency:
        """Compare all messages with all others; of more than `exact`, a sample with all others."""
        count = len(self)
        if count < 2:
            return Concurrency(0, 0.0, 0.0)
        if count <= exact:
            pairs = count * (count - 1) // 2
            ordered = int(_followers(self, np.arange(count)).sum())
            return Concurrency(pairs, 1 - ordered / pairs, 0.0)
        chosen = np.sort(np.random.default_rng(seed).choice(count, sampled, replace=False))
        # On the reversed graph, the same pass counts those that come before each.
        ordered_with = _followers(self, chosen)
        ordered_with += _followers(self.reversed(), count - 1 - chosen[::-1])[::-1]
        shares = 1 - ordered_with / (count - 1)
        # Drawn without replacement: finite population correction.
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

    Messages that would happen before themselves aren't in it: compare the lengths.
    """
    order: Numbers = kernels.topological(starts, causes)
    position = np.full(starts.size - 1, -1, np.int64)
    position[order] = np.arange(order.size)
    effects = position[np.repeat(np.arange(starts.size - 1), np.diff(starts))]
    kept = effects >= 0  # then its cause is there too, and comes before it
    return _graph(order.size, effects[kept], position[causes[kept]]), order


def _graph(count: int, effects: Numbers, causes: Numbers) -> Graph:
    """From pairs of an effect and its cause."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(effects, minlength=count), out=starts[1:])
    return Graph(starts, causes[np.argsort(effects, kind="stable")])


def _followers(graph: Graph, chosen: Numbers) -> Numbers:
    """`kernels.followers`, in as many passes as its memory requires."""
    words = max(1, min(ROOM // (8 * len(graph)), -(-chosen.size // _WORD)))
    step = words * _WORD
    reached: Bits = np.empty((len(graph), words), np.uint64)
    counts = np.empty(chosen.size, np.int64)
    for first in range(0, chosen.size, step):
        reached.fill(0)
        part = slice(first, first + step)
        counts[part] = kernels.followers(graph.starts, graph.causes, chosen[part], reached)
    return counts
