"""Known runs: is a counterexample one that a paper has drawn?

A figure is given as one line per process: the messages that it releases (`a#1>b`), the messages that it
delivers (`a#1`) and the links that it opens (`+c`), in order. Events of different processes are only
ordered by messages, and names do not matter. So a run is that of a figure if, for some renaming of the
processes, each process has the same line in both.
"""

from collections.abc import Mapping
from itertools import permutations

from beforehand.causality.ids import MessageId
from beforehand.checker.actions import Run
from beforehand.checker.explain.run_events import RunEvent, run_events
from beforehand.checker.setting import Setting

Lines = dict[str, str]  # process -> its events in order

FIGURES: dict[str, Lines] = {
    # c delivers b#2 and a#2, both sent before their predecessors were known to have arrived, and then
    # sends to a: c#1 comes after b#1, which a has yet to deliver. a#1 is what a#2 has to wait for.
    "figure 3 of Tong, Liittschwager and Kuper 2024": {
        "a": "a#1>b a#2>c c#1 b#1",
        "b": "b#1>a b#2>c",
        "c": "b#2 a#2 c#1>a",
    },
    # c got its only expected copy and forgot the message. Another comes over a link that b opened since.
    "figure 2 of Nédelec, Molli and Mostéfaoui 2018": {
        "a": "a#1>* a#1",
        "b": "+c a#1",
        "c": "a#1 a#1",
    },
}

_COMPARED = ("send", "release", "deliver", "open")


def recognise(setting: Setting, run: Run) -> str | None:
    """The figure that shows this run; None if no known figure does."""
    events = [event for event in run_events(setting, run) if event.kind in _COMPARED]
    active = list(dict.fromkeys(event.process for event in events))
    for name, figure in FIGURES.items():
        renamings = permutations(figure) if len(figure) == len(active) else ()
        if any(
            _lines(events, dict(zip(active, roles, strict=True))) == figure for roles in renamings
        ):
            return name
    return None


def _lines(events: list[RunEvent], role: Mapping[str, str]) -> Lines:
    """The lines of a run, with its processes renamed to their roles in a figure."""
    lines: dict[str, list[str]] = {name: [] for name in role.values()}
    to: dict[MessageId, str] = {}  # the receivers of messages not released yet
    for event in events:
        names = "*" if event.to is None else ",".join(role.get(name, name) for name in event.to)
        message = event.message
        if message is None:
            lines[role[event.process]].append(f"+{names}")
            continue
        name = str(MessageId(role.get(message.sender, message.sender), message.number))
        if event.kind == "send":
            to[message] = names
        elif event.kind == "deliver":
            lines[role[event.process]].append(name)
        elif message in to and event.process == message.sender:
            lines[role[event.process]].append(f"{name}>{to.pop(message)}")
    return {process: " ".join(line) for process, line in lines.items()}
