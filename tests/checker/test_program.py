"""Programs: all of one size at once, or a written one; and invalid ones are refused."""

from __future__ import annotations

import pytest

from beforehand.checker.program import (
    MOST_PROCESSES,
    MOST_SENDS,
    CheckProgram,
    CloseStep,
    OpenStep,
    ProgramStep,
    SendStep,
    every_program,
    process_names,
    written_program,
)
from beforehand.checker.setting import FaultBudget, setting
from beforehand.errors import CheckError, UnknownProtocolError

NAMES = ("a", "b", "c")


def paths(program: CheckProgram, process: str, location: int = 0) -> list[tuple[ProgramStep, ...]]:
    """Everything that a process may do from a location on, in order."""
    choices = program.locations[process][location]
    if not choices:
        return [()]
    return [(choice, *rest) for choice, after in choices for rest in paths(program, process, after)]


def texts(program: CheckProgram, process: str) -> set[str]:
    """The same, in the written form."""
    return {" ".join(f"{process}{choice}" for choice in path) for path in paths(program, process)}


def test_every_unicast_program() -> None:
    """Each send may go to each other process, whatever came before."""
    program = every_program({"a": 2, "b": 1, "c": 0}, ["unicast"])
    assert texts(program, "a") == {"a>b a>b", "a>b a>c", "a>c a>b", "a>c a>c"}
    assert texts(program, "b") == {"b>a", "b>c"}
    assert texts(program, "c") == {""}
    assert [program.sends(name) for name in program.processes] == [2, 1, 0]


def test_every_multicast_program() -> None:
    """Sets of others, each once; with unicast, single ones as well."""
    sends = dict.fromkeys("abcd", 1)
    several = {"a>b,c", "a>b,d", "a>c,d", "a>b,c,d"}
    assert texts(every_program(sends, ["multicast"]), "a") == several
    both = every_program(sends, ["unicast", "multicast"])
    assert texts(both, "a") == several | {"a>b", "a>c", "a>d"}


def test_every_broadcast_program() -> None:
    """There is one way to send to everybody."""
    assert texts(every_program(dict.fromkeys(NAMES, 2), ["broadcast"]), "b") == {"b>* b>*"}


def test_links_are_opened_once_at_any_moment() -> None:
    """Before, between and after the sends, in every order among themselves."""
    opens = [("a", OpenStep("b")), ("a", OpenStep("c", ("b",))), ("b", OpenStep("c"))]
    program = every_program({"a": 1, "b": 0, "c": 0}, ["broadcast"], opens)
    assert texts(program, "a") == {
        "a>* a+b a+c/b",
        "a+b a>* a+c/b",
        "a+b a+c/b a>*",
        "a>* a+c/b a+b",
        "a+c/b a>* a+b",
        "a+c/b a+b a>*",
    }
    assert texts(program, "b") == {"b+c"}
    assert program.sends("a") == 1 and program.sends("b") == 0


def test_a_written_program_reads_back() -> None:
    """Each process does its own steps in the order given, and nothing else."""
    text = "a>b b>a,c a+c/b a>* c>c c+a a>b,c a+b/c,a"
    program = written_program(text, NAMES)
    for name in NAMES:
        own = " ".join(step for step in text.split() if step.startswith(name))
        assert texts(program, name) == {own}
    assert [program.sends(name) for name in NAMES] == [3, 1, 1]
    assert paths(program, "a")[0][1:3] == (OpenStep("c", ("b",)), SendStep(None))


def test_links_that_are_closed() -> None:
    """In their turn among the other steps; to close is not to send."""
    program = written_program("a>* a-c a+c/b b-a a-c", NAMES)
    assert paths(program, "a") == [
        (SendStep(None), CloseStep("c"), OpenStep("c", ("b",)), CloseStep("c"))
    ]
    assert paths(program, "b") == [(CloseStep("a"),)]
    assert texts(program, "a") == {"a>* a-c a+c/b a-c"}  # it reads back
    assert [program.sends(name) for name in NAMES] == [1, 0, 0]


