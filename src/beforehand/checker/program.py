"""Programs: what the application of each process does, in its order, at moments that nobody fixes.

A program is a small automaton for each process. At each place there are the choices that the
process has, each with the place where it is after that; where there are none, it is done.

`every_program` is all programs of a size in one: each causal-send may go to anybody. A written
program has one choice at a time:

    a>b      a causal-sends to b          a>b,c    to b and c, as one message
    a>a      to itself                    a>*      to everybody (broadcast)
    a+c      a opens a link to c          a+c/b    the same, with b as the mediator
    a-c      a closes its link to c
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from beforehand.errors import CheckError

MOST_PROCESSES = 8  # sets of receivers are bits of a byte
MOST_SENDS = 15  # by one process: counts in clocks are half bytes

_STEP = re.compile(r"([^\s>+-]+)(?:>(\S*)|\+([^\s/]+)(?:/(\S+))?|-(\S+))")


@dataclass(frozen=True)
class Send:
    """A causal-send to these receivers; None: to everybody."""

    to: tuple[str, ...] | None

    def __str__(self) -> str:
        return ">*" if self.to is None else f">{','.join(self.to)}"


@dataclass(frozen=True)
class Open:
    """Add a link to `peer`, with the help of the mediators, if any."""

    peer: str
    via: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"+{self.peer}" + (f"/{','.join(self.via)}" if self.via else "")


@dataclass(frozen=True)
class Close:
    """Take away the link to `peer`, whether it is in use or being made."""

    peer: str

    def __str__(self) -> str:
        return f"-{self.peer}"


Choice = Send | Open | Close
Place = tuple[tuple[Choice, int], ...]  # the choices, each with the place that it leads to


@dataclass(frozen=True)
class Program:
    """What each process does: its places, of which it starts at the first."""

    places: Mapping[str, tuple[Place, ...]]

    @property
    def processes(self) -> tuple[str, ...]:
        """The names of all processes."""
        return tuple(self.places)

    def sends(self, process: str) -> int:
        """How many messages a process causal-sends at most."""
        places = self.places[process]

        @cache  # many ways lead to one place
        def from_here(place: int) -> int:
            sends = (isinstance(choice, Send) + from_here(after) for choice, after in places[place])
            return max(sends, default=0)

        return from_here(0)


def shortened(program: Program, most: Mapping[str, int]) -> Program:
    """The same, but each process makes at most so many causal-sends."""
    return Program({name: _cut(places, most[name]) for name, places in program.places.items()})


def _cut(places: tuple[Place, ...], most: int) -> tuple[Place, ...]:
    """A place of the result is one of the original, together with how many sends led there."""
    found: list[Place] = []
    known = {(0, 0): 0}
    todo = [(0, 0)]
    for place, done in todo:  # which grows meanwhile
        choices: list[tuple[Choice, int]] = []
        for choice, after in places[place]:
            key = (after, done + isinstance(choice, Send))
            if key[1] > most:
                continue
            if key not in known:
                known[key] = len(todo)
                todo.append(key)
            choices.append((choice, known[key]))
        found.append(tuple(choices))
    return tuple(found)


def process_names(count: int) -> tuple[str, ...]:
    """The names of so many processes: a, b, c, ..."""
    if not 2 <= count <= MOST_PROCESSES:
        raise CheckError(f"processes: {count} cannot be explored; give 2 to {MOST_PROCESSES}")
    return tuple("abcdefgh"[:count])


def every_program(
    sends: Mapping[str, int], casts: Iterable[str], opens: Sequence[tuple[str, Open]] = ()
) -> Program:
    """All programs in which each process makes so many causal-sends, to anybody each time.

    `casts` says to how many at once: "unicast" to one other process, "multicast" to several others,
    "broadcast" to everybody. Each link in `opens` is added by its process once, at any moment.
    """
    names = tuple(sends)
    for name, count in sends.items():
        if not 0 <= count <= MOST_SENDS:
            raise CheckError(f"sends: {name} cannot send {count} messages; give 0 to {MOST_SENDS}")
    _check_names(names, [(name, link) for name, link in opens])
    return Program(
        {
            name: _free(
                sends[name],
                _alternatives(name, names, set(casts)),
                [link for opener, link in opens if opener == name],
            )
            for name in names
        }
    )


def _alternatives(name: str, names: tuple[str, ...], casts: set[str]) -> list[Choice]:
    others = [other for other in names if other != name]
    sizes = ([1] if "unicast" in casts else []) + (
        list(range(2, len(others) + 1)) if "multicast" in casts else []
    )
    chosen: list[Choice] = [Send(to) for size in sizes for to in combinations(others, size)]
    return [*chosen, Send(None)] if "broadcast" in casts else chosen


def _free(count: int, sends: list[Choice], links: list[Open]) -> tuple[Place, ...]:
    """The place number is (sends done) + (count + 1) * (set of the links added, as bits)."""
    places: list[Place] = []
    for added in range(2 ** len(links)):
        for done in range(count + 1):
            here = done + (count + 1) * added
            choices = [(send, here + 1) for send in sends] if done < count else []
            for bit, link in enumerate(links):
                if not added >> bit & 1:
                    choices.append((link, here + (count + 1 << bit)))
            places.append(tuple(choices))
    return tuple(places)


def written_program(text: str, processes: Sequence[str]) -> Program:
    """The program that a text spells out; each process does its steps in the order given."""
    steps: dict[str, list[Choice]] = {name: [] for name in processes}
    for word in text.split():
        name, choice = step(word)
        _check_names(processes, [(name, choice)])
        steps[name].append(choice)
        if sum(isinstance(each, Send) for each in steps[name]) > MOST_SENDS:
            raise CheckError(f"program: {name} sends more than {MOST_SENDS} messages; shorten it")
    return Program(
        {
            name: (*(((choice, place + 1),) for place, choice in enumerate(chosen)), ())
            for name, chosen in steps.items()
        }
    )


def step(word: str) -> tuple[str, Choice]:
    """Who does what, from one word of a program."""
    found = _STEP.fullmatch(word)
    if found is None:
        raise CheckError(
            f"program: {word!r} is no step; write a>b, a>b,c or a>* for a message from a, a+c or "
            "a+c/b for a link that a opens, and a-c for one that it closes"
        )
    name, to, peer, via, closed = found.groups()
    if closed is not None:
        return name, Close(closed)
    if peer is not None:
        return name, Open(peer, tuple(via.split(",")) if via else ())
    return name, Send(None if to == "*" else tuple(to.split(",")) if to else ())


def _named(choice: Choice) -> tuple[str, ...]:
    if isinstance(choice, Send):
        return choice.to or ()
    return (choice.peer, *choice.via) if isinstance(choice, Open) else (choice.peer,)


def _check_names(known: Sequence[str], steps: Iterable[tuple[str, Choice]]) -> None:
    for name, choice in steps:
        for each in (name, *_named(choice)):
            if each not in known:
                raise CheckError(
                    f"program: {name}{choice} names {each!r}, which is no process here; the processes: "
                    f"{', '.join(known)}"
                )
