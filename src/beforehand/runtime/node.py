"""`Node`: causal delivery for services, on asyncio. The public API; `driver.py` does the work."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any, Final

from beforehand import protocols
from beforehand.causality.ids import MessageId
from beforehand.errors import LocalProtocolError, NodeClosedError
from beforehand.runtime import stats
from beforehand.runtime.driver import Driver
from beforehand.runtime.engine.message import Batch, Message
from beforehand.runtime.events import PeerEvent
from beforehand.runtime.settings import NodeSettings
from beforehand.runtime.stats import Stats, Waiting
from beforehand.runtime.transports.base import Transport
from beforehand.runtime.transports.udp import UdpTransport

WINDOW: Final = 65_536  # messages between two applications
WINDOW_BYTES: Final = 32 * 2**20
UNLIMITED: Final = 2**62
To = str | Iterable[str] | None


@dataclass(frozen=True)
class Leftover:
    """What a closed node leaves behind."""

    undelivered: dict[str, int]  # by peer: accepted messages that it is not known to have delivered
    unread: int  # messages that were delivered here and never taken

    def __bool__(self) -> bool:
        return bool(self.undelivered) or self.unread > 0


class Node:
    """One process that takes part in causal delivery.

    Messages are delivered in causal order: nothing arrives before what it was a reaction to. `send`
    waits while the receiver is behind by more than the `window` that it granted, so a slow receiver
    slows down its senders, and memory is bounded. Take messages while you send: two nodes that only
    send to each other will wait for each other once both windows are full.

    - `listen`: where to receive, "host:port"; port 0 takes a free one, see `address`.
    - `peers`: names, with addresses where they are known. Others may introduce themselves.
    - `key`: the cluster key, 32 bytes, 64 hexadecimal digits or the path of a file with them; see
      `beforehand keygen`. Without one nothing is encrypted or authenticated, and the node only binds
      to this machine, unless `insecure=True` allows more.
    - `protocol`: any of `beforehand protocols`; with `processes`, `tree` or `links` where it needs them.
    - `transport`: instead of UDP; the addresses of `peers` are then what it understands.
    - `trace`: a folder for a trace of what happens here, as a part of the run named `run`.
    - `window`, `window_bytes`: how much each peer may have outstanding to this node.
    - `silent_after`: seconds without a datagram after which a peer is reported silent.
    - `drop_after`: seconds after which it is dropped for good; None waits forever.
    - `spin`: seconds, such as 0.0002, for which the node polls for answers after each write instead of
      sleeping. Latency is lower, and the node uses more of a core.
    """

    def __init__(
        self,
        name: str,
        *,
        listen: str = "127.0.0.1:0",
        peers: Mapping[str, str] | Iterable[str] = (),
        key: bytes | str | os.PathLike[str] | None = None,
        protocol: str = protocols.DEFAULT,
        processes: Iterable[str] | None = None,
        tree: Any = None,
        links: Any = None,
        transport: Transport | None = None,
        trace: str | os.PathLike[str] | None = None,
        run: str = "live",
        window: int = WINDOW,
        window_bytes: int = WINDOW_BYTES,
        silent_after: float = 5.0,
        drop_after: float | None = None,
        spin: float = 0.0,
        insecure: bool = False,
    ) -> None:
        settings = NodeSettings(
            name=name,
            peers=peers,
            key=key,
            protocol=protocol,
            window=window,
            window_bytes=window_bytes,
            silent_after=silent_after,
            drop_after=drop_after,
            spin=spin,
        )
        core = settings.create_core(processes, tree, links)
        self.name: Final = settings.name
        self.process: Final = core.process  # what the cores and traces call it
        self.driver: Final = Driver(settings, core, transport or UdpTransport(listen))
        self._insecure = insecure
        self._trace = trace
        self._run = run

    def __repr__(self) -> str:
        driver = self.driver
        where = f" at {driver.transport.local}" if driver.state == "open" else ""
        peers = len(driver.engine.sessions.peers)
        return f"<Node {self.name!r}{where}, {driver.settings.protocol}, {peers} peers, {driver.state}>"

    # ---- life ----

    async def start(self) -> Node:
        """Bind, and connect to the peers. `async with` does this."""
        driver = self.driver
        if driver.state != "new":
            raise LocalProtocolError(f"{self.name}: a node is started once; create another one")
        if driver.settings.plain and not self._insecure and not driver.transport.loopback():
            raise LocalProtocolError(
                f"{self.name}: without a key a node only binds to this machine (127.0.0.1 or ::1), "
                "since anybody could read and forge its messages; pass key=... (`beforehand keygen` "
                "makes one), or insecure=True if that is what you want"
            )
        await driver.start(self._trace, self._run)
        return self

    async def __aenter__(self) -> Node:
        return await self.start()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.close(0.0 if kind is not None else 5.0)

    async def close(self, timeout: float = 5.0) -> Leftover:
        """Wait up to `timeout` seconds for deliveries, leave the cluster, and report what is left."""
        await self.driver.close(timeout)
        undelivered = {
            peer.name: int(peer.outgoing.accepted - peer.outgoing.delivered)
            for peer in self.driver.engine.sessions.peers.values()
            if peer.outgoing.accepted > peer.outgoing.delivered
        }
        return Leftover(undelivered, int(self.driver.inbox.unread))

    @property
    def address(self) -> str:
        """Where this node receives, once it is started; what peers put into their `peers`."""
        return self.driver.transport.local

    # ---- sending ----

    async def send(self, to: To, payload: bytes) -> int:
        """Causal-send a message to one receiver, to several, or (None) to everybody.

        Returns its number as soon as it is accepted: from then on it will be delivered to each
        receiver that is not dropped. Waits while a receiver is not there yet, or is behind.
        """
        driver = self.driver
        if driver.ready:
            number = driver.engine.try_send(to, payload)
            if number:
                return number
        await driver.send(to, [payload])
        return self.sent

    async def send_many(self, to: To, payloads: Iterable[bytes]) -> int:
        """The same as one `send` for each payload, in order, and much faster; the last one's number.

        They are accepted in parts of up to a quarter of the window, each part as a whole or not at
        all. If the call is cancelled between two parts, `sent` is the number of the last one accepted.
        """
        batch = payloads if isinstance(payloads, list) else list(payloads)
        if not batch:
            raise LocalProtocolError(f"{self.name}: no payloads; give at least one")
        await self.driver.send(to, batch)
        return self.sent

    def try_send(self, to: To, payload: bytes) -> int:
        """Like `send`, but raises `WouldBlock` instead of waiting."""
        self.driver.try_send(to, payload)
        return self.sent

    @property
    def sent(self) -> int:
        """How many messages were accepted: the number of the last one."""
        return self.driver.engine.outbox.sent()

    # ---- receiving ----

    async def receive(self) -> Message:
        """The next message, in causal order."""
        driver = self.driver
        if not driver.inbox.unread:
            await driver.wait_for_message()
        message = driver.inbox.take()
        driver.message_taken()
        return message

    async def receive_batch(self, most: int | None = None) -> Batch:
        """All unread messages, at least one, at most `most`: the fast way to receive."""
        driver = self.driver
        if not driver.inbox.unread:
            await driver.wait_for_message()
        batch = driver.inbox.take_many(UNLIMITED if most is None else max(1, most))
        driver.message_taken()
        return batch

    def __aiter__(self) -> AsyncIterator[Message]:
        if self.driver.state == "new":
            self.driver.check_open()
        return self._messages()

    async def _messages(self) -> AsyncGenerator[Message, None]:
        driver = self.driver
        inbox = driver.inbox
        while True:
            if not inbox.unread:
                try:
                    await driver.wait_for_message()
                except NodeClosedError:
                    return
            if inbox.unread > 1:
                driver.readers.wake()  # there is something for others too
            for message in inbox.drain():
                if not driver.flush_requested:
                    driver.request_flush()
                yield message

    # ---- delivery receipts ----

    async def delivered(self, message: int | MessageId) -> None:
        """Wait until all receivers of a message of this node, by number or id, have delivered it.

        Raises PeerDroppedError if one of them is dropped before. On an overlay, where messages are
        passed on, only those receivers count that are peers of this node.
        """
        self.driver.check_open()
        if isinstance(message, int):
            message = MessageId(self.name, message)
        if message.sender != self.name:
            raise LocalProtocolError(f"{self.name}: {message} was not sent by this node")
        if not 1 <= message.number <= self.sent:
            raise LocalProtocolError(f"{self.name}: {message} was never sent")
        await self.driver.wait_for_delivery(message.number)

    async def flush(self) -> None:
        """Wait until everything accepted so far is delivered to all receivers that are not dropped."""
        self.driver.check_open()
        await self.driver.wait_for_all()

    # ---- peers ----

    def add_peer(self, name: str, address: str | None = None) -> None:
        """Add a peer, or a new address of a known one. Without an address it must connect to us."""
        driver = self.driver
        driver.check_open()
        if name == self.name:
            raise LocalProtocolError(f"{self.name}: a node isn't a peer of itself; name another")
        if driver.settings.named and name not in driver.engine.sessions.peers:
            raise LocalProtocolError(
                f"{self.name}: {driver.settings.protocol} must know everybody from the start; "
                "name all of them in `peers`"
            )
        driver.add_peer(name, address)

    def drop(self, name: str) -> None:
        """Give up on a peer for good: nothing waits for it any more, and its messages are ignored.

        The others learn of it and do the same. If it is alive, it must be restarted to come back.
        """
        self.driver.check_open()
        peer = self.driver.engine.sessions.peers.get(name)
        if peer is None:
            raise LocalProtocolError(f"{self.name}: there is no peer {name!r} to drop")
        if peer.gone:
            return
        if not peer.proven:
            raise LocalProtocolError(f"{self.name}: {name} was never here, so nothing waits for it")
        self.driver.drop(peer)

    # ---- inspection ----

    def events(self) -> AsyncGenerator[PeerEvent, None]:
        """What happens to peers, from the start of the node on, until it is closed."""
        return self.driver.events.listen()

    def held(self) -> list[Waiting]:
        """The messages that wait inside this node: for whom, for what and since when."""
        self.driver.engine.flush_pending()
        now = monotonic_ns()
        return [stats.waiting(held, self.name, now) for held in self.driver.engine.core.held()]

    def stats(self) -> Stats:
        """Counters and the state of each link."""
        driver = self.driver
        return stats.stats(driver.engine, driver.members.introductions, driver.settings.protocol)

    def peers(self) -> list[str]:
        """The names of all peers, whatever their state."""
        return sorted(self.driver.engine.sessions.peers)
