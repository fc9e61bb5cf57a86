"""Numbers for the events that are known from the start: steps of programs, and ticks."""

from collections.abc import Sequence

from beforehand.checker.program import CheckProgram, ProgramStep
from beforehand.checker.search.reductions.symmetry import Renaming, rename


class ProgramEvents:
    """All steps and ticks, numbered, with their images under renamings."""

    def __init__(self, program: CheckProgram, group: Sequence[Renaming]) -> None:
        self._names = program.processes
        self.events: list[tuple[int, ProgramStep | None]] = []  # (process, step; None: tick)
        for process, name in enumerate(self._names):
            steps = [step for location in program.locations[name] for step, _ in location]
            self.events += [(process, step) for step in dict.fromkeys(steps)]
        self.ticks = [len(self.events) + process for process in range(len(self._names))]
        self.events += [(process, None) for process in range(len(self._names))]
        self._numbers = {event: number for number, event in enumerate(self.events)}
        # process -> location -> the events of its steps
        self.steps_at = [
            [
                [self._numbers[process, step] for step, _ in location]
                for location in program.locations[name]
            ]
            for process, name in enumerate(self._names)
        ]
        self.images = [[self._image(*event, order) for order in group] for event in self.events]

    def _image(self, process: int, step: ProgramStep | None, order: Renaming) -> int:
        mapping = {name: self._names[order[index]] for index, name in enumerate(self._names)}
        image = None if step is None else rename(step, mapping)
        number = self._numbers.get((order[process], image))
        if number is not None:
            return number
        # A written program may list its receivers in another order.
        return next(
            number
            for number, (other, candidate) in enumerate(self.events)
            if other == order[process] and candidate is not None and rename(candidate, {}) == image
        )
