"""Hostile datagrams: noise, and recorded genuine ones with changes."""

from __future__ import annotations

import random

from beforehand.runtime.link.datagrams import COOKIE, DATA, HEADER, HELLO, PREFIX, REFUSE, WELCOME

KINDS = (HELLO, COOKIE, WELCOME, REFUSE, DATA)


class Hostile:
    """Generates datagrams from a seed and from overheard ones."""

    def __init__(self, seed: int, overheard: list[bytes]) -> None:
        self.rng = random.Random(seed)
        self.overheard = {
            kind: [datagram for datagram in overheard if datagram[0] == kind] for kind in KINDS
        }

    def missing(self) -> list[int]:
        """The kinds of datagrams of which none was overheard."""
        return [kind for kind in KINDS if not self.overheard[kind]]

    def batch(self, count: int) -> list[bytes]:
        """A number of hostile datagrams of all sorts."""
        return [self.hostile_datagram() for _ in range(count)]

    def hostile_datagram(self) -> bytes:
        """Noise, or a genuine datagram that is replayed, cut, extended, flipped or spliced."""
        rng = self.rng
        sort = rng.randrange(8)
        if sort == 0:
            return self.noise()
        genuine = self.overheard_datagram()
        if sort == 1:
            return genuine  # a replay
        if sort == 2:
            return genuine[: rng.randrange(len(genuine))]
        if sort == 3:
            return genuine + rng.randbytes(rng.randrange(1, 40))
        if sort == 4:
            return self.flipped(genuine)
        if sort == 5:
            return bytes([rng.choice(KINDS)]) + genuine[1:]
        other = self.overheard_datagram()
        if sort == 6:  # the session of one, the content of another
            return genuine[:PREFIX] + other[PREFIX:]
        at = rng.randrange(HEADER, HEADER + 40)
        return genuine[:at] + other[at:]

    def overheard_datagram(self) -> bytes:
        """An overheard datagram; all kinds are equally likely."""
        return self.rng.choice(self.overheard[self.rng.choice(KINDS)])

    def noise(self) -> bytes:
        """Random bytes, mostly with a first byte that means something."""
        rng = self.rng
        noise = rng.randbytes(rng.choice((0, 1, 8, 17, 18, 60, 1_200, 1_400)))
        return bytes([rng.choice(KINDS)]) + noise[1:] if noise and rng.random() < 0.8 else noise

    def flipped(self, datagram: bytes) -> bytes:
        """With one to three bits changed."""
        changed = bytearray(datagram)
        for _ in range(self.rng.randrange(1, 4)):
            changed[self.rng.randrange(len(changed))] ^= 1 << self.rng.randrange(8)
        return bytes(changed)
