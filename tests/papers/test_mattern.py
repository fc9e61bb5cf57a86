"""Mattern and Fünfrocken: its figures, played with the cores."""

from __future__ import annotations

import pytest

from beforehand import protocols
from beforehand.protocols.effects import Held, Wait
from tests.support.explore import Orders, all_orders
from tests.support.network import World

P1, P2, P3 = PROCESSES = ["P1", "P2", "P3"]


def world(protocol: str) -> World:
    """Three processes of a protocol; frames arrive when the test delivers them."""
    cores = {name: protocols.create(protocol, name, processes=PROCESSES) for name in PROCESSES}
    return World(cores, seed=0)


def delivered(run: World, process: str) -> list[str]:
    """The payloads delivered at a process, in order."""
    return [run.payloads[process, message].decode() for message in run.delivered[process]]


def first_program(protocol: str) -> World:
    """P1 sends x to P3 and y to P2; P2, on y, sends z to P3, and z is as fast as it can be."""
    run = world(protocol)
    run.send(P1, P3, b"x")
    run.send(P1, P2, b"y")
    if (P1, P2) in run.flight:
        run.arrive((P1, P2))
        run.send(P2, P3, b"z")
        run.arrive((P2, P3))
    return run


def test_figure_4_a_network_without_a_protocol_breaks_causal_order() -> None:
    """The execution that a causal protocol must avoid does happen without one, and is noticed."""
    run = first_program("raw")
    run.arrive((P1, P3))
    assert delivered(run, P3) == ["z", "x"]
    [violation] = run.violations
    assert "P3" in str(violation)


@pytest.mark.parametrize("protocol", ["rst", "ks"])
def test_figure_5_the_matrix_protocol_delays_z_at_its_receiver(protocol: str) -> None:
    """P3 has received z and holds it until x has arrived."""
    run = first_program(protocol)
    assert delivered(run, P3) == []
    [held] = run.cores[P3].held()
    assert (held.sender, held.message_id, held.receivers) == (P2, 1, (P3,))
    assert [(wait.kind, wait.peer) for wait in held.waits] == [("message", P1)]
    run.arrive((P1, P3))
    assert delivered(run, P3) == ["x", "z"]
    run.assert_causal_and_complete()


def test_figure_6_the_buffer_protocol_delays_y_at_its_sender() -> None:
    """P1 holds y until P3 has acknowledged x; then z cannot arrive too early."""
    run = first_program("mattern")
    assert (P1, P2) not in run.flight
    assert run.cores[P1].held() == [Held(P1, 2, (P2,), 2, (Wait("ack", P3, 1),))]
    run.arrive((P1, P3))
    run.arrive((P3, P1))
    assert run.cores[P1].held() == []
    run.arrive((P1, P2))
    run.send(P2, P3, b"z")
    run.arrive((P2, P3))
    assert delivered(run, P3) == ["x", "z"]
    run.assert_causal_and_complete()


def test_figure_3_both_may_send_first() -> None:
    """Where synchronous communication would deadlock, both messages leave at once and arrive."""
    run = world("mattern")
    run.send(P1, P2)
    run.send(P2, P1)
    run.arrive((P1, P2))
    run.arrive((P2, P1))
    run.run_until_quiet(tick=False)
    run.assert_causal_and_complete()


def test_lemma_3_messages_are_received_in_the_order_of_their_sends() -> None:
    """However fast the links are, the messages of one process arrive in causal-send order."""
    for seed in range(100):
        run = World({name: protocols.create("mattern", name) for name in PROCESSES}, seed)
        for to in (P2, P3, P2, P3, P3, P2):
            run.send(P1, to)
        order: list[int] = []
        while run.flight:
            before = {name: len(payloads) for name, payloads in run.delivered.items()}
            run.step()
            for name, count in before.items():
                order += [message.number for message in run.delivered[name][count:]]
        assert order == [1, 2, 3, 4, 5, 6], f"seed {seed}"


# The second program (section 4.2): everybody sends twice, then receives twice.
#   e: P1>P2, d: P1>P3;   c: P2>P3, b: P2>P1;   a: P3>P1, f: P3>P2
SECOND_PROGRAM = {P1: [P2, P3], P2: [P3, P1], P3: [P1, P2]}
OVERLAPPING_CROWNS: Orders = (  # figure 7: a before b, e before f, c before d
    (P1, ("P3>P1", "P2>P1")),
    (P2, ("P1>P2", "P3>P2")),
    (P3, ("P2>P3", "P1>P3")),
)
NESTED_CROWNS: Orders = (  # figure 8: b before a, f before e, d before c
    (P1, ("P2>P1", "P3>P1")),
    (P2, ("P3>P2", "P1>P2")),
    (P3, ("P1>P3", "P2>P3")),
)


@pytest.mark.parametrize("fifo_links", [False, True])
def test_figures_7_and_8_the_buffer_protocol_makes_overlapping_but_not_nested_crowns(
    fifo_links: bool,
) -> None:
    """Of all interleavings of the second program some end as in figure 7 and none as in figure 8."""
    cores = {name: protocols.create("mattern", name, fifo_links=fifo_links) for name in PROCESSES}
    ends, states = all_orders(cores, SECOND_PROGRAM)
    assert OVERLAPPING_CROWNS in ends
    assert NESTED_CROWNS not in ends
    assert len(ends) == 7, "all of the 2 * 2 * 2 orders but that of figure 8"
    assert states > 500


@pytest.mark.parametrize("protocol", ["rst", "ks"])
def test_figure_8_the_matrix_protocol_makes_nested_crowns(protocol: str) -> None:
    """Both figures are causally ordered, and the matrix protocol can produce both."""
    cores = {name: protocols.create(protocol, name, processes=PROCESSES) for name in PROCESSES}
    ends, _ = all_orders(cores, SECOND_PROGRAM)
    assert {OVERLAPPING_CROWNS, NESTED_CROWNS} <= ends
    assert len(ends) == 8


def test_footnote_4_runs_to_one_receiver_are_pipelined() -> None:
    """With FIFO links, a delay arises only where two messages in a row have different receivers."""
    core = protocols.create("mattern", P1, fifo_links=True)
    assert len(core.send_many(P2, [b"1", b"2", b"3"])) == 3
    assert core.send(P3, b"4") == []
    plain = protocols.create("mattern", P1)
    assert len(plain.send_many(P2, [b"1", b"2", b"3"])) == 1
