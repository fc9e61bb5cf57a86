"""Datagrams that nobody should believe: noise, and true ones that were seen on the way and changed."""

from __future__ import annotations

import random

from beforehand.runtime.link.datagrams import COOKIE, DATA, HEADER, HELLO, PREFIX, REFUSE, WELCOME

KINDS = (HELLO, COOKIE, WELCOME, REFUSE, DATA)


class Hostile:
    """Makes up datagrams from a seed and from what was overheard."""

    def __init__(self, seed: int, overheard: list[bytes]) -> None:
        self.chance = random.Random(seed)
        self.overheard = {
            kind: [datagram for datagram in overheard if datagram[0] == kind] for kind in KINDS
        }

    def missing(self) -> list[int]:
        """The kinds of datagrams of which none was overheard."""
        return [kind for kind in KINDS if not self.overheard[kind]]

    def batch(self, count: int) -> list[bytes]:
        """That many, of all sorts."""
        return [self.one() for _ in range(count)]

    def one(self) -> bytes:
        """Noise, or a true datagram that was replayed, cut, extended, flipped or put together anew."""
        chance = self.chance
        sort = chance.randrange(8)
        if sort == 0:
            return self.noise()
        true = self.true()
        if sort == 1:
            return true  # a replay
        if sort == 2:
            return true[: chance.randrange(len(true))]
        if sort == 3:
            return true + chance.randbytes(chance.randrange(1, 40))
        if sort == 4:
            return self.flipped(true)
        if sort == 5:
            return bytes([chance.choice(KINDS)]) + true[1:]
        other = self.true()
        if sort == 6:  # the session of one, the content of another
            return true[:PREFIX] + other[PREFIX:]
        at = chance.randrange(HEADER, HEADER + 40)
        return true[:at] + other[at:]

    def true(self) -> bytes:
        """One that was overheard; all kinds are as likely."""
        return self.chance.choice(self.overheard[self.chance.choice(KINDS)])

    def noise(self) -> bytes:
        """Random bytes, mostly with a first byte that means something."""
        chance = self.chance
        noise = chance.randbytes(chance.choice((0, 1, 8, 17, 18, 60, 1_200, 1_400)))
        return (
            bytes([chance.choice(KINDS)]) + noise[1:] if noise and chance.random() < 0.8 else noise
        )

    def flipped(self, datagram: bytes) -> bytes:
        """With one to three bits changed."""
        changed = bytearray(datagram)
        for _ in range(self.chance.randrange(1, 4)):
            changed[self.chance.randrange(len(changed))] ^= 1 << self.chance.randrange(8)
        return bytes(changed)
