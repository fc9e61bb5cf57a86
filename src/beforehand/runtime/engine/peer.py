"""What is known of one other process: its identity, the link to it, and the credit both ways."""

from typing import Final

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.runtime.engine.credit import ReceiveCredit, SendCredit
from beforehand.runtime.link.link import Link


class Peer:
    """A process under one incarnation; also this process itself, which has no link."""

    def __init__(
        self,
        name: str,
        process: str,
        incarnation: bytes = b"",
        window: i64 = 0,
        window_bytes: i64 = 0,
        link: Link | None = None,
    ) -> None:
        self.proven: bool = False  # it has shown that it holds the keys of the session
        self.gone: bool = False  # dropped, or it has dropped us: no more frames in either direction
        self.grant_due: bool = False  # it is listed in `FlowControl`
        self.name: Final = name  # what users call it
        self.process: Final = process  # what the cores call it
        self.incarnation: Final = incarnation  # empty until it connects
        self.link = link  # None: not connected yet, or this process itself
        self.backlog: list[Frame] = []  # frames of the core for it from before there was a link
        self.outgoing: Final = SendCredit(window, window_bytes)
        self.incoming: Final = ReceiveCredit()
