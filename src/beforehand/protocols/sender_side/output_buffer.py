"""An output buffer: messages that are causal-sent but not yet released to the network.

The common part of protocols whose messages wait only at their sender, one after the other.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect


class Outgoing:
    """One message to one receiver. Immutable, so that copies of a core may share it."""

    __slots__ = ("number", "payload", "since", "to")
    to: Final[str]
    number: Final[i64]
    payload: Final[bytes]
    since: Final[i64]  # the caller's clock at the causal-send

    def __init__(self, to: str, number: i64, payload: bytes, since: i64) -> None:
        self.to = to
        self.number = number
        self.payload = payload
        self.since = since

    def key(self) -> tuple[object, ...]:
        """What decides the future: everything but the clock."""
        return (self.to, int(self.number), self.payload)


class OutputBuffer(Core):
    """A process with one FIFO output buffer. Not to be instantiated itself."""

    waiting: deque[Outgoing]  # not released yet, in causal-send order

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.waiting = deque()

    def _release(self, out: list[Effect]) -> None:
        """Release what may go now."""
        raise NotImplementedError

    def _check_receivers(self, receivers: Sequence[str]) -> None:
        super()._check_receivers(receivers)
        if len(receivers) > 1:
            raise LocalProtocolError(
                f"{self.process}: this protocol has no multicast: one copy could be acted upon "
                "before another has arrived; send to one receiver after the other, or use hybrid"
            )

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        for payload in payloads:
            self.sent += 1
            self.waiting.append(Outgoing(receivers[0], self.sent, payload, now))
            self._release(out)
