"""Renamings of processes that map a program onto itself: the symmetries of an exploration.

Such a renaming, applied to a whole run, gives another run, provided that the cores treat all names
alike. That is not assumed but verified: see `packed/local_steps.py`. States that are renamings of each
other then count as one.
"""

from itertools import permutations

from beforehand.checker.program import (
    CheckProgram,
    CloseStep,
    Location,
    OpenStep,
    ProgramStep,
    SendStep,
)

MOST_RENAMED = 4  # processes: beyond their 24 renamings, symmetry costs more than it saves

Renaming = tuple[int, ...]  # the index of each process -> the index of its image


def renamings(program: CheckProgram) -> list[Renaming]:
    """The group of renamings that keep the program and move only the first few processes."""
    names = program.processes
    group = []
    for moved in permutations(range(min(MOST_RENAMED, len(names)))):
        order = (*moved, *range(len(moved), len(names)))
        mapping = {name: names[image] for name, image in zip(names, order, strict=True)}
        if all(_is_mapped(program, name, mapping) for name in names):
            group.append(order)
    return group


def _is_mapped(program: CheckProgram, name: str, mapping: dict[str, str]) -> bool:
    mine, theirs = program.locations[name], program.locations[mapping[name]]
    return len(mine) == len(theirs) and all(
        _steps(here, mapping) == _steps(there, {}) for here, there in zip(mine, theirs, strict=True)
    )


def _steps(location: Location, mapping: dict[str, str]) -> set[tuple[ProgramStep, int]]:
    return {(rename(step, mapping), after) for step, after in location}


def rename(step: ProgramStep, mapping: dict[str, str]) -> ProgramStep:
    """The step with all processes renamed, and its receivers sorted by name."""
    if isinstance(step, OpenStep):
        via = tuple(mapping.get(name, name) for name in step.via)
        return OpenStep(mapping.get(step.peer, step.peer), via)
    if isinstance(step, CloseStep):
        return CloseStep(mapping.get(step.peer, step.peer))
    if step.to is None:
        return step
    return SendStep(tuple(sorted(mapping.get(name, name) for name in step.to)))
