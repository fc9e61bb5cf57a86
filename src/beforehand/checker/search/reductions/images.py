"""The images of states and frames under renamings, learnt one by one."""

from collections.abc import Sequence

from beforehand.checker.search.reductions.symmetry import Renaming


class NotSymmetric(Exception):
    """A core does not treat the names of processes alike."""


class Images:
    """For each item (a state or a frame, by number), its image under each renaming of a group."""

    def __init__(self, group: Sequence[Renaming]) -> None:
        numbers = {order: number for number, order in enumerate(group)}
        # Two renamings in a row are a renaming of the group too: its number, for each pair.
        self._products = [
            [numbers[tuple(second[index] for index in first)] for second in group]
            for first in group
        ]
        self.rows: list[list[int]] = []

    def add(self) -> int:
        """Add an item whose images are not known yet; returns its number."""
        number = len(self.rows)
        self.rows.append([number] if len(self._products) == 1 else [])
        return number

    def learn(self, orbit: Sequence[int]) -> None:
        """Given the images of one item, record those of every item in its orbit."""
        for item, products in zip(orbit, self._products, strict=True):
            self.check(item, [orbit[product] for product in products])

    def check(self, item: int, images: list[int]) -> None:
        """Record the images of an item; raises NotSymmetric if it is known to have others."""
        if not self.rows[item]:
            self.rows[item] = images
        elif self.rows[item] != images:
            raise NotSymmetric
