"""The schema of a trace: one event per row, whoever wrote it and whatever will read it.

A trace lists the events of each process in the order in which they happened there. `seq` counts the
events of a process in a run, 1, 2, 3, ..., and defines that order; `time_ns` comes from a clock, and
clocks may be skewed. `docs/trace-format.md` is the same for people who use other languages.
"""

from typing import Final, NamedTuple

# Incremented when a reader of the old version would misunderstand the new one.
VERSION: Final = 1

# The key of the version in a file: in the metadata of Parquet, in the header line of JSON.
VERSION_KEY: Final = "beforehand-trace"

KINDS: Final[dict[str, str]] = {
    "send": "the application causal-sends a message; `to` has all of its receivers",
    "release": "a copy is handed to the network, for the one receiver in `to`",
    "receive": "a message arrives from the network",
    "deliver": "the application gets a message",
    "control": "a frame without a message is sent, or arrives",
    "hold": "a message starts to wait",
    "evict": "the process gives up on the peer `sender` for ever",
    "start": "the process begins",
    "stop": "the process ends",
}

ABOUT_A_MESSAGE: Final = frozenset({"send", "release", "receive", "deliver", "hold"})
ABOUT_A_PEER: Final = ABOUT_A_MESSAGE | {"control", "evict"}
TO_ONE: Final = frozenset({"release", "control"})


class Event(NamedTuple):
    """One row. `sender` and `mid` name the message, or for some kinds only the peer."""

    run: str
    process: str
    seq: int
    kind: str
    sender: str | None
    mid: int | None
    to: tuple[str, ...] | None  # None: everybody, or not applicable
    time_ns: int
    payload_bytes: int
    meta_bytes: int  # bytes on the wire that are not payload
    detail: str = ""
