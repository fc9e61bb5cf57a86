"""Acknowledgements that came along with messages: those are more urgent, so acks are used later."""

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.link.link import Link


class DeferredAck:
    """An acknowledgement of packets for a link, or (if there is a `frame`) of messages for the core."""

    def __init__(
        self,
        peer: Peer,
        link: Link,
        received_at: i64,
        frame: Frame | None,
        ranges: list[tuple[int, int]],
        delay: i64,
    ) -> None:
        self.peer: Final = peer
        self.link: Final = link  # over which it came
        self.received_at: Final = received_at
        self.frame: Final = frame
        self.ranges: Final = ranges
        self.delay: Final = delay


NO_RANGES: Final[list[tuple[int, int]]] = []  # shared, never changed
