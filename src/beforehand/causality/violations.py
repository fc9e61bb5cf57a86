"""A violation as data: what happened, the witness, and a sentence that explains it.

There are four kinds. `causal`: a message is delivered after one that it happened before. `fifo`: it is
delivered after a later message of the same sender, which is therefore also `causal`. `duplicate`: it is
delivered twice at a process. `invented`: it was never causal-sent, or not to that process.

The witness of the first two is a chain of messages from the late one to the one that was delivered
too early, each happening before the next by a single step (see `history.py`), and as short as
possible.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, Protocol

from beforehand.causality.ids import MessageId

ViolationKind = Literal["causal", "fifo", "duplicate", "invented"]

_MOST_NAMED = 3  # receivers; with more, a sentence ends in "and 97 others"


class SendRecord(Protocol):
    """A record of what was causal-sent, such as a `History`."""

    def receivers(self, message: MessageId, /) -> Collection[str] | None:
        """The receivers of a message; None if it was not causal-sent."""

    def sends(self, process: str, /) -> int:
        """The number of the last message of a process; 0 if there is none."""


@dataclass(frozen=True)
class Violation:
    """Delivering `message` at `process` violated the guarantee named by `kind`."""

    kind: ViolationKind
    process: str
    message: MessageId
    early: MessageId | None  # what was delivered too early; None if `kind` is not about order
    chain: tuple[MessageId, ...]  # from message to early, both included; empty if early is None
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"


def causal(history: SendRecord, process: str, chain: tuple[MessageId, ...]) -> Violation:
    """`process` delivers the first message of the chain after it delivered the last one."""
    late, early = chain[0], chain[-1]
    sentence = (
        f"{process} delivered {early} before {late}, but {late} happened before {early}: "
        f"{_explanation(history, process, chain)}."
    )
    return Violation("causal", process, late, early, chain, sentence)


def fifo(process: str, late: MessageId, early: MessageId) -> Violation:
    """`process` delivers `late` after `early`, which the same sender causal-sent later."""
    to = "itself" if process == late.sender else process
    sentence = (
        f"{process} delivered {early} before {late}, but {late.sender} sent {late} to {to} first."
    )
    return Violation("fifo", process, late, early, (late, early), sentence)


def duplicate(process: str, message: MessageId) -> Violation:
    """`process` delivers a message that it has already delivered."""
    sentence = f"{process} delivered {message} again, having already delivered it."
    return Violation("duplicate", process, message, None, (), sentence)


def invented(history: SendRecord, process: str, message: MessageId) -> Violation:
    """`process` delivers what was never causal-sent, or not to it."""
    receivers = history.receivers(message)
    if receivers is None:
        sends = history.sends(message.sender)
        sent = f"its last was {MessageId(message.sender, sends)}" if sends else "it sent nothing"
        sentence = f"{process} delivered {message}, which {message.sender} never sent: {sent}."
    else:
        to = _listed(message.sender, receivers, ())
        sentence = f"{process} delivered {message}, which {message.sender} sent to {to} instead."
    return Violation("invented", process, message, None, (), sentence)


def _explanation(history: SendRecord, process: str, chain: tuple[MessageId, ...]) -> str:
    """Describe the chain process by process: what each delivered, then what it sent."""
    # Processes on the chain are named even if a message has a thousand receivers.
    involved = {process, *(message.sender for message in chain)}
    clauses = []
    previous: MessageId | None = None
    for sender, run in groupby(chain, key=lambda message: message.sender):
        sent = []
        for message in run:
            receivers = history.receivers(message)
            assert receivers is not None  # a chain is made of messages that were causal-sent
            sent.append(f"{message} to {_listed(sender, receivers, involved)}")
        first = f"delivered {previous}, then " if previous else ""
        clauses.append(f"{sender} {first}sent {', then '.join(sent)}")
        previous = message
    return "; ".join(clauses)


def _listed(sender: str, receivers: Collection[str], involved: Collection[str]) -> str:
    """The receivers as text: all of a few, otherwise those in `involved` and a count of the rest."""
    named = sorted(receivers)
    if len(named) > _MOST_NAMED:
        # At least one name, so that "others" has something to refer to.
        named = [name for name in named if name in involved] or named[:1]
    parts = ["itself" if name == sender else name for name in named]
    rest = len(receivers) - len(named)
    if rest:
        parts.append("1 other" if rest == 1 else f"{rest} others")
    if not parts:
        return "nobody"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
