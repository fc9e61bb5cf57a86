"""Loops over the messages of a run, compiled by numba.

A run is given by its direct causes: those of message m are `causes[starts[m]:starts[m + 1]]`. Except in
`topological`, messages are numbered so that causes come first (see `graph.py`), so each loop is a single
pass.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand._kernel import compiled

Numbers = NDArray[np.int64]
Bits = NDArray[np.uint64]

REQUEST: Final = 1
REPLY: Final = 2


@compiled
def topological(starts: Numbers, causes: Numbers) -> Numbers:
    """All messages, causes first, without those on a cycle or behind one."""
    count = starts.size - 1
    missing = np.empty(count, np.int64)
    followers = np.zeros(count + 1, np.int64)  # first their number, then where they begin
    for m in range(count):
        missing[m] = starts[m + 1] - starts[m]
        for at in range(starts[m], starts[m + 1]):
            followers[causes[at] + 1] += 1
    for m in range(count):
        followers[m + 1] += followers[m]
    follower = np.empty(causes.size, np.int64)
    free = followers[:count].copy()
    for m in range(count):
        for at in range(starts[m], starts[m + 1]):
            cause = causes[at]
            follower[free[cause]] = m
            free[cause] += 1
    order = np.empty(count, np.int64)
    known = 0
    for m in range(count):
        if missing[m] == 0:
            order[known] = m
            known += 1
    done = 0
    while done < known:
        m = order[done]
        done += 1
        for at in range(followers[m], followers[m + 1]):
            missing[follower[at]] -= 1
            if missing[follower[at]] == 0:
                order[known] = follower[at]
                known += 1
    return order[:known]


@compiled
def depths(starts: Numbers, causes: Numbers) -> Numbers:
    """Of each message, the length of the longest chain that ends with it."""
    lengths = np.ones(starts.size - 1, np.int64)
    for m in range(lengths.size):
        for at in range(starts[m], starts[m + 1]):
            lengths[m] = max(lengths[m], lengths[causes[at]] + 1)
    return lengths


@compiled
def served(starts: Numbers, causes: Numbers, senders: Numbers, kinds: Numbers) -> Numbers:
    """Of each message, the request to its sender on whose behalf it is sent; -1 if there is none.

    A cause of a message is the request itself, or an earlier message of the sender for that request, or
    the reply to one of those.
    """
    requests = np.full(starts.size - 1, -1, np.int64)
    for m in range(requests.size):
        for at in range(starts[m], starts[m + 1]):
            cause = causes[at]
            if senders[cause] == senders[m]:
                requests[m] = requests[cause]
            elif kinds[cause] == REQUEST:
                requests[m] = cause
            elif kinds[cause] == REPLY:
                asked = requests[cause]
                if asked >= 0 and senders[asked] == senders[m]:
                    requests[m] = requests[asked]
            if requests[m] >= 0:
                break
    return requests


@compiled
def too_early(starts: Numbers, causes: Numbers, times: Numbers) -> int:
    """How many messages have a time before that of one of their causes."""
    count = 0
    for m in range(starts.size - 1):
        for at in range(starts[m], starts[m + 1]):
            if times[causes[at]] > times[m]:
                count += 1
                break
    return count


@compiled
def corrected(starts: Numbers, causes: Numbers, times: Numbers) -> Numbers:
    """The times, raised where a message would have been sent before one of its causes."""
    raised = times.copy()
    for m in range(raised.size):
        for at in range(starts[m], starts[m + 1]):
            raised[m] = max(raised[m], raised[causes[at]])
    return raised


@compiled
def followers(starts: Numbers, causes: Numbers, chosen: Numbers, reached: Bits) -> Numbers:
    """Of each chosen message, how many others it happens before.

    `reached` is a zeroed buffer of one row of bits per message: which of the chosen come before it.
    """
    words = reached.shape[1]
    counts = np.zeros(words * 64, np.int64)
    following = 0
    for m in range(starts.size - 1):
        row = reached[m]
        for at in range(starts[m], starts[m + 1]):
            before = reached[causes[at]]
            for word in range(words):
                row[word] |= before[word]
        for word in range(words):
            bits = row[word]
            if bits != 0:
                for bit in range(64):
                    counts[word * 64 + bit] += (bits >> np.uint64(bit)) & np.uint64(1)
        if following < chosen.size and chosen[following] == m:
            row[following // 64] |= np.uint64(1) << np.uint64(following % 64)
            following += 1
    return counts[: chosen.size]
