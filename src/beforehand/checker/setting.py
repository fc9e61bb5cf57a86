"""Settings: what to explore. Cores, a program, and what the network does to frames."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from beforehand import protocols
from beforehand.checker.program import (
    CheckProgram,
    CloseStep,
    OpenStep,
    every_program,
    process_names,
    run_step,
    written_program,
)
from beforehand.errors import CheckError
from beforehand.protocols.core import Core
from beforehand.protocols.reliable import ReliableLink

MOST_FAULTS = 15  # of each kind: counters take four bits


@dataclass(frozen=True)
class FaultBudget:
    """How many faults of each kind the network may commit in one run, at any time."""

    loss: int = 0
    duplicate: int = 0
    tick: int = 0  # early ticks: timers that expire while something else can still happen

    def __post_init__(self) -> None:
        for name, count in vars(self).items():
            if not 0 <= count <= MOST_FAULTS:
                raise CheckError(f"faults: {name}={count} is out of range; give 0 to {MOST_FAULTS}")


NO_FAULTS = FaultBudget()


@dataclass(frozen=True, repr=False)
class Setting:
    """One thing to check. It can be pickled if `make` can."""

    protocol: str  # a name for reports, and for the coverage to expect
    program: CheckProgram
    make: Callable[[str], Core]  # the core of a process
    faults: FaultBudget = NO_FAULTS
    fifo: bool = False  # frames between two processes do not overtake each other
    # When nothing is in flight, all programs are done and something is missing, all timers expire:
    # always, or (False) only if a frame was lost. In all other cases nothing may depend on timers.
    timer: bool = False

    def __repr__(self) -> str:
        sends = ", ".join(f"{name} sends {self.program.sends(name)}" for name in self.processes)
        return f"<Setting of {self.protocol}: {sends}; {self.faults!r}>"

    @property
    def processes(self) -> tuple[str, ...]:
        """The names of all processes."""
        return self.program.processes


def setting(
    protocol: str = protocols.DEFAULT,
    *,
    processes: int = 3,
    messages: int = 1,
    sends: Sequence[int] | None = None,
    program: str | None = None,
    multicast: bool = False,
    faults: FaultBudget = NO_FAULTS,
    tree: Mapping[str, str] | None = None,
    links: Iterable[tuple[str, str]] | None = None,
    opens: Sequence[tuple[str, OpenStep]] = (),
) -> Setting:
    """The setting for a registered protocol.

    Each process sends `messages` messages, or as many as `sends` lists for it, to any receiver; or all
    processes follow `program`. `links` are pairs (from, to). On a network that loses or duplicates,
    protocols that assume a reliable one run inside `ReliableLink`.
    """
    capabilities = protocols.describe(protocol)
    names = process_names(processes if sends is None else len(sends))
    if program is not None:
        chosen = written_program(program, names)
    else:
        if multicast and "multicast" not in capabilities.casts:
            raise CheckError(
                f"{protocol} does not support multicast; check it without, or choose another protocol"
            )
        counts = [messages] * len(names) if sends is None else sends
        casts = [capabilities.casts[0], "multicast"] if multicast else [capabilities.casts[0]]
        chosen = every_program(dict(zip(names, counts, strict=True)), casts, opens)
    unreliable = bool(faults.loss or faults.duplicate)
    wrapped = unreliable and capabilities.network == "reliable"
    make = partial(
        make_core,
        protocol,
        names,
        None if capabilities.overlay != "tree" else dict(tree or _star(names)),
        None if capabilities.overlay != "links" else _checked_links(links or _ring(names), names),
        wrapped,
    )
    return Setting(
        protocol,
        chosen,
        make,
        faults,
        fifo=capabilities.fifo_links and not wrapped,
        timer=capabilities.timer,
    )


def make_core(
    protocol: str,
    names: tuple[str, ...],
    tree: Mapping[str, str] | None,
    links: tuple[tuple[str, str], ...] | None,
    wrapped: bool,
    process: str,
) -> Core:
    """The core of one process, behind reliable links if it needs them."""
    core = protocols.create(protocol, process, processes=names, tree=tree, links=links)
    return ReliableLink(core) if wrapped else core


def rehearse(explored: Setting) -> None:
    """Raise LocalProtocolError if a core refuses a step of its program.

    An exploration would notice too, but perhaps only after hours.
    """
    for name, locations in explored.program.locations.items():
        core = explored.make(name)
        steps = dict.fromkeys(step for location in locations for step, _ in location)
        opened = {step.peer for step in steps if isinstance(step, OpenStep)}
        for step in steps:
            if not (isinstance(step, CloseStep) and step.peer in opened):
                run_step(core.copy(), step)


def _checked_links(
    links: Iterable[tuple[str, str]], names: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """The same links, if they are between processes and connect every process to every other.

    Overlay protocols assume so; otherwise they would retry links that can never be established.
    """
    links = tuple(links)
    for name in dict.fromkeys(name for link in links for name in link):
        if name not in names:
            raise CheckError(
                f"links: {name!r} is not one of the processes ({', '.join(names)}); correct the name"
            )
    for name in names:
        reached = {name}
        while further := {to for start, to in links if start in reached} - reached:
            reached |= further
        if len(reached) < len(names):
            missing = ", ".join(sorted(set(names) - reached))
            raise CheckError(
                f"links: {name} cannot reach {missing}; add links until every process can reach "
                "every other"
            )
    return links


def _star(names: tuple[str, ...]) -> dict[str, str]:
    """A tree with the first process as the root of all others."""
    return dict.fromkeys(names[1:], names[0])


def _ring(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Links both ways between neighbours in a ring; two processes have one neighbour each."""
    links = {(names[index - 1], name) for index, name in enumerate(names)}
    return sorted(links | {(b, a) for a, b in links})
