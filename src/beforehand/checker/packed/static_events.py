"""The events that are known from the start: the choices of the programs, and ticks."""

from __future__ import annotations

from collections.abc import Sequence

from beforehand.checker.program import Choice, Program
from beforehand.checker.search.symmetry import Renaming, rename


class StaticEvents:
    """Events by their numbers."""

    def __init__(self, program: Program, group: Sequence[Renaming]) -> None:
        self._names = program.processes
        self.events: list[tuple[int, Choice | None]] = []  # (process, choice; None: tick)
        for place, name in enumerate(self._names):
            choices = [choice for here in program.places[name] for choice, _ in here]
            self.events += [(place, choice) for choice in dict.fromkeys(choices)]
        self.ticks = [len(self.events) + place for place in range(len(self._names))]
        self.events += [(place, None) for place in range(len(self._names))]
        self._numbers = {event: number for number, event in enumerate(self.events)}
        # process -> place -> the events of its choices
        self.choices = [
            [[self._numbers[place, choice] for choice, _ in here] for here in program.places[name]]
            for place, name in enumerate(self._names)
        ]
        self.images = [[self._image(*event, order) for order in group] for event in self.events]

    def _image(self, process: int, choice: Choice | None, order: Renaming) -> int:
        mapping = {name: self._names[order[place]] for place, name in enumerate(self._names)}
        image = None if choice is None else rename(choice, mapping)
        known = self._numbers.get((order[process], image))
        if known is not None:
            return known
        # A written program may list its receivers in another order.
        return next(
            number
            for number, (other, each) in enumerate(self.events)
            if other == order[process] and each is not None and rename(each, {}) == image
        )
