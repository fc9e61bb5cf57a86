"""The images of states and frames under renamings, as they are found out."""

from __future__ import annotations

from collections.abc import Sequence

from beforehand.checker.search.symmetry import Renaming


class NotSymmetric(Exception):
    """A core does not treat the names of processes alike."""


class Images:
    """Of each thing, by its number, its image under each renaming of a group."""

    def __init__(self, group: Sequence[Renaming]) -> None:
        turns = {order: turn for turn, order in enumerate(group)}
        # One renaming after another is a renaming too: which one?
        self._products = [
            [turns[tuple(second[place] for place in first)] for second in group] for first in group
        ]
        self.rows: list[list[int]] = []

    def add(self) -> int:
        """One more thing, whose images are not known yet; returns its number."""
        number = len(self.rows)
        self.rows.append([number] if len(self._products) == 1 else [])
        return number

    def learn(self, orbit: Sequence[int]) -> None:
        """`orbit` are the images of its first member, and so those of all its members are known."""
        for turn, products in enumerate(self._products):
            self.check(orbit[turn], [orbit[product] for product in products])

    def check(self, which: int, row: list[int]) -> None:
        """These are the images of a thing; if others are known already, there is no symmetry."""
        if not self.rows[which]:
            self.rows[which] = row
        elif self.rows[which] != row:
            raise NotSymmetric
