"""Runs for tests: written step by step, or drawn at random."""

from __future__ import annotations

import random

from beforehand.checker.actions import Action, Run
from beforehand.checker.setting import Setting
from beforehand.checker.world import CheckedWorld


def written_run(setting: Setting, text: str) -> Run:
    """The run that a text spells out, one word for each action.

    `a>b` and `a+c` are steps of the program; `b<a` is the arrival at b of the oldest frame from a,
    `b<a2` that of the second; with `!` at the end it is lost, with `=` a copy stays; `b~` is b's timer,
    `~` are those of all.
    """
    world = CheckedWorld(setting)
    run: list[Action] = []
    for word in text.split():
        run.append(_action(world, word))
        world.apply(run[-1])
    return tuple(run)


def _action(world: CheckedWorld, word: str) -> Action:
    if word.endswith("~"):
        return Action("tick", word[:-1]) if word[:-1] else Action("timers", "")
    receiver, _, sender = word.rstrip("!=").partition("<")
    if not sender:
        return next(action for action in world.enabled() if str(action) == word)
    flying = [copy for copy in world.flight if (copy.to, copy.sender) == (receiver, sender[0])]
    frame = flying[int(sender[1:] or 1) - 1].frame
    kind = {"!": "lose", "=": "duplicate"}.get(word[-1], "arrive")
    return Action(kind, receiver, None, sender[0], frame)  # type: ignore[arg-type]


def random_run(setting: Setting, seed: int) -> Run:
    """Random possible actions until none is left or a guarantee is broken."""
    rng = random.Random(seed)
    world = CheckedWorld(setting)
    run: list[Action] = []
    while choices := world.enabled():
        run.append(rng.choice(choices))
        if world.apply(run[-1]) is not None:
            break
    return tuple(run)
