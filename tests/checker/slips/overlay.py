"""The slips of the printed overlay algorithms, each with the bound at which an exploration finds it.

The slips themselves are in `tests/mutants/overlay.py`, each with a hand-made run. Here the checker
is given no run, only which links there are, how many broadcasts, and which links are opened; or,
where a link is closed, a program. With one broadcast, one new link, one fault, one way or one step less
there is nothing to find.

To give up a link that is being made takes a time-out here, since only written programs close links: as
many early ticks as its opener has patience for, and one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from beforehand.checker.setting import NO_FAULTS, FaultBudget, Setting, setting
from beforehand.checker.verdict import ProblemKind
from beforehand.cli.check import parsing as check_words
from beforehand.protocols.core import Core
from beforehand.protocols.overlay.opening import FIRST_TIMEOUT
from tests.mutants.broken import broken
from tests.mutants.mutant import Mutant
from tests.mutants.overlay import SLIPS
from tests.support.overlay import Pair

PAIR, STAR, TRIANGLE = "a-b", "a-b,a-c", "a-b,a-c,b-c"
SHORTCUT = "a-b,a-c,c>b"  # c reaches b in two ways, so that a later message may arrive first

GIVEN_UP = FaultBudget(tick=FIRST_TIMEOUT + 1)

NOTHING = Mutant("nothing", "REFUSED", "REFUSED: Final = 0", "REFUSED: Final = 0")
BY_NAME = {slip.name: slip for slip in (*SLIPS, NOTHING)}


def copies(protocol: str, mutant: str, links: list[Pair]) -> Callable[[str], Core]:
    """How to make copies of our own cores with this mistake, on these links."""
    make = broken(protocol, BY_NAME[mutant])

    def make_copy(process: str) -> Core:
        core: Core = make(process, links)
        return core

    return make_copy


@dataclass(frozen=True)
class Bound:
    """How much is explored: so many broadcasts of each process, and links opened at any moment."""

    sends: tuple[int, ...]
    opens: tuple[str, ...] = ("b+c/a",)
    faults: FaultBudget = NO_FAULTS
    links: str = STAR

    def setting(self, protocol: str, mutant: str) -> Setting:
        """This bound for copies of our own cores with this mistake.

        Losses hit the bare links: a frame that a mediator takes with it when it crashes.
        """
        links = check_words.links(self.links)
        opens = [check_words.open_link(word) for word in self.opens]
        chosen = setting(protocol, sends=self.sends, links=links, opens=opens)
        return replace(chosen, make=copies(protocol, mutant, links), faults=self.faults)

    def smaller(self) -> Iterator[Bound]:
        """One broadcast less, one new link less, one fault less or one way less, in every way."""
        for index, count in enumerate(self.sends):
            if count:
                fewer = (*self.sends[:index], count - 1, *self.sends[index + 1 :])
                yield replace(self, sends=fewer)
        for index in range(len(self.opens)):
            yield replace(self, opens=self.opens[:index] + self.opens[index + 1 :])
        if self.faults.tick:
            yield replace(self, faults=replace(self.faults, tick=self.faults.tick - 1))
        if self.faults.loss:
            yield replace(self, faults=replace(self.faults, loss=self.faults.loss - 1))
        if self.links == SHORTCUT:
            yield replace(self, links=STAR)

    def __str__(self) -> str:
        """As on the command line."""
        options = [f"--sends {','.join(map(str, self.sends))}", f"--links {self.links}"]
        options += [f"--open {word}" for word in self.opens]
        faults = [f"{name}={count}" for name, count in vars(self.faults).items() if count]
        return " ".join([*options, *([f"--faults {','.join(faults)}"] if faults else [])])


@dataclass(frozen=True)
class Written:
    """One program, of which each process does its steps in order, at any moments."""

    program: str
    links: str

    def setting(self, protocol: str, mutant: str) -> Setting:
        """This program for copies of our own cores with this mistake."""
        links = check_words.links(self.links)
        chosen = setting(protocol, processes=self.processes, program=self.program, links=links)
        return replace(chosen, make=copies(protocol, mutant, links))

    @property
    def processes(self) -> int:
        """How many there are: everybody has a link."""
        return len({name for link in check_words.links(self.links) for name in link})

    def smaller(self) -> Iterator[Written]:
        """One step less, in every way."""
        steps = self.program.split()
        for index in range(len(steps)):
            yield replace(self, program=" ".join(steps[:index] + steps[index + 1 :]))

    def __str__(self) -> str:
        """As on the command line."""
        return f'--processes {self.processes} --program "{self.program}" --links {self.links}'


@dataclass(frozen=True)
class Finding:
    """What an exploration finds of a slip, and after how many actions."""

    slip: str
    bound: Bound | Written
    kind: ProblemKind
    length: int
    sentence_part: str  # a part of the sentence that explains it
    protocol: str = "prc"


CROSSWISE = Bound((0, 0, 0), ("b+c/a", "c+b"))

FINDINGS = [
    # What comes twice is control that goes to everybody, which is broadcast like a message.
    Finding("Qi gains the link after B-beta was used", CROSSWISE, "refused", 20, "twice"),
    Finding("B-beta is a set", Bound((0, 2, 0)), "fifo", 11, "c delivered b#2 before b#1"),
    Finding("B-beta has no payloads", Bound((0, 2, 0)), "fifo", 14, "c delivered b#2 before b#1"),
    # B-beta is lost, so that the link is in use at one end only. What comes over it is control again.
    Finding(
        "data count on any link",
        replace(CROSSWISE, faults=FaultBudget(loss=1)),
        "refused",
        21,
        "twice",
    ),
    Finding(
        "a safe link is opened again",
        Bound((0, 0), ("a+b",), links=PAIR),
        "stuck",
        19,
        "a waits for an acknowledgement",
    ),
    # The attempt is lost: b waits until its patience, by now twice as long as at first, ends again.
    Finding(
        "beta has no incarnation",
        Bound((0, 0, 0), faults=GIVEN_UP),
        "stuck",
        38,
        "b waits for an acknowledgement",
    ),
    # Or it is not, which is worse.
    Finding(
        "beta has no incarnation",
        Bound((0, 0, 1), faults=GIVEN_UP),
        "duplicate",
        28,
        "c delivered c#1 again",
    ),
    Finding(
        "pi has no incarnation",
        Bound((0, 2, 0), faults=GIVEN_UP),
        "fifo",
        27,
        "c delivered b#2 before b#1",
    ),
    Finding(
        "rho has no incarnation",
        Bound((0, 0, 1), faults=GIVEN_UP, links=SHORTCUT),
        "duplicate",
        30,
        "c delivered c#1 again",
    ),
    Finding(
        "beta is accepted although no link is being opened",
        Bound((0, 0, 0), faults=GIVEN_UP, links=SHORTCUT),
        "error",
        22,
        "AttributeError",
    ),
    Finding(
        "pi is accepted although no link is being opened",
        Bound((0, 0, 0), faults=GIVEN_UP),
        "error",
        16,
        "AttributeError",
    ),
    Finding(
        "rho is accepted although no link is being opened",
        Bound((0, 0, 0), faults=GIVEN_UP, links=SHORTCUT),
        "error",
        26,
        "AttributeError",
    ),
    Finding("beta is sent directly", Bound((0, 0, 1)), "duplicate", 12, "c delivered c#1 again"),
    Finding("pi is sent directly", Bound((1, 1, 0)), "causal", 12, "c delivered b#1 before a#1"),
    Finding("rho is sent directly", Bound((0, 0, 1)), "duplicate", 13, "c delivered c#1 again"),
    # c takes the link for open, and so the alpha of the new one for a mistake.
    Finding(
        "close leaves Qi alone",
        Written("a-c a+c/b", TRIANGLE),
        "stuck",
        21,
        "a waits for an acknowledgement",
    ),
    # a takes the link for open and does not open it again. With `prc` that could not be observed: a
    # program does not know when the new link is safe, so another way must stay; `link-memory` uses a
    # link at once.
    Finding(
        "close leaves Qo alone",
        Written("a-b a+b a>*", PAIR),
        "undelivered",
        5,
        "b never delivers a#1",
        "link-memory",
    ),
    Finding(
        "no time-out for a mediator that crashes",
        Bound((0, 0, 0), faults=FaultBudget(loss=1)),
        "stuck",
        17,
        "b waits for an acknowledgement",
    ),
    # No application answers during a delivery here, but control that goes to everybody does.
    Finding("delivering before forwarding", CROSSWISE, "refused", 23, "twice"),
    Finding(
        "preventive: a pong has no incarnation",
        Bound((1, 1, 0), faults=GIVEN_UP),
        "causal",
        19,
        "c delivered b#1 before a#1",
        "preventive",
    ),
    Finding(
        "preventive: the ping is sent directly",
        Bound((1, 1, 0)),
        "causal",
        8,
        "c delivered b#1 before a#1",
        "preventive",
    ),
]

# The others need what no program does, or break what no exploration looks at: hand-made runs show them.
OUT_OF_REACH = {
    # Links are FIFO: over one that is closed nothing comes after the close.
    "control counts on any link": "a peer that is dropped, and what it still sends",
    # What stays names delivered messages only, which never come again: no delivery depends on it.
    "close leaves E alone": "a look at what is kept: the memory of a closed link stays forever",
    "joining through two contacts at once": "a process that joins",
}

# Programs that close a link in use, on which those above were tried. (Closed *and* opened again: a new
# link, too, might meet remains of the old one.)
CLOSING = [
    Written("a>* b-c c-a", TRIANGLE),
    Written("a>* b-c b+c/a c>*", TRIANGLE),
    Written("b>* c-b c+b/a b-c b+c/a", TRIANGLE),
]
