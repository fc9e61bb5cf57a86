"""The plan of a cluster: who does what, decided by one seed before any process starts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from beforehand import protocols
from beforehand.errors import LocalProtocolError
from beforehand.protocols.registry import Capabilities
from beforehand.runtime.cluster.programs import PROGRAMS
from beforehand.runtime.cluster.programs.script import Script, ScriptedProgram
from beforehand.runtime.engine.outbox import MAX_PAYLOAD

LONGEST_LINE: Final = 2**20  # a job lists all processes; the default of a stream is 64 KiB
MAX_NODES: Final = 64  # processes on one machine, each connected to all others
MIN_SURVIVORS: Final = 2  # a lone survivor would have no peers
# Victims die half-way; the last quarter of all messages waits until that is over, so that survivors
# and restarted processes still have messages to send.
HALF: Final = 0.5
REST: Final = 0.75
# Small enough that a process must receive while it sends, which creates causal chains; large enough
# that frames share datagrams.
MIN_WINDOW: Final = 16
MAX_WINDOW: Final = 256
WINDOWS: Final = 8  # of messages that each process sends, at least
RANDOM: Final = "random"  # the program that sends anything to anybody
MAX_SCRIPTED: Final = 100_000  # messages; every process holds the whole script


@dataclass(frozen=True)
class WorkerJob:
    """The job of one worker, passed as a line of JSON."""

    plan: ClusterPlan
    name: str
    others: tuple[str, ...]
    tree: dict[str, str] | None
    links: tuple[tuple[str, str], ...] | None
    messages: int  # to causal-send
    halfway: int  # after how many of them to report; 0: never
    pause: int  # after how many to wait for the command to finish; 0: never
    seed: int
    key: str | None  # hexadecimal
    trace: str
    run: str
    drop_after: float | None
    window: int


@dataclass(frozen=True)
class ClusterPlan:
    """A run of a cluster; an impossible one is refused at once."""

    nodes: int = 8
    messages: int = 20_000
    protocol: str = protocols.DEFAULT
    program: str = RANDOM
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    payload: int = 32
    kill: int = 0
    restart: bool = False
    drop_after: float = 2.0
    seed: int = 1

    def __post_init__(self) -> None:
        _check_range("nodes", self.nodes, 2, MAX_NODES)
        _check_range("messages", self.messages, self.nodes, 10**9)
        _check_range("payload", self.payload, 0, MAX_PAYLOAD)
        _check_rates(self.loss, self.duplicate, self.reorder)
        self._check_program()
        overlay = self.capabilities.overlay
        if self.kill < 0 or (self.kill and self.nodes - self.kill < MIN_SURVIVORS):
            raise LocalProtocolError(
                f"cannot kill {self.kill} of {self.nodes} nodes: at least {MIN_SURVIVORS} must survive; "
                "kill fewer, or start more"
            )
        if self.kill and overlay != "none":
            raise LocalProtocolError(
                f"{self.protocol} runs on an overlay, which falls apart when processes are killed; "
                "choose a protocol without one, or kill nobody"
            )
        if self.restart and not self.kill:
            raise LocalProtocolError(
                "no process is killed, so none can be restarted; set `kill` to 1 or more"
            )
        if self.restart and self.capabilities.membership == "fixed":
            raise LocalProtocolError(
                f"{self.protocol} has a fixed membership, so killed processes cannot come back; "
                "choose a protocol of open membership, or restart nobody"
            )
        if not 0.1 <= self.drop_after <= 3600:
            raise LocalProtocolError(
                f"drop-after is {self.drop_after}; give seconds, from 0.1 to 3,600"
            )

    def _check_program(self) -> None:
        if self.program == RANDOM:
            return
        if self.program not in PROGRAMS:
            raise LocalProtocolError(
                f"there is no program {self.program!r}; choose {RANDOM}, {' or '.join(PROGRAMS)}"
            )
        _check_range("nodes", self.nodes, PROGRAMS[self.program].least, MAX_NODES)
        _check_range("messages", self.messages, self.nodes, MAX_SCRIPTED)
        if "multicast" not in self.capabilities.casts:
            raise LocalProtocolError(
                f"{self.protocol} cannot send to several receivers by name, as the program "
                f"{self.program} does; choose another protocol, or the program {RANDOM}"
            )
        if self.kill:
            raise LocalProtocolError(
                f"the program {self.program} needs all of its processes; kill nobody, or choose the "
                f"program {RANDOM}"
            )

    @property
    def script(self) -> Script:
        """Every message of the run, if that is known before it; empty for random ones."""
        program = self._program
        return () if program is None else program.script(self.names, self.messages)

    @property
    def _program(self) -> ScriptedProgram | None:
        return PROGRAMS.get(self.program)

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the protocol."""
        return protocols.describe(self.protocol)

    @property
    def names(self) -> list[str]:
        """All processes: n1, n2, ..., zero-padded so that they sort by number; or named by a program."""
        if self._program is not None:
            return self._program.names(self.nodes)
        width = len(str(self.nodes))
        return [f"n{number:0{width}d}" for number in range(1, self.nodes + 1)]

    @property
    def victims(self) -> list[str]:
        """The processes to kill."""
        return sorted(self._draws("victims").sample(self.names, self.kill))

    def share(self, name: str) -> int:
        """How many messages a process sends: an equal share, or what the script says."""
        if self._program is not None:
            return sum(line.sender == name for line in self.script)
        index = self.names.index(name)
        return self.messages // self.nodes + (index < self.messages % self.nodes)

    def job(self, name: str, key: bytes | None, trace: str, run: str, life: int = 1) -> WorkerJob:
        """The job of a process; in its second life, it sends what it had not sent in the first."""
        share = self.share(name)
        half = max(1, int(share * HALF))
        victim = name in self.victims
        again = life > 1
        return WorkerJob(
            plan=self,
            name=name,
            others=tuple(other for other in self.names if other != name),
            tree=self._tree(),
            links=self._links(),
            messages=max(1, share - half) if again else share,
            halfway=half if victim and not again else 0,
            pause=max(1, int(share * REST)) if self.kill and not victim else 0,
            seed=self._draws(f"{name}/{life}").getrandbits(63),
            key=None if key is None else key.hex(),
            trace=trace,
            run=run,
            drop_after=self.drop_after if self.kill else None,
            window=max(MIN_WINDOW, min(share // WINDOWS, MAX_WINDOW)),
        )

    def _draws(self, what: str) -> random.Random:
        return random.Random(f"{self.seed}/{what}")

    def _tree(self) -> dict[str, str] | None:
        """By name, the parent: each process but the first hangs under an earlier one."""
        if self.capabilities.overlay != "tree":
            return None
        draws = self._draws("tree")
        names = self.names
        return {names[child]: names[draws.randrange(child)] for child in range(1, len(names))}

    def _links(self) -> tuple[tuple[str, str], ...] | None:
        """A ring, and one more neighbour for each process; in both directions."""
        if self.capabilities.overlay != "links":
            return None
        draws = self._draws("links")
        ring = self.names
        draws.shuffle(ring)
        pairs = {(ring[index - 1], name) for index, name in enumerate(ring)}
        for name in ring:
            pairs.add((name, draws.choice([other for other in ring if other != name])))
        return tuple(sorted(pairs | {(there, here) for here, there in pairs}))


def _check_range(what: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise LocalProtocolError(f"{what} is {value}; give a number from {least:,} to {most:,}")


def _check_rates(loss: float, duplicate: float, reorder: float) -> None:
    if not 0 <= loss < 1:
        raise LocalProtocolError(
            f"loss is {loss}; give a rate from 0 to less than 1, so that something arrives"
        )
    for what, rate in (("duplicate", duplicate), ("reorder", reorder)):
        if not 0 <= rate <= 1:
            raise LocalProtocolError(f"{what} is {rate}; give a rate from 0 to 1")
