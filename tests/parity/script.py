"""A script: causal-sends whose happens-before relation is the same in every run.

It goes in rounds. The senders of a round send once they have delivered everything that the script has
sent them in earlier rounds, and end with a baton for the senders of the next round. No process receives
anything of its own round or a later one before it has sent its batons: messages go to no sender of
their round or of the one before, senders of three rounds in a row are different processes, and
everything of later rounds waits for those batons. So what a send comes after is decided by the script
alone, while messages of several rounds are in flight at once and could overtake each other in any way.
"""

from __future__ import annotations

import random

from beforehand.simulator import Program
from beforehand.simulator.program import Send

PROCESSES = ("ada", "ben", "cyd", "dan", "eve", "fay")
ROUNDS = 9
MOST_SENDERS = 2  # in a round
MOST_MESSAGES = 4  # of a sender in a round, before the batons
PAYLOAD = 40


def write_script(seed: int) -> Program:
    """The script of a seed."""
    rng = random.Random(f"script {seed}")
    casts = _cast(rng)
    sends: list[Send] = []
    inbox: dict[str, list[str]] = {name: [] for name in PROCESSES}  # ids of what is sent to it
    last: dict[str, str] = {}  # its own last send
    for number, senders in enumerate(casts[:-1]):
        before = casts[number - 1] if number else ()
        others = [name for name in PROCESSES if name not in (*senders, *before)]
        known = {name: tuple(inbox[name]) for name in senders}
        for sender in senders:
            receivers = [
                tuple(rng.sample(others, rng.randint(1, 2)))
                for _ in range(rng.randint(1, MOST_MESSAGES))
            ]
            for to in (*receivers, casts[number + 1]):
                own = (last[sender],) if sender in last else ()
                name = f"round {number}: {sender} to {','.join(to)}, {len(sends)}"
                sends.append(Send(name, sender, to, (*known[sender], *own), payload_bytes=PAYLOAD))
                last[sender] = name
                for receiver in to:
                    inbox[receiver].append(name)
    return Program(sends, PROCESSES)


def _cast(rng: random.Random) -> list[tuple[str, ...]]:
    """Who sends in each round, and in one more: different ones in any three in a row."""
    casts: list[tuple[str, ...]] = []
    for _ in range(ROUNDS + 1):
        tired = {name for senders in casts[-2:] for name in senders}
        rested = [name for name in PROCESSES if name not in tired]
        casts.append(tuple(rng.sample(rested, rng.randint(1, MOST_SENDERS))))
    return casts
