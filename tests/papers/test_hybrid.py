"""Hybrid buffering (Almeida): its claims, and the runs on which its printed text fails.

The runs are written as in the project's notes: `S a>b` is a causal-send, `R` the arrival of a frame.
"""

from __future__ import annotations

import pytest

from beforehand import protocols
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Transmit, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from tests.support.network import World

HYBRIDS = ["hybrid", "hybrid-sps"]


def world(protocol: str, names: str = "012") -> World:
    """Processes 0, 1, 2 and a network whose frames arrive only on request."""
    cores: dict[str, Core] = {name: protocols.create(protocol, name) for name in names}
    return World(cores, seed=0)


def arrive(run: World, sender: str, receiver: str, kind: type[Frame]) -> None:
    """Let the oldest frame of that kind on that link arrive."""
    frames = run.flight[sender, receiver]
    run.arrive((sender, receiver), next(i for i, f in enumerate(frames) if isinstance(f, kind)))


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_ids_start_at_1_so_the_first_message_isnt_a_duplicate(protocol: str) -> None:
    """Printed: ids start at 0, the default of `ld`, and message 0 is acked but never delivered."""
    run = world(protocol)
    run.send("0", "1")
    arrive(run, "0", "1", HybridMessage)
    assert [str(message) for message in run.delivered["1"]] == ["0#1"]


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_duplicate_is_acknowledged_again_and_not_delivered_again(protocol: str) -> None:
    """Printed: an unbound name on a duplicate; the ack repeats the last delivered id."""
    run = world(protocol)
    run.send("0", "1")
    frame = run.flight["0", "1"][0]
    arrive(run, "0", "1", HybridMessage)
    assert run.cores["1"].receive("0", frame) == [Transmit("0", HybridAck(1))]


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_permit_that_overtakes_its_message_is_remembered(protocol: str) -> None:
    """S0>1 S0>2 R(0>1) R(1>0 ACK) R(0>2 PERMIT) R(0>2 MSG) S2>1: the last one goes at once."""
    run = world(protocol)
    run.send("0", "1")
    run.send("0", "2")
    arrive(run, "0", "1", HybridMessage)
    arrive(run, "1", "0", HybridAck)
    arrive(run, "0", "2", HybridPermit)
    arrive(run, "0", "2", HybridMessage)
    run.send("2", "1")
    assert not run.cores["2"].held(), "the permit was there before the message"
    arrive(run, "2", "1", HybridMessage)
    run.assert_causal_and_complete()


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_an_ack_for_what_was_never_sent_is_refused(protocol: str) -> None:
    """Printed: access outside the window, or a message freed although it was lost."""
    run = world(protocol)
    run.send("0", "1")
    run.send("0", "2")
    run.send("0", "1", count=2)
    core = run.cores["0"]
    before = core.fingerprint()
    for sender, upto in [("1", 2), ("1", 5), ("2", 1), ("2", 3), ("3", 1), ("1", 0), ("1", -1)]:
        with pytest.raises(RemoteProtocolError, match="never sent") as caught:
            core.receive(sender, HybridAck(upto))
        assert caught.value.peer == sender
        assert core.fingerprint() == before, f"ACK {upto} from {sender} changed something"


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_an_ack_for_a_message_that_is_still_held_is_refused(protocol: str) -> None:
    """It was causal-sent but never released, so nobody can have delivered it."""
    core = protocols.create(protocol, "0")
    core.receive("1", HybridMessage(2, 0, True, (b"secret",)))
    assert core.send("2", b"waits") == []
    before = core.fingerprint()
    with pytest.raises(RemoteProtocolError, match="never sent"):
        core.receive("2", HybridAck(1))
    assert core.fingerprint() == before and core.held()


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_message_to_oneself_is_delivered_at_the_causal_send(protocol: str) -> None:
    """S0>0 S0>1 R(0>1) S1>0 R(1>0): through the network, the answer could come first."""
    run = world(protocol)
    effects = run.send("0", "0")
    assert effects == [Deliver("0", 1, b"0/1")]
    run.send("0", ["1", "0"])
    arrive(run, "0", "1", HybridMessage)
    run.send("1", "0")
    arrive(run, "1", "0", HybridMessage)
    assert [str(message) for message in run.delivered["0"]] == ["0#1", "0#2", "1#1"]
    run.assert_causal_and_complete()


