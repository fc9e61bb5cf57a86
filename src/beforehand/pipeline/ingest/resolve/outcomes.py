"""The outcomes of resolving rows: messages, events, and exactly one verdict for each row."""

from typing import Any, NamedTuple

from beforehand.trace.schema import Event

MESSAGE, REQUEST, REPLY = "message", "request", "reply"  # kinds of messages


class ReadRow(NamedTuple):
    """A row that was read, to be resolved with the others of its group."""

    file: str
    format: str
    position: int
    digest: str  # of the row as it was written; equal rows have equal digests
    raw: str
    fields: tuple[Any, ...]
    group: str = ""

    @property
    def where(self) -> str:
        """File name and position, for error messages."""
        return f"{self.file.rpartition('/')[2]}, {self.position}"


class IngestedMessage(NamedTuple):
    """A causal-send that rows describe, within its run."""

    id: str
    sender: str
    to: tuple[str, ...]
    time_ns: int
    after: tuple[str, ...]
    row: ReadRow
    payload_bytes: int | None = None
    kind: str = MESSAGE
    flags: tuple[str, ...] = ()


class Accepted(NamedTuple):
    """The verdict on a row that is used."""

    row: ReadRow
    flags: tuple[str, ...] = ()


class Duplicate(NamedTuple):
    """The verdict on a row that repeats another exactly."""

    row: ReadRow


class Rejected(NamedTuple):
    """The verdict on a row that cannot be used."""

    row: ReadRow
    reason: str


Outcome = IngestedMessage | Event | Accepted | Duplicate | Rejected

CLOCK_SKEW = "clock skew"
MISSING_PARENT = "missing parent"
NOT_REPORTED = "remote side not reported"
NOT_IN_LOG = "sender event not in log"
GAP = "gap in log"
WITH_ITSELF = "concurrent with itself"
AFTER_ITSELF = "sent after itself, so no message"
