"""A program split into parts that are explored independently.

Where a process can choose among several steps, the program is split into one part for each: every run of
the whole is a run of exactly one part. So the parts together cover the whole, with little overlap: two
parts share only the states before the choice in which they differ, which is why the first choices of all
processes are split first. (Subtrees of the state graph, cut at some depth, would share most of their
states: they reach the same ones in another order.)

Parts that are renamings of each other are explored as one, under the renamings that keep the whole
program, provided that the cores treat names alike, which `verify_symmetry` checks.
"""

from collections.abc import Sequence
from itertools import product

from beforehand.checker.packed.local_steps import LocalSteps
from beforehand.checker.program import CheckProgram
from beforehand.checker.search.reductions.symmetry import Renaming, rename, renamings
from beforehand.checker.setting import Setting


def split_program(
    program: CheckProgram, at_least: int, group: Sequence[Renaming]
) -> list[CheckProgram]:
    """Split a program into `at_least` parts, or fewer if it has too few choices.

    Parts that a renaming of the `group` maps onto each other are represented by one of them.
    """
    parts = [program]
    longest = max(len(locations) for locations in program.locations.values())
    for steps, name in product(range(longest), program.processes):
        # Parts can only be renamings of each other once all processes are split equally far.
        uneven = name != program.processes[0] and len(group) > 1
        if len(parts) >= at_least and not uneven:
            break
        smaller = [piece for part in parts for piece in _split(part, name, steps)]
        parts = _up_to_renaming(smaller, group)
    return parts


def _split(program: CheckProgram, process: str, steps: int) -> list[CheckProgram]:
    """Split by what a process does after so many steps, none of which leaves it a choice."""
    locations = program.locations[process]
    at = 0
    for _ in range(steps):
        if not locations[at]:
            return [program]  # it is done by then
        [(_, at)] = locations[at]
    return [
        CheckProgram(
            {**program.locations, process: (*locations[:at], (chosen,), *locations[at + 1 :])}
        )
        for chosen in locations[at]
    ] or [program]


def _up_to_renaming(programs: list[CheckProgram], group: Sequence[Renaming]) -> list[CheckProgram]:
    """One program of each set that are renamings of each other: the first."""
    first: dict[tuple[object, ...], CheckProgram] = {}
    for program in programs:
        first.setdefault(min(_sort_key(program, order) for order in group), program)
    return list(first.values())


def _sort_key(program: CheckProgram, order: Renaming) -> tuple[object, ...]:
    """The program with its processes renamed, as a value that can be ordered."""
    names = program.processes
    mapping = {name: names[image] for name, image in zip(names, order, strict=True)}
    renamed = {
        mapping[name]: tuple(
            tuple(sorted((str(rename(step, mapping)), after) for step, after in location))
            for location in locations
        )
        for name, locations in program.locations.items()
    }
    return tuple(renamed[name] for name in names)


def verify_symmetry(local: LocalSteps, whole: Setting) -> None:
    """Run all local steps of a part again, together with their images under the renamings of the whole.

    Raises NotSymmetric if the cores do not treat names alike: then the part represents only itself.
    """
    checked = LocalSteps(whole, renamings(whole.program))
    states = dict(zip(local.start, checked.start, strict=True))
    frames: dict[int, int] = {}
    # In the order of their discovery, every state and frame is mapped before it is needed.
    for (state, event), outcome in local.outcomes.items():
        if event < local.first_arrival:
            same = checked.program_events.events.index(local.program_events.events[event])
        else:
            same = checked.first_arrival + frames[event - local.first_arrival]
        checked.resolve(states[state], same)
        image = checked.outcomes[states[state], same]
        states[outcome.state] = image.state
        frames.update(zip(outcome.frames, image.frames, strict=True))
