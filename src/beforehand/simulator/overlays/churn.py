"""The syntax of changes of an overlay; `dynamics.py` carries them out."""

from dataclasses import dataclass
from typing import Final

from beforehand.errors import ScenarioError
from beforehand.simulator import units
from beforehand.simulator.overlays.dynamics import OverlayChange
from beforehand.simulator.world.random_streams import Stream

EXAMPLE: Final = "joins=5,leaves=3,crashes=2,from=1s,to=10s"
MAX_COUNT: Final = 100_000


@dataclass(frozen=True)
class Churn:
    """How many processes come and go between two times."""

    newcomers: int
    leaves: int
    crashes: int
    start: int
    end: int

    def happens(self) -> bool:
        """Whether any process comes or goes."""
        return self.newcomers + self.leaves + self.crashes > 0

    def changes(self, stream: Stream) -> list[OverlayChange]:
        """The changes, each at a random moment."""
        kinds = ["join"] * self.newcomers + ["leave"] * self.leaves + ["crash"] * self.crashes
        length = self.end - self.start
        return [OverlayChange(kind, self.start + int(stream.below(length + 1))) for kind in kinds]


NO_CHURN: Final = Churn(0, 0, 0, 0, 0)


def parse_churn(text: str) -> Churn:
    """From `joins=J,leaves=L,crashes=C,from=T,to=T`; omitted fields are 0."""
    fields: dict[str, str] = {}
    for field in text.split(","):
        name, equals, value = field.partition("=")
        name = name.strip()
        if not equals or name in fields or name not in ("joins", "leaves", "crashes", "from", "to"):
            raise ScenarioError(f"churn: {text!r} is not understood; write it like {EXAMPLE}")
        fields[name] = value.strip()
    if "to" not in fields:
        raise ScenarioError(f"churn: {text!r} has no end; write it like {EXAMPLE}")
    joins, leaves, crashes = (
        units.whole(fields.get(name, "0"), f"churn: {name}", 0, MAX_COUNT)
        for name in ("joins", "leaves", "crashes")
    )
    start = units.duration(fields.get("from", "0s"), "churn: from")
    end = units.duration(fields["to"], "churn: to")
    if start >= end:
        raise ScenarioError(f"churn: {text!r} ends before it begins")
    return Churn(joins, leaves, crashes, start, end)


def parse_change(kind: str, text: str, indexes: dict[str, int]) -> OverlayChange:
    """From `a>b@2s`."""
    pair, at, time = text.rpartition("@")
    start, arrow, end = pair.partition(">")
    if not at or not arrow:
        raise ScenarioError(f"{kind}: {text!r} is not understood; write it like a>b@2s")
    one = units.process_index(start, indexes, f"{kind} {text!r}")
    other = units.process_index(end, indexes, f"{kind} {text!r}")
    if one == other:
        raise ScenarioError(
            f"{kind} {text!r} is a link from a process to itself; name two processes"
        )
    return OverlayChange(kind, units.duration(time, kind), one, other)
