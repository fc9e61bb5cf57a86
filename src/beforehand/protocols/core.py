"""The contract of a protocol core: one process of one protocol, without any I/O.

A core is a plain mutable object. Events come in as calls (`send`, `receive`, `tick`, `drop`), and
what the core wants done comes back as a list of effects, in the order in which they must be
carried out, all of them before the next call. It never reads a clock, draws a random number or logs:
the same calls on the same state always give the same effects, so the simulator, the checker and the
runtime drive the very same object.

Every protocol numbers the causal-sends of a process 1, 2, 3, ...: `core.sent` is the number of the
last one, and (sender, number) identifies a message everywhere.

A subclass fills in the methods that start with an underscore. The parts that all protocols share
are here: checking the arguments, messages to oneself, and peers that are gone for good
(`fence.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, overload

from mypy_extensions import i64, mypyc_attr

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, PeerDroppedError, RemoteProtocolError
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit
from beforehand.protocols.fence import Fence, Fenced
from beforehand.protocols.frames import Frame

Via = Iterable[str] | None  # the mediators on a route; None: no route is known


@mypyc_attr(allow_interpreted_subclasses=True)
class Core:
    """One process of one protocol; see the module's text. Not to be instantiated itself."""

    process: Final[str]

    def __init__(self, process: str) -> None:
        self.sent: i64 = 0  # number of causal-sends so far, and the number of the last message
        self.fence: Fence | None = None  # None until the first peer is dropped
        self.process = check_process(process)

    # ---- what callers use ----

    # `object` where only strings or bytes will do: compiled code would refuse other types without
    # naming a remedy. The overloads inform type checkers.

    @overload
    def send(self, to: str, payload: bytes, now: int = 0) -> list[Effect]: ...

    @overload
    def send(
        self, to: str | Iterable[str] | None, payload: bytes, now: int = 0
    ) -> list[Effect]: ...

    def send(
        self, to: str | Iterable[object] | None, payload: object, now: i64 = 0
    ) -> list[Effect]:
        """Causal-send one message to one receiver, to several at once, or (None) to everyone."""
        out: list[Effect] = []
        if isinstance(to, str) and to != self.process and self.fence is None:
            self._send(to, self._payload(payload), now, out)
        else:
            self._send_any(to, [self._payload(payload)], now, out)
        return out

    @overload
    def send_many(self, to: str, payloads: Iterable[bytes], now: int = 0) -> list[Effect]: ...

    @overload
    def send_many(
        self, to: str | Iterable[str] | None, payloads: Iterable[bytes], now: int = 0
    ) -> list[Effect]: ...

    def send_many(
        self, to: str | Iterable[object] | None, payloads: Iterable[object], now: i64 = 0
    ) -> list[Effect]:
        """The same as one `send` for each payload, in order, at a cost per run of messages."""
        out: list[Effect] = []
        self._send_any(to, [self._payload(payload) for payload in payloads], now, out)
        return out

    def send_checked(
        self, to: str | Iterable[object] | None, payloads: list[bytes], now: i64 = 0
    ) -> list[Effect]:
        """`send_many` for callers that have checked the payloads and hand over the list."""
        out: list[Effect] = []
        self._send_any(to, payloads, now, out)
        return out

    def receive(self, sender: str, frame: Frame, now: i64 = 0) -> list[Effect]:
        """Process a frame from `sender`; one that no correct peer could send changes nothing."""
        check_process(sender)
        out: list[Effect] = []
        if self.fence is None and not isinstance(frame, Fenced):
            if sender == self.process:
                raise RemoteProtocolError(sender, "a frame came from the receiver itself")
            self._check(sender, frame)
            self._receive(sender, frame, now, out)
        else:
            self._receive_fenced(sender, frame, now, out)
        return out

    def tick(self, now: i64 = 0) -> list[Effect]:
        """The papers' "periodically": send again what may have been lost."""
        out: list[Effect] = []
        self._tick(now, out)
        return out

    def flush(self) -> list[Effect]:
        """Send what the core has put off in order to send less."""
        out: list[Effect] = []
        self._flush(out)
        return out

    def drop(self, peer: str, now: i64 = 0) -> list[Effect]:
        """The peer is gone for good: stop waiting for it, accept nothing from it, inform the others.

        Dropping a peer again does nothing. A dropped process can only come back under a new name.
        """
        name = check_process(peer)
        if name == self.process:
            raise LocalProtocolError(
                f"{self.process}: a process cannot drop itself; stop it instead"
            )
        out: list[Effect] = []
        self._apply_drop(name, now, out)
        return out

    def drop_log(self) -> list[str]:
        """The peers that this process has dropped, in the order in which it did."""
        return NO_PEERS if self.fence is None else self.fence.log

    def dropped(self) -> frozenset[str]:
        """The same, for look-up."""
        return frozenset(self.drop_log())

    def is_dropped(self, peer: str) -> bool:
        """Whether this process has dropped a peer."""
        return self.fence is not None and peer in self.fence.known

    # ---- overlays: for the protocols that run on one ----

    def open(self, peer: str, via: Via = None, back: Via = None, now: i64 = 0) -> list[Effect]:
        """Add a link to `peer`; opening an open link does nothing. See `overlay/core.py`."""
        raise self._no_overlay("links")

    def close(self, peer: str, now: i64 = 0) -> list[Effect]:
        """Remove the link to `peer`."""
        raise self._no_overlay("links")

    def join(self, contact: str, now: i64 = 0) -> list[Effect]:
        """Join the overlay of `contact`."""
        raise self._no_overlay("links")

    def leave(self, now: i64 = 0) -> list[Effect]:
        """Stop taking part, and inform the neighbours."""
        raise self._no_overlay("links")

    def reparent(self, parent: str, now: i64 = 0) -> list[Effect]:
        """Hang this process and all below it under another process of its tree. See `tree/core.py`."""
        raise self._no_overlay("tree")

    def _only_broadcasts(self) -> LocalProtocolError:
        return LocalProtocolError(
            f"{self.process}: this protocol only broadcasts; send(None, payload) reaches everyone"
        )

    def _no_overlay(self, what: str) -> LocalProtocolError:
        return LocalProtocolError(
            f"{self.process}: this protocol has no {what} to change; choose one whose overlay is "
            f"{what!r} (see `beforehand protocols`)"
        )

    def held(self) -> list[Held]:
        """The messages that wait inside this core, and for what."""
        return []

    def copy(self) -> Core:
        """An independent core in the same state."""
        raise NotImplementedError

    def _copy_base(self, twin: Core) -> None:
        """Give a new core the state that all protocols have."""
        twin.sent = self.sent
        twin.fence = None if self.fence is None else self.fence.copy()

    def fingerprint(self) -> tuple[object, ...]:
        """A hashable value, equal exactly for cores of one protocol that will behave alike.

        The clock that callers pass is not a part of it: time explains, it never decides.
        """
        fence = () if self.fence is None else self.fence.fingerprint()
        return (type(self).__name__, self.process, int(self.sent), fence, self._state())

    def integers(self) -> int:
        """How many integers and identifiers of protocol state this core holds now."""
        raise NotImplementedError

    def entries(self) -> int:
        """How many of these concern messages, not peers or itself (Nédelec et al., figure 5)."""
        return self.integers()

    def ignored_frames(self) -> int:
        """How many frames came out of turn, where links come and go."""
        return 0

    def unacknowledged(self) -> int:
        """How many frames this process keeps because their arrival has not been confirmed."""
        return 0

    def permits_missing(self) -> int:
        """How many permits to act on delivered messages have yet to come."""
        return 0

    # ---- what protocols fill in ----

    def _send(self, to: str, payload: bytes, now: i64, out: list[Effect]) -> None:
        """Causal-send to one process other than oneself: the most frequent case, not checked yet."""
        self._check_receivers([to])
        self._send_run([to], [payload], now, out)

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        """Causal-send a run of messages, each to all receivers: distinct, not oneself, not dropped."""
        raise NotImplementedError

    def _broadcast(self, payloads: list[bytes], now: i64, out: list[Effect]) -> None:
        """Causal-send a run of messages, each to everyone, oneself included."""
        raise LocalProtocolError(
            f"{self.process}: this protocol has no broadcast; name the receivers"
        )

    def _check(self, sender: str, frame: Frame) -> None:
        """Raise RemoteProtocolError if no correct peer could have sent this; change nothing."""
        raise NotImplementedError

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        """Process a frame that `_check` has accepted."""
        raise NotImplementedError

    def _tick(self, now: i64, out: list[Effect]) -> None:
        """Nothing to do where the network is assumed to be reliable."""

    def _flush(self, out: list[Effect]) -> None:
        """Most protocols put off nothing."""

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        """Forget what only concerns `peer` and release whatever waited for it."""
        raise NotImplementedError

    def _check_receivers(self, receivers: Sequence[str]) -> None:
        """Refuse receivers that this protocol cannot serve, before anything changes."""
        for name in receivers:
            check_process(name)

    def _state(self) -> tuple[object, ...]:
        raise NotImplementedError

    # ---- shared mechanics ----

    def _payload(self, payload: object) -> bytes:
        if type(payload) is bytes:
            return payload
        raise LocalProtocolError(
            f"{self.process}: a payload is bytes, not {type(payload).__name__}; encode it first"
        )

    def _transmit(self, out: list[Effect], to: str, frame: Frame) -> None:
        """The only way out for frames, so that drops travel with the next frame."""
        if self.fence is not None:
            frame = self.fence.wrap(to, frame)
        out.append(Transmit(to, frame))

    def _send_any(
        self, to: str | Iterable[object] | None, payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        if to is None:
            self._broadcast(payloads, now, out)
            return
        receivers = self._receivers(to)
        if not payloads:
            return
        others = [name for name in receivers if name != self.process]
        first = self.sent + 1
        if others:
            self._send_run(others, payloads, now, out)
        else:
            self.sent += len(payloads)
        if len(others) < len(receivers):
            # Never through the network, where an answer could overtake it (Almeida, corrected).
            for offset in range(len(payloads)):
                out.append(Deliver(self.process, first + offset, payloads[offset]))

    def _receivers(self, to: str | Iterable[object]) -> list[str]:
        """The distinct receivers, checked; an error changes nothing."""
        # Sorted, since the order of a set of strings differs from one interpreter to the next.
        receivers = [to] if isinstance(to, str) else sorted({check_process(name) for name in to})
        if not receivers:
            raise LocalProtocolError(f"{self.process}: no receivers; name at least one process")
        self._check_receivers([name for name in receivers if name != self.process])
        if self.fence is not None:
            for name in receivers:
                if name in self.fence.known:
                    raise PeerDroppedError(
                        f"{self.process}: {name} was dropped; send to the others, or to the "
                        "new name under which it comes back"
                    )
        return receivers

    def _apply_drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        if self.fence is None:
            self.fence = Fence()
        if self.fence.add(peer):
            self._drop(peer, now, out)

    def _receive_fenced(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        """Apply the drops that a frame brings, then use it; discard frames of a dropped peer."""
        if sender == self.process:
            raise RemoteProtocolError(sender, "a frame came from the receiver itself")
        if self.fence is not None and sender in self.fence.known:
            return
        if not isinstance(frame, Fenced):
            self._check(sender, frame)
            self._receive(sender, frame, now, out)
            return
        fence = Fence() if self.fence is None else self.fence
        fence.check(sender, frame, self.process)
        self._check(sender, frame.inner)
        self.fence = fence
        for name in fence.merge(sender, frame):
            self._apply_drop(name, now, out)
        self._receive(sender, frame.inner, now, out)


NO_PEERS: Final[list[str]] = []  # shared, never changed
