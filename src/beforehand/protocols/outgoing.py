"""A message in an output buffer: causal-sent, not yet released to the network."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64, mypyc_attr


@mypyc_attr(acyclic=True)
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
