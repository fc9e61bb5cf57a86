"""Programs: the steps that the application of each process takes, in order but at any time.

A program is one small automaton per process. At each location the process chooses among some steps,
each of which leads to another location; at a location without steps it is done.

`every_program` covers all programs of a size at once: each causal-send may go to anybody. A written
program has one step at a time:

    a>b      a causal-sends to b          a>b,c    to b and c, as one message
    a>a      to itself                    a>*      to everybody (broadcast)
    a+c      a opens a link to c          a+c/b    the same, with b as the mediator
    a-c      a closes its link to c
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from beforehand.errors import CheckError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect

MOST_PROCESSES = 8  # sets of receivers are the bits of a byte
MOST_SENDS = 15  # per process: clock counts take four bits

_STEP = re.compile(r"([^\s>+-]+)(?:>(\S*)|\+([^\s/]+)(?:/(\S+))?|-(\S+))")


@dataclass(frozen=True)
class SendStep:
    """A causal-send to these receivers; None: to everybody."""

    to: tuple[str, ...] | None

    def __str__(self) -> str:
        return ">*" if self.to is None else f">{','.join(self.to)}"


@dataclass(frozen=True)
class OpenStep:
    """Add a link to `peer`, with the help of mediators, if any."""

    peer: str
    via: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"+{self.peer}" + (f"/{','.join(self.via)}" if self.via else "")


@dataclass(frozen=True)
class CloseStep:
    """Remove the link to `peer`, whether it is in use or still being established."""

    peer: str

    def __str__(self) -> str:
        return f"-{self.peer}"


ProgramStep = SendStep | OpenStep | CloseStep
Location = tuple[tuple[ProgramStep, int], ...]  # possible steps, each with the location it leads to


@dataclass(frozen=True)
class CheckProgram:
    """The locations of each process; it starts at the first."""

    locations: Mapping[str, tuple[Location, ...]]

    @property
    def processes(self) -> tuple[str, ...]:
        """The names of all processes."""
        return tuple(self.locations)

    def sends(self, process: str) -> int:
        """The maximum number of messages that a process causal-sends."""
        locations = self.locations[process]

        @cache  # many paths lead to one location
        def sends_from(location: int) -> int:
            counts = (
                isinstance(step, SendStep) + sends_from(after)
                for step, after in locations[location]
            )
            return max(counts, default=0)

        return sends_from(0)


def run_step(core: Core, step: ProgramStep) -> list[Effect]:
    """Take one step of a program on a core."""
    if isinstance(step, OpenStep):
        return core.open(step.peer, step.via or None)
    if isinstance(step, CloseStep):
        return core.close(step.peer)
    return core.send(step.to, payload_of(core.process, core.sent + 1))


def payload_of(process: str, number: int) -> bytes:
    """The payload of a message: its own name, so that no two messages can be mixed up unnoticed."""
    return f"{process}#{number}".encode()


def shortened(program: CheckProgram, most: Mapping[str, int]) -> CheckProgram:
    """The same program, cut off where a process has made its maximum number of causal-sends."""
    return CheckProgram(
        {name: _cut(locations, most[name]) for name, locations in program.locations.items()}
    )


def _cut(locations: tuple[Location, ...], most: int) -> tuple[Location, ...]:
    """A location of the result is an original one together with the number of sends made so far."""
    result: list[Location] = []
    numbers = {(0, 0): 0}
    queue = [(0, 0)]
    for location, sent in queue:  # grows during the loop
        steps: list[tuple[ProgramStep, int]] = []
        for step, after in locations[location]:
            key = (after, sent + isinstance(step, SendStep))
            if key[1] > most:
                continue
            if key not in numbers:
                numbers[key] = len(queue)
                queue.append(key)
            steps.append((step, numbers[key]))
        result.append(tuple(steps))
    return tuple(result)


def process_names(count: int) -> tuple[str, ...]:
    """The names of the processes: a, b, c, ..."""
    if not 2 <= count <= MOST_PROCESSES:
        raise CheckError(f"processes: {count} cannot be explored; give 2 to {MOST_PROCESSES}")
    return tuple("abcdefgh"[:count])


def every_program(
    sends: Mapping[str, int], casts: Iterable[str], opens: Sequence[tuple[str, OpenStep]] = ()
) -> CheckProgram:
    """All programs in which each process makes `sends[process]` causal-sends, each to anybody.

    `casts` limits the sets of receivers: "unicast" is one other process, "multicast" several others,
    "broadcast" everybody. Each link in `opens` is added by its process once, at any time.
    """
    names = tuple(sends)
    for name, count in sends.items():
        if not 0 <= count <= MOST_SENDS:
            raise CheckError(f"sends: {name} cannot send {count} messages; give 0 to {MOST_SENDS}")
    _check_names(names, opens)
    return CheckProgram(
        {
            name: _any_order(
                sends[name],
                _possible_sends(name, names, set(casts)),
                [link for opener, link in opens if opener == name],
            )
            for name in names
        }
    )


def _possible_sends(name: str, names: tuple[str, ...], casts: set[str]) -> list[ProgramStep]:
    others = [other for other in names if other != name]
    sizes = [1] if "unicast" in casts else []
    sizes += range(2, len(others) + 1) if "multicast" in casts else []
    sends: list[ProgramStep] = [SendStep(to) for size in sizes for to in combinations(others, size)]
    return [*sends, SendStep(None)] if "broadcast" in casts else sends


def _any_order(count: int, sends: list[ProgramStep], links: list[OpenStep]) -> tuple[Location, ...]:
    """Locations are numbered (sends made) + (count + 1) * (set of links added, as bits)."""
    locations: list[Location] = []
    for added in range(2 ** len(links)):
        for sent in range(count + 1):
            here = sent + (count + 1) * added
            steps = [(send, here + 1) for send in sends] if sent < count else []
            for bit, link in enumerate(links):
                if not added >> bit & 1:
                    steps.append((link, here + (count + 1 << bit)))
            locations.append(tuple(steps))
    return tuple(locations)


def written_program(text: str, processes: Sequence[str]) -> CheckProgram:
    """Parse a program; each process takes its steps in the order given."""
    steps: dict[str, list[ProgramStep]] = {name: [] for name in processes}
    for word in text.split():
        name, step = parse_step(word)
        _check_names(processes, [(name, step)])
        steps[name].append(step)
        if sum(isinstance(earlier, SendStep) for earlier in steps[name]) > MOST_SENDS:
            raise CheckError(f"program: {name} sends more than {MOST_SENDS} messages; shorten it")
    return CheckProgram(
        {
            name: (*(((step, location + 1),) for location, step in enumerate(taken)), ())
            for name, taken in steps.items()
        }
    )


def parse_step(word: str) -> tuple[str, ProgramStep]:
    """The process and the step that one word of a program stands for."""
    match = _STEP.fullmatch(word)
    if match is None:
        raise CheckError(
            f"program: {word!r} is not a step; write a>b, a>b,c or a>* for a message from a, a+c or "
            "a+c/b for a link that a opens, and a-c for one that it closes"
        )
    name, to, peer, via, closed = match.groups()
    if closed is not None:
        return name, CloseStep(closed)
    if peer is not None:
        return name, OpenStep(peer, tuple(via.split(",")) if via else ())
    return name, SendStep(None if to == "*" else tuple(to.split(",")) if to else ())


def _mentioned(step: ProgramStep) -> tuple[str, ...]:
    if isinstance(step, SendStep):
        return step.to or ()
    return (step.peer, *step.via) if isinstance(step, OpenStep) else (step.peer,)


def _check_names(known: Sequence[str], steps: Iterable[tuple[str, ProgramStep]]) -> None:
    for process, step in steps:
        for name in (process, *_mentioned(step)):
            if name not in known:
                raise CheckError(
                    f"program: {process}{step} names {name!r}, which is not one of the processes "
                    f"({', '.join(known)}); correct the name or add the process"
                )
