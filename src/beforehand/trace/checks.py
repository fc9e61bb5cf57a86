"""Validation of events: one at a time, or a table of them at once.

There is one set of rules. Each is about one field, or about a few facts of a row (`RowFacts`). So for a
table it is enough to check the distinct values and facts, which are few.
"""

from collections.abc import Sequence
from itertools import chain
from operator import eq
from typing import Any, Final, NamedTuple

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, TraceError
from beforehand.trace.schema import ABOUT_A_MESSAGE, ABOUT_A_PEER, KINDS, TO_ONE, VERSION, Event

# The columns of several events, in the order of the fields; not validated yet.
Table = Sequence[Sequence[Any]]

GREATEST: Final = 2**63 - 1  # integers have 64 bits in Parquet and in most other languages
_SHOWN: Final = 60  # characters of an invalid value to repeat in the error

# The least value of each number, and the remedy for a smaller or larger one.
_NUMBERS: Final = {
    "seq": (1, "number the events of each process 1, 2, 3, ..."),
    "mid": (
        1,
        "number the messages of each sender 1, 2, 3, ..., and leave it out if there is none",
    ),
    "time_ns": (-GREATEST, "give nanoseconds since an instant that fits, such as 1970"),
    "payload_bytes": (0, "give a count of bytes"),
    "meta_bytes": (0, "give a count of bytes"),
}


class RowFacts(NamedTuple):
    """What the rules about several fields depend on."""

    kind: str
    has_sender: bool
    at_sender: bool
    has_mid: bool
    receivers: int | None


def check(event: Event) -> Event:
    """Return the event if it is valid, otherwise raise TraceError with a remedy."""
    invalid = problem(event)
    if invalid is not None:
        run, process, seq, *_ = tuple[Any, ...](event)
        where = f"event {shown(seq)} of {shown(process)} in run {shown(run)}"
        raise TraceError(f"{where}: {invalid}")
    return event


def problem(event: Event) -> str | None:
    """What is wrong with an event, and the remedy; None if it is valid."""
    fields: tuple[Any, ...] = event  # compiled code would insist on the declared types
    run, process, seq, kind, sender, mid, to, time_ns, payload_bytes, meta_bytes, detail = fields
    return (
        _problem_of_text("run", run)
        or _problem_of_process("process", process)
        or _problem_of_number("seq", seq)
        or (None if sender is None else _problem_of_process("sender", sender))
        or (None if mid is None else _problem_of_number("mid", mid))
        or _problem_of_receivers(to)
        or _problem_of_number("time_ns", time_ns)
        or _problem_of_number("payload_bytes", payload_bytes)
        or _problem_of_number("meta_bytes", meta_bytes)
        or _problem_of_text("detail", detail)
        or _problem_of_kind(kind)
        or _problem_of_facts(
            RowFacts(
                kind,
                sender is not None,
                process == sender,
                mid is not None,
                None if to is None else len(to),
            )
        )
    )


def first_problem(table: Table) -> tuple[int, str] | None:
    """The first invalid row, counted from 0, and what is wrong with it; None if all are valid."""
    if not _suspicious(table):
        return None
    for row, fields in enumerate(zip(*table, strict=True)):
        invalid = problem(Event._make(fields))
        if invalid is not None:
            return row, invalid
    return None


def problem_of_version(version: object) -> str | None:
    """What is wrong with the version of a file; None if it can be read."""
    if type(version) is not int or version < 1:
        return f"the version {shown(version)} is not a number from 1 on; write {VERSION}"
    if version > VERSION:
        return (
            f"a trace of version {version}, and this reader knows versions up to {VERSION}; "
            "upgrade beforehand, or write the trace again with this version of it"
        )
    return None


