"""`cykas`: "Can you keep a secret?" of Tong, Liittschwager and Kuper (2024, section 2).

A sender-side protocol that releases a message before the ones ahead of it are acknowledged, provided
that its receiver keeps it secret. Such an *eager* message puts the receiver into secret mode: it
delivers and acknowledges what arrives, but releases none of its own messages until the sender sends
"you can tell" (YCT), which it does once everything that it had sent before is acknowledged.

One message at a time is in flight to each receiver, so nothing needs a receive buffer.

What is done differently from the paper's Algorithm 4: an acknowledgement first clears the sender
of it everywhere, then the YCTs that are due go out, and then, once, messages are released. The
printed loop releases in between: nothing at all while no eager message is open (it blocks forever),
and otherwise a message whose own wait list is then cleared by the acknowledgement of an *older*
one (a YCT that comes too early). Sets take the place of bit vectors, so membership is open; YCTs
carry the number of their message, so that an unexpected one is noticed.

Kept as it is: secret mode is one for the whole process, so a steady stream of eager messages can
starve it (Almeida's hybrid-buffering paper, section 4.3). The variant that the paper refutes is in
`cykas_unsafe.py`.

Invariants:

- `unacked` has at most one message for each receiver, so messages between two processes are FIFO;
- an eager message waits for exactly those in `unacked` when it was released;
- a process with `secrets` releases nothing.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from mypy_extensions import i64

from beforehand.encoding.fields import id_field, payload_field
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import ONE_BYTE
from beforehand.errors import RemoteProtocolError
from beforehand.protocols import tags
from beforehand.protocols.effects import Deliver, Effect, Held, Wait
from beforehand.protocols.frames import Frame, FrameKind
from beforehand.protocols.sender_side.output_buffer import OutputBuffer
from beforehand.protocols.support.numbering import NumberedFrame, Signal, foreign


class CykasMessage(NumberedFrame):
    """A message; if `eager`, its receiver must keep it secret until its YCT arrives."""

    __slots__ = ("eager",)
    eager: Final[bool]

    def __init__(self, number: i64, eager: bool, payload: bytes) -> None:
        super().__init__(number, payload)
        self.eager = eager

    def key(self) -> tuple[object, ...]:
        return (int(self.number), self.eager, self.payload)

    def restriction(self) -> str:
        return "eager" if self.eager else ""


class CykasMessageKind(FrameKind):
    """A message, whose tag shows whether it is eager."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, CykasMessage)
        tag = tags.CYKAS_EAGER_MESSAGE if frame.eager else tags.CYKAS_MESSAGE
        return ONE_BYTE[tag] + id_field(frame.number) + payload_field(frame.payload)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        return CykasMessage(reader.id(), tag == tags.CYKAS_EAGER_MESSAGE, reader.payload())


class CykasAck(Signal):
    """Your message `number` has been delivered here."""


class CykasYouCanTell(Signal):
    """My eager message `number` is no longer a secret."""


class EagerSend:
    """An eager message whose YCT is not due yet."""

    __slots__ = ("number", "pending")
    number: Final[i64]
    pending: set[str]  # receivers of older messages that have not acknowledged them

    def __init__(self, number: i64, pending: set[str]) -> None:
        self.number = number
        self.pending = pending


