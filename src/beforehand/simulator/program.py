"""A program: causal-sends in a partial order, to be replayed under any protocol.

A send names its dependencies: sends of its own process, and messages that must have been delivered
there. So a recorded workload keeps its causes and effects while the times change with the protocol: a
send happens when all of its dependencies have happened and the pause since then is over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from beforehand.causality.ids import check_process
from beforehand.errors import BeforehandError, LocalProtocolError, ScenarioError
from beforehand.simulator.units import LONGEST
from beforehand.simulator.workloads.message_sizes import MAX_PAYLOAD
from beforehand.trace.schema import Event

_LISTED = 5  # names in an error


@dataclass(frozen=True)
class Send:
    """One causal-send of a program."""

    id: str
    sender: str
    to: tuple[str, ...]
    after: tuple[str, ...] = ()  # ids: its sender's own, or of messages to its sender
    at_ns: int = 0  # not before this time
    pause_ns: int = 0  # how long after the last of its dependencies
    payload_bytes: int | None = None  # None: drawn as the scenario specifies


class Program:
    """Validated sends: every dependency exists, and none is circular."""

    def __init__(self, sends: Iterable[Send], processes: Iterable[str] | None = None) -> None:
        self.sends: tuple[Send, ...] = tuple(sends)
        if not self.sends:
            raise ScenarioError("the program has no sends; give it at least one")
        for send in self.sends:
            _check(send)
        given = None if processes is None else tuple(dict.fromkeys(processes))
        self.processes: tuple[str, ...] = given if given is not None else _participants(self.sends)
        by_id = _by_id(self.sends)
        self._check_names(set(self.processes))
        for send in self.sends:
            _check_visible(send, by_id)
        _check_acyclic(self.sends, by_id)

    def __repr__(self) -> str:
        return f"<Program of {len(self.processes)} processes, {len(self.sends)} sends>"

    def _check_names(self, known: set[str]) -> None:
        for send in self.sends:
            for name, role in ((send.sender, "sender"), *((name, "receiver") for name in send.to)):
                if name not in known:
                    raise ScenarioError(
                        f"send {send.id!r}: its {role} {name!r} isn't a process of this program; "
                        f"the processes: {_listed(sorted(known))}"
                    )

    def digest(self) -> str:
        """A hash of the whole program: equal programs have equal hashes."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        whole = sha256()
        for send in self.sends:
            whole.update(json.dumps(list(vars(send).values())).encode())
        whole.update(json.dumps(self.processes).encode())
        return whole.hexdigest()

    @staticmethod
    def read(path: Path) -> Program:
        """A program from a file of JSON lines, or from a recorded trace."""
        from beforehand.trace.files import read

        try:
            if path.suffix == ".jsonl" and _is_program(path):
                return Program(_lines(path))
            return Program.from_trace(read(path))
        except OSError as problem:
            raise ScenarioError(
                f"{path}: the program cannot be read ({problem.strerror})"
            ) from None

    @staticmethod
    def from_trace(events: Iterable[Event]) -> Program:
        """The program that a run has followed: a send depends on all that its process did before.

        The application may have meant less; it is exactly what causal order protects.
        """
        recorded = [event for event in events if event.kind in ("start", "send", "deliver")]
        began = min((event.time_ns for event in recorded), default=0)
        # Real traces have times since 1970, a replay begins at 0; a simulated one may begin later.
        recorded = [event._replace(time_ns=event.time_ns - began) for event in recorded]
        # In the order of the run, which assigns sites and shares; processes that never send count.
        names = dict.fromkeys(event.process for event in recorded if event.kind == "start")
        sends = tuple(_recorded(recorded))
        names |= dict.fromkeys(_participants(sends))
        return Program(sends, names)


