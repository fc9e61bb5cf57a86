"""What is known of one other process: its identity, the link to it, and the credit both ways."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.runtime.engine.credit import ReceiveCredit, SendCredit
from beforehand.runtime.link.link import Link


class Peer:
    """A process under one incarnation; also this process itself, which has no link."""

    name: Final[str]  # what users call it
    process: Final[str]  # what the cores call it
    incarnation: Final[bytes]  # empty as long as it was never heard from
    link: Link | None  # None: not connected yet, or this process itself
    proven: bool  # it has shown that it holds the keys of the session
    gone: bool  # dropped, or it has dropped us: nothing is received from it or sent to it any more
    backlog: list[Frame]  # frames of the core for it from before there was a link
    outgoing: Final[SendCredit]
    incoming: Final[ReceiveCredit]
    grant_due: bool  # it is listed in `FlowControl`

    def __init__(
        self,
        name: str,
        process: str,
        incarnation: bytes = b"",
        window: i64 = 0,
        window_bytes: i64 = 0,
        link: Link | None = None,
    ) -> None:
        self.name = name
        self.process = process
        self.incarnation = incarnation
        self.link = link
        self.proven = False
        self.gone = False
        self.backlog = []
        self.outgoing = SendCredit(window, window_bytes)
        self.incoming = ReceiveCredit()
        self.grant_due = False
