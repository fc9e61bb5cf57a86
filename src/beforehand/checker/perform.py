"""Choices, as the cores are told of them."""

from __future__ import annotations

from beforehand.checker.program import Choice, Close, Open
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect


def perform(core: Core, choice: Choice) -> list[Effect]:
    """Let a core do what its program says."""
    if isinstance(choice, Open):
        return core.open(choice.peer, choice.via or None)
    if isinstance(choice, Close):
        return core.close(choice.peer)
    return core.send(choice.to, payload_of(core.process, core.sent + 1))


def payload_of(process: str, number: int) -> bytes:
    """What a message says: its own name, so that no payload can be taken for another."""
    return f"{process}#{number}".encode()