def test_sps_flags_no_message_after_open_ones_to_the_same_receiver() -> None:
    """Printed: `u2` stays behind on append, and every second message to a receiver is flagged."""
    run = world("hybrid-sps")
    for _ in range(4):
        run.send("0", "1")
    run.send("0", "2")  # another receiver, so the next to 1 starts a new run
    assert [frame.flagged for frame in run.flight["0", "1"]] == [False] * 4  # type: ignore[attr-defined]
    assert [frame.flagged for frame in run.flight["0", "2"]] == [True]  # type: ignore[attr-defined]


def test_sps_gives_each_permit_once() -> None:
    """Printed: two places serve the message at `u2` when it becomes the first."""
    run = world("hybrid-sps")
    run.send("0", "1")
    run.send("0", "2")
    run.send("0", "1")
    for receiver in "12":
        while ("0", receiver) in run.flight:
            run.arrive(("0", receiver))
        while (receiver, "0") in run.flight:
            run.arrive((receiver, "0"))
    run.run_until_quiet(tick=False)
    assert run.kinds["HybridPermit"] == 2  # one to 2 for message 2, one to 1 for message 3


def test_sps_a_repeated_ack_asks_for_the_permit_that_was_lost() -> None:
    """Printed: such an ack is ignored while an older one is missing; here the tick brings it back."""
    run = world("hybrid-sps", "0123")
    run.send("0", "1")
    run.send("0", "2")
    run.send("0", "3")
    arrive(run, "0", "2", HybridMessage)
    arrive(run, "2", "0", HybridAck)
    arrive(run, "0", "1", HybridMessage)
    arrive(run, "1", "0", HybridAck)
    run.take(("0", "2"))  # the permit for message 2 is lost; message 3 is still unacknowledged
    run.send("2", "3")
    assert run.cores["2"].held()
    run.tick("2")
    arrive(run, "2", "0", HybridAck)
    arrive(run, "0", "2", HybridPermit)
    assert not run.cores["2"].held()


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_multicast_keeps_one_predecessor_for_each_receiver(protocol: str) -> None:
    """Printed: one predecessor id for all; a receiver with a shorter history waits indefinitely."""
    run = world(protocol)
    run.send("0", "1")
    run.send("0", ["1", "2"])
    run.run_until_quiet(tick=False)
    run.assert_causal_and_complete()


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_multicast_is_more_than_several_unicasts(protocol: str) -> None:
    """Section 5.7: what 1 sends 2 after delivering a multicast to both comes after it at 2."""
    run = world(protocol)
    run.send("0", ["1", "2"])
    arrive(run, "0", "1", HybridMessage)
    run.send("1", "2")
    assert run.cores["1"].held()[0].waits == (Wait("permit", "0", 1),)
    assert ("1", "2") not in run.flight
    run.run_until_quiet(tick=False)
    assert [str(message) for message in run.delivered["2"]] == ["0#1", "1#1"]


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_unicast_permit_does_not_wait_for_its_own_ack(protocol: str) -> None:
    """Printed for multicast: the permit of a unicast message waits for its own ack."""
    run = world(protocol)
    run.send("0", "1")
    run.send("0", "2")
    arrive(run, "0", "1", HybridMessage)
    arrive(run, "1", "0", HybridAck)
    assert HybridPermit(2) in run.flight["0", "2"], "2 has not even received the message"


