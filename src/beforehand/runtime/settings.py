"""The arguments of a node, checked."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from beforehand import protocols
from beforehand.causality.ids import MAX_PROCESS_NAME, check_process
from beforehand.errors import LocalProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.registry import Capabilities
from beforehand.protocols.reliable import ReliableLink
from beforehand.runtime.identity import keys
from beforehand.runtime.identity.greeting import INCARNATION_SIZE

# Cores see the name followed by "@" and the incarnation in hexadecimal digits.
MAX_NAME: Final = MAX_PROCESS_NAME - 1 - 2 * INCARNATION_SIZE

MAX_SPIN: Final = 0.01  # seconds: the event loop does nothing else in the meantime


class NodeSettings:
    """The settings of one node; see `Node` for their meaning."""

    def __init__(
        self,
        *,
        name: str,
        peers: Mapping[str, str] | Iterable[str],
        key: bytes | str | os.PathLike[str] | None,
        protocol: str,
        window: int,
        window_bytes: int,
        silent_after: float,
        drop_after: float | None,
        spin: float,
    ) -> None:
        self.name = _checked_name(name)
        self.peers = _checked_peers(self.name, peers)
        loaded = keys.load(key)
        self.plain = loaded is None
        self.psk = keys.NO_KEY if loaded is None else loaded
        self.protocol = protocol
        self.capabilities: Capabilities = protocols.describe(protocol)
        # Protocols that know all processes from the start know them by name, without incarnation.
        self.named = self.capabilities.membership == "fixed" or self.capabilities.overlay != "none"
        self.window = _positive("window", window)
        self.window_bytes = _positive("window_bytes", window_bytes)
        self.silent_after = _nanoseconds("silent_after", silent_after)
        self.drop_after = 0 if drop_after is None else _nanoseconds("drop_after", drop_after)
        if self.drop_after and self.drop_after < self.silent_after:
            raise LocalProtocolError(
                f"drop_after={drop_after} is less than silent_after={silent_after}; a peer is "
                "reported silent before it is dropped, so choose a larger drop_after"
            )
        if not isinstance(spin, (int, float)) or not 0 <= spin <= MAX_SPIN:
            raise LocalProtocolError(
                f"spin={spin!r}: it must be a number of seconds from 0 (never spin) to {MAX_SPIN}"
            )
        self.spin = int(spin * 1e9)
        self.incarnation = os.urandom(INCARNATION_SIZE)

    def process_of(self, name: str, incarnation: bytes) -> str:
        """What the cores call a process."""
        return name if self.named else f"{name}@{incarnation.hex()}"

    def create_core(self, processes: Iterable[str] | None, tree: Any, links: Any) -> Core:
        """The core, inside a `ReliableLink` if it needs a reliable or FIFO network."""
        process = self.process_of(self.name, self.incarnation)
        options = protocols.registration(self.protocol).node_options
        if processes is None and self.capabilities.membership == "fixed":
            processes = [self.name, *self.peers]
        core = protocols.create(
            self.protocol, process, processes=processes, tree=tree, links=links, **options
        )
        if self.capabilities.network == "reliable" or self.capabilities.fifo_links:
            return ReliableLink(core)
        return core


def _checked_name(name: object) -> str:
    checked = check_process(name)
    if len(checked.encode()) > MAX_NAME:
        raise LocalProtocolError(
            f"the name of a node has at most {MAX_NAME} bytes, and this one has "
            f"{len(checked.encode())}; choose a shorter one"
        )
    return checked


def _checked_peers(name: str, peers: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    if isinstance(peers, str):
        raise LocalProtocolError(
            f"{name}: peers are a mapping of names to addresses, not the text {peers!r}"
        )
    addresses = dict(peers) if isinstance(peers, Mapping) else dict.fromkeys(peers, "")
    for peer in addresses:
        if _checked_name(peer) == name:
            raise LocalProtocolError(
                f"{name}: a node isn't a peer of itself; leave it out of peers"
            )
    return addresses


def _positive(setting: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise LocalProtocolError(f"{setting}={value!r}: it must be a positive integer")
    return value


def _nanoseconds(setting: str, seconds: object) -> int:
    if not isinstance(seconds, (int, float)) or not 0.01 <= seconds <= 1e9:
        raise LocalProtocolError(
            f"{setting}={seconds!r}: it must be a number of seconds, at least 0.01"
        )
    return int(seconds * 1e9)
