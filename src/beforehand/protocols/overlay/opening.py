"""A link that a process is opening: what `prc` and `preventive` remember of it until it is in use."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.overlay.frames import Relayed, Route

# Ticks until the making of a link is started again. It doubles each time: the network may be slow.
FIRST_TIMEOUT: Final = 8
MAX_TIMEOUT: Final = 1 << 10

MAX_BUFFERED: Final = 1 << 16  # messages; a link in the making that needs more is started again

# The phases of an opening.
REFUSED: Final = 0  # to be tried again
ASKED: Final = 1  # the first frame is out
RECORDING: Final = 2  # pi is out, rho awaited (`prc`)


class Opening:
    """A link that this process opens."""

    e: i64
    route: Final[Route]
    timeout: Final[i64]
    buffer: list[Relayed]  # what was delivered here and must go over the link first

    def __init__(self, e: i64, route: Route, timeout: i64) -> None:
        self.phase: i64 = ASKED
        self.age: i64 = 0  # ticks since it was started
        self.e = e
        self.route = route
        self.timeout = timeout
        self.buffer = []

    def copy(self) -> Opening:
        """An independent record in the same state."""
        twin = Opening(self.e, self.route, self.timeout)
        twin.phase = self.phase
        twin.age = self.age
        twin.buffer = self.buffer.copy()
        return twin

    def key(self) -> tuple[object, ...]:
        """Equal exactly for equal records."""
        times = (int(self.timeout), int(self.age))
        return (int(self.e), self.route, int(self.phase), times, tuple(self.buffer))
