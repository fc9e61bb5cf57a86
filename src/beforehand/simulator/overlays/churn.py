"""How people write the changes of an overlay; `overlay.py` tells what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from beforehand.errors import ScenarioError
from beforehand.simulator import units
from beforehand.simulator.overlays.dynamics import Change
from beforehand.simulator.world.random_streams import Stream

CHURN: Final = "joins=5,leaves=3,crashes=2,from=1s,to=10s"
MOST: Final = 100_000


@dataclass(frozen=True)
class Churn:
    """How many come and go between two times."""

    newcomers: int
    leaves: int
    crashes: int
    start: int
    end: int

    def anybody(self) -> bool:
        """Whether there is any."""
        return self.newcomers + self.leaves + self.crashes > 0

    def changes(self, stream: Stream) -> list[Change]:
        """Each at a random moment."""
        kinds = ["join"] * self.newcomers + ["leave"] * self.leaves + ["crash"] * self.crashes
        length = self.end - self.start
        return [Change(kind, self.start + int(stream.below(length + 1))) for kind in kinds]


NO_CHURN: Final = Churn(0, 0, 0, 0, 0)


def churn(text: str) -> Churn:
    """From `joins=J,leaves=L,crashes=C,from=T,to=T`; what is left out is 0."""
    fields: dict[str, str] = {}
    for field in text.split(","):
        name, equals, value = field.partition("=")
        name = name.strip()
        if not equals or name in fields or name not in ("joins", "leaves", "crashes", "from", "to"):
            raise ScenarioError(f"churn: {text!r} is not understood; write it like {CHURN}")
        fields[name] = value.strip()
    if "to" not in fields:
        raise ScenarioError(f"churn: {text!r} does not say until when; write it like {CHURN}")
    joins, leaves, crashes = (
        units.whole(fields.get(name, "0"), f"churn: {name}", 0, MOST)
        for name in ("joins", "leaves", "crashes")
    )
    start = units.duration(fields.get("from", "0s"), "churn: from")
    end = units.duration(fields["to"], "churn: to")
    if start >= end:
        raise ScenarioError(f"churn: {text!r} ends before it begins")
    return Churn(joins, leaves, crashes, start, end)


def timed(kind: str, text: str, places: dict[str, int]) -> Change:
    """From `a>b@2s`."""
    pair, at, time = text.rpartition("@")
    start, arrow, end = pair.partition(">")
    if not at or not arrow:
        raise ScenarioError(f"{kind}: {text!r} is not understood; write it like a>b@2s")
    one = units.place(start, places, f"{kind} {text!r}")
    other = units.place(end, places, f"{kind} {text!r}")
    if one == other:
        raise ScenarioError(f"{kind} {text!r} is about a link to oneself; name another process")
    return Change(kind, units.duration(time, kind), one, other)