def test_a_process_without_steps_still_takes_part() -> None:
    """It can receive."""
    assert written_program("a>b", NAMES).processes == NAMES
    assert written_program("", NAMES).locations["c"] == ((),)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a>d", "program: a>d names 'd', which is not one of the processes .a, b, c."),
        ("d>a", "program: d>a names 'd'"),
        ("a>b,d", "program: a>b,d names 'd'"),
        ("a+d", r"program: a\+d names 'd'"),
        ("a+b/d", r"program: a\+b/d names 'd'"),
        ("a-d", "program: a-d names 'd', which is not one of the processes .a, b, c."),
        ("d-a", "program: d-a names 'd'"),
        ("a-", "program: 'a-' is not a step; write .* and a-c for one that it closes"),
        ("-a", "program: '-a' is not a step"),
        ("a-c/b", "program: a-c/b names 'c/b'"),
        ("a>b,", "program: a>b, names ''"),
        ("a=b", "program: 'a=b' is not a step; write a>b"),
        ("a", "program: 'a' is not a step"),
        (">b", "program: '>b' is not a step"),
        ("a>b>c", "program: a>b>c names 'b>c'"),
        ("a>b " * (MOST_SENDS + 1), f"program: a sends more than {MOST_SENDS} messages; shorten"),
    ],
)
def test_a_program_that_makes_no_sense_is_refused(text: str, error: str) -> None:
    """With a sentence that names the step."""
    with pytest.raises(CheckError, match=error):
        written_program(text, NAMES)


def test_the_most_sends_are_allowed() -> None:
    """One more is refused, as above."""
    assert written_program("a>b " * MOST_SENDS, NAMES).sends("a") == MOST_SENDS
    free = every_program(dict.fromkeys("abcdefgh", MOST_SENDS), ["unicast", "multicast"])
    assert free.sends("h") == MOST_SENDS


@pytest.mark.parametrize("count", [-1, MOST_SENDS + 1])
def test_too_many_or_too_few_sends(count: int) -> None:
    """The process is named, and how much is possible."""
    with pytest.raises(CheckError, match=f"sends: b cannot send {count} messages; give 0 to 15"):
        every_program({"a": 1, "b": count}, ["unicast"])


def test_links_of_unknown_processes() -> None:
    """A link that names an unknown process is refused."""
    with pytest.raises(CheckError, match=r"program: a\+x names 'x'"):
        every_program({"a": 1, "b": 1}, ["broadcast"], [("a", OpenStep("x"))])


@pytest.mark.parametrize("count", [-1, 0, 1, MOST_PROCESSES + 1])
def test_too_many_or_too_few_processes(count: int) -> None:
    """A single process has no peer, and sets of processes are bytes."""
    with pytest.raises(CheckError, match=f"processes: {count} cannot be explored; give 2 to 8"):
        process_names(count)


def test_impossible_settings() -> None:
    """What the protocol, or every protocol, lacks is rejected before anything is explored."""
    with pytest.raises(UnknownProtocolError, match=r"there is no protocol 'hybird' \(did you mean"):
        setting("hybird")
    with pytest.raises(CheckError, match="mattern does not support multicast"):
        setting("mattern", multicast=True)
    with pytest.raises(CheckError, match="names 'd', which is not one of the processes"):
        setting("hybrid", program="a>d")
    with pytest.raises(CheckError, match="faults: loss=-1 is out of range; give 0 to 15"):
        FaultBudget(loss=-1)
    with pytest.raises(CheckError, match="faults: tick=16 is out of range; give 0 to 15"):
        FaultBudget(tick=16)


def test_settings_describe_the_network() -> None:
    """Protocols that assume a reliable network get one through reliable links, which are FIFO too."""
    assert setting("newtop").fifo and setting("newtop").timer
    lossy = setting("newtop", faults=FaultBudget(loss=1))
    assert not lossy.fifo and type(lossy.make("a")).__name__ == "ReliableLink"
    assert type(setting("newtop").make("a")).__name__ == "Newtop"
    assert type(setting("hybrid", faults=FaultBudget(loss=1)).make("a")).__name__ == "Hybrid"
    assert type(setting("newtop", faults=FaultBudget(tick=1)).make("a")).__name__ == "Newtop"
