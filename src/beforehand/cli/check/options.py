"""What people ask a check for, as they write it: how it becomes a setting, and how it is told again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final

from beforehand import protocols
from beforehand.checker.setting import NO_FAULTS, Setting, rehearse, setting
from beforehand.cli.check import parsing as check_words
from beforehand.errors import CheckError

PROCESSES: Final = 3
MESSAGES: Final = 2  # of each process


@dataclass(frozen=True)
class Asked:
    """The options that say what to explore, as they were given; None: not given."""

    protocol: str
    processes: int | None = None
    messages: int | None = None
    sends: str | None = None
    program: str | None = None
    multicast: bool = False
    faults: str | None = None
    links: str | None = None
    tree: str | None = None
    opens: tuple[str, ...] = ()

    def setting(self) -> Setting:
        """What is to be explored. Raises CheckError if that cannot be, and says why."""
        self._check_combination()
        found = setting(
            self.protocol,
            processes=PROCESSES if self.processes is None else self.processes,
            messages=MESSAGES if self.messages is None else self.messages,
            sends=None if self.sends is None else check_words.sends(self.sends, self.processes),
            program=self.program,
            multicast=self.multicast,
            faults=NO_FAULTS if self.faults is None else check_words.faults(self.faults),
            tree=None if self.tree is None else check_words.tree(self.tree),
            links=None if self.links is None else check_words.links(self.links),
            opens=[check_words.open_link(text) for text in self.opens],
        )
        rehearse(found)
        return found

    def _check_combination(self) -> None:
        overlay = protocols.describe(self.protocol).overlay
        for option, given, needed in (
            ("--links", self.links is not None, "links"),
            ("--open", bool(self.opens), "links"),
            ("--tree", self.tree is not None, "tree"),
        ):
            if given and overlay != needed:
                raise CheckError(
                    f"{option} is for protocols that run on {'a tree' if needed == 'tree' else needed},"
                    f" and {self.protocol} does not; leave it out, or see `beforehand protocols`"
                )
        if self.program is not None:
            for option, given in (
                ("--messages", self.messages is not None),
                ("--sends", self.sends is not None),
                ("--multicast", self.multicast),
                ("--open", bool(self.opens)),
            ):
                if given:
                    raise CheckError(
                        f"{option} and --program: a program says itself who sends what to whom and "
                        "opens which link; leave out one of the two"
                    )
        if self.sends is not None and self.messages is not None:
            raise CheckError("--messages and --sends both say how many messages; leave out one")

    def again(self, program: str) -> str:
        """The command that explores one program in the same surroundings."""
        words = ["beforehand", "check", "--protocol", self.protocol]
        count = self.sends.count(",") + 1 if self.sends is not None else self.processes
        for option, value in (
            ("--processes", count),
            ("--faults", self.faults),
            ("--links", self.links),
            ("--tree", self.tree),
        ):
            words += [] if value is None else [option, str(value)]
        return shlex.join([*words, "--program", program])

    def covered(self, explored: Setting) -> str:
        """What an exploration of all of it covers, for people."""
        return ", ".join([self._programs(explored), *self._surroundings(explored)])

    def _programs(self, explored: Setting) -> str:
        names = explored.processes
        if self.program is not None:
            return f"the program {self.program or '(nothing)'} of {len(names)} processes"
        counts = [explored.program.sends(name) for name in names]
        if len(set(counts)) == 1:
            much = f"{check_words.count(counts[0], 'message')} each"
        else:
            much = ", ".join(map(str, counts)) + f" messages by {', '.join(names)}"
        to = {
            "unicast": "each to any other",
            "multicast": "each to any others",
            "broadcast": "each to everybody",
        }["multicast" if self.multicast else protocols.describe(self.protocol).casts[0]]
        return f"every program of {len(names)} processes with {much}, {to}"

    def _surroundings(self, explored: Setting) -> list[str]:
        fifo = ", but for that of each link" if explored.fifo else ""
        found = [f"any order of sends and arrivals{fifo}"]
        overlay = protocols.describe(self.protocol).overlay
        if overlay == "tree":
            found.append(f"on the tree {self.tree}" if self.tree else "on a star, a in the middle")
        if overlay == "links":
            found.append(f"on the links {self.links}" if self.links else "on a ring of links")
        if self.opens:
            found.append(f"with {' and '.join(self.opens)} at any moment")
        faults = [
            check_words.count(number, noun)
            for number, noun in (
                (explored.faults.loss, "loss"),
                (explored.faults.duplicate, "duplicate"),
                (explored.faults.tick, "early tick"),
            )
            if number
        ]
        return [*found, f"up to {' and '.join(faults)}"] if faults else found


@dataclass(frozen=True)
class Search:
    """The options that say how to explore it."""

    reduction: bool = True
    symmetry: bool = True
    depth_first: bool = False
    max_states: int | None = None
    time_limit: str | None = None
    workers: int | None = None
    master: str | None = None

    @property
    def seconds(self) -> float | None:
        """The time limit, if there is one."""
        return None if self.time_limit is None else check_words.seconds(self.time_limit)

    def check(self, conf: list[str] | None) -> None:
        """Raise CheckError for options that do not go together."""
        for option, given in (
            ("--depth-first", self.depth_first),
            ("--workers", self.workers is not None),
        ):
            if given and self.master is not None:
                raise CheckError(
                    f"{option} and --master: Spark decides itself who explores what; leave out one"
                )
        if conf and self.master is None:
            raise CheckError("--conf is a setting of Spark, which --master asks for; add that")