def _check(send: Send) -> None:
    for name in (send.id, send.sender, *send.to, *send.after):
        if not isinstance(name, str) or not name:
            raise ScenarioError(f"send {send.id!r}: {name!r} isn't a name; use a string")
    if not send.to:
        raise ScenarioError(f"send {send.id!r} has no receivers; name at least one process")
    try:
        for name in (send.sender, *send.to):
            check_process(name)
        for name in (send.id, *send.after):
            name.encode()
    except (LocalProtocolError, UnicodeEncodeError) as problem:
        raise ScenarioError(f"send {send.id!a}: {problem}") from None
    for what, value, most in (
        ("at_ns", send.at_ns, LONGEST),
        ("pause_ns", send.pause_ns, LONGEST),
        ("payload_bytes", 0 if send.payload_bytes is None else send.payload_bytes, MAX_PAYLOAD),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise ScenarioError(
                f"send {send.id!r}: {what} is {value!r}, not an integer from 0 to {most}"
            )


def _participants(sends: tuple[Send, ...]) -> tuple[str, ...]:
    return tuple(sorted({name for send in sends for name in (send.sender, *send.to)}))


def _by_id(sends: tuple[Send, ...]) -> dict[str, Send]:
    by_id: dict[str, Send] = {}
    for send in sends:
        if send.id in by_id:
            raise ScenarioError(f"two sends have the id {send.id!r}; give each its own")
        by_id[send.id] = send
    return by_id


def _check_visible(send: Send, by_id: dict[str, Send]) -> None:
    for name in send.after:
        cause = by_id.get(name)
        if cause is None:
            raise ScenarioError(
                f"send {send.id!r} comes after {name!r}, which isn't the id of any send"
            )
        if cause.sender != send.sender and send.sender not in cause.to:
            raise ScenarioError(
                f"send {send.id!r} comes after {name!r}, which {send.sender} cannot know: it "
                f"goes from {cause.sender} to {_listed(sorted(cause.to))}; name a send of "
                f"{send.sender}, or a message to it"
            )


def _check_acyclic(sends: tuple[Send, ...], by_id: dict[str, Send]) -> None:
    """Topological sort: the sends that remain form a cycle."""
    missing = {send.id: len(set(send.after)) for send in sends}
    followers: dict[str, list[str]] = {}
    for send in sends:
        for name in set(send.after):
            followers.setdefault(name, []).append(send.id)
    free = [name for name, count in missing.items() if count == 0]
    while free:
        for name in followers.get(free.pop(), ()):
            missing[name] -= 1
            if missing[name] == 0:
                free.append(name)
    stuck = {name for name, count in missing.items() if count}
    if not stuck:
        return
    name = min(stuck)
    positions: dict[str, int] = {}
    while name not in positions:
        positions[name] = len(positions)
        name = min(cause for cause in by_id[name].after if cause in stuck)
    cycle = [*list(positions)[positions[name] :], name]
    raise ScenarioError(
        f"the program is cyclic, so it can never run: {' comes after '.join(cycle[:20])}"
    )


def _listed(names: list[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")


# ---- from files ----


def _is_program(path: Path) -> bool:
    """Whether the first line is a send of a program, and not an event of a trace."""
    with path.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
    try:
        return "process" not in json.loads(first) and b"beforehand-trace" not in first
    except (ValueError, TypeError, RecursionError):
        return b'"process"' not in first


def _lines(path: Path) -> Iterator[Send]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield _send(json.loads(line))
            except (ValueError, TypeError, RecursionError) as problem:
                raise ScenarioError(
                    f"{path}, line {number}: not a send ({problem}); write it like "
                    '{"id": "m2", "sender": "bob", "to": ["carol"], "after": ["m1"]}'
                ) from None
            except BeforehandError as problem:
                raise ScenarioError(f"{path}, line {number}: {problem}") from None


def _send(fields: object) -> Send:
    if not isinstance(fields, dict):
        raise ValueError("not a JSON object")
    known = set(Send.__dataclass_fields__)
    if unknown := set(fields) - known:
        raise ValueError(
            f"unknown {', '.join(sorted(unknown))}; the fields: {', '.join(sorted(known))}"
        )
    for name in ("id", "sender", "to"):
        if name not in fields:
            raise ValueError(f"{name} is missing")
    to = fields["to"]
    after = fields.get("after", [])
    if not isinstance(after, list):
        raise ValueError(f"after is {after!r}, not a list of ids")
    if not isinstance(to, (list, str)):
        raise ValueError(f"to is {to!r}, not a name or a list of names")
    rest = {name: fields[name] for name in ("at_ns", "pause_ns", "payload_bytes") if name in fields}
    return Send(
        fields["id"],
        fields["sender"],
        (to,) if isinstance(to, str) else tuple(to),
        tuple(after),
        **rest,
    )


def _recorded(events: Iterable[Event]) -> Iterator[Send]:
    """In the order of each process: a send depends on the previous one and on deliveries since."""
    run: str | None = None
    by_process: dict[str, list[Event]] = {}
    for event in events:
        if run is None:
            run = event.run
        elif event.run != run:
            raise ScenarioError(
                f"the trace holds several runs ({run!r}, {event.run!r}); give one of them"
            )
        if event.kind in ("send", "deliver"):
            by_process.setdefault(event.process, []).append(event)
    for process in sorted(by_process):
        causes: dict[str, int] = {}  # id -> when it happened here
        for event in sorted(by_process[process], key=lambda event: event.seq):
            name = f"{event.sender}#{event.mid}"
            if event.kind == "deliver":
                if event.sender != process:
                    causes[name] = event.time_ns
                continue
            pause = event.time_ns - max(causes.values()) if causes else 0
            yield Send(
                name,
                process,
                event.to or (),
                tuple(causes),
                at_ns=0 if causes else max(0, event.time_ns),
                pause_ns=max(0, pause),
                payload_bytes=event.payload_bytes,
            )
            causes = {name: event.time_ns}
