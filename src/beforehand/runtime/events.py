"""What a node tells about its peers and itself, beside messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UP: Final = "up"  # a session is there, or a silent peer was heard again
SILENT: Final = "silent"  # nothing was heard for `silent_after`
DROPPED: Final = (
    "dropped"  # gone for ever: by us, by others, because of silence, or by its own will
)
RESTARTED: Final = "restarted"  # the peer is back under a new incarnation; the old one was dropped
REFUSED: Final = "refused"  # no session: another key, another protocol, a name in use
CONFLICT: Final = "conflict"  # two living nodes with one name
EXPELLED: Final = "expelled"  # the peer has dropped us
MISBEHAVED: Final = "misbehaved"  # the peer sent what no correct node would
TRACE_FAILED: Final = "trace-failed"  # recording has stopped; everything else goes on

KINDS: Final = (
    *(UP, SILENT, DROPPED, RESTARTED, REFUSED, CONFLICT, EXPELLED, MISBEHAVED),
    TRACE_FAILED,
)


@dataclass(frozen=True)
class PeerEvent:
    """Something happened to `peer` (or, for its trace, to the node itself)."""

    kind: str
    peer: str
    detail: str

    def __str__(self) -> str:
        return (
            f"{self.peer}: {self.kind}, {self.detail}"
            if self.detail
            else f"{self.peer}: {self.kind}"
        )
