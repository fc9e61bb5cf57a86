"""A program in parts, to be explored apart from each other.

Where a process has several choices, the program is divided into one part for each: every run of the
whole is a run of exactly one of them. So the parts together cover what the whole covers, and little
of it twice: what two of them share are the states before the choices in which they differ, and that is
why the first choices of all processes are the first to be divided. (Subtrees of the states themselves,
cut at some depth, would share most of what is in them: the same happens there, in another order.)

Parts that are renamings of each other are explored as one, under the renamings that keep the whole
program, if the cores treat names alike: `mirror` looks whether they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from beforehand.checker.packed.local_steps import LocalSteps
from beforehand.checker.program import Program
from beforehand.checker.search.symmetry import Renaming, rename, renamings
from beforehand.checker.setting import Setting


def parts(program: Program, at_least: int, group: Sequence[Renaming]) -> list[Program]:
    """The program in that many parts, or more; fewer if it has too few choices for that.

    Of parts that are renamings of each other by one of the `group`, there is one.
    """
    found = [program]
    longest = max(len(places) for places in program.places.values())
    for steps, name in product(range(longest), program.processes):
        # What one process does is a renaming of what another does only when both are divided.
        between = name != program.processes[0] and len(group) > 1
        if len(found) >= at_least and not between:
            break
        divided = [piece for each in found for piece in _divided(each, name, steps)]
        found = _up_to_renaming(divided, group)
    return found


def _divided(program: Program, process: str, steps: int) -> list[Program]:
    """By what a process does after so many steps, when it has no choices before that."""
    here = program.places[process]
    place = 0
    for _ in range(steps):
        if not here[place]:
            return [program]  # it is done by then
        [(_, place)] = here[place]
    return [
        Program({**program.places, process: (*here[:place], (choice,), *here[place + 1 :])})
        for choice in here[place]
    ] or [program]


def _up_to_renaming(programs: list[Program], group: Sequence[Renaming]) -> list[Program]:
    """The first of those that are renamings of each other."""
    first: dict[tuple[object, ...], Program] = {}
    for program in programs:
        first.setdefault(min(_told(program, order) for order in group), program)
    return list(first.values())


def _told(program: Program, order: Renaming) -> tuple[object, ...]:
    """The program with its processes renamed, as something that can be compared."""
    names = program.processes
    mapping = {name: names[order[place]] for place, name in enumerate(names)}
    told = {
        mapping[name]: tuple(
            tuple(sorted((str(rename(choice, mapping)), after) for choice, after in place))
            for place in places
        )
        for name, places in program.places.items()
    }
    return tuple(told[name] for name in names)


def mirror(local: LocalSteps, whole: Setting) -> None:
    """Run all local steps of a part again, beside their images under the renamings of the whole.

    Raises NotSymmetric if the cores do not treat names alike: then the part stands for itself only.
    """
    checked = LocalSteps(whole, renamings(whole.program))
    states = dict(zip(local.start, checked.start, strict=True))
    frames: dict[int, int] = {}
    # In the order in which they were found: nothing happens to what has not been seen before.
    for (state, event), outcome in local.outcomes.items():
        if event < local.first_arrival:
            same = checked.static.events.index(local.static.events[event])
        else:
            same = checked.first_arrival + frames[event - local.first_arrival]
        checked.resolve(states[state], same)
        found = checked.outcomes[states[state], same]
        states[outcome.state] = found.state
        frames.update(zip(outcome.frames, found.frames, strict=True))
