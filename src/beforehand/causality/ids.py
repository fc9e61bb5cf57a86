"""Names of processes, and of the messages that they causal-send.

A process is named by a string. A message is named by its sender and a number: the k-th causal-send
of alice is `alice#k`, counted from 1 whoever the receivers are, and a multicast is one message with
one number. So the last number of a process is also its send count, and "everything up to alice#k" is
a single integer; vector clocks (`clocks.py`) rest on that.
"""

from typing import NamedTuple

from beforehand.errors import LocalProtocolError

MAX_PROCESS_NAME = 255  # bytes of UTF-8: a frame can then give the length of a name in one byte

_SHOWN = 40  # characters of an invalid name to repeat in the error: it may be a megabyte long


class MessageId(NamedTuple):
    """The `number`-th causal-send of `sender`, counted from 1."""

    sender: str
    number: int

    def __str__(self) -> str:
        return f"{self.sender}#{self.number}"


def check_process(name: object) -> str:
    """Return `name` if it can name a process, otherwise raise `LocalProtocolError`."""
    if isinstance(name, str) and name.isascii() and 0 < len(name) <= MAX_PROCESS_NAME:
        return name  # the fast path: this is called for every event
    if not isinstance(name, str):
        raise LocalProtocolError(
            f"a process id must be a str, not {type(name).__name__} ({_shown(name)}); "
            "convert it first, for example with str()"
        )
    if not name:
        raise LocalProtocolError("a process id must not be empty; give the process a name")
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        raise LocalProtocolError(
            f"the process id {_shown(name)} holds a lone surrogate and cannot be encoded as UTF-8; "
            "decode it from its bytes with the right encoding first"
        ) from None
    if length > MAX_PROCESS_NAME:
        raise LocalProtocolError(
            f"the process id {_shown(name)} takes {length} bytes as UTF-8, more than "
            f"{MAX_PROCESS_NAME}; choose a shorter name, or a hash of it"
        )
    return name


def check_message(message: object) -> MessageId:
    """Return `message` if it is a `MessageId`, otherwise raise `LocalProtocolError`."""
    if not isinstance(message, MessageId):
        raise LocalProtocolError(
            f"a message is named by a MessageId, not by {type(message).__name__} "
            f"({_shown(message)}); use MessageId(sender, number)"
        )
    return message


def _shown(name: object) -> str:
    text = ascii(name)  # ascii, so that the error itself can be printed anywhere
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
