"""Streams of random numbers: small, fast, and the same on every machine.

L'Ecuyer's combined multiple recursive generator MRG32k3a (Operations Research 47, 1999), designed for
simulations with many streams: its period is about 2 to the 191, and its state is six integers where
the generator of the standard library needs 2.5 kB. With a stream for each of thousands of processes,
that decides whether they fit the cache. No product exceeds 64 bits.
"""

from hashlib import sha256
from typing import Final

from mypy_extensions import i64

M1: Final = 4294967087
M2: Final = 4294944443


class Stream:
    """Uniform numbers in [0, 1), seeded by a string."""

    def __init__(self, seed: str) -> None:
        digest = sha256(seed.encode()).digest()
        words: list[int] = [
            int.from_bytes(digest[start : start + 4], "big") for start in range(0, 24, 4)
        ]
        # The state: the last three integers of each component, the oldest first. They must not all be
        # 0; these are at least 1.
        self.a0: i64 = words[0] % (M1 - 1) + 1
        self.a1: i64 = words[1] % (M1 - 1) + 1
        self.a2: i64 = words[2] % (M1 - 1) + 1
        self.b0: i64 = words[3] % (M2 - 1) + 1
        self.b1: i64 = words[4] % (M2 - 1) + 1
        self.b2: i64 = words[5] % (M2 - 1) + 1

    def uniform(self) -> float:
        """The next number."""
        # Written so that no operand of % is negative.
        a = (1403580 * self.a1 + 810728 * (M1 - self.a0)) % M1
        self.a0 = self.a1
        self.a1 = self.a2
        self.a2 = a
        b = (527612 * self.b2 + 1370589 * (M2 - self.b0)) % M2
        self.b0 = self.b1
        self.b1 = self.b2
        self.b2 = b
        difference = a - b if a >= b else a - b + M1
        return float(difference) / float(M1)

    def permutation(self, count: i64) -> list[int]:
        """The numbers from 0 to count - 1 in random order (Fisher and Yates)."""
        shuffled = list(range(int(count)))
        for index in range(len(shuffled) - 1, 0, -1):
            other = self.below(index + 1)
            shuffled[index], shuffled[other] = shuffled[other], shuffled[index]
        return shuffled

    def below(self, count: i64) -> i64:
        """One of 0, 1, ... count - 1. (Beyond 2 to the 32, some of them never occur.)"""
        return i64(self.uniform() * float(count))
