"""A fixed set of processes, each with its position: for protocols with a fixed membership."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError


class Membership:
    """The processes in sorted order, so that all agree on everyone's position. Immutable."""

    names: Final[tuple[str, ...]]
    index: Final[dict[str, int]]
    zeros: Final[tuple[tuple[int, ...], ...]]  # a matrix of nothing, for all to share

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.index = {name: position for position, name in enumerate(names)}
        self.zeros = ((0,) * len(names),) * len(names)

    def __len__(self) -> int:
        return len(self.names)

    def others(self, process: str) -> list[str]:
        """Every member but this process."""
        return [name for name in self.names if name != process]

    def check_receivers(self, process: str, receivers: Sequence[str]) -> None:
        """Refuse receivers that aren't members."""
        for name in receivers:
            if name not in self.index:
                raise LocalProtocolError(
                    f"{process}: {name} is not among the processes that were named at the start"
                )


Processes = Membership | Iterable[str]  # as protocols with a fixed membership take them

# At most one: the last argument and its result. Ten thousand cores of one group, made
# one after the other from the same list, must not hold ten thousand copies of it.
_latest: list[tuple[tuple[str, ...], Membership]] = []


def membership_of(process: str, processes: Processes) -> Membership:
    """The membership of a process, refused unless it is distinct names with this one among them."""
    if isinstance(processes, Membership):
        members = processes
    elif isinstance(processes, str):
        raise LocalProtocolError(
            f"{process}: processes must be several names, not the one string {processes!r}"
        )
    else:
        given = tuple(processes)
        if not _latest or _latest[0][0] != given:
            _latest[:] = [(given, _made_of(process, given))]
        members = _latest[0][1]
    if process not in members.index:
        raise LocalProtocolError(f"{process}: is not among the processes; name it there as well")
    return members


def _made_of(process: str, given: tuple[str, ...]) -> Membership:
    names = sorted([check_process(name) for name in given])
    for before, name in pairwise(names):
        if before == name:
            raise LocalProtocolError(f"{process}: {name} is twice among the processes")
    return Membership(tuple(names))
