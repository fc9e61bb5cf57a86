"""What a check is asked for: the bounds as the user wrote them, and how to search within them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from beforehand import protocols
from beforehand.checker.setting import NO_FAULTS, Setting, rehearse, setting
from beforehand.cli.check import parsing
from beforehand.cli.command_lines import line
from beforehand.cli.options import selection
from beforehand.errors import CheckError
from beforehand.results.format import counted

if TYPE_CHECKING:
    from beforehand.cli.check.options import CheckOptions

PROCESSES: Final = 3
MESSAGES: Final = 2  # of each process


@dataclass(frozen=True)
class CheckBounds:
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

    @classmethod
    def of(cls, options: CheckOptions) -> CheckBounds:
        """The bounds among the options of the command."""
        return cls(**(selection(options, cls) | {"opens": tuple(options.opens or ())}))

    def setting(self) -> Setting:
        """What to explore. Raises CheckError if it cannot be explored."""
        self._check_combination()
        explored = setting(
            self.protocol,
            processes=PROCESSES if self.processes is None else self.processes,
            messages=MESSAGES if self.messages is None else self.messages,
            sends=None if self.sends is None else parsing.sends(self.sends, self.processes),
            program=self.program,
            multicast=self.multicast,
            faults=NO_FAULTS if self.faults is None else parsing.faults(self.faults),
            tree=None if self.tree is None else parsing.tree(self.tree),
            links=None if self.links is None else parsing.links(self.links),
            opens=[parsing.open_link(text) for text in self.opens],
        )
        rehearse(explored)
        return explored

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
                        f"{option} and --program: a program determines all sends and opened links; "
                        "leave out one of the two"
                    )
        if self.sends is not None and self.messages is not None:
            raise CheckError(
                "--messages and --sends: both set the number of messages; leave out one"
            )

    def command_line(self, program: str) -> str:
        """The command that explores a single program on the same network."""
        count = self.sends.count(",") + 1 if self.sends is not None else self.processes
        words = ["check", "--protocol", self.protocol]
        for option, value in (
            ("--processes", count),
            ("--faults", self.faults),
            ("--links", self.links),
            ("--tree", self.tree),
        ):
            words += [] if value is None else [option, str(value)]
        return line(*words, "--program", program)

    def coverage(self, explored: Setting) -> str:
        """What an exhaustive exploration covers, in words."""
        return ", ".join([self._programs(explored), *self._network(explored)])

    def _programs(self, explored: Setting) -> str:
        names = explored.processes
        if self.program is not None:
            return f"the program {self.program or '(nothing)'} of {len(names)} processes"
        counts = [explored.program.sends(name) for name in names]
        if len(set(counts)) == 1:
            much = f"{counted(counts[0], 'message')} each"
        else:
            much = ", ".join(map(str, counts)) + f" messages by {', '.join(names)}"
        to = {
            "unicast": "each to any other",
            "multicast": "each to any others",
            "broadcast": "each to everybody",
        }["multicast" if self.multicast else protocols.describe(self.protocol).casts[0]]
        return f"every program of {len(names)} processes with {much}, {to}"

    def _network(self, explored: Setting) -> list[str]:
        fifo = " that is FIFO on each link" if explored.fifo else ""
        parts = [f"any order of sends and arrivals{fifo}"]
        overlay = protocols.describe(self.protocol).overlay
        if overlay == "tree":
            parts.append(f"on the tree {self.tree}" if self.tree else "on a star around a")
        if overlay == "links":
            parts.append(f"on the links {self.links}" if self.links else "on a ring of links")
        if self.opens:
            parts.append(f"with {' and '.join(self.opens)} at any moment")
        faults = [
            counted(number, noun)
            for number, noun in (
                (explored.faults.loss, "loss"),
                (explored.faults.duplicate, "duplicate"),
                (explored.faults.tick, "early tick"),
            )
            if number
        ]
        return [*parts, f"up to {' and '.join(faults)}"] if faults else parts


@dataclass(frozen=True)
class SearchOptions:
    """The options that say how to explore it."""

    reduction: bool = True
    symmetry: bool = True
    depth_first: bool = False
    max_states: int | None = None
    time_limit: str | None = None
    workers: int | None = None
    master: str | None = None

    @classmethod
    def of(cls, options: CheckOptions) -> SearchOptions:
        """The search among the options of the command."""
        reduction = not (options.full or options.no_reduction)
        symmetry = not (options.full or options.no_symmetry)
        return cls(reduction, symmetry, **selection(options, cls))

    @property
    def seconds(self) -> float | None:
        """The time limit, if there is one."""
        return None if self.time_limit is None else parsing.seconds(self.time_limit)

    def validate(self, conf: list[str] | None) -> None:
        """Raise CheckError for options that exclude each other."""
        for option, given in (
            ("--depth-first", self.depth_first),
            ("--workers", self.workers is not None),
        ):
            if given and self.master is not None:
                raise CheckError(
                    f"{option} and --master: Spark schedules the search itself; leave out one"
                )
        if conf and self.master is None:
            raise CheckError(
                "--conf: a setting of Spark, which is only used with --master; add that"
            )
