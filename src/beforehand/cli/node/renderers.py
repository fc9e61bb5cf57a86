"""How a conversation speaks: in lines for people, or in one JSON object per line for programs.

What a peer sends is shown as text and nothing else: whatever could move the cursor, change colours or
turn the direction of writing is escaped.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Protocol

from beforehand.results.format import printable

if TYPE_CHECKING:
    from beforehand.runtime.engine.message import Message
    from beforehand.runtime.events import PeerEvent
    from beforehand.runtime.stats import Stats, Waiting

Say = Callable[[str], None]


class Voice(Protocol):
    """What there is to say."""

    def listening(self, name: str, address: str) -> None:
        """The node is there, and can be reached."""

    def message(self, message: Message) -> None:
        """A message was delivered."""

    def event(self, event: PeerEvent) -> None:
        """Something happened to a peer."""

    def note(self, text: str) -> None:
        """Something about what was typed."""

    def held(self, waiting: Sequence[Waiting]) -> None:
        """The answer to /held."""

    def peers(self, stats: Stats) -> None:
        """The answer to /peers."""

    def stats(self, stats: Stats) -> None:
        """The answer to /stats."""

    def help(self, text: str) -> None:
        """The answer to /help."""


class Lines:
    """For people: messages and answers in one place, what happens to peers in another."""

    def __init__(self, say: Say, note: Say) -> None:
        self._say = say
        self._note = note

    def listening(self, name: str, address: str) -> None:
        """As in `bob listens at 127.0.0.1:7002`."""
        self._note(f"{name} listens at {address}")

    def message(self, message: Message) -> None:
        """As in `alice: hello`."""
        text = message.payload.decode(errors="replace")
        self._say(f"{printable(message.sender)}: {printable(text)}")

    def event(self, event: PeerEvent) -> None:
        """As in `alice: up, 127.0.0.1:7001`."""
        self._note(printable(str(event)))

    def note(self, text: str) -> None:
        """A sentence."""
        self._note(printable(text))

    def held(self, waiting: Sequence[Waiting]) -> None:
        """A line for each message that waits."""
        for each in waiting:
            self._say(printable(str(each)))
        if not waiting:
            self._say("nothing waits")

    def peers(self, stats: Stats) -> None:
        """A line for each peer."""
        for name, peer in stats.peers.items():
            self._say(
                f"{printable(name)}: {peer.state}, round trip {peer.round_trip_ms:.1f} ms; "
                f"{peer.accepted:,} sent, {peer.delivered:,} of them delivered; "
                f"{peer.received:,} received"
            )

    def stats(self, stats: Stats) -> None:
        """A line for each figure."""
        for each in fields(stats):
            if each.name != "peers":
                self._say(f"{each.name.replace('_', ' ')}: {getattr(stats, each.name)}")

    def help(self, text: str) -> None:
        """As it is."""
        self._say(text)


class Objects:
    """For programs: everything in one place, and `kind` says what it is."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def listening(self, name: str, address: str) -> None:
        """The first object."""
        self._tell("listening", name=name, address=address)

    def message(self, message: Message) -> None:
        """With `text`, or with `base64` if the payload is no UTF-8."""
        try:
            payload = {"text": message.payload.decode()}
        except UnicodeDecodeError:
            payload = {"base64": b64encode(message.payload).decode()}
        self._tell("message", sender=message.sender, number=int(message.number), **payload)

    def event(self, event: PeerEvent) -> None:
        """With the kind of the event as `event`."""
        self._tell("event", event=event.kind, peer=event.peer, detail=event.detail)

    def note(self, text: str) -> None:
        """A sentence."""
        self._tell("note", text=text)

    def held(self, waiting: Sequence[Waiting]) -> None:
        """A list of messages."""
        self._tell("held", messages=[{**asdict(each), "id": str(each.id)} for each in waiting])

    def peers(self, stats: Stats) -> None:
        """All figures of each peer, by name."""
        self._tell("peers", peers={name: asdict(peer) for name, peer in stats.peers.items()})

    def stats(self, stats: Stats) -> None:
        """All figures of the node itself."""
        told = asdict(stats)
        del told["peers"]
        self._tell("stats", **told)

    def help(self, text: str) -> None:
        """The same words as for people."""
        self._tell("help", text=text)

    def end(self, undelivered: dict[str, int]) -> None:
        """The last object: how many messages are not known to be delivered, by receiver."""
        self._tell("end", undelivered=undelivered)

    def _tell(self, kind: str, **what: Any) -> None:
        self._say(json.dumps({"kind": kind, **what}))