class Cykas(OutputBuffer):
    """One process of the Cykas protocol."""

    unacked: dict[str, int]  # receiver -> number of the message that is in flight to it
    eager: dict[str, deque[EagerSend]]  # receiver -> what it keeps secret for us, oldest first
    secrets: set[tuple[str, int]]  # eager messages delivered here without their YCT
    last_delivered: dict[str, int]  # sender -> number of the last message delivered from it

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.unacked = {}
        self.eager = {}
        self.secrets = set()
        self.last_delivered = {}

    # ---- sending ----

    def _release(self, out: list[Effect]) -> None:
        """Release what may go now, eagerly if anything older is unacknowledged."""
        while self.waiting:
            message = self.waiting[0]
            if self.secrets and not self._may_send_to(message.to):
                return
            if message.to in self.unacked:
                return
            self.waiting.popleft()
            eager = len(self.unacked) > 0
            if eager:
                if message.to not in self.eager:
                    self.eager[message.to] = deque()
                self.eager[message.to].append(EagerSend(message.number, set(self.unacked)))
            self.unacked[message.to] = int(message.number)
            self._transmit(out, message.to, CykasMessage(message.number, eager, message.payload))

    def _may_send_to(self, to: str) -> bool:
        """Whether a process in secret mode may send to `to`."""
        return False

    # ---- receiving ----

    def _check(self, sender: str, frame: Frame) -> None:
        if isinstance(frame, CykasMessage):
            last = self.last_delivered.get(sender, 0)
            if frame.number <= last:
                raise RemoteProtocolError(sender, f"message {frame.number} came after {last}")
        elif isinstance(frame, CykasAck):
            if self.unacked.get(sender, 0) != frame.number or frame.number == 0:
                raise RemoteProtocolError(
                    sender, f"acknowledges message {frame.number}, which is not in flight to it"
                )
        elif isinstance(frame, CykasYouCanTell):
            if (sender, int(frame.number)) not in self.secrets:
                raise RemoteProtocolError(
                    sender, f"sends a YCT for message {frame.number}, which isn't a secret"
                )
        else:
            raise foreign(sender, frame, "cykas")

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        if isinstance(frame, CykasMessage):
            self.last_delivered[sender] = int(frame.number)
            if frame.eager:
                self._keep_secret(sender, frame.number)
            out.append(Deliver(sender, frame.number, frame.payload))
            self._transmit(out, sender, CykasAck(frame.number))
        elif isinstance(frame, CykasAck):
            self._acknowledged(sender, out)
        elif isinstance(frame, CykasYouCanTell):
            self.secrets.discard((sender, int(frame.number)))
            self._release(out)

    def _keep_secret(self, sender: str, number: i64) -> None:
        self.secrets.add((sender, int(number)))

    def _acknowledged(self, peer: str, out: list[Effect]) -> None:
        """Nothing waits for `peer` any more: first everywhere, then YCTs, then messages, once."""
        self.unacked.pop(peer, None)
        for queue in self.eager.values():
            for sent in queue:
                sent.pending.discard(peer)
        for receiver in sorted(self.eager):
            self._send_due_permissions(receiver, out)
        self._release(out)

    def _send_due_permissions(self, receiver: str, out: list[Effect]) -> None:
        """Send the YCTs that are due to one receiver; never ahead of the message itself."""
        queue = self.eager[receiver]
        while queue and not queue[0].pending and receiver not in self.unacked:
            self._transmit(out, receiver, CykasYouCanTell(queue.popleft().number))
        if not queue:
            del self.eager[receiver]

    def _drop(self, peer: str, now: i64, out: list[Effect]) -> None:
        self.waiting = deque([message for message in self.waiting if message.to != peer])
        self.secrets = {secret for secret in self.secrets if secret[0] != peer}
        self.last_delivered.pop(peer, None)
        self.eager.pop(peer, None)
        self._acknowledged(peer, out)

    # ---- inspection ----

    def held(self) -> list[Held]:
        """A message waits for all YCTs, and for the last ack that it or one ahead of it needs."""
        held: list[Held] = []
        quiet = False  # whether secret mode stops this message or one ahead of it
        secrets = [Wait("you-can-tell", sender, number) for sender, number in sorted(self.secrets)]
        in_flight = self.unacked.copy()
        acks: dict[str, Wait] = {}
        for message in self.waiting:
            to = message.to
            quiet = quiet or not self._may_send_to(to)
            if to in in_flight:
                acks[to] = Wait("ack", to, in_flight[to])
            in_flight[to] = int(message.number)
            waits = (*(secrets if quiet else []), *acks.values())
            since = int(message.since)
            held.append(Held(self.process, int(message.number), (to,), since, waits))
        return held

    def integers(self) -> int:
        total = 1 + 2 * len(self.waiting) + 2 * len(self.secrets)
        total += len(self.unacked) + len(self.last_delivered)
        for queue in self.eager.values():
            for sent in queue:
                total += 1 + len(sent.pending)
        return total + (0 if self.fence is None else self.fence.integers())

    def unacknowledged(self) -> int:
        return len(self.unacked)

    def permits_missing(self) -> int:
        return len(self.secrets)

    def copy(self) -> Cykas:
        twin = Cykas(self.process)
        self._copy_into(twin)
        return twin

    def _copy_into(self, twin: Cykas) -> None:
        self._copy_base(twin)
        twin.waiting = self.waiting.copy()
        twin.unacked = self.unacked.copy()
        twin.secrets = self.secrets.copy()
        twin.last_delivered = self.last_delivered.copy()
        for receiver, queue in self.eager.items():
            copies = [EagerSend(sent.number, sent.pending.copy()) for sent in queue]
            twin.eager[receiver] = deque(copies)

    def _state(self) -> tuple[object, ...]:
        eager: list[tuple[object, ...]] = []
        for receiver in sorted(self.eager):
            for sent in self.eager[receiver]:
                eager.append((receiver, int(sent.number), tuple(sorted(sent.pending))))
        return (
            tuple([message.key() for message in self.waiting]),
            tuple(sorted(self.unacked.items())),
            tuple(eager),
            tuple(sorted(self.secrets)),
            tuple(sorted(self.last_delivered.items())),
        )
