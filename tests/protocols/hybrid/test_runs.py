"""The fast paths of a core: whole runs in one effect, payloads that were checked before."""

import pickle
import random

import pytest

from beforehand import protocols
from beforehand.errors import ScenarioError
from beforehand.protocols import Deliver, DeliverRun, Effect, ReliableLink, Transmit
from beforehand.simulator.scenario import Scenario

HYBRIDS = ("hybrid", "hybrid-sps")


def flat(effects: list[Effect]) -> list[Effect]:
    """The same effects, with a delivery for each message."""
    out: list[Effect] = []
    for effect in effects:
        if isinstance(effect, DeliverRun):
            for offset, payload in enumerate(effect.payloads):
                out.append(Deliver(effect.sender, int(effect.first) + offset, payload))
        else:
            out.append(effect)
    return out


@pytest.mark.parametrize("protocol", HYBRIDS)
@pytest.mark.parametrize("seed", range(5))
def test_runs_are_the_same_deliveries(protocol: str, seed: int) -> None:
    """Whatever arrives, in whatever order and however often, the two cores report the same."""
    draw = random.Random(seed)
    sender = protocols.create(protocol, "alice")
    frames = []
    for _ in range(30):
        payloads = [bytes([draw.randrange(256)]) for _ in range(draw.randint(1, 6))]
        to = draw.choice(["bob", "bob", "carol", ("bob", "carol")])
        for effect in sender.send_many(to, payloads):
            if isinstance(effect, Transmit) and effect.to == "bob":
                frames.append(effect.frame)
    frames += [*draw.choices(frames, k=10), *frames]
    draw.shuffle(frames)
    single = protocols.create(protocol, "bob")
    whole = protocols.create(protocol, "bob", runs=True)
    long = 0
    for frame in frames:
        effects = whole.receive("alice", frame)
        assert flat(effects) == single.receive("alice", frame), f"seed {seed}"
        long += sum(
            isinstance(effect, DeliverRun) and len(effect.payloads) > 1 for effect in effects
        )
    assert long, "no run of several messages was delivered at once"
    assert not single.held() and not whole.held()
    assert whole.copy().fingerprint() == whole.fingerprint() != single.fingerprint()


def test_the_effect_is_a_value() -> None:
    """It compares, hashes, prints and travels like the others."""
    effect = DeliverRun("alice", 3, (b"a", b"b"))
    assert pickle.loads(pickle.dumps(effect)) == effect != DeliverRun("alice", 4, (b"a", b"b"))
    assert len({effect, DeliverRun("alice", 3, (b"a", b"b"))}) == 1
    assert repr(effect) == "DeliverRun(sender='alice', first=3, payloads=(b'a', b'b'))"


@pytest.mark.parametrize("protocol", ["hybrid-sps", "mattern", "fifo"])
@pytest.mark.parametrize("reliable", [False, True])
def test_checked_payloads_are_sent_alike(protocol: str, reliable: bool) -> None:
    """`send_checked` is `send_many` without the check."""
    one = protocols.create(protocol, "alice")
    two = protocols.create(protocol, "alice")
    if reliable:
        one, two = ReliableLink(one), ReliableLink(two)
    for to in ("bob", "alice", "carol"):
        payloads = [b"x", b"y", b"z"]
        assert one.send_checked(to, list(payloads)) == two.send_many(to, payloads)
    assert one.fingerprint() == two.fingerprint() and one.sent == two.sent == 9


def test_the_simulator_has_no_use_for_runs() -> None:
    """It counts deliveries one by one, and raises an error instead of losing them."""
    with pytest.raises(ScenarioError, match="no option 'runs'"):
        Scenario(protocol="hybrid", options={"runs": True})
