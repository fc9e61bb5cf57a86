"""What is to be explored: cores, a program, and how the network treats frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from beforehand import protocols
from beforehand.checker.perform import perform
from beforehand.checker.program import (
    Close,
    Open,
    Program,
    every_program,
    process_names,
    written_program,
)
from beforehand.errors import CheckError
from beforehand.protocols.core import Core
from beforehand.protocols.reliable import ReliableLink

MOST_FAULTS = 15  # of each kind: counted in half bytes


@dataclass(frozen=True)
class Faults:
    """How often the network may do what, at any moment, in one run."""

    loss: int = 0
    duplicate: int = 0
    tick: int = 0  # early ticks: those that come while there is something else to wait for

    def __post_init__(self) -> None:
        for name, count in vars(self).items():
            if not 0 <= count <= MOST_FAULTS:
                raise CheckError(f"faults: {name}={count}; give 0 to {MOST_FAULTS}")


NO_FAULTS = Faults()


@dataclass(frozen=True)
class Setting:
    """One thing to check. It can be pickled, if its cores can be made elsewhere too."""

    protocol: str  # a name for reports, and for what must have been seen
    program: Program
    make: Callable[[str], Core]  # the core of a process
    faults: Faults = NO_FAULTS
    fifo: bool = False  # frames between two processes do not overtake each other
    # When nothing is in flight, nothing left to do and something missing, the timers of all processes go
    # off: always, or (False) only if something was lost. Otherwise nothing may depend on timers.
    timer: bool = False

    @property
    def processes(self) -> tuple[str, ...]:
        """The names of all processes."""
        return self.program.processes


def setting(
    protocol: str,
    *,
    processes: int = 3,
    messages: int = 1,
    sends: Sequence[int] | None = None,
    program: str | None = None,
    multicast: bool = False,
    faults: Faults = NO_FAULTS,
    tree: Mapping[str, str] | None = None,
    links: Iterable[tuple[str, str]] | None = None,
    opens: Sequence[tuple[str, Open]] = (),
) -> Setting:
    """A check of a protocol of the registry, from what people give.

    Each process sends `messages` messages, or those many of `sends`, to any receiver; or all do what
    `program` says. `links` are pairs (from, to). On a network that loses or duplicates, protocols that
    assume otherwise run inside `ReliableLink`.
    """
    able = protocols.describe(protocol)
    names = process_names(processes if sends is None else len(sends))
    if program is not None:
        chosen = written_program(program, names)
    else:
        if multicast and "multicast" not in able.casts:
            raise CheckError(
                f"{protocol} has no multicast; leave out `multicast`, or choose another protocol"
            )
        counts = [messages] * len(names) if sends is None else sends
        casts = [able.casts[0], "multicast"] if multicast else [able.casts[0]]
        chosen = every_program(dict(zip(names, counts, strict=True)), casts, opens)
    unreliable = bool(faults.loss or faults.duplicate)
    wrapped = unreliable and able.network == "reliable"
    make = partial(
        make_core,
        protocol,
        names,
        None if able.overlay != "tree" else dict(tree or _star(names)),
        None if able.overlay != "links" else _checked_links(links or _ring(names), names),
        wrapped,
    )
    return Setting(
        protocol,
        chosen,
        make,
        faults,
        fifo=able.fifo_links and not wrapped,
        timer=able.timer,
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
    """Raise LocalProtocolError if a core would refuse what its program wants of it, and say why.

    An exploration would notice too, but perhaps after hours.
    """
    for name, places in explored.program.places.items():
        fresh = explored.make(name)
        choices = dict.fromkeys(choice for place in places for choice, _ in place)
        opened = {choice.peer for choice in choices if isinstance(choice, Open)}
        for choice in choices:
            if not (isinstance(choice, Close) and choice.peer in opened):
                perform(fresh.copy(), choice)


def _checked_links(
    links: Iterable[tuple[str, str]], names: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """The same, if they are between processes and lead from everybody to everybody.

    Protocols on overlays assume that; where it is not so, links in the making are tried for ever.
    """
    links = tuple(links)
    for name in dict.fromkeys(name for link in links for name in link):
        if name not in names:
            raise CheckError(
                f"links: {name!r} is no process here; the processes: {', '.join(names)}"
            )
    for name in names:
        reached = {name}
        while further := {to for start, to in links if start in reached} - reached:
            reached |= further
        if len(reached) < len(names):
            missing = ", ".join(sorted(set(names) - reached))
            raise CheckError(
                f"links: no way leads from {name} to {missing}; add links until everybody can reach "
                "everybody"
            )
    return links


def _star(names: tuple[str, ...]) -> dict[str, str]:
    """Everybody under the first."""
    return dict.fromkeys(names[1:], names[0])


def _ring(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Links both ways between neighbours in a ring; two processes have one neighbour each."""
    ways = {(names[place - 1], name) for place, name in enumerate(names)}
    return sorted(ways | {(b, a) for a, b in ways})
