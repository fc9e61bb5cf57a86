"""A world: the cores of a setting, the frames in flight, and the oracle that watches.

This is what an exploration means, in the plainest form: what may happen next, and what it does to the
very objects that the runtime runs. It replays runs and judges them. `explore.py` visits the same
worlds as rows of integers; tests hold the one against the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from beforehand.causality.ids import MessageId
from beforehand.causality.oracle import Oracle
from beforehand.checker.actions import Action
from beforehand.checker.perform import payload_of, perform
from beforehand.checker.program import Choice, Send
from beforehand.checker.setting import MOST_FAULTS, Setting
from beforehand.checker.verdict import Problem
from beforehand.errors import BeforehandError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame


@dataclass(frozen=True)
class Flying:
    """A frame on its way."""

    sender: str
    to: str
    frame: Frame


class World:
    """One moment of a run; `do` is the next."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.cores: dict[str, Core] = {name: setting.make(name) for name in setting.processes}
        self.places = dict.fromkeys(setting.processes, 0)  # in their programs
        self.flight: list[Flying] = []  # in the order in which they were sent
        self.oracle = Oracle()
        self.losses = 0
        self.duplicates = 0
        self.ticks = 0  # early ones
        self.rounds = 0  # of all timers, when nothing else was left
        self.effects: list[Effect] = []  # of the last action

    # ---- what may happen ----

    def enabled(self) -> list[Action]:
        """Everything that may happen now."""
        found = [
            Action("step", name, choice)
            for name in self.cores
            for choice, _ in self.setting.program.places[name][self.places[name]]
        ]
        faults = self.setting.faults
        for flying in self._arrivals():
            kinds = ["arrive"]
            kinds += ["lose"] if self.losses < faults.loss else []
            kinds += ["duplicate"] if self.duplicates < faults.duplicate else []
            found += [
                Action(kind, flying.to, None, flying.sender, flying.frame)  # type: ignore[arg-type]
                for kind in kinds
            ]
        if not found and self._timers_may_help():
            found.append(Action("timers", ""))
        if self.ticks < faults.tick:
            found += [Action("tick", name) for name in self.cores if self._tick_matters(name)]
        return found

    def is_over(self) -> bool:
        """Whether nothing need happen any more; early ticks, which nobody can rely on, still may."""
        return all(action.kind == "tick" for action in self.enabled())

    def _arrivals(self) -> list[Flying]:
        """The distinct frames that may arrive next: of FIFO links, the first of each."""
        if not self.setting.fifo:
            return list(dict.fromkeys(self.flight))
        first: dict[tuple[str, str], Flying] = {}
        for flying in self.flight:
            first.setdefault((flying.sender, flying.to), flying)
        return list(first.values())

    def _timers_may_help(self) -> bool:
        """Nothing is in flight, nothing left to do: is something missing that timers can repair?"""
        return (
            (self.setting.timer or self.losses > 0)
            and self.rounds < MOST_FAULTS
            and self.problem_at_end() is not None
            and any(self._tick_matters(name) for name in self.cores)
        )

    def _tick_matters(self, name: str) -> bool:
        twin = self.cores[name].copy()
        try:
            return bool(twin.tick()) or twin.fingerprint() != self.cores[name].fingerprint()
        except Exception:
            return True  # and `do` will say so

    # ---- what it does ----

    def do(self, action: Action) -> Problem | None:
        """Let it happen; returns what it breaks."""
        if action.kind in ("arrive", "lose", "duplicate"):
            assert action.frame is not None
            flying = Flying(action.sender, action.process, action.frame)
            self.losses += action.kind == "lose"
            if action.kind == "duplicate":
                self.duplicates += 1
            else:
                self.flight.remove(flying)
        self.ticks += action.kind == "tick"
        if action.kind == "timers":
            self.rounds += 1
            ticks = (self._at(Action("tick", name)) for name in self.cores)
            return next((problem for problem in ticks if problem is not None), None)
        return self._at(action)

    def _at(self, action: Action) -> Problem | None:
        """What it does at its process."""
        self.effects = []
        try:
            self.effects = self._call(action)
        except RemoteProtocolError as refusal:
            return Problem(
                "refused", f"{action.process} refuses what a correct peer sent: {refusal}."
            )
        except BeforehandError:
            raise  # a program that the protocol cannot run, which is no fault of the core
        except Exception as failure:
            name = type(failure).__name__
            return Problem("error", f"{action.process} fails when {action}: {name}: {failure}.")
        return self._carry_out(action.process)

    def _call(self, action: Action) -> list[Effect]:
        core = self.cores[action.process]
        match action.kind:
            case "step":
                assert action.choice is not None
                return self._step(core, action.choice)
            case "tick":
                return core.tick()
            case "lose":
                return []
            case _:
                assert action.frame is not None
                return core.receive(action.sender, action.frame)

    def _step(self, core: Core, choice: Choice) -> list[Effect]:
        name = core.process
        here = self.setting.program.places[name][self.places[name]]
        self.places[name] = next(after for each, after in here if each == choice)
        effects = perform(core, choice)
        if isinstance(choice, Send):
            self.oracle.send(name, self.setting.processes if choice.to is None else choice.to)
        return effects

    def _carry_out(self, process: str) -> Problem | None:
        for effect in self.effects:
            if isinstance(effect, Transmit):
                self.flight.append(Flying(process, effect.to, effect.frame))
            elif isinstance(effect, Deliver):
                message = MessageId(effect.sender, int(effect.message_id))
                if broken := self.oracle.deliver(process, message):
                    return Problem(broken[-1].kind, broken[-1].sentence)  # the more special one
                if effect.payload != payload_of(*message):
                    return Problem(
                        "invented", f"{process} delivered {message} with the payload of another."
                    )
        return None

    # ---- the end ----

    def problem_at_end(self) -> Problem | None:
        """What is wrong if nothing happens any more."""
        missing = self.oracle.undelivered()
        if missing:
            message, receiver = missing[0]
            why = self._waiting() or "nobody holds it"
            return Problem("undelivered", f"{receiver} never delivers {message}: {why}.")
        why = self._waiting()
        return Problem("stuck", f"everything is delivered, but {why}.") if why else None

    def _waiting(self) -> str:
        """What the cores still wait for, in words; empty if for nothing."""
        found = []
        for name, core in self.cores.items():
            for held in core.held():
                waits = [f"{wait.kind} of {wait.peer} for {wait.message_id}" for wait in held.waits]
                message = MessageId(held.sender, held.message_id)
                found.append(
                    f"{name} holds {message} until {' and '.join(waits) or 'who knows what'}"
                )
            if not found and core.unacknowledged():
                found.append(f"{name} waits for an acknowledgement")
            if not found and core.permits_missing():
                found.append(f"{name} waits for a permit")
        return "; ".join(found)


def replay(setting: Setting, run: Iterable[Action]) -> tuple[World, Problem | None]:
    """The world after a run, and what went wrong in it; after the last action, what is wrong then."""
    world = World(setting)
    for action in run:
        problem = world.do(action)
        if problem is not None:
            return world, problem
    return world, world.problem_at_end() if world.is_over() else None
