"""The output of a node's console: text for people, or one JSON object per line for programs.

A peer's bytes are printed as text and nothing else: characters that could move the cursor, change
colours or the direction of writing are escaped.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from beforehand.results.format import printable

if TYPE_CHECKING:
    from beforehand.runtime.engine.message import Message
    from beforehand.runtime.events import PeerEvent
    from beforehand.runtime.stats import Stats, Waiting

Print = Callable[[str], None]


class TextRenderer:
    """For people: messages and answers on one stream, events of peers on another."""

    def __init__(self, out: Print, notes: Print) -> None:
        self._print = out
        self._print_note = notes

    def listening(self, name: str, address: str) -> None:
        """As in `bob listens at 127.0.0.1:7002`."""
        self._print_note(f"{name} listens at {address}")

    def message(self, message: Message) -> None:
        """As in `alice: hello`."""
        text = message.payload.decode(errors="replace")
        self._print(f"{printable(message.sender)}: {printable(text)}")

    def event(self, event: PeerEvent) -> None:
        """As in `alice: up, 127.0.0.1:7001`."""
        self._print_note(printable(str(event)))

    def note(self, text: str) -> None:
        """A sentence."""
        self._print_note(printable(text))

    def held(self, waiting: Sequence[Waiting]) -> None:
        """A line for each message that is held."""
        for held in waiting:
            self._print(printable(str(held)))
        if not waiting:
            self._print("nothing is held")

    def peers(self, stats: Stats) -> None:
        """A line for each peer."""
        for name, peer in stats.peers.items():
            self._print(
                f"{printable(name)}: {peer.state}, round trip {peer.round_trip_ms:.1f} ms; "
                f"{peer.accepted:,} sent, {peer.delivered:,} of them delivered; "
                f"{peer.received:,} received"
            )

    def stats(self, stats: Stats) -> None:
        """A line for each figure."""
        for field in fields(stats):
            if field.name != "peers":
                self._print(f"{field.name.replace('_', ' ')}: {getattr(stats, field.name)}")

    def help(self, text: str) -> None:
        """As it is."""
        self._print(text)


class JsonRenderer:
    """For programs: everything on one stream, each object with its `kind`."""

    def __init__(self, out: Print) -> None:
        self._print = out

    def listening(self, name: str, address: str) -> None:
        """The first object."""
        self._write("listening", name=name, address=address)

    def message(self, message: Message) -> None:
        """With `text`, or with `base64` if the payload is not UTF-8."""
        try:
            payload = {"text": message.payload.decode()}
        except UnicodeDecodeError:
            payload = {"base64": b64encode(message.payload).decode()}
        self._write("message", sender=message.sender, number=int(message.number), **payload)

    def event(self, event: PeerEvent) -> None:
        """With the kind of the event as `event`."""
        self._write("event", event=event.kind, peer=event.peer, detail=event.detail)

    def note(self, text: str) -> None:
        """A sentence."""
        self._write("note", text=text)

    def held(self, waiting: Sequence[Waiting]) -> None:
        """A list of messages."""
        self._write("held", messages=[{**asdict(held), "id": str(held.id)} for held in waiting])

    def peers(self, stats: Stats) -> None:
        """All figures of each peer, by name."""
        self._write("peers", peers={name: asdict(peer) for name, peer in stats.peers.items()})

    def stats(self, stats: Stats) -> None:
        """All figures of the node itself."""
        own = asdict(stats)
        del own["peers"]
        self._write("stats", **own)

    def help(self, text: str) -> None:
        """The same text as for people."""
        self._write("help", text=text)

    def end(self, undelivered: dict[str, int]) -> None:
        """The last object: how many messages are not known to be delivered, by receiver."""
        self._write("end", undelivered=undelivered)

    def _write(self, kind: str, **values: Any) -> None:
        self._print(json.dumps({"kind": kind, **values}))


Renderer = TextRenderer | JsonRenderer
