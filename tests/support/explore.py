"""Every interleaving of a small program: which orders of delivery can a protocol produce?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame

Program = Mapping[str, Sequence[str]]  # process -> the receivers of its messages, in order
Orders = tuple[tuple[str, tuple[str, ...]], ...]  # process -> the payloads in delivery order


class State:
    """A moment of a run: cores, what each process has yet to send, frames in flight, deliveries."""

    def __init__(self, cores: dict[str, Core], program: Program) -> None:
        self.cores = cores
        self.program = {process: tuple(to) for process, to in program.items()}
        self.flight: tuple[tuple[str, str, Frame], ...] = ()  # (from, to, frame)
        self.orders: dict[str, tuple[str, ...]] = dict.fromkeys(cores, ())

    def key(self) -> tuple[object, ...]:
        """Equal for moments that have the same futures and the same deliveries."""
        return (
            tuple(core.fingerprint() for core in self.cores.values()),
            tuple(self.program.items()),
            frozenset((entry, self.flight.count(entry)) for entry in self.flight),
            tuple(self.orders.items()),
        )

    def successors(self) -> list[State]:
        """One step further, in every way: each possible send and each possible arrival."""
        successors: list[State] = []
        for process, to in self.program.items():
            if to:
                state = self._copy(process)
                state.program[process] = to[1:]
                payload = f"{process}>{to[0]}".encode()
                state._carry_out(process, state.cores[process].send(to[0], payload))
                successors.append(state)
        for index, (sender, receiver, frame) in enumerate(self.flight):
            state = self._copy(receiver)
            state.flight = self.flight[:index] + self.flight[index + 1 :]
            state._carry_out(receiver, state.cores[receiver].receive(sender, frame))
            successors.append(state)
        return successors

    def _copy(self, mover: str) -> State:
        twin = State({**self.cores, mover: self.cores[mover].copy()}, self.program)
        twin.flight = self.flight
        twin.orders = dict(self.orders)
        return twin

    def _carry_out(self, process: str, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Transmit):
                self.flight += ((process, effect.to, effect.frame),)
            elif isinstance(effect, Deliver):
                self.orders[process] += (effect.payload.decode(),)


def all_orders(cores: dict[str, Core], program: Program) -> tuple[set[Orders], int]:
    """All orders of delivery at the ends of runs, and the number of different moments seen."""
    start = State(cores, program)
    seen = {start.key()}
    frontier = [start]
    ends: set[Orders] = set()
    while frontier:
        state = frontier.pop()
        successors = state.successors()
        if not successors:
            ends.add(tuple(sorted(state.orders.items())))
        for successor in successors:
            key = successor.key()
            if key not in seen:
                seen.add(key)
                frontier.append(successor)
    return ends, len(seen)
