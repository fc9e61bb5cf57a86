"""`rst`: matrices that share their rows, and a receiver that waits for what they count."""

from __future__ import annotations

import pytest

from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.rst import Rst, RstMessage
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait

ABC = ["a", "b", "c"]


def frame_to(receiver: str, effects: list[Effect]) -> RstMessage:
    """The one frame to a receiver."""
    [frame] = [e.frame for e in effects if isinstance(e, Transmit) and e.to == receiver]
    assert isinstance(frame, RstMessage)
    return frame


def test_a_message_carries_the_matrix_before_its_send() -> None:
    """The receiver can add the message itself: it knows all the receivers."""
    core = Rst("a", ABC)
    assert frame_to("b", core.send("b", b"")).matrix == ((0, 0, 0), (0, 0, 0), (0, 0, 0))
    frame = frame_to("c", core.send(["b", "c"], b""))
    assert frame == RstMessage(2, ("b", "c"), ((0, 1, 0), (0, 0, 0), (0, 0, 0)), b"")
    assert core.matrix == ((0, 2, 1), (0, 0, 0), (0, 0, 0))


def test_a_delivery_teaches_all_receivers_of_a_multicast() -> None:
    """Knowing only one's own column would let a third process miss the message."""
    a, b = Rst("a", ABC), Rst("b", ABC)
    b.receive("a", frame_to("b", a.send(["b", "c"], b"")))
    assert b.matrix[0] == (0, 1, 1)


def test_multicast_that_one_receiver_answers_is_waited_for_at_the_other() -> None:
    """c holds b's answer until its own copy of a's message has come."""
    a, b, c = (Rst(name, ABC) for name in ABC)
    question = a.send(["b", "c"], b"question")
    b.receive("a", frame_to("b", question))
    answer = frame_to("c", b.send("c", b"answer"))
    assert c.receive("b", answer, now=5) == []
    assert c.held() == [Held("b", 1, ("c",), 5, (Wait("message", "a", 0),))]
    assert c.receive("a", frame_to("c", question)) == [
        Deliver("a", 1, b"question"),
        Deliver("b", 1, b"answer"),
    ]
    assert c.held() == []


def test_one_delivery_may_release_a_whole_chain() -> None:
    """The order of what is released follows the causes, however it arrived."""
    a, b = Rst("a", ABC), Rst("b", ABC)
    frames = [frame_to("b", a.send("b", b"%d" % number)) for number in range(50)]
    for frame in reversed(frames[1:]):
        assert b.receive("a", frame) == []
    effects = b.receive("a", frames[0])
    assert [e.payload for e in effects if isinstance(e, Deliver)] == [
        b"%d" % number for number in range(50)
    ]


def test_held_names_the_missing_message_where_it_is_known() -> None:
    """Matrices only count; but a message that waits itself is known by its number."""
    a, b, c, d = (Rst(name, list("abcd")) for name in "abcd")
    b.send("d", b"never comes")
    a.receive("b", frame_to("a", b.send("a", b"")))
    a.send("a", b"to itself: number 1")
    second = frame_to("d", a.send("d", b""))
    c.receive("a", frame_to("c", a.send("c", b"")))
    d.receive("a", second, now=1)
    d.receive("c", frame_to("d", c.send("d", b"")), now=2)
    assert d.held() == [
        Held("a", 2, ("d",), 1, (Wait("message", "b", 0),)),
        Held("c", 1, ("d",), 2, (Wait("message", "a", 2), Wait("message", "b", 0))),
    ]


def test_unchanged_rows_are_shared() -> None:
    """Attaching a matrix copies nothing, and processes share what they have not changed."""
    a, b = Rst("a", ABC), Rst("b", ABC)
    frame = frame_to("b", a.send("b", b""))
    assert frame.matrix is Rst("c", ABC).matrix
    b.receive("a", frame)
    again = frame_to("b", a.send("b", b""))
    assert again.matrix[1] is b.matrix[1] and again.matrix[2] is b.matrix[2]


def test_ten_thousand_processes_fit() -> None:
    """Many cores of a large group share their zeros and their names."""
    names = [f"p{index:05}" for index in range(10_000)]
    cores = [Rst(name, names) for name in names[:200]]
    assert all(core.matrix is cores[0].matrix for core in cores)
    assert all(core.members is cores[0].members for core in cores)
    effects = cores[0].send([names[1], names[2]], b"question")
    cores[1].receive(names[0], frame_to(names[1], effects))
    answer = frame_to(names[2], cores[1].send(names[2], b"answer"))
    assert cores[2].receive(names[1], answer) == []
    released = cores[2].receive(names[0], frame_to(names[2], effects))
    assert [e.payload for e in released if isinstance(e, Deliver)] == [b"question", b"answer"]
    assert cores[2].integers() == 10_000**2 + 10_000 + 1


def test_the_order_of_the_processes_does_not_matter() -> None:
    """All processes assign the same positions, in whatever order the names were given."""
    a, b = Rst("a", ["c", "a", "b"]), Rst("b", iter(ABC))
    effects = b.receive("a", frame_to("b", a.send("b", b"1")))
    assert effects == [Deliver("a", 1, b"1")]


def test_the_order_of_arrivals_leaves_no_trace() -> None:
    """Two ways to the same situation: the same fingerprint, and the same effects afterwards."""
    a = Rst("a", ABC)
    first, second, third = (frame_to("b", a.send("b", b"")) for _ in range(3))
    one, other = Rst("b", ABC), Rst("b", ABC)
    one.receive("a", second)
    one.receive("a", third)
    other.receive("a", third)
    other.receive("a", second)
    assert one.fingerprint() == other.fingerprint()
    assert one.receive("a", first) == other.receive("a", first)


def test_integers_are_those_of_table_1() -> None:
    """n * n for the matrix, n for the deliveries, n * n for each message that waits."""
    a, b = Rst("a", ABC), Rst("b", ABC)
    a.send("b", b"")
    assert b.integers() == 1 + 9 + 3
    b.receive("a", frame_to("b", a.send("b", b"")))
    assert b.integers() == 1 + 9 + 3 + 9


@pytest.mark.parametrize("to", ["d", ["b", "d"]])
def test_strangers_are_refused(to: str | list[str]) -> None:
    """Membership is fixed: a message to anybody else is an error and changes nothing."""
    core = Rst("a", ABC)
    before = core.fingerprint()
    with pytest.raises(LocalProtocolError, match="d is not among the processes"):
        core.send(to, b"")
    assert core.fingerprint() == before
