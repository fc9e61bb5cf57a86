"""Cykas (Tong, Liittschwager and Kuper): its figures, played with the cores, and its slips."""

from __future__ import annotations

import pytest

from beforehand import protocols
from beforehand.protocols.effects import Held, Wait
from beforehand.protocols.sender_side.cykas import Cykas, CykasMessage, CykasYouCanTell
from tests.support.network import World

ALICE, BOB, CAROL = PEOPLE = ["alice", "bob", "carol"]


def world(protocol: str, names: list[str] = PEOPLE) -> World:
    """Processes of a protocol; frames arrive when the test delivers them."""
    return World(
        {name: protocols.create(protocol, name, processes=names) for name in names}, seed=0
    )


def delivered(run: World, process: str) -> list[str]:
    """The payloads delivered at a process, in order."""
    return [run.payloads[process, message].decode() for message in run.delivered[process]]


def hasty_gossip(run: World) -> None:
    """Alice sends m1 to Carol and m2 to Bob; Bob sends m3 to Carol; m1 is slower than both."""
    run.send(ALICE, CAROL, b"m1")
    run.send(ALICE, BOB, b"m2")
    run.arrive((ALICE, BOB))
    run.send(BOB, CAROL, b"m3")
    run.arrive((BOB, CAROL))


@pytest.mark.parametrize("protocol", ["raw", "fifo"])
def test_figure_1_left_and_figure_2_center_a_violation(protocol: str) -> None:
    """If no process waits, Carol delivers m3 before m1; the order of each link alone does not help."""
    run = world(protocol)
    hasty_gossip(run)
    run.arrive((ALICE, CAROL))
    assert delivered(run, CAROL) == ["m3", "m1"]
    assert len(run.violations) == 1


@pytest.mark.parametrize("protocol", ["rst", "ks"])
def test_figure_1_center_the_receiver_waits(protocol: str) -> None:
    """On the receiver's side, Carol holds m3 until m1 has arrived."""
    run = world(protocol)
    hasty_gossip(run)
    assert delivered(run, CAROL) == [] and len(run.cores[CAROL].held()) == 1
    run.arrive((ALICE, CAROL))
    assert delivered(run, CAROL) == ["m1", "m3"]


def test_figure_1_right_and_figure_2_left_the_sender_waits() -> None:
    """On the sender's side, Bob's long job cannot begin before Carol has acknowledged m1."""
    run = world("mattern")
    run.send(ALICE, CAROL, b"m1")
    run.send(ALICE, BOB, b"m2")
    assert run.cores[ALICE].held() == [Held(ALICE, 2, (BOB,), 2, (Wait("ack", CAROL, 1),))]
    run.arrive((ALICE, CAROL))
    assert delivered(run, BOB) == []
    run.arrive((CAROL, ALICE))
    run.arrive((ALICE, BOB))
    assert delivered(run, BOB) == ["m2"]


def test_figure_2_right_bob_starts_early_and_keeps_the_secret() -> None:
    """m2 goes eagerly, Bob has it before m1 is acknowledged, and m3 waits for "you can tell"."""
    run = world("cykas")
    run.send(ALICE, CAROL, b"m1")
    run.send(ALICE, BOB, b"m2")
    assert run.flight[ALICE, CAROL] == [CykasMessage(1, False, b"m1")]
    assert run.flight[ALICE, BOB] == [CykasMessage(2, True, b"m2")]
    alice = run.cores[ALICE]
    assert isinstance(alice, Cykas)
    [eager] = alice.eager[BOB]
    assert eager.pending == {CAROL}, "section 2.2.1: the bit vector of this moment is [001]"

    run.arrive((ALICE, BOB))
    assert delivered(run, BOB) == ["m2"]
    run.send(BOB, CAROL, b"m3")
    assert run.cores[BOB].held() == [Held(BOB, 1, (CAROL,), 4, (Wait("you-can-tell", ALICE, 2),))]
    run.arrive((BOB, ALICE))
    assert not run.flight.get((ALICE, BOB)), "no YCT: m1 is still on its way"
    run.arrive((ALICE, CAROL))
    run.arrive((CAROL, ALICE))
    assert run.flight == {(ALICE, BOB): [CykasYouCanTell(2)]}
    run.arrive((ALICE, BOB))
    assert run.flight == {(BOB, CAROL): [CykasMessage(1, False, b"m3")]}
    run.arrive((BOB, CAROL))
    assert delivered(run, CAROL) == ["m1", "m3"]
    run.run_until_quiet(tick=False)
    run.assert_causal_and_complete()


