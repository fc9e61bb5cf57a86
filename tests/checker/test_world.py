"""The world, against runs that are small enough to follow by hand."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from beforehand.checker.actions import Action, Run
from beforehand.checker.program import OpenStep, SendStep, payload_of
from beforehand.checker.setting import FaultBudget, Setting, setting
from beforehand.checker.verdict import CheckProblem
from beforehand.checker.world import CheckedWorld, replay
from beforehand.errors import LocalProtocolError
from beforehand.protocols.controls import RawMessage
from tests.checker.cores import (
    BROKEN,
    Failing,
    Panicking,
    Plain,
    Roundabout,
    setting_of,
    unprotected,
)
from tests.checker.reference import explore, key


def step(process: str, *to: str) -> Action:
    """A causal-send."""
    return Action("step", process, SendStep(to))


def arrive(sender: str, to: str, number: int = 1) -> Action:
    """A message of `raw` arrives."""
    return Action("arrive", to, None, sender, RawMessage(number, payload_of(sender, number)))


def done(chosen: Setting, run: Run) -> tuple[CheckedWorld, CheckProblem | None]:
    """The world after a run in which each action must have been allowed."""
    world = CheckedWorld(chosen)
    for action in run:
        assert action in world.enabled(), f"{action} is not among {world.enabled()}"
        if problem := world.apply(action):
            return world, problem
    return world, None


def test_an_answer_that_overtakes_its_question() -> None:
    """Six actions at three processes: the best known violation of causal order, step by step."""
    run = (
        step("a", "c"),
        step("a", "b"),
        arrive("a", "b", 2),
        step("b", "c"),
        arrive("b", "c"),
        arrive("a", "c"),
    )
    chosen = setting("raw", program="a>c a>b b>c")
    world, problem = done(chosen, run)
    assert problem is not None and problem.kind == "causal"
    assert "c delivered b#1 before a#1" in problem.sentence
    assert not world.flight and not world.enabled()
    assert replay(chosen, run)[1] == problem
    assert done(setting("raw", program="a>c a>b b>c"), run[:-1])[1] is None


def test_every_state_of_two_unrelated_messages() -> None:
    """Two messages that know nothing of each other, each sent or not and arrived or not: three times
    three states, from six of which each of the two can go on, and one end.
    """
    explored = explore(setting("raw", program="a>b c>b"))
    assert (explored.states, explored.transitions, explored.depth) == (9, 2 * 6, 4)
    assert len(explored.ends) == 1 and explored.outcome == "correct"


def test_the_possible_actions() -> None:
    """Programs go on at any moment, and every frame in flight may be the next to arrive."""
    chosen = setting("raw", program="a>b a>b b>c")
    world = CheckedWorld(chosen)
    assert world.enabled() == [step("a", "b"), step("b", "c")]
    for _ in range(2):
        world.apply(step("a", "b"))
    assert world.enabled() == [step("b", "c"), arrive("a", "b", 1), arrive("a", "b", 2)]
    assert world.locations == {"a": 2, "b": 0, "c": 0}
    first = replace(chosen, fifo=True)
    assert arrive("a", "b", 2) not in replay(first, [step("a", "b")] * 2)[0].enabled()


def test_equal_frames_are_one_choice() -> None:
    """Of two equal copies in flight it makes no difference which one arrives."""
    chosen = unprotected("fifo", "a>b", FaultBudget(duplicate=2))
    world = CheckedWorld(chosen)
    world.apply(step("a", "b"))
    (flying,) = world.flight
    again = Action("duplicate", "b", None, "a", flying.frame)
    assert again in world.enabled()
    world.apply(again)
    world.apply(again)
    acks = [copy for copy in world.flight if copy.to == "a"]
    assert world.flight == [flying, *acks] and acks == [acks[0]] * 2
    kinds = [(action.kind, action.process) for action in world.enabled()]
    assert kinds == [("arrive", "b"), ("arrive", "a")]  # and the network may duplicate no more


def test_a_frame_that_is_lost() -> None:
    """It is gone, counted, and only the timer of its sender brings it back."""
    chosen = setting("fifo", program="a>b", faults=FaultBudget(loss=1))
    world, _ = done(chosen, (step("a", "b"),))
    (flying,) = world.flight
    lose = Action("lose", "b", None, "a", flying.frame)
    timers = Action("timers", "")
    assert not world.apply(lose) and not world.flight and world.losses == 1
    assert world.enabled() == [timers]
    problem = world.problem_at_end()
    assert problem is not None and problem.kind == "undelivered"
    assert not world.apply(timers) and world.flight == [flying] and world.rounds == 1
    assert not any(action.kind == "lose" for action in world.enabled())


def test_early_ticks_need_something_to_wait_for() -> None:
    """A timer may go off early, within the fault budget; with nothing missing it never matters."""
    chosen = setting("fifo", program="a>b", faults=FaultBudget(tick=1))
    tick = Action("tick", "a")
    world = CheckedWorld(chosen)
    assert tick not in world.enabled()  # nothing to send again
    world.apply(step("a", "b"))
    assert tick in world.enabled() and Action("tick", "b") not in world.enabled()
    world.apply(tick)
    assert len(world.flight) == 2 and world.ticks == 1 and tick not in world.enabled()


def test_without_a_loss_timers_repair_nothing() -> None:
    """What only a timer repairs is a problem if nothing was lost, unless the protocol has a timer."""
    swallowed = setting_of(Failing, "a>b c>b")
    stuck = unprotected("newtop", "a>*", FaultBudget())
    assert stuck.timer
    for chosen, may in ((swallowed, False), (replace(stuck, timer=False), False), (stuck, True)):
        world = CheckedWorld(chosen)
        while world.flight or any(action.kind == "step" for action in world.enabled()):
            if world.apply(world.enabled()[0]):
                break
        assert (Action("timers", "") in world.enabled()) is may


def test_messages_to_oneself_and_to_everybody() -> None:
    """Both count as receivers, and are delivered without the network where the protocol does so."""
    world, problem = done(setting("raw", program="a>a"), (step("a", "a"),))
    assert problem is None and not world.flight and world.oracle.deliveries == 1
    world = CheckedWorld(setting("vector", program="a>*"))
    world.apply(Action("step", "a", SendStep(None)))
    assert [copy.to for copy in world.flight] == ["b", "c"]
    assert [to for _, to in world.oracle.undelivered()] == ["b", "c"]


def test_self_sends_through_the_network() -> None:
    """What a process sends to itself that way may be overtaken by an answer to something later."""
    run = (
        step("a", "a"),
        step("a", "b"),
        arrive("a", "b", 2),
        step("b", "a"),
        arrive("b", "a"),
        arrive("a", "a"),
    )
    _, problem = done(setting_of(Roundabout, "a>a a>b b>a"), run)
    assert problem is not None and problem.kind == "causal"
    assert "a delivered b#1 before a#1" in problem.sentence


def test_links_are_opened() -> None:
    """An `Open` of the program goes to the core, which starts its handshake."""
    pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
    world = CheckedWorld(
        setting("prc", sends=[0, 0, 0], links=pairs, opens=[("a", OpenStep("c", ("b",)))])
    )
    (action,) = world.enabled()
    assert str(action) == "a+c/b"
    assert not world.apply(action) and [copy.to for copy in world.flight] == ["c"]


@pytest.mark.parametrize("core", BROKEN, ids=lambda core: core.__name__)
def test_every_kind_of_problem_is_explained(core: type[Plain]) -> None:
    """A core that breaks one guarantee is reported in a sentence, and so is the replayed run."""
    chosen = setting_of(core, "a>b c>b")
    explored = explore(chosen)
    assert explored.kinds == {BROKEN[core]}
    for problem, run in explored.problems.items():
        assert replay(chosen, run)[1] == problem
        assert problem.sentence.endswith(".") and "b" in problem.sentence


def test_network_faults_break_raw() -> None:
    """`raw` has no defence: a lost frame is never delivered, a duplicated one twice."""
    lost = explore(unprotected("raw", "a>b", FaultBudget(loss=1)))
    assert (lost.kinds, lost.length) == ({"undelivered"}, 2)
    doubled = explore(unprotected("raw", "a>b", FaultBudget(duplicate=1)))
    assert (doubled.kinds, doubled.length) == ({"duplicate"}, 3)
    refused = explore(unprotected("cykas", "a>b", FaultBudget(duplicate=1)))
    assert (refused.kinds, refused.length) == ({"refused"}, 3)
    second = explore(setting("raw", program="a>b a>b"))
    assert (second.kinds, second.length) == ({"fifo"}, 4)


def test_a_program_that_the_protocol_cannot_run_is_not_a_violation() -> None:
    """The author of the program gets the error of the protocol."""
    with pytest.raises(LocalProtocolError, match="a: no receivers"):
        CheckedWorld(setting("raw", program="a>")).apply(step("a"))
    with pytest.raises(LocalProtocolError, match="this protocol has no broadcast"):
        CheckedWorld(setting("raw", program="a>*")).apply(Action("step", "a", SendStep(None)))


def test_a_core_that_fails_in_its_timer() -> None:
    """Asking whether a timer would do anything must not end the exploration; the timer firing does."""
    explored = explore(setting_of(Panicking, "a>b", FaultBudget(tick=1)))
    assert explored.kinds == {"error"} and explored.length == 2


def test_actions_are_readable() -> None:
    """The text of a run is readable."""
    frame = RawMessage(1, b"a#1")
    sentences = [
        str(Action("step", "a", SendStep(("b", "c")))),
        str(Action("arrive", "b", None, "a", frame)),
        str(Action("lose", "b", None, "a", frame)),
        str(Action("duplicate", "b", None, "a", frame)),
        str(Action("tick", "b")),
        str(Action("timers", "")),
    ]
    assert sentences == [
        "a>b,c",
        f"b receives {frame} from a",
        f"b never gets {frame} from a",
        f"b receives a copy of {frame} from a",
        "b ticks",
        "all timers go off",
    ]


def test_runs_can_be_sent_and_replayed() -> None:
    """A run can be sent elsewhere and replayed there; so can what it is a run of."""
    chosen = setting("cykas-unsafe", program="a>b a>c b>a c>b")
    world, run = CheckedWorld(chosen), []
    while enabled := world.enabled():
        run.append(enabled[-1])
        world.apply(enabled[-1])
    again, same = pickle.loads(pickle.dumps((chosen, tuple(run))))
    assert same == tuple(run) and any(action.frame for action in run)
    assert key(replay(again, same)[0]) == key(world)
