"""The slips of the printed overlay algorithms, each with the bound at which an exploration finds it.

The slips themselves are in `tests/mutants/overlay.py`, with a hand-made run for each beside it. Here the
checker is told no run, only which links there are, how many broadcasts, and which links are opened.
With one broadcast, one new link, one fault or one way less there is nothing to find.

To give up a link that is being made takes a time-out here, since programs close nothing: as many
early ticks as its opener has patience for, and one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from beforehand.checker.setting import NO_FAULTS, Faults, Setting, setting
from beforehand.checker.verdict import ProblemKind
from beforehand.cli import check_words
from beforehand.protocols.base import Core
from beforehand.protocols.overlay_links import PATIENCE
from tests.mutants.broken import broken
from tests.mutants.catalogue import Mutant
from tests.mutants.overlay import SLIPS

PAIR, STAR = "a-b", "a-b,a-c"
SHORTCUT = "a-b,a-c,c>b"  # what c says to b may take two ways, so that the later is there first

GIVEN_UP = Faults(tick=PATIENCE + 1)

NOTHING = Mutant("nothing", "prc.py", "REFUSED: Final = 0", "REFUSED: Final = 0")
BY_NAME = {slip.name: slip for slip in (*SLIPS, NOTHING)}


@dataclass(frozen=True)
class Bound:
    """How much is explored: so many broadcasts of each process, and links opened at any moment."""

    sends: tuple[int, ...]
    opens: tuple[str, ...] = ("b+c/a",)
    faults: Faults = NO_FAULTS
    links: str = STAR

    def setting(self, protocol: str, mutant: str) -> Setting:
        """This bound for copies of our own cores with this mistake.

        Losses hit the bare links: a frame that a mediator takes with it when it crashes.
        """
        links, make = check_words.links(self.links), broken(protocol, BY_NAME[mutant])

        def make_copy(process: str) -> Core:
            core: Core = make(process, links)
            return core

        chosen = setting(
            protocol,
            sends=self.sends,
            links=links,
            opens=[check_words.open_link(word) for word in self.opens],
        )
        return replace(chosen, make=make_copy, faults=self.faults)

    def smaller(self) -> Iterator[Bound]:
        """One broadcast less, one new link less, one fault less or one way less, in every way."""
        for place, count in enumerate(self.sends):
            if count:
                fewer = (*self.sends[:place], count - 1, *self.sends[place + 1 :])
                yield replace(self, sends=fewer)
        for place in range(len(self.opens)):
            yield replace(self, opens=self.opens[:place] + self.opens[place + 1 :])
        if self.faults.tick:
            yield replace(self, faults=replace(self.faults, tick=self.faults.tick - 1))
        if self.faults.loss:
            yield replace(self, faults=replace(self.faults, loss=self.faults.loss - 1))
        if self.links == SHORTCUT:
            yield replace(self, links=STAR)

    def __str__(self) -> str:
        """As on the command line."""
        what = [f"--sends {','.join(map(str, self.sends))}", f"--links {self.links}"]
        what += [f"--open {word}" for word in self.opens]
        faults = [f"{name}={count}" for name, count in vars(self.faults).items() if count]
        return " ".join([*what, *([f"--faults {','.join(faults)}"] if faults else [])])


@dataclass(frozen=True)
class Finding:
    """What an exploration finds of a slip, and after how many actions."""

    slip: str
    bound: Bound
    found: ProblemKind
    length: int
    says: str  # a part of the sentence that explains it
    protocol: str = "prc"


CROSSWISE = Bound((0, 0, 0), ("b+c/a", "c+b"))

FINDINGS = [
    # What comes twice is control that goes to everybody, which is broadcast like a message.
    Finding("Qi gains the link after B-beta was used", CROSSWISE, "refused", 20, "twice"),
    Finding("B-beta is a set", Bound((0, 2, 0)), "fifo", 11, "c delivered b#2 before b#1"),
    Finding("B-beta has no payloads", Bound((0, 2, 0)), "fifo", 14, "c delivered b#2 before b#1"),
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
        "beta is taken though no link is being made",
        Bound((0, 0, 0), faults=GIVEN_UP, links=SHORTCUT),
        "error",
        22,
        "AttributeError",
    ),
    Finding(
        "pi is taken though no link is being made",
        Bound((0, 0, 0), faults=GIVEN_UP),
        "error",
        16,
        "AttributeError",
    ),
    Finding(
        "rho is taken though no link is being made",
        Bound((0, 0, 0), faults=GIVEN_UP, links=SHORTCUT),
        "error",
        26,
        "AttributeError",
    ),
    Finding("beta is sent directly", Bound((0, 0, 1)), "duplicate", 12, "c delivered c#1 again"),
    Finding("pi is sent directly", Bound((1, 1, 0)), "causal", 12, "c delivered b#1 before a#1"),
    Finding("rho is sent directly", Bound((0, 0, 1)), "duplicate", 13, "c delivered c#1 again"),
    Finding(
        "no time-out for a mediator that crashes",
        Bound((0, 0, 0), faults=Faults(loss=1)),
        "stuck",
        17,
        "b waits for an acknowledgement",
    ),
    # No application answers in the midst of a delivery here, but control that goes to everybody does.
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

# The others need what no program does, and show in hand-made runs only.
OUT_OF_REACH = {
    "data count on any link": "a peer that is dropped, or a link in use that is closed",
    "control counts on any link": "a peer that is dropped, or a link in use that is closed",
    "close leaves Qi alone": "a link in use that is closed",
    "close leaves Qo alone": "a link in use that is closed",
    "close leaves E alone": "a link in use that is closed",
    "joining through two contacts at once": "a process that joins",
}
