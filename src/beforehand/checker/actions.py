"""What can happen in a world, one action at a time; a run is a sequence of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from beforehand.checker.program import Choice
from beforehand.protocols.frames import Frame

Kind = Literal["step", "arrive", "lose", "duplicate", "tick", "timers"]


@dataclass(frozen=True)
class Action:
    """Something happens at `process`.

    `step`: its program goes on with `choice`. `arrive`: `frame` from `sender` arrives there.
    `duplicate`: it arrives, and another copy of it stays in flight. `lose`: it will never arrive.
    `tick`: its timer goes off. `timers`: those of all processes do, in the order of their names.
    """

    kind: Kind
    process: str
    choice: Choice | None = None
    sender: str = ""
    frame: Frame | None = None

    def __str__(self) -> str:
        match self.kind:
            case "step":
                return f"{self.process}{self.choice}"
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
