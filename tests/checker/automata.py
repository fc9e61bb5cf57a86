"""Random cores: what they do in each mode on each event is a random table.

They hold messages back and release them at odd moments, send signals, answer signals, fail, deliver
twice or never, and report at random that they wait for something. So no reduction of an exploration
can rely on anything that real protocols happen to have in common.

A table is *fair* if it treats all processes alike: then renaming the processes of a run gives a run.
Otherwise some of its rows differ from one process to the next, perhaps a single one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache, partial
from typing import cast

from beforehand.checker.program import every_program, written_program
from beforehand.checker.setting import FaultBudget, Setting
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.controls import RawMessage
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame
from tests.checker.cores import NAMES, Plain

MODES = 3
SIGNAL = (
    b"!"  # the payload of frames that carry no message; their number is 1 if they want an answer
)


@dataclass(frozen=True)
class Table:
    """What to do, by mode and event."""

    seed: int
    favour: float  # how likely each row is to differ from one process to the next; 0: it is fair
    haste: float  # how likely it is that something happens at once
    mistakes: float  # how likely each kind of mistake is, in each row

    def row(self, process: str, mode: int, event: str) -> Row:
        """What a process does in this mode on this event."""
        rng = self._rng(process, f"{mode} {event}")
        return Row(
            mode=rng.randrange(MODES),
            at_once=rng.random() < self.haste,
            release=rng.random() < self.haste,
            signals=rng.choices(["", "them", "others"], [5, 2, 1])[0],
            answered=rng.randrange(2),
            mistake=rng.choices(
                ["", "error", "refused", "invented", "duplicate"], [1] + [self.mistakes] * 4
            )[0],
        )

    def waits(self, process: str, mode: int) -> bool:
        """Whether a process in this mode reports that it waits for an acknowledgement."""
        return self._rng(process, f"{mode} waits").random() < self.mistakes

    def _rng(self, process: str, purpose: str) -> random.Random:
        rng = random.Random(f"{self.seed} {purpose}")
        if rng.random() < self.favour:
            return random.Random(f"{self.seed} {purpose} {process}")
        return rng


@dataclass(frozen=True)
class Row:
    """What to do on one event."""

    mode: int  # from then on
    at_once: bool  # whether a message is sent, or delivered, and not held back
    release: bool  # whether held messages are released now
    signals: str  # who gets a signal: nobody, the other one in this event, all others
    answered: int  # 1 if such a signal is to be answered
    mistake: str


@cache
def _row(table: Table, process: str, mode: int, event: str) -> Row:
    return table.row(process, mode, event)


class Automaton(Plain):
    """One process that follows its table."""

    def __init__(self, table: Table, process: str) -> None:
        super().__init__(process)
        self.table = table
        self.mode = 0
        self.outgoing: tuple[
            tuple[str, int, bytes], ...
        ] = ()  # held back here: to, number, payload
        self.incoming: tuple[tuple[str, int, bytes], ...] = ()  # the same: from, number, payload

    def send(self, to: object, payload: bytes) -> list[Effect]:
        """Causal-send, perhaps later."""
        self.sent += 1
        receivers = self.names if to is None else cast(tuple[str, ...], to)
        row = self._turn("send")
        own = [Deliver(name, self.sent, payload) for name in receivers if name == self.process]
        others = tuple((name, self.sent, payload) for name in receivers if name != self.process)
        self.outgoing += others
        them = [name for name, _, _ in others]
        return own + self._go_on(row.at_once, row.release) + self._signals(row, them, row.answered)

    def receive(self, sender: str, frame: Frame) -> list[Effect]:
        """Deliver, perhaps later; or answer a signal."""
        assert isinstance(frame, RawMessage)
        if frame.payload == SIGNAL:
            row = self._turn(f"signal {frame.number}")
            answers = self._signals(row, [sender], answered=0) if frame.number else []
            return self._go_on(row.at_once, row.release) + answers
        row = self._turn("message")
        number = int(frame.number) + (row.mistake == "invented")
        message = (sender, number, f"{sender}#{number}".encode())
        self.incoming += (message,) * (2 if row.mistake == "duplicate" else 1)
        going = self._go_on(row.release, row.at_once)
        return going + self._signals(row, [sender], row.answered)

    def tick(self) -> list[Effect]:
        """A step without any input."""
        row = self._turn("tick")
        return self._go_on(row.release, row.release) + self._signals(row, [], answered=0)

    def unacknowledged(self) -> int:
        """As the table has it."""
        return int(self.table.waits(self.process, self.mode))

    def _turn(self, event: str) -> Row:
        row = _row(self.table, self.process, self.mode, event)
        if row.mistake == "error":
            raise ValueError(event)
        if row.mistake == "refused" and event != "send":
            raise RemoteProtocolError("somebody", event)
        self.mode = row.mode
        return row

    def _go_on(self, send: bool, deliver: bool) -> list[Effect]:
        effects: list[Effect] = []
        if deliver:
            effects += [Deliver(*message) for message in self.incoming]
            self.incoming = ()
        if send:
            effects += [Transmit(to, RawMessage(k, payload)) for to, k, payload in self.outgoing]
            self.outgoing = ()
        return effects

    def _signals(self, row: Row, them: list[str], answered: int) -> list[Effect]:
        others = [name for name in self.names if name != self.process]
        to = {"": [], "them": them, "others": others}[row.signals]
        return [Transmit(name, RawMessage(answered, SIGNAL)) for name in to]


def automaton(table: Table, process: str) -> Core:
    """One core of this table."""
    return cast(Core, Automaton(table, process))


def drawn(seed: int, fair: bool) -> Setting:
    """A small setting, drawn entirely at random."""
    rng = random.Random(f"setting {seed}")
    favour = 0 if fair else rng.choice([0.03, 0.1, 0.4])
    haste, mistakes = rng.choice([0.7, 0.9, 1]), rng.choice([0, 0, 0, 0.02, 0.1])
    table = Table(seed, favour, haste, mistakes)
    if rng.random() < 0.6:
        sends = rng.choice([(1, 1, 0), (2, 0, 0), (1, 1, 1), (1, 0, 0)])
        casts = rng.choice([["unicast"], ["unicast"], ["broadcast"], ["multicast"]])
        program = every_program(dict(zip(NAMES, sends, strict=True)), casts)
    else:
        steps = [
            f"{rng.choice(NAMES)}>{rng.choice([*NAMES, 'a,b', 'b,c', '*'])}"
            for _ in range(rng.randint(2, 4))
        ]
        program = written_program(" ".join(steps), NAMES)
    faults = rng.choice(
        [FaultBudget()] * 3 + [FaultBudget(loss=1), FaultBudget(duplicate=1), FaultBudget(tick=1)]
    )
    return Setting(
        f"automaton {seed}",
        program,
        partial(automaton, table),
        faults,
        fifo=rng.random() < 0.6,
        timer=rng.random() < 0.3,
    )