def answer_in_secret(protocol: str) -> World:
    """The run of figure 3, up to the moment at which Carol wants to send ns3 to Alice."""
    run = world(protocol)
    run.send(BOB, ALICE, b"ns1")
    run.send(BOB, CAROL, b"es1")
    run.arrive((BOB, CAROL))
    run.send(ALICE, BOB, b"ns2")
    run.send(ALICE, CAROL, b"es2")
    run.arrive((ALICE, CAROL))
    run.send(CAROL, ALICE, b"ns3")
    return run


def test_figure_3_sending_in_secret_mode_breaks_causal_order() -> None:
    """If Carol may answer Alice, ns3 overtakes ns1, which Bob had sent before his message to Carol."""
    run = answer_in_secret("cykas-unsafe")
    overtaking = [
        index
        for index, frame in enumerate(run.flight[CAROL, ALICE])
        if isinstance(frame, CykasMessage)
    ]
    run.arrive((CAROL, ALICE), overtaking[0])
    run.arrive((BOB, ALICE))
    assert delivered(run, ALICE) == ["ns3", "ns1"]
    assert len(run.violations) == 1


def test_figure_3_does_not_happen_with_cykas() -> None:
    """In secret mode ns3 waits for both YCTs, and so ns1 comes first."""
    run = answer_in_secret("cykas")
    waits = (Wait("you-can-tell", ALICE, 2), Wait("you-can-tell", BOB, 2))
    [held] = run.cores[CAROL].held()
    assert held.waits == waits
    run.run_until_quiet(tick=False)
    assert delivered(run, ALICE) == ["ns1", "ns3"]
    run.assert_causal_and_complete()


def test_algorithm_4_a_blocked_message_leaves_on_the_ack_though_nothing_is_eager() -> None:
    """As printed, messages are tried only inside the loop over eager sends: this one is never sent."""
    run = world("cykas", ["0", "1"])
    run.send("0", "1")
    run.send("0", "1")
    assert run.cores["0"].held() == [Held("0", 2, ("1",), 2, (Wait("ack", "1", 1),))]
    run.arrive(("0", "1"))
    run.arrive(("1", "0"))
    assert run.flight == {("0", "1"): [CykasMessage(2, False, b"0/2")]}


def test_algorithm_4_one_ack_does_not_clear_what_it_just_let_go() -> None:
    """Five sends after which the printed loop sends "you can tell" too early: a violation at 1.

    The ack of message 2 lets 4 and 5 go, where 5 must stay secret until 4 is acknowledged. The
    printed loop clears the bit for 1 that 5 was just given, with the ack of message 2.
    """
    run = world("cykas", ["0", "1", "2"])
    run.send("0", "2")
    run.send("0", "1")
    run.arrive(("0", "2"))
    run.arrive(("2", "0"))
    run.send("0", "2")
    run.arrive(("0", "2"))
    run.arrive(("2", "0"))
    run.send("0", "1")
    run.send("0", "2")
    run.arrive(("0", "1"))
    run.arrive(("1", "0"))
    assert CykasMessage(5, True, b"0/5") in run.flight["0", "2"]
    while ("0", "2") in run.flight:
        run.arrive(("0", "2"))
        if ("2", "0") in run.flight:
            run.arrive(("2", "0"))
    run.send("2", "1")
    [held] = run.cores["2"].held()
    assert held.waits == (Wait("you-can-tell", "0", 5),)
    run.run_until_quiet(tick=False)
    assert [str(message) for message in run.delivered["1"]] == ["0#2", "0#4", "2#1"]
    run.assert_causal_and_complete()
