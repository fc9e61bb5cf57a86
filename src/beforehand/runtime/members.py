"""Who takes part, and under which incarnation: handshakes, restarts, silence, new addresses, leaving.

A process is a name and an incarnation, eight random bytes from its start. In protocols of open
membership the core knows it as `name@incarnation`, so a restarted process is a new one to the cores
and the old one is dropped (`protocols/fence.py` says why). Protocols that must know everybody by name
from the start cannot take a restarted process back, and say so.

When somebody with the keys comes under a known name and another incarnation, there are two cases. If the
old one is alive, which is asked of it, two nodes use one name: the newcomer is refused. If it is silent,
it has been restarted. Clocks play no part, so they may jump.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from beforehand.runtime import events, frames
from beforehand.runtime.datagrams import COOKIE, HELLO, REFUSE, WELCOME
from beforehand.runtime.engine import MAX_PAYLOAD, Engine
from beforehand.runtime.events import PeerEvent
from beforehand.runtime.greeting import Greeting
from beforehand.runtime.handshake import Established, Hello, Initiator, Responder, WrongKey
from beforehand.runtime.link import Link
from beforehand.runtime.peer import Peer
from beforehand.runtime.sealing import make_opener, make_sealer
from beforehand.runtime.transports.base import Address, Transport
from beforehand.wire.varint import ONE_BYTE

MS: Final = 1_000_000
FIRST_RETRY: Final = 50 * MS  # until a hello is sent again; then twice as long each time,
SLOWEST_RETRY: Final = 1000 * MS  # up to this
CROSSING: Final = 1000 * MS  # how long we insist on our own hello when both sides send one
LIFE_SIGN: Final = 1000 * MS  # how long the old incarnation has to answer for itself
QUIET: Final = 1000 * MS  # between two answers, or two events, of the same kind to the same address
MOST_GHOSTS: Final = 256  # dropped peers that are still told so when they are heard
MOST_NOTED: Final = 256  # strangers whose last event is remembered


class Attempt:
    """Our hellos to one peer."""

    def __init__(self, initiator: Initiator, connection: bytes, now: int) -> None:
        self.initiator = initiator
        self.connection = connection
        self.since = now
        self.next_at = now
        self.interval = FIRST_RETRY


class Answer:
    """Our welcome to a hello, until the peer has used it."""

    def __init__(self, ephemeral: bytes, welcome: bytes, peer: Peer) -> None:
        self.ephemeral = ephemeral
        self.welcome = welcome
        self.peer = peer


class Settings(Protocol):
    """What a node is told at its creation and members need to know."""

    name: str
    incarnation: bytes
    protocol: str
    named: bool  # the core knows processes by their names alone
    window: int
    window_bytes: int
    silent_after: int  # ns
    drop_after: int  # ns, 0 for never
    psk: bytes
    plain: bool


class Members:
    """The sessions of one node."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        transport: Transport,
        emit: Callable[[PeerEvent], None],
        random: Callable[[int], bytes],
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.transport = transport
        self.emit = emit
        self.random = random
        self.responder = Responder(settings.psk, settings.plain, settings.name, random)
        self.addresses: dict[str, Address] = {}
        self.attempts: dict[str, Attempt] = {}
        self.attempting: dict[bytes, str] = {}  # connection -> name
        self.answers: dict[str, Answer] = {}
        self.challenged: dict[str, tuple[int, str]] = {}  # name -> since when its life is in doubt
        self.tokens: dict[str, tuple[bytes, Address, int]] = {}  # addresses to be proved
        self.ghosts: deque[Peer] = deque()
        self.told: dict[str, int] = {}  # when a ghost or a stranger was last answered
        self.leaving: set[str] = set()  # processes that said goodbye

    # ---- who is wanted ----

    def want(self, name: str, address: Address | None, now: int) -> None:
        """There is, or will be, a peer of this name, maybe at an address."""
        if address is not None:
            self.addresses[name] = address
        if name not in self.engine.peers:
            self.await_peer(name)
        if address is not None and not self._up(name):
            self._attempt(name, now)

    def await_peer(self, name: str) -> None:
        """A place for a peer that is not there yet: nothing can be sent to it, but waited for."""
        peer = Peer(name, name)
        self.engine.peers[name] = peer
        if self.settings.named:
            self.engine.processes[name] = peer
        self.engine.forget_routes()

    def _up(self, name: str) -> bool:
        peer = self.engine.peers.get(name)
        return peer is not None and peer.proven and not peer.gone

    def _attempt(self, name: str, now: int) -> None:
        if name in self.attempts or name not in self.addresses:
            return
        connection = self.random(8)
        initiator = Initiator(
            self.settings.psk, self.settings.plain, self._greeting(connection), name, self.random
        )
        self.attempts[name] = Attempt(initiator, connection, now)
        self.attempting[connection] = name

    def _greeting(self, connection: bytes) -> Greeting:
        settings = self.settings
        return Greeting(
            settings.name,
            settings.incarnation,
            connection,
            settings.protocol,
            settings.window,
            settings.window_bytes,
            self.transport.datagram,
        )

    def poll(self, now: int) -> int:
        """Send the hellos that are due; returns when the next one is, 0 for never."""
        soonest = 0
        for name, attempt in self.attempts.items():
            if attempt.next_at <= now:
                self.transport.send(self.addresses[name], [attempt.initiator.hello()])
                attempt.next_at = now + attempt.interval
                attempt.interval = min(2 * attempt.interval, SLOWEST_RETRY)
            if not soonest or attempt.next_at < soonest:
                soonest = attempt.next_at
        return soonest

    # ---- handshakes ----

    def handle(self, datagram: bytes, address: Address, now: int) -> None:
        """A datagram of no session came."""
        kind = datagram[0] if datagram else 0
        if kind == HELLO:
            self._hello(datagram, address, now)
        elif kind in (COOKIE, WELCOME, REFUSE):
            name = self.attempting.get(datagram[1:9])
            if name is not None:
                self._answered(name, kind, datagram, address, now)
            else:
                self.engine.counters.stray += 1
        else:
            self.engine.counters.stray += 1

    def _answered(self, name: str, kind: int, datagram: bytes, address: Address, now: int) -> None:
        initiator = self.attempts[name].initiator
        if kind == COOKIE:
            if initiator.take_cookie(datagram):
                self.transport.send(address, [initiator.hello()])
        elif kind == WELCOME:
            established = initiator.take_welcome(datagram)
            if established is not None:
                self._welcomed(name, established, address, now)
        else:
            reason = initiator.take_refusal(datagram)
            if reason is not None and self._quiet(f"refusal {name}", now, 10 * QUIET):
                self.emit(PeerEvent(events.REFUSED, name, reason))

    def _welcomed(self, name: str, established: Established, address: Address, now: int) -> None:
        attempt = self.attempts.pop(name)
        del self.attempting[attempt.connection]
        problem = self._problem(established.greeting)
        if problem is not None or established.greeting.name != name:
            self.emit(PeerEvent(events.REFUSED, name, problem or "it goes by another name"))
            return
        if self._up(name) or self._is_dropped(established.greeting):
            return
        peer = self._new_peer(established, attempt.connection, address, now)
        self.engine.connect(peer)
        assert peer.link is not None
        peer.link.ping()  # the other side waits for a sign that we have the keys

    def _hello(self, datagram: bytes, address: Address, now: int) -> None:
        opened = self.responder.open(datagram, self.transport.address_bytes(address), now)
        if isinstance(opened, bytes):
            self.transport.send(address, [opened])
        elif isinstance(opened, WrongKey):
            where = self.transport.describe(address)
            if self._quiet(f"key {where}", now, 10 * QUIET):
                detail = "somebody there uses another key; give all nodes the same one"
                self.emit(PeerEvent(events.REFUSED, where, detail))
        elif opened is not None:
            self._opened(opened, address, now)
        else:
            self.engine.counters.refused += 1

    def _opened(self, hello: Hello, address: Address, now: int) -> None:
        """A hello of somebody with the key, who can receive at this address."""
        greeting = hello.greeting
        problem = self._problem(greeting)
        if problem is None and hello.target != self.settings.name:
            problem = f"this is {self.settings.name}, not {hello.target}; check the address"
        if problem is not None:
            self._refuse(hello, problem, address, now)
            return
        answer = self.answers.get(greeting.name)
        if answer is not None and answer.ephemeral == hello.ephemeral:
            self.transport.send(address, [answer.welcome])
            return
        if self._is_dropped(greeting):
            self._refuse(hello, "this incarnation was dropped; restart the node", address, now)
            return
        attempt = self.attempts.get(greeting.name)
        crossing = attempt is not None and now - attempt.since < CROSSING
        if crossing and self.settings.name > greeting.name:
            return  # both sides said hello: that of the greater name counts
        if not self._is_over(hello, address, now):
            return
        connection = self.random(8)
        welcome, established = self.responder.welcome(hello, self._greeting(connection))
        if answer is not None:
            self.engine.forget(answer.peer)
        peer = self._new_peer(established, connection, address, now)
        self.answers[greeting.name] = Answer(hello.ephemeral, welcome, peer)
        self.transport.send(address, [welcome])

    def _is_over(self, hello: Hello, address: Address, now: int) -> bool:
        """Whether the incarnation that we know under this name, if any, has come to its end."""
        name = hello.greeting.name
        old = self.engine.peers.get(name)
        if old is None or old.link is None or not self._up(name):
            return True
        if old.incarnation == hello.greeting.incarnation:
            return False  # the session is there: a late copy of an old hello
        since, process = self.challenged.get(name, (0, ""))
        if process != old.process:
            self.challenged[name] = (now, old.process)
        elif old.link.heard_at > since:
            self._conflict(hello, address, now)
        elif now - since > LIFE_SIGN:
            if self.settings.named:
                self._refuse(hello, self._no_return(name), address, now)
                return False
            return True
        old.link.ping()
        self.engine.touch(old.link)
        return False

    def _conflict(self, hello: Hello, address: Address, now: int) -> None:
        name = hello.greeting.name
        where = self.transport.describe(address)
        self._refuse(hello, f"the name {name} is in use by a living node; choose another", address, now)
        if self._quiet(f"conflict {name}", now, 10 * QUIET):
            detail = f"a second node at {where} uses this name and was refused"
            self.emit(PeerEvent(events.CONFLICT, name, detail))

    def _no_return(self, name: str) -> str:
        return (
            f"{self.settings.protocol} knows its processes by name from the start, so {name} cannot "
            "come back; restart all, or use a protocol of open membership"
        )

    def _refuse(self, hello: Hello, problem: str, address: Address, now: int) -> None:
        self.transport.send(address, [self.responder.refuse(hello, problem)])
        if self._quiet(f"refused {hello.greeting.name}", now, 10 * QUIET):
            self.emit(PeerEvent(events.REFUSED, hello.greeting.name, problem))

    def _problem(self, greeting: Greeting) -> str | None:
        """Why there can be no session with such a node."""
        if greeting.name == self.settings.name:
            return f"the name {greeting.name} is that of the node it talks to; choose another"
        if greeting.protocol != self.settings.protocol:
            return (
                f"{greeting.name} runs {greeting.protocol} and {self.settings.name} runs "
                f"{self.settings.protocol}; all must run the same"
            )
        if self.settings.named and greeting.name not in self.engine.peers:
            return f"{self.settings.name} was not told of a process {greeting.name}; name it there"
        return None

    def _process(self, greeting: Greeting) -> str:
        return process_name(greeting.name, greeting.incarnation, self.settings.named)

    def _is_dropped(self, greeting: Greeting) -> bool:
        return self.engine.core.is_dropped(self._process(greeting))

    def _new_peer(
        self, established: Established, connection: bytes, address: Address, now: int
    ) -> Peer:
        greeting = established.greeting
        settings = self.settings
        sealer = make_sealer(established.send_secret, settings.plain)
        link = Link(
            connection,
            greeting.connection,
            address,
            sealer,
            make_opener(established.receive_secret, settings.plain),
            min(greeting.datagram, self.transport.datagram),
            int(sealer.overhead),
            2 * settings.window_bytes + MAX_PAYLOAD,
            now,
        )
        peer = Peer(greeting.name, self._process(greeting), greeting.incarnation)
        peer.window = greeting.window
        peer.window_bytes = greeting.window_bytes
        self.engine.expect(peer, link)
        return peer

    # ---- what the engine noticed ----

    def attend(self, now: int) -> None:
        """See to everything that the engine found and did not decide itself."""
        engine = self.engine
        while engine.strange:
            strange, engine.strange = engine.strange, []
            for datagram, address in strange:
                self.handle(datagram, address, now)
        if engine.spoken:
            self._spoken(now)
        if engine.dropped:
            self._dropped(now)
        if engine.proven:
            self._proven(now)
        if engine.woken:
            for peer in engine.woken:
                self.emit(PeerEvent(events.UP, peer.name, "heard again"))
            engine.woken = []
        if engine.moved:
            self._moved(now)
        if engine.ghosts:
            for peer in engine.ghosts:
                self._tell_ghost(peer, now)
            engine.ghosts = []
        if engine.misbehaved:
            for peer, problem in engine.misbehaved:
                if self._quiet(f"misbehaved {peer.process}", now, QUIET):
                    self.emit(PeerEvent(events.MISBEHAVED, peer.name, problem))
            engine.misbehaved = []

    def _proven(self, now: int) -> None:
        for peer in self.engine.proven:
            assert peer.link is not None
            self.answers.pop(peer.name, None)
            self.challenged.pop(peer.name, None)
            attempt = self.attempts.pop(peer.name, None)
            if attempt is not None:
                del self.attempting[attempt.connection]
            self.addresses.setdefault(peer.name, peer.link.address)
            self.emit(PeerEvent(events.UP, peer.name, self.transport.describe(peer.link.address)))
        self.engine.proven = []

    def _dropped(self, now: int) -> None:
        for peer in self.engine.dropped:
            back = any(new.name == peer.name for new in self.engine.proven)
            if back:
                self.emit(PeerEvent(events.RESTARTED, peer.name, "under a new incarnation"))
            else:
                left = peer.process in self.leaving
                self.emit(PeerEvent(events.DROPPED, peer.name, "it has left" if left else ""))
            self.leaving.discard(peer.process)
            if self.engine.peers.get(peer.name) is peer and not self.settings.named:
                self._attempt(peer.name, now)  # it may come back, as another incarnation
            if peer.link is not None:
                self._tell_ghost(peer, now)
                self.ghosts.append(peer)
            if len(self.ghosts) > MOST_GHOSTS:
                self.engine.forget(self.ghosts.popleft())
        self.engine.dropped = []

    def _tell_ghost(self, peer: Peer, now: int) -> None:
        """A dropped peer may not know yet, and goes on sending."""
        if peer.link is not None and self._quiet(f"ghost {peer.process}", now, QUIET):
            farewell = ONE_BYTE[frames.CLOSE] + ONE_BYTE[frames.DROPPED]
            self.transport.send(peer.link.address, [peer.link.alone(farewell, now)])

    def _spoken(self, now: int) -> None:
        spoken, self.engine.spoken = self.engine.spoken, []
        for peer, tag, data in spoken:
            link = peer.link
            if link is None or peer.gone:
                continue
            if tag == frames.CHALLENGE:
                link.post_urgent(ONE_BYTE[frames.RESPONSE] + data)
            elif tag == frames.RESPONSE:
                token, address, _ = self.tokens.get(peer.process, (b"", None, 0))
                if token == data:
                    link.address = address
                    self.addresses[peer.name] = address
                    del self.tokens[peer.process]
            elif data[0] == frames.LEAVING:
                self.leaving.add(peer.process)
                self.engine.drop(peer, now)
            else:
                self._expelled(peer)

    def _expelled(self, peer: Peer) -> None:
        """The peer has dropped us. We cannot drop it for that: others may still need the both of us."""
        detail = "it has dropped this node, which can come back after a restart only"
        self.emit(PeerEvent(events.EXPELLED, peer.name, detail))
        peer.gone = True
        self.engine.forget(peer)
        self.engine.forget_routes()
        self.engine.eased.append(peer)

    def _moved(self, now: int) -> None:
        """Packets come from a new address: believe it when somebody answers there."""
        moved, self.engine.moved = self.engine.moved, []
        for peer, address in moved:
            link = peer.link
            if link is None or address == link.address:
                continue
            known = self.tokens.get(peer.process)
            if known is not None and known[1] == address and now - known[2] < link.recovery.rtt.smoothed:
                continue
            token = self.random(frames.TOKEN)
            self.tokens[peer.process] = (token, address, now)
            challenge = ONE_BYTE[frames.CHALLENGE] + token
            self.transport.send(address, [link.alone(challenge, now)])

    # ---- silence ----

    def watch(self, links: list[Link], now: int) -> None:
        """Their timers ran out: has anybody fallen silent?"""
        settings = self.settings
        for link in links:
            peer = self.engine.links.get(link.connection)
            if peer is None or peer.gone or not peer.proven:
                continue
            quiet = now - int(link.heard_at)
            if quiet >= settings.silent_after and not link.silent:
                link.silent = True
                policy = "waiting for it"
                if settings.drop_after:
                    policy = f"to be dropped after {settings.drop_after / 1e9:g} s"
                detail = f"nothing heard for {quiet / 1e9:.1f} s, {policy}"
                self.emit(PeerEvent(events.SILENT, peer.name, detail))
            if settings.drop_after and quiet >= settings.drop_after:
                self.engine.drop(peer, now)

    def farewell(self) -> None:
        """Tell everybody that we leave."""
        for peer in self.engine.peers.values():
            if peer.link is not None and peer.proven and not peer.gone:
                peer.link.post_urgent(ONE_BYTE[frames.CLOSE] + ONE_BYTE[frames.LEAVING])
                self.engine.touch(peer.link)

    def _quiet(self, about: str, now: int, pause: int) -> bool:
        """Whether nothing was said about this for a while; remembers that now something is."""
        last = self.told.get(about)
        if last is not None and now - last < pause:
            return False
        if len(self.told) >= MOST_NOTED:
            del self.told[next(iter(self.told))]
        self.told[about] = now
        return True


def process_name(name: str, incarnation: bytes, named: bool) -> str:
    """What the cores call a process."""
    return name if named else f"{name}@{incarnation.hex()}"
