"""A scenario: everything that determines a run, as plain values that can be stored and compared.

A scenario is validated as a whole when it is created: one that cannot run is rejected with the reason.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from types import NoneType
from typing import Any, Final, Literal

from beforehand import protocols
from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, ScenarioError
from beforehand.simulator import specs, units
from beforehand.simulator.overlay_setup import OverlaySetup
from beforehand.simulator.overlays.churn import NO_CHURN, Churn, parse_churn
from beforehand.simulator.overlays.dynamics import OverlayDynamics
from beforehand.simulator.program import Program
from beforehand.simulator.workloads import registry as workloads
from beforehand.simulator.workloads.message_sizes import MAX_PAYLOAD
from beforehand.simulator.workloads.replay import Replay
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.distributions import Distribution
from beforehand.simulator.world.faults import Partition, Stop
from beforehand.simulator.world.network import Delay

# Parameters of `create` itself; and `runs`, which only changes the effects that a runtime gets.
NOT_OPTIONS: Final = {"name", "process", "processes", "tree", "links", "runs"}
LISTS: Final = ("partitions", "stops", "opens", "closes", "reparents")
SHARES: Final = ("loss", "duplicate", "job_share")
TIMED: Final = ("open", "close", "reparent")  # changes of an overlay; their fields are the plurals
CRASH_NOTICE: Final = 10**9  # nanoseconds until neighbours notice a crash, without drop_after
MAX_PROCESSES: Final = 1_000_000
MAX_MESSAGES: Final = 1_000_000_000  # per process
ROUND_TRIPS_PER_TICK: Final = 2  # sooner, and much is retransmitted needlessly
MIN_TICK: Final = 1_000_000  # nanoseconds, for networks without delay


@dataclass(frozen=True, repr=False)
class Scenario:
    """What to run. `specs.py` has the syntax of durations and distributions."""

    protocol: str = protocols.DEFAULT
    processes: int | Sequence[str] = 100  # a number, or the names; a program has its own
    messages: int = 100  # per process, of its own accord
    workload: str = "uniform"  # see workloads/registry.py
    seed: int = 1
    interval: str = "10ms"  # from one message of a process to its next
    payload: str | int = 100  # bytes
    job: str = "0ms"  # length of the jobs that deliveries start
    job_share: float | str = 0.0  # of the messages, that start one
    delay: str = "lognormal:5ms,0.5"
    jitter: str = "0ms"  # added to each delay, drawn per frame
    bandwidth: str | None = None  # of each process's uplink, like 50kB/s; None: unlimited
    header: int = 0  # bytes of overhead per frame, such as 28 for UDP
    fifo: bool = False  # frames between two processes do not overtake each other
    loss: float | str = 0.0  # of the frames; a share is a number from 0 to 1, or like 10%
    duplicate: float | str = 0.0
    partitions: Sequence[str] = ()  # like 1s-3s:p1,p2 or 1s-3s:50%
    stops: Sequence[str] = ()  # like p3@2s
    overlay: str | None = None  # see overlays/layouts.py; None: as the protocol needs it
    churn: str | None = None  # see overlays/dynamics.py, like the three below
    opens: Sequence[str] = ()  # like p1>p2@2s
    closes: Sequence[str] = ()
    reparents: Sequence[str] = ()
    drop_after: str | None = None  # how long after a stop the others drop that process
    tick: str | None = None  # how often cores retransmit; None: derived from the delay
    until: str | None = None  # end the run at this time at the latest
    sample: str | None = None  # how often to add a point to Result.series
    link: Literal["auto", "always", "never"] = "auto"  # run cores on a reliable link?
    split: bool = False  # replace a multicast by one message to each receiver
    flush: str = "0ms"  # with the option coalesce: how long acks and permits are postponed
    options: Mapping[str, Any] = field(default_factory=dict)  # of the protocol
    program: Program | None = None  # for the workload replay

    def __post_init__(self) -> None:
        self._check_types()
        for name in LISTS:
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "options", dict(self.options))
        if isinstance(self.processes, list):
            object.__setattr__(self, "processes", tuple(self.processes))
        self._check_numbers()
        _ = self.names
        self._check_protocol()
        # Every field is parsed here, so that errors surface before anything runs.
        self.make_workload()
        self.make_delay()
        self.make_partitions()
        self.make_stops()
        self.make_overlay()
        _ = self.tick_ns, self.until_ns, self.bandwidth_bytes, self.flush_ns, self.sample_ns
        for what in ("interval", "payload", "job", "jitter"):
            self.distribution(what)
        if self.distribution("payload").high() > MAX_PAYLOAD:
            raise ScenarioError(
                f"payload: {self.payload!r} exceeds {MAX_PAYLOAD:,} bytes; reduce it"
            )

    # ---- checks ----

    def _check_types(self) -> None:
        for what in ("protocol", "workload", "link"):
            if not isinstance(getattr(self, what), str):
                raise ScenarioError(f"{what} is {getattr(self, what)!r}; give a string")
        for what in ("overlay", "churn"):
            if not isinstance(getattr(self, what), (str, NoneType)):
                raise ScenarioError(f"{what} is {getattr(self, what)!r}; give a string, or None")
        for what in LISTS:
            value = getattr(self, what)
            if not isinstance(value, (tuple, list)) or not all(isinstance(v, str) for v in value):
                raise ScenarioError(f"{what} is {value!r}; give a list of strings")
        if not isinstance(self.program, (Program, NoneType)):
            raise ScenarioError(f"program is {self.program!r}; give a Program")
        if not isinstance(self.options, Mapping):
            raise ScenarioError(f"options is {self.options!r}; give a mapping of names to values")
        for name, value in self.options.items():
            if not isinstance(value, bool) or not isinstance(name, str) or name in NOT_OPTIONS:
                raise ScenarioError(
                    f"{self.protocol} has no option {name!r} with the value {value!r}; give one that "
                    "it has, as true or false"
                )

    def _check_numbers(self) -> None:
        for what, least, most in (
            ("messages", 0, MAX_MESSAGES),
            ("seed", 0, 2**63 - 1),
            ("header", 0, 10**6),
        ):
            value = getattr(self, what)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ScenarioError(
                    f"{what} is {value!r}; give a whole number from {least} to {most:,}"
                )
        for what in SHARES:
            share = units.share(getattr(self, what), what)
            if isinstance(getattr(self, what), str):  # however it is written, it is the same run
                object.__setattr__(self, what, share)
        if self.share("loss") == 1.0:
            raise ScenarioError("loss is 1, so nothing would ever arrive; give less than 1")
        if self.link not in ("auto", "always", "never"):
            raise ScenarioError(f"link is {self.link!r}; give auto, always or never")

    def _check_protocol(self) -> None:
        try:
            capabilities = protocols.describe(self.protocol)
            self.make_core(self.names[0])
        except LocalProtocolError as problem:
            raise ScenarioError(str(problem)) from None
        if capabilities.casts == ("broadcast",):
            self._check_broadcasts()
        elif self._sends_to_many() and not self.split and "multicast" not in capabilities.casts:
            raise ScenarioError(
                f"{self.protocol} has no multicast, and the workload {self.workload} sends to several "
                "receivers; set split to send one message to each instead, or choose another protocol"
            )
        if capabilities.network == "reliable" and self.link == "never" and self.is_lossy():
            raise ScenarioError(
                f"{self.protocol} assumes a reliable network, and this one loses or duplicates frames; "
                "leave link at auto to run it on a reliable link"
            )
        ordered = capabilities.fifo_links or self.options.get("fifo_links")
        if ordered and not self.fifo and not self.linked():
            option = " with fifo_links" if not capabilities.fifo_links else ""
            raise ScenarioError(
                f"{self.protocol}{option} assumes that frames do not overtake each other; "
                "set fifo, or link to always"
            )

    def _check_broadcasts(self) -> None:
        """A protocol that only broadcasts needs a workload that only broadcasts."""
        if self.workload == workloads.REPLAY:
            assert self.program is not None
            everybody = set(self.names)
            fits = all({*send.to, send.sender} == everybody for send in self.program.sends)
        else:
            fits = workloads.entry(self.workload).broadcast
        if not fits:
            raise ScenarioError(
                f"{self.protocol} only broadcasts, and the workload {self.workload} sends to some "
                "processes only; choose the workload broadcast:RATE, or another protocol"
            )

    def _sends_to_many(self) -> bool:
        if self.workload == workloads.REPLAY:
            return self.program is not None and any(
                len({*send.to} - {send.sender}) > 1 for send in self.program.sends
            )
        return workloads.entry(self.workload).multicast

    # ---- the parsed fields ----

    @cached_property
    def names(self) -> list[str]:
        """The processes; those that join later are at the end."""
        newcomers = self._churn.newcomers
        return [*self._founders(), *[f"new{number}" for number in range(newcomers)]]

    @property
    def founders(self) -> int:
        """How many processes are present from the start."""
        return len(self.names) - self._churn.newcomers

    def _founders(self) -> list[str]:
        if self.workload == workloads.REPLAY:
            if self.program is None:
                raise ScenarioError("the workload replay needs a program; give one")
            return list(self.program.processes)
        if self.program is not None:
            raise ScenarioError(
                f"the workload {self.workload} has no use for a program; choose replay, or omit it"
            )
        if not isinstance(self.processes, int) or isinstance(self.processes, bool):
            return self._given_names()
        if not 1 <= self.processes <= MAX_PROCESSES:
            raise ScenarioError(
                f"processes is {self.processes}; give a number from 1 to {MAX_PROCESSES:,}"
            )
        count = self.processes
        if self.workload == "shop" and count >= 3:
            customers = ["customer"] if count == 3 else list(_numbered("customer", count - 2))
            return [*customers, "shop", "bank"]
        return list(_numbered("p", count))

    def _given_names(self) -> list[str]:
        names = list(self.processes) if isinstance(self.processes, tuple) else []
        if not names or len(set(names)) < len(names):
            raise ScenarioError("processes: give a number, or a list of distinct names")
        try:
            return [check_process(name) for name in names]
        except LocalProtocolError as problem:
            raise ScenarioError(f"processes: {problem}") from None

    def is_lossy(self) -> bool:
        """Whether frames can be lost or duplicated."""
        return self.share("loss") > 0.0 or self.share("duplicate") > 0.0 or bool(self.partitions)

    def linked(self) -> bool:
        """Whether the cores run on a reliable link.

        They do if they assume more than the network guarantees. A protocol that buffers nothing shows
        the network itself, so it never does.
        """
        if self.link != "auto":
            return self.link == "always"
        capabilities = protocols.describe(self.protocol)
        if capabilities.buffering == "none":
            return False
        return (capabilities.network == "reliable" and self.is_lossy()) or (
            capabilities.fifo_links and not self.fifo
        )

    def make_core(self, name: str) -> protocols.Core:
        """The core of a process."""
        core = protocols.create(
            self.protocol,
            name,
            processes=self.names,
            tree=self.overlay_setup.tree,
            links=self.overlay_setup.links(name),
            **self.options,
        )
        return protocols.ReliableLink(core) if self.linked() else core

    @cached_property
    def overlay_setup(self) -> OverlaySetup:
        """The overlay of the protocol, if it has one."""
        timed = [(kind, text) for kind in TIMED for text in getattr(self, f"{kind}s")]
        capabilities = protocols.describe(self.protocol)
        return OverlaySetup(capabilities, self.names, self.overlay, self._churn, timed, self.seed)

    @cached_property
    def _churn(self) -> Churn:
        return NO_CHURN if self.churn is None else parse_churn(self.churn)

    def make_overlay(self) -> OverlayDynamics | None:
        """What changes the overlay during the run; None if the protocol has none."""
        notice = self.drop_after
        return self.overlay_setup.dynamics(
            CRASH_NOTICE if notice is None else units.duration(notice, "drop_after")
        )

    def make_workload(self) -> Workload:
        """The source of the traffic."""
        if self.program is not None:
            return Replay(self.program)
        parameters = workloads.WorkloadParameters(
            len(self.names), self.messages, self.distribution("interval")
        )
        return workloads.create(self.workload, parameters)

    def make_delay(self) -> Delay:
        """The propagation delay."""
        return specs.delay(self.delay, len(self.names))

    def make_partitions(self) -> list[Partition]:
        """The partitions."""
        return [specs.partition(text, self.names) for text in self.partitions]

    def make_stops(self) -> list[Stop]:
        """The processes that stop for good."""
        after = None if self.drop_after is None else units.duration(self.drop_after, "drop_after")
        stops = [specs.stop(text, after, self.names) for text in self.stops]
        if len({stop.process for stop in stops}) < len(stops):
            raise ScenarioError("stop: a process stops only once; name every process at most once")
        if len(stops) >= len(self.names):
            raise ScenarioError("stop: all processes would stop; leave at least one")
        if self.drop_after is not None:
            inner = self.overlay_setup.inner()
            for stop in stops:
                if stop.process in inner:
                    raise ScenarioError(
                        f"stop: {stop.process} is an inner node of the tree, and dropping it would cut "
                        "off others; stop a leaf, or omit drop_after"
                    )
        return stops

    def share(self, what: str) -> float:
        """One of the fields loss, duplicate and job_share."""
        return units.share(getattr(self, what), what)

    def distribution(self, what: str) -> Distribution:
        """One of the fields interval, payload, job and jitter."""
        read = specs.sizes if what == "payload" else specs.durations
        return read(getattr(self, what), what)

    @property
    def bandwidth_bytes(self) -> int:
        """Bytes per second of an uplink, 0 for no limit."""
        return 0 if self.bandwidth is None else units.rate(self.bandwidth, "bandwidth")

    @property
    def tick_ns(self) -> int:
        """How often cores retransmit, or do other periodic work; 0 for never."""
        if self.tick is not None:
            return _period(self.tick, "tick")
        timed = protocols.describe(self.protocol).timer or self.reparents
        if not self.is_lossy() and not timed:
            return 0
        one_way = int(self.make_delay().high() + self.distribution("jitter").high())
        return min(max(MIN_TICK, 2 * ROUND_TRIPS_PER_TICK * one_way), units.LONGEST)

    @property
    def until_ns(self) -> int | None:
        """The time limit, if there is one."""
        return None if self.until is None else units.duration(self.until, "until")

    @property
    def sample_ns(self) -> int:
        """How often to add a point to the series; 0 for never."""
        return 0 if self.sample is None else _period(self.sample, "sample")

    @property
    def flush_ns(self) -> int:
        """How long acks and permits are postponed; -1 if they are not."""
        after = units.duration(self.flush, "flush")
        return after if self.options.get("coalesce") else -1

    def to_dict(self) -> dict[str, Any]:
        """The scenario as plain values for JSON; a program is represented by its digest."""
        values = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        for name in LISTS:
            values[name] = list(values[name])
        if not isinstance(self.processes, int):
            values["processes"] = list(self.processes)
        values["program"] = None if self.program is None else self.program.digest()
        return values

    def __hash__(self) -> int:
        return hash(self.digest())

    def __repr__(self) -> str:
        """The protocol, and what differs from the defaults."""
        given = [f"protocol={self.protocol!r}"]
        for spec in fields(self)[1:]:
            value = getattr(self, spec.name)
            if spec.name == "options" and not value:
                continue
            if value != spec.default:
                given.append(f"{spec.name}={value!r}")
        return f"Scenario({', '.join(given)})"

    def digest(self) -> str:
        """A hash of the whole scenario: the name of its runs."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return sha256(text.encode()).hexdigest()[:16]


def _period(text: str, what: str) -> int:
    """A duration that is not 0, in nanoseconds."""
    period = units.duration(text, what)
    if period == 0:
        raise ScenarioError(f"{what} is 0; give a duration, or omit it")
    return period


def _numbered(name: str, count: int) -> Iterator[str]:
    """Names that sort like their numbers."""
    width = len(str(count - 1))
    return (f"{name}{number:0{width}}" for number in range(count))
