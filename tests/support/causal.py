"""Causality by brute force: whole sets of messages instead of clocks, and an omniscient receiver.

Everything here is stated as in the definitions, and nothing of it is clever, so that the protocols
can be compared with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Message = tuple[str, int]  # sender, number
Copy = tuple[Message, str]  # a message and one of its receivers


@dataclass
class Knowledge:
    """A causal past: the messages sent in it, and the deliveries made in it."""

    messages: set[Message] = field(default_factory=set)
    deliveries: set[Copy] = field(default_factory=set)

    def copy(self) -> Knowledge:
        """An independent copy."""
        return Knowledge(self.messages.copy(), self.deliveries.copy())

    def add(self, other: Knowledge) -> None:
        """Merge another causal past into this one."""
        self.messages |= other.messages
        self.deliveries |= other.deliveries


class Omniscient:
    """Receivers that deliver a message as soon as all that precede it, and go there, are delivered.

    No protocol can deliver earlier without breaking causal order.
    """

    def __init__(self, processes: list[str]) -> None:
        self.known = {process: Knowledge() for process in processes}
        self.past: dict[Message, Knowledge] = {}  # of each message, just before its send
        self.receivers: dict[Message, frozenset[str]] = {}
        self.waiting: dict[str, list[Message]] = {process: [] for process in processes}

    def send(self, message: Message, receivers: list[str]) -> None:
        """A causal-send."""
        known = self.known[message[0]]
        self.past[message] = known.copy()
        self.receivers[message] = frozenset(receivers)
        known.messages.add(message)

    def arrive(self, process: str, message: Message) -> list[Message]:
        """A message arrives; returns what is delivered now."""
        self.waiting[process].append(message)
        delivered: list[Message] = []
        while ready := [m for m in self.waiting[process] if not self.missing(process, m)]:
            for message in ready:
                self.waiting[process].remove(message)
                known = self.known[process]
                known.add(self.past[message])
                known.messages.add(message)
                known.deliveries.add((message, process))
            delivered += ready
        return delivered

    def missing(self, process: str, message: Message) -> set[Message]:
        """What precedes the message, goes to the process, and has not been delivered there."""
        done = self.known[process].deliveries
        return {
            earlier
            for earlier in self.past[message].messages
            if process in self.receivers[earlier] and (earlier, process) not in done
        }

    def needed(self, message: Message, copy_to: str) -> set[Copy]:
        """The pairs that a copy of the message must carry, by the rules that `ks.py` states."""
        past = self.past[message]
        needed: set[Copy] = set()
        for earlier in past.messages:
            for receiver in self.receivers[earlier]:
                delivered = (earlier, receiver) in past.deliveries
                repeated = any(
                    earlier in self.past[later].messages and receiver in self.receivers[later]
                    for later in past.messages
                )
                elsewhere = receiver in self.receivers[message] and receiver != copy_to
                if not (delivered or repeated or elsewhere):
                    needed.add((earlier, receiver))
        return needed
