"""Frames for codec tests: a strategy and samples for each class, and the discovery of all classes."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from beforehand import protocols
from beforehand.protocols.clocks.ks import KsMessage
from beforehand.protocols.clocks.ks_flush import KsFlush
from beforehand.protocols.clocks.newtop import NewtopMessage, NewtopNull
from beforehand.protocols.clocks.rst import RstMessage
from beforehand.protocols.clocks.vector import VectorMessage
from beforehand.protocols.controls import FifoAck, FifoMessage, RawMessage
from beforehand.protocols.fence import Fenced
from beforehand.protocols.frames import Envelope, Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit, HybridSignal
from beforehand.protocols.overlay.frames import (
    BETA,
    PI,
    PING,
    RHO,
    Alpha,
    Broadcast,
    Buffered,
    Close,
    Control,
    Flood,
    Join,
    Leave,
    Linked,
    LinkSignal,
    Pong,
    Refuse,
    Relayed,
    Routed,
    Welcome,
)
from beforehand.protocols.reliable import Segment, SegmentAck
from beforehand.protocols.sender_side.cykas import CykasAck, CykasMessage, CykasYouCanTell
from beforehand.protocols.sender_side.mattern import MatternAck, MatternMessage
from beforehand.protocols.support.numbering import ChainedFrame, NumberedFrame, RelayedFrame, Signal
from beforehand.protocols.tree.frames import (
    SlideFrame,
    TreeAsk,
    TreeBroadcast,
    TreeClear,
    TreeFarewell,
    TreeGo,
    TreeGone,
    TreeHandover,
    TreeLast,
    TreeLock,
    TreeMessage,
    TreeReady,
    TreeRefusal,
    TreeRequest,
)

MAX = 2**60 - 1  # the greatest integer on the wire

# Base classes that are never sent.
ABSTRACT = {
    Envelope,
    NumberedFrame,
    ChainedFrame,
    RelayedFrame,
    Signal,
    HybridSignal,
    Relayed,
    LinkSignal,
    TreeRequest,
    SlideFrame,
}


def frame_classes() -> set[type[Frame]]:
    """Import all protocols and return their concrete frame classes."""
    for module in pkgutil.iter_modules(protocols.__path__):
        import_module(f"{protocols.__name__}.{module.name}")
    classes: set[type[Frame]] = set()
    pending: list[type[Frame]] = [Frame]
    while pending:
        for subclass in pending.pop().__subclasses__():
            pending.append(subclass)
            if subclass.__module__.startswith(f"{protocols.__name__}."):
                classes.add(subclass)
    return classes - ABSTRACT


# Where the length of an encoding changes: 4, 5 or 6 bits of the first byte and 0, 1, 3 or 7 bytes.
EDGES = sorted(
    {
        edge + near
        for bits in (4, 5, 6)
        for edge in (1 << bits, 1 << bits + 8, 1 << bits + 24)
        for near in (-1, 0, 1)
    }
    | {1, 2, MAX - 1, MAX}
)

ids = st.one_of(st.integers(1, 70), st.sampled_from(EDGES), st.integers(1, MAX))
numbers = st.one_of(st.just(0), ids)
payloads = st.one_of(
    st.binary(max_size=70),
    st.sampled_from([b"", b"x" * 63, b"x" * 64, b"y" * 16_383, b"y" * 16_384]),
)
names = st.one_of(
    st.sampled_from(["alice", "bob", "carol", "dave", "a" * 255, "é" * 127, "\0", "\U0010ffff"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
)


@st.composite
def chained(draw: st.DrawFn) -> tuple[int, int]:
    """An id and its predecessor: none, any, or at an edge of the distance."""
    number = draw(ids)
    back = draw(st.one_of(st.just(number), st.sampled_from(EDGES), st.integers(1, number)))
    return number, max(0, number - back)


@st.composite
def hybrid_messages(draw: st.DrawFn) -> HybridMessage:
    """A single message, a run of payloads of one length, or a run of any."""
    single = payloads.map(lambda payload: [payload])
    equal_lengths = st.tuples(payloads, st.integers(2, 70)).map(lambda pair: [pair[0]] * pair[1])
    run = draw(st.one_of(single, equal_lengths, st.lists(payloads, min_size=1, max_size=8)))
    first, prev = draw(chained())
    first = min(first, MAX - len(run) + 1)
    return HybridMessage(first, min(prev, first - 1), draw(st.booleans()), tuple(run))


@st.composite
def rst_messages(draw: st.DrawFn) -> RstMessage:
    """Matrices of rows that are zero, small, or anything."""
    size = draw(st.integers(1, 6))
    counts = st.one_of(st.integers(0, 63), numbers)
    row = st.one_of(
        st.just((0,) * size),
        st.lists(st.integers(0, 63), min_size=size, max_size=size).map(tuple),
        st.lists(counts, min_size=size, max_size=size).map(tuple),
    )
    matrix = draw(st.lists(row, min_size=size, max_size=size).map(tuple))
    receivers = draw(st.lists(names, min_size=1, max_size=4).map(tuple))
    return RstMessage(draw(ids), receivers, matrix, draw(payloads))


@st.composite
def ks_messages(draw: st.DrawFn) -> KsMessage:
    """Any sorted log, several clocks of one sender and empty destinations included."""
    group = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    subsets = st.frozensets(st.sampled_from(group))
    log = draw(st.dictionaries(st.tuples(st.sampled_from(group), ids), subsets, max_size=6))
    entries = tuple((sender, clock, log[sender, clock]) for sender, clock in sorted(log))
    receivers = draw(st.frozensets(st.sampled_from(group), min_size=1))
    return KsMessage(draw(ids), receivers, entries, draw(payloads))


@st.composite
def ks_flushes(draw: st.DrawFn) -> KsFlush:
    """Any count, and a last number that is not below it."""
    count, last = sorted([draw(numbers), draw(numbers)])
    return KsFlush(draw(names), count, last)


@st.composite
def newtop_messages(draw: st.DrawFn) -> NewtopMessage:
    """Any number, and a clock that is not below it."""
    number, clock = sorted([draw(ids), draw(ids)])
    return NewtopMessage(number, clock, draw(payloads))


@st.composite
def vector_messages(draw: st.DrawFn) -> VectorMessage:
    """Clocks of small counts, or of any."""
    small = st.lists(st.integers(0, 63), min_size=1, max_size=9)
    clock = draw(st.one_of(small, st.lists(numbers, min_size=1, max_size=6)).map(tuple))
    return VectorMessage(draw(ids), clock, draw(payloads))


some_names = st.sets(names, min_size=1, max_size=5).map(sorted).map(tuple)

controls = st.builds(Control, st.sampled_from([BETA, PI, RHO, PING]), names, names, ids)
routes = st.lists(names, max_size=4).map(tuple)
broadcasts = st.builds(Broadcast, names, ids, payloads)
floods = st.builds(Flood, names, ids, controls)

# A welcome encodes a number as its double, and a negative one (of a flood) as one more than that.
versions = st.one_of(st.integers(1, 70), st.sampled_from([2**5, 2**13, 2**29, MAX // 2]))
signed = st.builds(lambda number, flood: -number if flood else number, versions, st.booleans())


def mattern_message(ids: tuple[int, int], payload: bytes) -> MatternMessage:
    """Build a message from the result of `chained`."""
    return MatternMessage(ids[0], ids[1], payload)


def fifo_message(ids: tuple[int, int], payload: bytes) -> FifoMessage:
    """Build a message from the result of `chained`."""
    return FifoMessage(ids[0], ids[1], payload)


# Frames that don't contain other frames.
PLAIN: dict[type[Frame], SearchStrategy[Frame]] = {
    HybridMessage: hybrid_messages(),
    HybridAck: st.builds(HybridAck, ids),
    HybridPermit: st.builds(HybridPermit, ids),
    SegmentAck: st.builds(SegmentAck, ids),
    MatternMessage: st.builds(mattern_message, chained(), payloads),
    MatternAck: st.builds(MatternAck, ids),
    CykasMessage: st.builds(CykasMessage, ids, st.booleans(), payloads),
    CykasAck: st.builds(CykasAck, ids),
    CykasYouCanTell: st.builds(CykasYouCanTell, ids),
    RstMessage: rst_messages(),
    KsMessage: ks_messages(),
    KsFlush: ks_flushes(),
    NewtopMessage: newtop_messages(),
    NewtopNull: st.builds(NewtopNull, ids),
    VectorMessage: vector_messages(),
    TreeMessage: st.builds(TreeMessage, names, ids, some_names, payloads),
    TreeBroadcast: st.builds(TreeBroadcast, names, ids, payloads),
    TreeAsk: st.builds(TreeAsk, names),
    TreeLock: st.builds(TreeLock, names, some_names),
    TreeReady: st.builds(TreeReady, names),
    TreeRefusal: st.builds(TreeRefusal, names, st.booleans()),
    TreeGo: st.builds(TreeGo, names),
    TreeFarewell: st.builds(TreeFarewell, names),
    TreeHandover: st.builds(TreeHandover, names),
    TreeLast: st.builds(TreeLast, names),
    TreeClear: st.builds(TreeClear, names),
    TreeGone: st.builds(TreeGone, names),
    Broadcast: broadcasts,
    Flood: floods,
    Routed: st.builds(Routed, routes, controls),
    Buffered: st.builds(
        Buffered, ids, st.lists(st.one_of(broadcasts, floods), max_size=4).map(tuple)
    ),
    Alpha: st.builds(Alpha, ids, routes),
    Linked: st.builds(Linked, ids),
    Pong: st.builds(Pong, ids),
    Close: st.builds(Close, numbers),
    Refuse: st.builds(Refuse, ids),
    Join: st.builds(Join, ids),
    Leave: st.builds(Leave),
    Welcome: st.builds(Welcome, ids, st.lists(st.tuples(names, signed), max_size=5).map(tuple)),
    FifoMessage: st.builds(fifo_message, chained(), payloads),
    FifoAck: st.builds(FifoAck, ids),
    RawMessage: st.builds(RawMessage, ids, payloads),
}

plain_frames = st.one_of(*PLAIN.values())
fenced_frames = st.builds(
    Fenced, numbers, st.lists(names, max_size=4).map(tuple), numbers, plain_frames
)
segments = st.builds(Segment, ids, st.one_of(plain_frames, fenced_frames))

STRATEGIES: dict[type[Frame], SearchStrategy[Frame]] = {
    **PLAIN,
    Fenced: fenced_frames,
    Segment: segments,
}

any_frame = st.one_of(*STRATEGIES.values())

# A few frames of every class, with short and long fields; fuzzers mutate these.
SAMPLES: tuple[Frame, ...] = (
    HybridMessage(1, 0, False, (b"x",)),
    HybridMessage(5, 4, True, (b"hello, world",)),
    HybridMessage(300, 7, False, (b"",)),
    HybridMessage(2**28 - 1, 1, True, (b"y" * 70,)),
    HybridMessage(MAX, 2**40, False, (b"z",)),
    HybridMessage(20, 19, True, (b"ab", b"cd", b"ef")),
    HybridMessage(70_000, 60_000, False, (b"a", b"", b"bcd", b"e" * 65)),
    HybridMessage(MAX - 1, 0, False, (b"", b"")),
    HybridAck(1),
    HybridAck(MAX),
    HybridPermit(64),
    HybridPermit(2**30),
    SegmentAck(16_383),
    MatternMessage(1, 0, b""),
    MatternMessage(2**30, 2**29, b"mattern"),
    MatternAck(63),
    CykasMessage(1, True, b"secret"),
    CykasMessage(16_384, False, b"s" * 64),
    CykasAck(5),
    CykasYouCanTell(2**31),
    RstMessage(1, ("bob",), ((0,),), b"r"),
    RstMessage(9, ("bob", "carol"), ((0, 1, 2), (0, 0, 0), (64, 16_384, 2**40)), b"matrix"),
    RstMessage(9, ("é" * 127,), ((0,) * 9,) * 9, b""),
    KsMessage(1, frozenset({"bob"}), (), b"k"),
    KsMessage(
        8,
        frozenset({"bob", "carol"}),
        (
            ("alice", 3, frozenset({"bob", "dave"})),
            ("alice", 7, frozenset()),
            ("bob", 70, frozenset({"alice", "carol", "dave"})),
            ("dave", MAX, frozenset({"bob"})),
        ),
        b"log",
    ),
    KsFlush("eve", 0, 0),
    KsFlush("\U0001f984", 3, 2**33),
    NewtopMessage(1, 1, b""),
    NewtopMessage(70, 2**35, b"newtop"),
    NewtopNull(1),
    NewtopNull(16_384),
    VectorMessage(1, (1,), b"v"),
    VectorMessage(16_384, (0, 16_384, 63, 2**40), b"vector"),
    TreeMessage("alice", 1, ("bob",), b"t"),
    TreeMessage("Zoë", 2**30, ("bob", "carol", "\U0001f984"), b"tree" * 20),
    TreeBroadcast("alice", 64, b""),
    TreeAsk("bob"),
    TreeLock("bob", ("bob",)),
    TreeLock("bob", ("alice", "bob", "carol")),
    TreeReady("bob"),
    TreeRefusal("bob", False),
    TreeRefusal("bob", True),
    TreeGo("b" * 255),
    TreeFarewell("bob"),
    TreeHandover("bob"),
    TreeLast("bob"),
    TreeClear("bob"),
    TreeGone("bob"),
    Broadcast("bob", 1, b""),
    Broadcast("Zoë", 2**30, b"b" * 64),
    Flood("bob", 70, Control(BETA, "bob", "carol", 5)),
    Routed((), Control(PI, "bob", "carol", 16_384)),
    Routed(("carol", "dave"), Control(RHO, "bob", "dave", 1)),
    Buffered(1, ()),
    Buffered(
        64,
        (
            Broadcast("bob", 3, b"kept"),
            Flood("carol", 1, Control(PING, "carol", "bob", 2)),
            Broadcast("carol", 9, b""),
        ),
    ),
    Alpha(1, ()),
    Alpha(2**14, ("carol", "bob")),
    Linked(1),
    Pong(70),
    Close(0),
    Close(2**40),
    Refuse(3),
    Join(63),
    Leave(),
    Welcome(1, ()),
    Welcome(64, (("bob", 5), ("bob", -1), ("carol", MAX // 2))),
    FifoMessage(3, 2, b"fifo"),
    FifoAck(64),
    RawMessage(7, b"raw"),
    Fenced(0, (), 0, HybridAck(5)),
    Fenced(3, ("bob", "Zoë"), 1, HybridMessage(5, 4, True, (b"x", b"y"))),
    Fenced(64, ("carol",), 2**20, KsMessage(2, frozenset({"bob"}), (), b"f")),
    Segment(1, CykasMessage(1, True, b"inner")),
    Segment(2**20, Fenced(1, ("eve",), 0, CykasAck(3))),
    Segment(3, RstMessage(1, ("bob",), ((0, 1), (1, 0)), b"s")),
)

SAMPLE_NAMES = [f"{type(frame).__name__}-{number}" for number, frame in enumerate(SAMPLES)]
