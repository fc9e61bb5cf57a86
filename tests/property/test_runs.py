"""Runs and single sends are the same protocol: a batch behaves like its messages one by one."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.hybrid.core import HybridCore
from beforehand.protocols.hybrid.csps import Hybrid
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.hybrid.sps import HybridSps

Bundle = list[Transmit]  # what one step of a process sends to one peer: it travels as a whole
Summary = dict[str, object]


class Half:
    """One of two worlds in lockstep: the same steps, with batches or with single sends."""

    def __init__(self, variant: type[HybridCore], names: str, batches: bool) -> None:
        self.cores = {name: variant(name, coalesce=True) for name in names}
        self.batches = batches
        self.flight: dict[tuple[str, str, int], Bundle] = {}  # (from, to, step)

    def send(self, step: int, process: str, to: list[str], count: int) -> Summary:
        core = self.cores[process]
        payloads = [b"%d" % (core.sent + offset) for offset in range(count)]
        effects: list[Effect] = []
        if self.batches:
            effects = core.send_many(to, payloads)
        else:
            for payload in payloads:
                effects += core.send(to, payload)
        return self.carry_out(step, process, effects)

    def arrive(self, step: int, key: tuple[str, str, int]) -> Summary:
        sender, process, _ = key
        core = self.cores[process]
        effects: list[Effect] = []
        for transmit in self.flight.pop(key):
            effects += core.receive(sender, transmit.frame)
        return self.carry_out(step, process, effects + core.flush())

    def carry_out(self, step: int, process: str, effects: list[Effect]) -> Summary:
        """Put the frames on their way; returns what the step amounts to, message by message."""
        summary: Summary = {"delivered": [], "released": set(), "acks": set(), "permits": set()}
        for effect in effects:
            if isinstance(effect, Deliver):
                summary["delivered"].append(effect)  # type: ignore[attr-defined]
            elif isinstance(effect, Transmit):
                self.flight.setdefault((process, effect.to, step), []).append(effect)
                self.note(summary, effect)
        return summary

    def note(self, summary: Summary, transmit: Transmit) -> None:
        frame, to = transmit.frame, transmit.to
        if isinstance(frame, HybridMessage):
            for offset, payload in enumerate(frame.payloads):
                prev = frame.prev if offset == 0 else frame.first + offset - 1
                summary["released"].add(  # type: ignore[attr-defined]
                    (to, int(frame.first + offset), int(prev), frame.flagged, payload)
                )
        elif isinstance(frame, HybridAck):
            summary["acks"].add((to, int(frame.upto)))  # type: ignore[attr-defined]
        elif isinstance(frame, HybridPermit):
            summary["permits"].add((to, int(frame.upto)))  # type: ignore[attr-defined]


@pytest.mark.parametrize("variant", [Hybrid, HybridSps])
def test_batches_and_single_sends_do_the_same_at_every_step(variant: type[HybridCore]) -> None:
    """In lockstep, both give the same deliveries, releases, flags, acks and permits, step by step."""
    seen: Counter[str] = Counter()
    for seed in range(600):
        rng = random.Random(seed)
        names = "abcde"[: rng.randint(2, 5)]
        many, single = Half(variant, names, batches=True), Half(variant, names, batches=False)
        sends = 20
        for step in range(10_000):
            if sends and (not many.flight or rng.random() < 0.35):
                sends -= 1
                process = rng.choice(names)
                others = [name for name in names if name != process]
                to = rng.sample(others, rng.choice([1, 1, rng.randint(1, len(others))]))
                count = rng.choice([1, 2, 5])
                left, right = (half.send(step, process, to, count) for half in (many, single))
            elif many.flight:
                key = rng.choice(sorted(many.flight))
                left, right = (half.arrive(step, key) for half in (many, single))
            else:
                break
            assert left == right, f"seed={seed} step={step}"
            assert sorted(many.flight) == sorted(single.flight), f"seed={seed} step={step}"
            seen["released"] += len(left["released"])  # type: ignore[arg-type]
            seen["permits"] += len(left["permits"])  # type: ignore[arg-type]
            seen["held"] += any(core.held() for core in many.cores.values())
            process_runs = max(len(core.runs) for core in many.cores.values())
            seen["several runs"] += process_runs > 1
        assert not many.flight and not any(core.held() for core in many.cores.values())
    for event in ("released", "permits", "held", "several runs"):
        assert seen[event] > 600, f"{event}: {seen}"


@pytest.mark.parametrize("variant", [Hybrid, HybridSps])
def test_sends_that_follow_each_other_make_one_run(variant: type[HybridCore]) -> None:
    """A hundred sends to one receiver, released or waiting, are one record at the sender."""
    core = variant("a")
    for _ in range(100):
        core.send("b", b"x")
    assert len(core.runs) == 1
    waiting = variant("c")
    waiting.receive("b", HybridMessage(1, 0, True, (b"secret",)))
    for _ in range(100):
        assert not waiting.send("d", b"x"), "the permit is missing, so nothing may leave"
    assert len(waiting.runs) == 1
    assert len(waiting.held()) == 100
    (transmit,) = waiting.receive("b", HybridPermit(1))
    assert isinstance(transmit, Transmit) and transmit.frame.messages() == 100


@pytest.mark.parametrize("variant", [Hybrid, HybridSps])
def test_a_part_of_a_run_may_be_acknowledged(variant: type[HybridCore]) -> None:
    """After an ack inside a run, only the rest is sent again, after the right predecessor."""
    core = variant("a")
    core.send_many("b", [b"%d" % number for number in range(1, 9)])
    core.receive("b", HybridAck(5))
    assert core.runs.peek().payloads == [b"6", b"7", b"8"], "what was delivered takes no memory"
    (again,) = core.tick()
    assert again == Transmit("b", HybridMessage(6, 5, False, (b"6", b"7", b"8")))
    core.receive("b", HybridAck(8))
    assert core.tick() == [] and len(core.runs) == 0


def cut(run: HybridMessage, count: int) -> tuple[HybridMessage, HybridMessage]:
    """The first `count` messages of a run, and the others."""
    middle = run.first + count
    return (
        HybridMessage(run.first, run.prev, run.flagged, run.payloads[:count]),
        HybridMessage(middle, middle - 1, run.flagged, run.payloads[count:]),
    )


@pytest.mark.parametrize("variant", [Hybrid, HybridSps])
def test_a_run_cut_in_pieces_arrives_whole_in_any_order(variant: type[HybridCore]) -> None:
    """Pieces, pieces cut elsewhere and the whole run, shuffled and repeated, deliver each once."""
    payloads = tuple(b"%d" % number for number in range(1, 21))
    whole = HybridMessage(1, 0, True, payloads)
    early = 0
    for seed in range(300):
        rng = random.Random(seed)
        frames = [whole, *cut(whole, rng.randint(1, 19))]
        for _ in range(8):
            piece = rng.choice([frame for frame in frames if len(frame.payloads) > 1])
            frames.extend(cut(piece, rng.randint(1, len(piece.payloads) - 1)))
        rng.shuffle(frames)
        core = variant("b")
        got: list[bytes] = []
        for frame in frames:
            for effect in core.receive("a", frame):
                if isinstance(effect, Deliver):
                    got.append(effect.payload)
            held = [held.message_id for held in core.held()]
            assert held == sorted(set(held)), f"seed={seed}: each waiting message is listed once"
            early += bool(held)
        assert tuple(got) == payloads, f"seed={seed}"
        assert not core.held(), f"seed={seed}: spent pieces stay behind"
    assert early > 100


def test_a_run_is_split_to_fit_between_messages() -> None:
    """Each piece fits into the room, takes as much as it can, and has at least one message."""
    run = HybridMessage(5, 3, True, (b"5", b"6", b"7" * 50))
    assert run.split_to_fit(30) == [
        HybridMessage(5, 3, True, (b"5", b"6")),
        HybridMessage(7, 6, True, (b"7" * 50,)),
    ]
    assert run.split_to_fit(1000) == [run]
    assert [len(piece.payload_sizes()) for piece in run.split_to_fit(1)] == [1, 1, 1]


@pytest.mark.parametrize("variant", [Hybrid, HybridSps])
@pytest.mark.parametrize("longer_first", [False, True])
def test_the_longest_early_piece_is_kept(variant: type[HybridCore], longer_first: bool) -> None:
    """Of two pieces that begin alike, the one that brings more is used, whichever came first."""
    first, rest = cut(HybridMessage(1, 0, False, (b"1", b"2", b"3", b"4")), 1)
    shorter, _ = cut(rest, 2)
    core = variant("b")
    for early in (rest, shorter) if longer_first else (shorter, rest):
        assert core.receive("a", early) == []
    got = [effect.payload for effect in core.receive("a", first) if isinstance(effect, Deliver)]
    assert got == [b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("variant", [Hybrid, HybridSps])
def test_cumulative_control_frames_stay_well_below_one_per_message(
    variant: type[HybridCore],
) -> None:
    """With one ack for 64 deliveries, 2,000 messages cost a few dozen control frames."""
    a, b, c = variant("a"), variant("b", coalesce=True), variant("c")
    a.send("c", b"keeps the permits back")
    frames = [effect for _ in range(2_000) for effect in a.send("b", b"x")]
    control: list[Effect] = []
    for start in range(0, len(frames), 64):
        for transmit in frames[start : start + 64]:
            assert isinstance(transmit, Transmit)
            assert isinstance(transmit.frame, HybridMessage) and transmit.frame.flagged
            b.receive("a", transmit.frame)
        for ack in b.flush():
            control.append(ack)
            assert isinstance(ack, Transmit)
            control += a.receive("b", ack.frame)
    (ack,) = (e for e in c.receive("a", HybridMessage(1, 0, False, (b"",))) if type(e) is Transmit)
    permits = a.receive("c", ack.frame)
    assert [type(e.frame) for e in permits if isinstance(e, Transmit)] == [HybridPermit]
    control += [ack, *permits]
    assert len(control) <= 2_000 / 64 + 4, len(control)
    assert len(b.missing) == 1, "one missing permit stands for the whole run"
