"""A group chat: everybody posts to all others, and every post of a thread answers the one before.

A member who gets an answer first cannot know what it is about.
"""

from collections.abc import Sequence
from typing import Final

from beforehand.runtime.cluster.programs.script import Line, Script, ScriptedProgram

MEMBERS: Final = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi")
# Threads, post by post; members take turns.
TOPICS: Final = (
    ("Pizza or noodles?", "Pizza!", "Pizza it is. I order.", "Two for me, please."),
    ("Shall we release today?", "Yes, the tests are green.", "Tagged.", "It is live."),
    ("Is the database slow for you too?", "Yes, since noon.", "The backup runs.", "I stopped it."),
    ("Who has the key to the lab?", "I do.", "Can I have it at two?", "Sure, second floor."),
)


def _names(count: int) -> list[str]:
    return [*MEMBERS[:count], *(f"member{number}" for number in range(len(MEMBERS) + 1, count + 1))]


def _script(names: Sequence[str], messages: int) -> Script:
    lines: list[Line] = []
    while len(lines) < messages:
        thread = len(lines) // len(TOPICS[0])
        for turn, text in enumerate(TOPICS[thread % len(TOPICS)]):
            sender = names[(thread + turn) % len(names)]
            others = tuple(name for name in names if name != sender)
            previous = len(lines) - 1 if turn else None
            lines.append(Line(sender, others, text, previous, previous))
    return tuple(lines[:messages])


def _explain(process: str, early: Line, late: Line) -> str:
    return (
        f"{process} read {early.sender}'s answer \u201c{early.text}\u201d before "
        f"{late.sender}'s \u201c{late.text}\u201d."
    )


CHAT: Final = ScriptedProgram(
    name="chat",
    title="A group chat",
    least=3,  # with two, an answer cannot overtake
    names=_names,
    script=_script,
    explain=_explain,
    harm="answers read before what they answer",
)
