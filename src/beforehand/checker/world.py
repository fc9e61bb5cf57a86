"""The state of a whole system: the cores of a setting, the frames in flight, and the oracle.

This is the specification of an exploration in its plainest form: which actions are enabled, and what
each does to the very objects that the runtime runs. It replays runs and judges them. `packed/`
represents the same worlds as rows of integers; the tests compare the two.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from beforehand.causality.ids import MessageId
from beforehand.causality.oracle import Oracle
from beforehand.checker.actions import Action
from beforehand.checker.program import ProgramStep, SendStep, payload_of, run_step
from beforehand.checker.setting import MOST_FAULTS, Setting
from beforehand.checker.verdict import CheckProblem
from beforehand.errors import BeforehandError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.frames import Frame


@dataclass(frozen=True)
class InFlight:
    """A frame between two processes."""

    sender: str
    to: str
    frame: Frame


class CheckedWorld:
    """One state of a run; `apply` moves on to the next."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.cores: dict[str, Core] = {name: setting.make(name) for name in setting.processes}
        self.locations = dict.fromkeys(setting.processes, 0)  # in their programs
        self.flight: list[InFlight] = []  # in the order of sending
        self.oracle = Oracle()
        self.losses = 0
        self.duplicates = 0
        self.ticks = 0  # early ticks
        self.rounds = 0  # times that all timers went off because nothing else could happen
        self.effects: list[Effect] = []  # of the last action

    def enabled(self) -> list[Action]:
        """All actions that are possible now."""
        actions = [
            Action("step", name, step)
            for name in self.cores
            for step, _ in self.setting.program.locations[name][self.locations[name]]
        ]
        faults = self.setting.faults
        for copy in self._arrivals():
            kinds = ["arrive"]
            kinds += ["lose"] if self.losses < faults.loss else []
            kinds += ["duplicate"] if self.duplicates < faults.duplicate else []
            actions += [
                Action(kind, copy.to, None, copy.sender, copy.frame)  # type: ignore[arg-type]
                for kind in kinds
            ]
        if not actions and self._timers_may_help():
            actions.append(Action("timers", ""))
        if self.ticks < faults.tick:
            actions += [Action("tick", name) for name in self.cores if self._tick_matters(name)]
        return actions

    def is_over(self) -> bool:
        """Whether the run may end here: at most early ticks are enabled, which nobody can rely on."""
        return all(action.kind == "tick" for action in self.enabled())

    def _arrivals(self) -> list[InFlight]:
        """The distinct frames that may arrive next; on FIFO links, only the first of each link."""
        if not self.setting.fifo:
            return list(dict.fromkeys(self.flight))
        first: dict[tuple[str, str], InFlight] = {}
        for copy in self.flight:
            first.setdefault((copy.sender, copy.to), copy)
        return list(first.values())

    def _timers_may_help(self) -> bool:
        """Nothing is in flight and all programs are done: can timers repair what is missing?"""
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
            return True  # and `apply` will report it

    def apply(self, action: Action) -> CheckProblem | None:
        """Take an action; returns the guarantee that it breaks, if any."""
        if action.kind in ("arrive", "lose", "duplicate"):
            assert action.frame is not None
            copy = InFlight(action.sender, action.process, action.frame)
            self.losses += action.kind == "lose"
            if action.kind == "duplicate":
                self.duplicates += 1
            else:
                self.flight.remove(copy)
        self.ticks += action.kind == "tick"
        if action.kind == "timers":
            self.rounds += 1
            ticks = (self._act(Action("tick", name)) for name in self.cores)
            return next((problem for problem in ticks if problem is not None), None)
        return self._act(action)

    def _act(self, action: Action) -> CheckProblem | None:
        """Take the action at its process, and carry out the effects."""
        self.effects = []
        try:
            self.effects = self._call(action)
        except RemoteProtocolError as refusal:
            return CheckProblem(
                "refused", f"{action.process} refuses what a correct peer sent: {refusal}."
            )
        except BeforehandError:
            raise  # a program that the protocol does not support, not a failure of the core
        except Exception as failure:
            name = type(failure).__name__
            return CheckProblem(
                "error", f"{action.process} fails when {action}: {name}: {failure}."
            )
        return self._carry_out(action.process)

    def _call(self, action: Action) -> list[Effect]:
        core = self.cores[action.process]
        match action.kind:
            case "step":
                assert action.step is not None
                return self._step(core, action.step)
            case "tick":
                return core.tick()
            case "lose":
                return []
            case _:
                assert action.frame is not None
                return core.receive(action.sender, action.frame)

    def _step(self, core: Core, step: ProgramStep) -> list[Effect]:
        name = core.process
        location = self.setting.program.locations[name][self.locations[name]]
        self.locations[name] = dict(location)[step]
        effects = run_step(core, step)
        if isinstance(step, SendStep):
            self.oracle.send(name, self.setting.processes if step.to is None else step.to)
        return effects

    def _carry_out(self, process: str) -> CheckProblem | None:
        for effect in self.effects:
            if isinstance(effect, Transmit):
                self.flight.append(InFlight(process, effect.to, effect.frame))
            elif isinstance(effect, Deliver):
                message = MessageId(effect.sender, int(effect.message_id))
                if violations := self.oracle.deliver(process, message):
                    last = violations[-1]  # the most specific
                    return CheckProblem(last.kind, last.sentence)
                if effect.payload != payload_of(*message):
                    return CheckProblem(
                        "invented", f"{process} delivered {message} with the payload of another."
                    )
        return None

    def problem_at_end(self) -> CheckProblem | None:
        """The problem if the run ends here, if there is one."""
        missing = self.oracle.undelivered()
        if missing:
            message, receiver = missing[0]
            why = self._waiting() or "nobody holds it"
            return CheckProblem("undelivered", f"{receiver} never delivers {message}: {why}.")
        why = self._waiting()
        return CheckProblem("stuck", f"everything is delivered, but {why}.") if why else None

    def _waiting(self) -> str:
        """What the cores still wait for, as text; empty if for nothing."""
        waiting = []
        for name, core in self.cores.items():
            for held in core.held():
                waits = [f"{wait.kind} of {wait.peer} for {wait.message_id}" for wait in held.waits]
                message = MessageId(held.sender, held.message_id)
                waiting.append(
                    f"{name} holds {message} until {' and '.join(waits) or 'who knows what'}"
                )
            if not waiting and core.unacknowledged():
                waiting.append(f"{name} waits for an acknowledgement")
            if not waiting and core.permits_missing():
                waiting.append(f"{name} waits for a permit")
        return "; ".join(waiting)


def replay(setting: Setting, run: Iterable[Action]) -> tuple[CheckedWorld, CheckProblem | None]:
    """The world after a run, and the problem that the run meets, at its end at the latest."""
    world = CheckedWorld(setting)
    for action in run:
        problem = world.apply(action)
        if problem is not None:
            return world, problem
    return world, world.problem_at_end() if world.is_over() else None
