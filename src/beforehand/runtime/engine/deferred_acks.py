"""Acknowledgements that came along with messages: those are more urgent, so acks are used later."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.link.link import Link


class DeferredAck:
    """An acknowledgement of packets for a link, or (if there is a `frame`) of messages for the core."""

    peer: Final[Peer]
    link: Final[Link]  # over which it came
    received_at: Final[i64]
    frame: Final[Frame | None]
    ranges: Final[list[tuple[int, int]]]
    delay: Final[i64]

    def __init__(
        self,
        peer: Peer,
        link: Link,
        received_at: i64,
        frame: Frame | None,
        ranges: list[tuple[int, int]],
        delay: i64,
    ) -> None:
        self.peer = peer
        self.link = link
        self.received_at = received_at
        self.frame = frame
        self.ranges = ranges
        self.delay = delay


NO_RANGES: Final[list[tuple[int, int]]] = []  # shared, never changed