def shown(value: object) -> str:
    """A value for an error message: short, and printable on any terminal."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _suspicious(table: Table) -> bool:
    """Whether any row may be invalid."""
    run, process, seq, kind, sender, mid, to, time_ns, payload_bytes, meta_bytes, detail = table
    mids = [number for number in mid if number is not None]
    numbers = dict(zip(_NUMBERS, (seq, mids, time_ns, payload_bytes, meta_bytes), strict=True))
    if any(_suspicious_numbers(name, column) for name, column in numbers.items()):
        return True
    try:
        groups = set(to)
        names = {*process, *sender, *chain.from_iterable(filter(None, groups))} - {None}
        if (
            any(_problem_of_text("run", text) for text in set(run))
            or any(_problem_of_text("detail", text) for text in set(detail))
            or any(_problem_of_kind(name) for name in set(kind))
            or any(_problem_of_receivers(group) for group in groups)
            or any(_problem_of_process("process", name) for name in names)
            or None in process
        ):
            return True
    except TypeError:  # an unhashable value is certainly not a string
        return True
    sizes = {group: None if group is None else len(group) for group in groups}
    at_sender = map(eq, process, sender)
    facts = zip(kind, map(bool, sender), at_sender, map(bool, mid), map(sizes.get, to), strict=True)
    return any(_problem_of_facts(RowFacts._make(row)) for row in set(facts))


def _suspicious_numbers(name: str, column: Sequence[Any]) -> bool:
    if not column:
        return False
    if set(map(type, column)) != {int}:
        return True
    return any(_problem_of_number(name, value) for value in (min(column), max(column)))


def _problem_of_text(field: str, value: object) -> str | None:
    if not isinstance(value, str):
        return f"`{field}` is {shown(value)}, not a string; write it in quotes, or leave it empty"
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return (
                f"`{field}` is {shown(value)}, with a lone surrogate that UTF-8 cannot express; "
                "decode it from its bytes with the right encoding first"
            )
    return None


def _problem_of_number(field: str, value: object) -> str | None:
    least, remedy = _NUMBERS[field]
    # type() and not isinstance(), because a bool is not a number here.
    if type(value) is not int:
        return f"`{field}` is {shown(value)}, not an integer; write it as a plain number"
    if value < least:
        return f"`{field}` is {shown(value)}, less than {least}; {remedy}"
    if value > GREATEST:
        return f"`{field}` is {shown(value)}, more than 64 bits can hold; {remedy}"
    return None


def _problem_of_process(field: str, name: object) -> str | None:
    try:
        check_process(name)
    except LocalProtocolError as error:
        return f"`{field}`: {error}"
    return None


def _problem_of_receivers(to: object) -> str | None:
    if to is None:
        return None
    if not isinstance(to, tuple):
        return f"`to` is {shown(to)}, not a list of names; write a single name as a list too"
    for name in to:
        if invalid := _problem_of_process("to", name):
            return invalid
    return None


def _problem_of_kind(kind: object) -> str | None:
    if not isinstance(kind, str) or kind not in KINDS:
        return f"`kind` is {shown(kind)}; it must be one of {', '.join(KINDS)}"
    return None


def _problem_of_facts(facts: RowFacts) -> str | None:
    """The rules about combinations of fields, each of which is valid on its own."""
    kind, has_sender, at_sender, has_mid, receivers = facts
    if kind in ABOUT_A_PEER and not has_sender:
        return f"`sender` is missing; for `{kind}` it must name a process"
    if kind in ABOUT_A_MESSAGE and not has_mid:
        return f"`mid` is missing; for `{kind}` it must be the number of the message"
    if kind == "send" and not at_sender:
        return (
            "`send` of a message whose `sender` is another process; "
            "write it at the sender, or use `release` for passing a message on"
        )
    if kind == "send" and receivers == 0:
        return "`to` is empty; name the receivers, or leave it out if everybody is one"
    if kind in TO_ONE and receivers != 1:
        has = "is missing" if receivers is None else f"has {receivers} names"
        return f"`to` {has}; for `{kind}` write one event per receiver, with its name"
    return None
