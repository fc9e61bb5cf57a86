"""Opening sessions: our hellos, our answers to others, and which incarnation of a name is current.

A process is a name and an incarnation, eight random bytes from its start. In protocols with open
membership the core knows it as `name@incarnation`, so a restarted process is a new one to the cores
and the old one is dropped (`protocols/fence.py` explains why). Protocols that know all processes by name
from the start cannot take a restarted process back, and refuse it.

When a node with the right key uses a known name with another incarnation, there are two cases. If the
old incarnation answers a ping, two nodes use one name: the newcomer is refused. If it stays silent, it
was restarted. Wall clocks play no part in this, so they may jump.

Both sides may send a hello at once. The one from the greater name counts, if it gets through.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from beforehand.runtime import events
from beforehand.runtime.engine.engine import Engine
from beforehand.runtime.engine.outbox import MAX_PAYLOAD
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.events import PeerEvent
from beforehand.runtime.identity.greeting import Greeting
from beforehand.runtime.identity.handshake import Established, Hello, Initiator, Responder, WrongKey
from beforehand.runtime.identity.rate_limit import RateLimit
from beforehand.runtime.link import datagrams
from beforehand.runtime.link.link import Link
from beforehand.runtime.link.sealing import make_opener, make_sealer
from beforehand.runtime.settings import NodeSettings
from beforehand.runtime.transports.base import Address, Transport

MS: Final = 1_000_000
FIRST_RETRY: Final = 50 * MS  # until a hello is sent again; doubled each time,
SLOWEST_RETRY: Final = 1000 * MS  # up to this
MAX_PAUSE: Final = 5000 * MS  # between attempts that reach a peer that was dropped
CROSSING: Final = 1000 * MS  # how long our own hello has precedence once it got through
LIFE_SIGN: Final = 1000 * MS  # how long the old incarnation has to answer a ping
UNANSWERED: Final = 3000 * MS  # until answers without a welcome are reported
ANSWER_LIFETIME: Final = 5000 * MS  # how long a welcome of ours may be used
MAX_WINDOW: Final = 2**20  # messages kept for one peer
MAX_WINDOW_BYTES: Final = 2**30
MAX_ANSWERS: Final = 256  # unused welcomes: each of them costs a session
REPEAT: Final = 10_000 * MS  # between two events of the same kind on the same subject


@dataclass
class Attempt:
    """Our attempt to open a session with one peer."""

    initiator: Initiator
    next_at: int
    interval: int  # until the hello is sent again
    reached_at: int = 0  # when the first answer came
    cookie_at: int = -FIRST_RETRY  # when the last cookie was accepted
    asked_at: int = 0  # when the last hello was sent, for the round-trip time; 0 if it was resent


@dataclass
class Answer:
    """Our welcome to a hello, until the peer has used it."""

    ephemeral: bytes
    welcome: bytes
    peer: Peer
    since: int


class Introductions:
    """The handshakes of one node, on both sides."""

    def __init__(
        self,
        engine: Engine,
        settings: NodeSettings,
        transport: Transport,
        emit: Callable[[PeerEvent], None],
    ) -> None:
        self.engine = engine
        self.sessions = engine.sessions
        self.settings = settings
        self.transport = transport
        self.emit = emit
        self.rate_limit = RateLimit()
        self.stray = 0  # datagrams that belong to no handshake of ours
        self.refused = 0  # hellos that are forged or damaged
        self.responder = Responder(settings.psk, settings.plain, settings.name)
        self.addresses: dict[str, Address] = {}
        self.attempts: dict[str, Attempt] = {}
        self.attempting: dict[bytes, str] = {}  # connection -> name
        self.answers: dict[str, Answer] = {}
        self.pauses: dict[str, int] = {}  # name -> ns until the next attempt to reach it
        self.doubted: dict[str, tuple[int, str]] = {}  # name -> when its process was pinged

    # ---- our hellos ----

    def attempt(self, name: str, now: int) -> None:
        """Send hellos to a peer, if its address is known, until there is a session."""
        if name in self.attempts or name not in self.addresses:
            return
        greeting = self._greeting()
        initiator = Initiator(self.settings.psk, self.settings.plain, greeting, name)
        self.attempts[name] = Attempt(initiator, now, FIRST_RETRY)
        self.attempting[greeting.connection] = name

    def give_up(self, name: str) -> None:
        """Stop sending hellos to a peer."""
        attempt = self.attempts.pop(name, None)
        if attempt is not None:
            del self.attempting[attempt.initiator.greeting.connection]

    def _greeting(self) -> Greeting:
        """How this node describes itself, with a new connection id."""
        settings = self.settings
        return Greeting(
            settings.name,
            settings.incarnation,
            os.urandom(datagrams.CONNECTION_SIZE),
            settings.protocol,
            settings.window,
            settings.window_bytes,
            self.transport.datagram,
        )

    def poll(self, now: int) -> int:
        """Send the hellos that are due; when the next one is, 0 for never."""
        for name, answer in list(self.answers.items()):
            if now - answer.since > ANSWER_LIFETIME:
                self._forget_answer(name)
                if not self.sessions.is_up(name):
                    self.attempt(name, now)
        for name, attempt in self.attempts.items():
            if attempt.next_at <= now:
                self.transport.send(self.addresses[name], [attempt.initiator.hello])
                attempt.asked_at = 0
                attempt.next_at = now + attempt.interval
                attempt.interval = min(2 * attempt.interval, SLOWEST_RETRY)
                self._report_unanswered(name, attempt, now)
        return min((attempt.next_at for attempt in self.attempts.values()), default=0)

    def _report_unanswered(self, name: str, attempt: Attempt, now: int) -> None:
        """A peer answers without welcoming us: report the likely reason."""
        overdue = attempt.reached_at and now - attempt.reached_at > UNANSWERED
        if overdue and not self.sessions.is_up(name):
            where = self.transport.describe(self.addresses[name])
            detail = f"a node at {where} answers without a welcome; check its key and its name"
            self._report("unanswered", PeerEvent(events.REFUSED, name, detail), now)

    def handle(self, datagram: bytes, address: Address, now: int) -> None:
        """Process a datagram outside of all sessions."""
        kind = datagram[0] if datagram else 0
        if kind == datagrams.HELLO:
            self._hello(datagram, address, now)
            return
        name = self.attempting.get(datagram[1 : datagrams.PREFIX])
        if name is None or kind not in (datagrams.COOKIE, datagrams.WELCOME, datagrams.REFUSE):
            self.stray += 1
            return
        attempt = self.attempts[name]
        initiator = attempt.initiator
        if kind == datagrams.COOKIE:
            # Not all of them: whoever saw our hello can send any number of forged ones.
            if now - attempt.cookie_at >= FIRST_RETRY and initiator.take_cookie(datagram):
                attempt.cookie_at = now
                attempt.reached_at = attempt.reached_at or now
                attempt.asked_at = now
                attempt.next_at = now + attempt.interval
                # Not to where the cookie came from: source addresses can be forged.
                self.transport.send(self.addresses[name], [initiator.hello])
        elif kind == datagrams.WELCOME:
            established = initiator.take_welcome(datagram)
            if established is not None:
                self._welcomed(name, established, address, now)
        else:
            reason = initiator.take_refusal(datagram)
            if reason is not None:
                self._report("refusal", PeerEvent(events.REFUSED, name, reason), now)

    def _welcomed(self, name: str, established: Established, address: Address, now: int) -> None:
        attempt = self.attempts[name]
        self.give_up(name)
        greeting = established.greeting
        problem = self._problem(greeting)
        if problem is None and greeting.name != name:
            problem = f"it goes by the name {greeting.name}"
        if problem is not None:
            self.emit(PeerEvent(events.REFUSED, name, problem))
        elif self.engine.core.is_dropped(self._process(greeting)):
            # The incarnation that was dropped is alive. Wait for its restart, with growing pauses.
            pause = self.pauses.get(name, FIRST_RETRY)
            self.pauses[name] = min(2 * pause, MAX_PAUSE)
            self.attempt(name, now + pause)
        else:
            peer = self._new_peer(
                established, attempt.initiator.greeting, address, self.settings.name, now
            )
            assert peer.link is not None
            if attempt.asked_at:
                peer.link.recovery.rtt.sample(now - attempt.asked_at, 0)
            peer.link.ping()  # the other side waits for proof that we hold the keys
            self.engine.prove(peer)

    # ---- hellos of others ----

    def _hello(self, datagram: bytes, address: Address, now: int) -> None:
        opened = self.responder.open(datagram, self.transport.address_bytes(address), now)
        if isinstance(opened, bytes):
            self.transport.send(address, [opened])
        elif isinstance(opened, WrongKey):
            where = self.transport.describe(address)
            detail = f"a node there {opened.reason}; give all nodes the same key"
            self._report("key", PeerEvent(events.REFUSED, where, detail), now)
        elif opened is not None:
            self._opened(opened, address, now)
        else:
            self.refused += 1

    def _opened(self, hello: Hello, address: Address, now: int) -> None:
        """A hello from a node that has the key and can receive at this address."""
        greeting = hello.greeting
        name = greeting.name
        answer = self.answers.get(name)
        if answer is not None and answer.ephemeral == hello.ephemeral:
            self.transport.send(address, [answer.welcome])
            return
        problem = self._problem(greeting)
        if problem is None and self.engine.core.is_dropped(self._process(greeting)):
            problem = "this incarnation was dropped; restart the node"
        if problem is not None:
            self._refuse(hello, problem, address, now)
            return
        attempt = self.attempts.get(name)
        if attempt is not None and self.settings.name > name:
            if attempt.reached_at and now - attempt.reached_at < CROSSING:
                return  # both sides sent a hello, and ours got through
            self.give_up(name)
        if self._is_vacant(hello, address, now):
            self._forget_answer(name)
            self._answer(hello, address, now)

    def _answer(self, hello: Hello, address: Address, now: int) -> None:
        greeting = self._greeting()
        welcome, established = self.responder.welcome(hello, greeting)
        peer = self._new_peer(established, greeting, address, hello.greeting.name, now)
        self.sessions.expect(peer)
        if len(self.answers) >= MAX_ANSWERS:
            self._forget_answer(next(iter(self.answers)))
        self.answers[peer.name] = Answer(hello.ephemeral, welcome, peer, now)
        self.transport.send(address, [welcome])

    def _forget_answer(self, name: str) -> None:
        answer = self.answers.pop(name, None)
        if answer is not None and not answer.peer.proven:
            self.sessions.forget(answer.peer)

    def _is_vacant(self, hello: Hello, address: Address, now: int) -> bool:
        """Whether no living incarnation holds this name, so that the newcomer may have it."""
        name = hello.greeting.name
        old = self.sessions.peers.get(name)
        if old is None or old.link is None or not self.sessions.is_up(name):
            return old is None or not self.settings.named or not old.gone
        if old.incarnation == hello.greeting.incarnation:
            return False  # there is a session already: a late copy of an old hello
        since, process = self.doubted.get(name, (0, b""))
        if process != old.process:
            self.doubted[name] = (now, old.process)
        elif old.link.heard_at > since:
            self.doubted[name] = (now, old.process)
            self._conflict(hello, address, now)
        elif now - since > LIFE_SIGN:
            if not self.settings.named:
                return True
            self._refuse(hello, self._no_return(name), address, now)
        self.sessions.ping(old)
        return False

    def _conflict(self, hello: Hello, address: Address, now: int) -> None:
        name = hello.greeting.name
        problem = f"the name {name} is in use by a living node; choose another"
        self._refuse(hello, problem, address, now)
        where = self.transport.describe(address)
        detail = f"a second node at {where} uses this name and was refused"
        self._report("conflict", PeerEvent(events.CONFLICT, name, detail), now)

    def _no_return(self, name: str) -> str:
        return (
            f"{self.settings.protocol} knows its processes by name from the start, so {name} cannot "
            "come back; restart all, or use a protocol of open membership"
        )

    def _refuse(self, hello: Hello, problem: str, address: Address, now: int) -> None:
        self.transport.send(address, [self.responder.refuse(hello, problem)])
        self._report("refused", PeerEvent(events.REFUSED, hello.greeting.name, problem), now)

    # ---- both ----

    def _report(self, cause: str, event: PeerEvent, now: int) -> None:
        """Emit an event, unless the same cause was reported for this peer a moment ago."""
        if self.rate_limit.allow(f"{cause} {event.peer}", now, REPEAT):
            self.emit(event)

    def connected(self, peer: Peer) -> None:
        """There is a session with the peer: other attempts are obsolete."""
        self.give_up(peer.name)
        self._forget_answer(peer.name)
        self.doubted.pop(peer.name, None)
        self.pauses.pop(peer.name, None)

    def sizes(self) -> dict[str, int]:
        """How many entries each table has: bounded, whatever is received."""
        return {
            "addresses": len(self.addresses),
            "attempts": len(self.attempts),
            "attempting": len(self.attempting),
            "answers": len(self.answers),
            "doubted": len(self.doubted),
        }

    def _problem(self, greeting: Greeting) -> str | None:
        """Why a session with this node is impossible, or None."""
        if greeting.name == self.settings.name:
            return f"the name {greeting.name} is that of the node it talks to; choose another"
        if greeting.protocol != self.settings.protocol:
            return (
                f"{greeting.name} runs {greeting.protocol} and {self.settings.name} runs "
                f"{self.settings.protocol}; all must run the same"
            )
        if self.settings.named and greeting.name not in self.sessions.peers:
            return f"{self.settings.name} doesn't list {greeting.name} as a peer; add it there"
        if self.settings.named and self.sessions.peers[greeting.name].gone:
            return self._no_return(greeting.name)
        return None

    def _process(self, greeting: Greeting) -> str:
        return self.settings.process_of(greeting.name, greeting.incarnation)

    def _new_peer(
        self, established: Established, own: Greeting, address: Address, initiator: str, now: int
    ) -> Peer:
        greeting = established.greeting
        plain = self.settings.plain
        link = Link(
            own.connection,
            greeting.connection,
            address,
            make_sealer(established.send_secret, plain),
            make_opener(established.receive_secret, plain),
            min(greeting.datagram, self.transport.datagram),
            2 * self.settings.window_bytes + MAX_PAYLOAD,
            preferred=initiator == max(greeting.name, self.settings.name),
            now=now,
        )
        return Peer(
            greeting.name,
            self._process(greeting),
            greeting.incarnation,
            # However much it grants: what waits for the peer takes memory of ours.
            window=min(greeting.window, MAX_WINDOW),
            window_bytes=min(greeting.window_bytes, MAX_WINDOW_BYTES),
            link=link,
        )
