"""What can happen in a world, one action at a time; a run is a sequence of actions."""

from dataclasses import dataclass
from typing import Literal

from beforehand.checker.program import ProgramStep
from beforehand.protocols.frames import Frame

ActionKind = Literal["step", "arrive", "lose", "duplicate", "tick", "timers"]


@dataclass(frozen=True)
class Action:
    """Something happens at `process`.

    `step`: its program takes `step`. `arrive`: `frame` from `sender` arrives there. `duplicate`: it
    arrives, and another copy stays in flight. `lose`: it will never arrive. `tick`: the timer of the
    process expires. `timers`: those of all processes expire, in the order of their names.
    """

    kind: ActionKind
    process: str
    step: ProgramStep | None = None
    sender: str = ""
    frame: Frame | None = None

    def __str__(self) -> str:
        match self.kind:
            case "step":
                return f"{self.process}{self.step}"
            case "timers":
                return "all timers go off"
            case "tick":
                return f"{self.process} ticks"
            case _:
                verb = {
                    "arrive": "receives",
                    "lose": "never gets",
                    "duplicate": "receives a copy of",
                }
                return f"{self.process} {verb[self.kind]} {self.frame} from {self.sender}"


Run = tuple[Action, ...]
