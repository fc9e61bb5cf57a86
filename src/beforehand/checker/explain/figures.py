"""Runs that people have drawn before: is a counterexample one of them?

A figure tells what each process and its network see, in their order: messages that leave (`a#1>b`),
messages that are delivered (`a#1`), links that are opened (`+c`). What happens at different processes
has no order but the one that messages give it, and names do not matter. So a run is that of a figure
if, for some renaming of the processes, each process has the same line in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from beforehand.causality.ids import MessageId
from beforehand.checker.actions import Run
from beforehand.checker.explain.run_events import Event, tell
from beforehand.checker.setting import Setting

Lines = dict[str, str]  # process -> what it does, in its order

FIGURES: dict[str, Lines] = {
    # c keeps a secret of b's (b#2) and then one of a's (a#2), and answers a: the answer comes after
    # b#1, which a has yet to get. a#1 is there to make a#2 a secret at all.
    "figure 3 of Tong, Liittschwager and Kuper 2024": {
        "a": "a#1>b a#2>c c#1 b#1",
        "b": "b#1>a b#2>c",
        "c": "b#2 a#2 c#1>a",
    },
    # c got its only copy and forgot it. The next one comes over a link that b opened meanwhile.
    "figure 2 of Nédelec, Molli and Mostéfaoui 2018": {
        "a": "a#1>* a#1",
        "b": "+c a#1",
        "c": "a#1 a#1",
    },
}

_SHOWN = ("send", "release", "deliver", "open")


def recognise(setting: Setting, run: Run) -> str | None:
    """Which figure shows this run; None if it is in none that we know."""
    events = [event for event in tell(setting, run) if event.kind in _SHOWN]
    busy = list(dict.fromkeys(event.process for event in events))
    for name, figure in FIGURES.items():
        renamings = permutations(figure) if len(figure) == len(busy) else ()
        if any(
            _lines(events, dict(zip(busy, roles, strict=True))) == figure for roles in renamings
        ):
            return name
    return None


def _lines(events: list[Event], role: Mapping[str, str]) -> Lines:
    """The lines of a run, with its processes called by their roles."""
    words: dict[str, list[str]] = {name: [] for name in role.values()}
    to: dict[MessageId, str] = {}  # the receivers of each message that has not left yet
    for event in events:
        names = "*" if event.to is None else ",".join(role.get(name, name) for name in event.to)
        message = event.message
        if message is None:
            words[role[event.process]].append(f"+{names}")
            continue
        name = str(MessageId(role.get(message.sender, message.sender), message.number))
        if event.kind == "send":
            to[message] = names
        elif event.kind == "deliver":
            words[role[event.process]].append(name)
        elif message in to and event.process == message.sender:
            words[role[event.process]].append(f"{name}>{to.pop(message)}")
    return {process: " ".join(line) for process, line in words.items()}
