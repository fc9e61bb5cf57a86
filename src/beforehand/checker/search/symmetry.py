"""Renamings of processes under which a program stays what it is.

If such a renaming is applied to a whole run, the result is a run too, provided that the cores treat all
names alike. That is not believed but looked at: see `local.py`. States that are renamings of each other
then count as one.
"""

from __future__ import annotations

from itertools import permutations

from beforehand.checker.program import Choice, Close, Open, Place, Program, Send

MOVED = 4  # processes; more than their 24 renamings cost more than they save

Renaming = tuple[int, ...]  # the place of each process, by its place in the program


def renamings(program: Program) -> list[Renaming]:
    """Those that keep the program and leave all but the first few processes alone: a group."""
    names = program.processes
    found = []
    for moved in permutations(range(min(MOVED, len(names)))):
        order = (*moved, *range(len(moved), len(names)))
        mapping = {name: names[order[place]] for place, name in enumerate(names)}
        if all(_renamed(program, name, mapping) for name in names):
            found.append(order)
    return found


def _renamed(program: Program, name: str, mapping: dict[str, str]) -> bool:
    mine, theirs = program.places[name], program.places[mapping[name]]
    return len(mine) == len(theirs) and all(
        _choices(here, mapping) == _choices(there, {})
        for here, there in zip(mine, theirs, strict=True)
    )


def _choices(place: Place, mapping: dict[str, str]) -> set[tuple[Choice, int]]:
    return {(rename(choice, mapping), after) for choice, after in place}


def rename(choice: Choice, mapping: dict[str, str]) -> Choice:
    """The same choice of a process with another name; receivers in the order of their names."""
    if isinstance(choice, Open):
        via = tuple(mapping.get(name, name) for name in choice.via)
        return Open(mapping.get(choice.peer, choice.peer), via)
    if isinstance(choice, Close):
        return Close(mapping.get(choice.peer, choice.peer))
    if choice.to is None:
        return choice
    return Send(tuple(sorted(mapping.get(name, name) for name in choice.to)))
