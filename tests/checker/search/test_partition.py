"""Partitions of programs: together they are the whole, and none is explored twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from beforehand.checker.explore import check
from beforehand.checker.program import (
    CheckProgram,
    Location,
    OpenStep,
    every_program,
    written_program,
)
from beforehand.checker.search.partition import split_program
from beforehand.checker.search.reductions.images import NotSymmetric
from beforehand.checker.search.reductions.symmetry import Renaming, rename, renamings
from beforehand.checker.setting import Setting, setting

FREE = every_program({"a": 2, "b": 2, "c": 2}, ["unicast"])
UNEVEN = every_program({"a": 3, "b": 0, "c": 1}, ["unicast", "multicast"], [("a", OpenStep("c"))])
ONLY_ITSELF = renamings(FREE)[:1]


def written(program: CheckProgram, order: Renaming) -> Counter[tuple[str, ...]]:
    """All programs that a program leaves open, each process's steps in a line, with names changed."""
    names = program.processes
    mapping = {name: names[order[index]] for index, name in enumerate(names)}

    def paths(locations: tuple[Location, ...], at: int) -> list[str]:
        if not locations[at]:
            return [""]
        return [
            f"{rename(choice, mapping)} {rest}"
            for choice, after in locations[at]
            for rest in paths(locations, after)
        ]

    steps_of = {mapping[name]: paths(locations, 0) for name, locations in program.locations.items()}
    return Counter(product(*(steps_of[name] for name in names)))


@pytest.mark.parametrize("program", [FREE, UNEVEN])
@pytest.mark.parametrize("at_least", [1, 2, 7, 20, 10_000])
def test_every_run_is_in_one_part(program: CheckProgram, at_least: int) -> None:
    """Without renamings, each way through the program is in exactly one of the parts."""
    parts = split_program(program, at_least, ONLY_ITSELF)
    assert len(parts) >= min(at_least, 32)
    total: Counter[tuple[str, ...]] = Counter()
    for part in parts:
        total += written(part, ONLY_ITSELF[0])
    assert total == written(program, ONLY_ITSELF[0])
    assert set(total.values()) == {1}


@pytest.mark.parametrize("at_least", [2, 8, 10_000])
def test_every_run_is_a_renaming_of_one_in_a_part(at_least: int) -> None:
    """With renamings there are fewer parts, and their images cover everything."""
    group = renamings(FREE)
    parts = split_program(FREE, at_least, group)
    assert len(group) == 6
    assert len(parts) < len(split_program(FREE, 4 * len(parts), ONLY_ITSELF))
    images = [set(written(part, order)) for part in parts for order in group]
    assert set().union(*images) == set(written(FREE, ONLY_ITSELF[0]))


def test_no_more_parts_than_needed() -> None:
    """Without renamings the next process with a choice; with them all processes alike."""
    assert [len(split_program(FREE, wanted, ONLY_ITSELF)) for wanted in (1, 2, 5, 9)] == [
        1,
        2,
        8,
        16,
    ]
    assert [len(split_program(FREE, wanted, renamings(FREE))) for wanted in (1, 2, 3, 9)] == [
        1,
        2,
        12,
        12,
    ]


def test_a_program_without_choices_is_one_part() -> None:
    """There is nothing to divide."""
    program = written_program("a>b b>c a>c", "abc")
    assert split_program(program, 100, ONLY_ITSELF) == [program]


def test_parts_are_explored_like_the_whole() -> None:
    """The same verdict; more states than in one exploration, but far fewer than parts times as many."""
    whole = setting("hybrid", sends=[2, 1, 1])
    alone = check(whole, reduce=False, symmetry=False)
    parts = split_program(whole.program, 8, ONLY_ITSELF)
    apart = [check(replace(whole, program=part), reduce=False, symmetry=False) for part in parts]
    assert {verdict.outcome for verdict in (alone, *apart)} == {"correct"}
    assert alone.states < sum(verdict.states for verdict in apart) < 2 * alone.states
    assert max(verdict.states for verdict in apart) < alone.states / 2
    assert max(verdict.depth for verdict in apart) == alone.depth


def test_the_shortest_counterexample_is_in_a_part() -> None:
    """The shortest of the shortest ones of the parts is as long as that of the whole."""
    whole = setting("fifo", sends=[2, 2, 1])
    alone = check(whole).counterexample
    parts = split_program(whole.program, 8, renamings(whole.program))
    apart = [check(replace(whole, program=part)).counterexample for part in parts]
    lengths = [len(counterexample.run) for counterexample in apart if counterexample is not None]
    assert alone is not None
    assert lengths and min(lengths) == len(alone.run)


def explore_for_all(whole: Setting) -> None:
    """Explore parts that stand for their renamings too."""
    group = renamings(whole.program)
    assert len(group) > 1
    for part in split_program(whole.program, 2, group):
        check(replace(whole, program=part), whole=whole.program)


@pytest.mark.parametrize("name", ["hybrid", "cykas", "rst"])
def test_cores_that_treat_names_alike(name: str) -> None:
    """One part stands for all its renamings."""
    explore_for_all(setting(name, sends=[1, 1, 1]))


def test_cores_that_distinguish_names() -> None:
    """On a tree the root is not like the others."""
    with pytest.raises(NotSymmetric):
        explore_for_all(setting("tree", sends=[1, 1, 1]))