def test_section_5_6_a_reply_needs_no_permit_from_the_one_it_answers() -> None:
    """SPS releases to j although a permit from j is missing; CSPS holds."""
    for protocol, released in (("hybrid", False), ("hybrid-sps", True)):
        run = world(protocol)
        run.send("0", "2")
        run.send("0", "1")
        arrive(run, "0", "1", HybridMessage)
        run.send("1", "2")
        run.send("1", "0")
        assert (("1", "0") in run.flight and HybridMessage in map(type, run.flight["1", "0"])) is (
            released
        ), protocol
        assert [held.message_id for held in run.cores["1"].held()] == ([1] if released else [1, 2])
        run.run_until_quiet(tick=False)
        run.assert_causal_and_complete()


def starve(protocol: str, rounds: int) -> World:
    """Section 4.3: j and k keep sending secrets to i, each before the last one's permit has arrived.

    In each round one of them sends to its own listener and then to i; what it sent i in its round
    before is permitted only now, when the other's newer secret has already arrived.
    """
    run = world(protocol, "ijkxyz")
    listener = {"j": "x", "k": "y"}

    def send_secret(sender: str) -> None:
        run.send(sender, listener[sender])
        run.send(sender, "i")
        run.arrive((sender, "i"))

    def permit(sender: str) -> None:
        run.arrive((sender, listener[sender]))
        run.arrive((listener[sender], sender))
        while ("i", sender) in run.flight:
            run.arrive(("i", sender))
        while (sender, "i") in run.flight:
            run.arrive((sender, "i"))

    send_secret("j")
    run.send("i", "z")
    for number in range(rounds):
        newer, older = ("k", "j") if number % 2 == 0 else ("j", "k")
        send_secret(newer)
        permit(older)
    return run


def test_section_4_3_cykas_starves() -> None:
    """Under that schedule `cykas` still holds the message after any number of rounds."""
    for rounds in (1, 10, 500):
        run = starve("cykas", rounds)
        (held,) = run.cores["i"].held()
        assert (held.sender, held.message_id, held.receivers) == ("i", 1, ("z",))
        assert ("i", "z") not in run.flight
        assert run.kinds["CykasYouCanTell"] == rounds, "every secret but the last was lifted"


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_section_5_5_no_starvation(protocol: str) -> None:
    """Under the same schedule the hybrids release the message in the first round."""
    held = starve(protocol, 0)
    assert held.cores["i"].held() and ("i", "z") not in held.flight, "it did have to wait"
    run = starve(protocol, 1)
    assert not run.cores["i"].held()
    assert run.flight["i", "z"] == [HybridMessage(1, 0, False, (b"i/1",))]
    run = starve(protocol, 500)
    assert run.kinds["HybridPermit"] == 500
    run.run_until_quiet()
    run.assert_causal_and_complete()


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_figure_2_only_what_happened_before_delays_a_message(protocol: str) -> None:
    """A message delivered after the causal-send of m is irrelevant to m (figure 2's message c)."""
    run = world(protocol, "ijkxz")
    for teller in "jk":
        run.send(teller, "x")
        run.send(teller, "i")
        run.arrive((teller, "i"))
    run.send("i", "z")
    run.send("k", "i")
    arrive(run, "k", "i", HybridMessage)  # c, after m was causal-sent
    waits = run.cores["i"].held()[0].waits
    assert waits == (Wait("permit", "j", 2), Wait("permit", "k", 2))
    for teller in "jk":
        run.arrive((teller, "x"))
        run.arrive(("x", teller))
        arrive(run, teller, "i", HybridPermit)
    assert not run.cores["i"].held()


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_messages_are_pipelined(protocol: str) -> None:
    """Section 2.3.1: any number of messages to one receiver may be in transit."""
    run = world(protocol)
    run.send("0", "1", count=10)
    for _ in range(90):
        run.send("0", "1")
    assert sum(frame.messages() for frame in run.flight["0", "1"]) == 100
