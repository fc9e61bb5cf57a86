"""Logs for ShiViz: text with a vector clock in JSON at each event.

A regular expression matches an event. ShiViz has a default and lets users write their own; without
one, the layouts below are tried and the one that matches most of the file is used. Several executions
in one file are separated by a delimiter.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final

from beforehand.pipeline.ingest.read.lines import lines_of
from beforehand.pipeline.ingest.read.options import Options, compiled
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row, RowError
from beforehand.pipeline.ingest.read.values import integer, process

# The layouts to try, by their descriptions; the first is ShiViz's default.
LAYOUTS: Final = {
    "event, then host and clock": r"^(?P<event>.*)\n(?P<host>\S*) (?P<clock>\{.*\})[ \t]*$",
    "host and clock, then event": r"^(?P<host>\S+) (?P<clock>\{.*\})[ \t]*\n(?P<event>.*)$",
    "host, clock and event in one line": (
        r"^(?:.*[\s/\[])?(?P<host>[^\s/\[\]{}]+)\]?[ \t]+(?P<clock>\{.*?\})[ \t]*(?P<event>.*)$"
    ),
}
_LineAt = Callable[[int], int]  # line number of an offset
CLOCK: Final = re.compile(r'\{\s*"[^"\n]*"\s*:\s*[0-9]+\s*[,}]')


def read_shiviz(data: bytes, options: Options) -> Iterator[Row | BadRow]:
    """The events of a file, each with the execution that it belongs to."""
    text, undecodable = _text(data)
    yield from undecodable
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line_at(offset: int) -> int:
        return bisect_right(starts, offset)

    pattern = compiled(options.pattern or LAYOUTS[layout_of(data)], "pattern")
    matched = False
    for label, start, end in _executions(text, options.delimiter):
        at = start
        for match in pattern.finditer(text, start, end):
            yield from _unmatched(text, at, match.start(), line_at)
            at = match.end()
            if match[0]:
                matched = True
                yield _event(match, line_at(match.start()), label)
        yield from _unmatched(text, at, end, line_at)
    if not matched and not undecodable:
        raise FileError("no event matches the pattern; describe an event with `pattern`")


def layout_of(data: bytes) -> str:
    """The layout that leaves the fewest lines of a log unmatched."""
    text, _ = _text(data)
    unmatched = {
        name: sum(
            1 for line in re.sub(pattern, "", text, flags=re.MULTILINE).split("\n") if line.strip()
        )
        for name, pattern in LAYOUTS.items()
    }
    return min(unmatched, key=unmatched.__getitem__)


def _text(data: bytes) -> tuple[str, list[BadRow]]:
    """The file as text, with an empty line for each that isn't text."""
    kept, bad = [], []
    for _, line in lines_of(data):
        if isinstance(line, BadRow):
            bad.append(line)
        kept.append("" if isinstance(line, BadRow) else line)
    return "\n".join(kept), bad


def _executions(text: str, delimiter: str | None) -> Iterator[tuple[str, int, int]]:
    """The label of each execution, empty before the first delimiter, and where it begins and ends."""
    if delimiter is None:
        yield "", 0, len(text)
        return
    start, label, number = 0, "", 0
    for match in compiled(delimiter, "delimiter").finditer(text):
        if not match[0]:
            continue
        if text[start : match.start()].strip():
            yield label, start, match.start()
        number += 1
        named = match.groupdict().get("trace")
        label = named.strip() if named and named.strip() else str(number)
        start = match.end()
    if text[start:].strip():
        yield label, start, len(text)


def _unmatched(text: str, start: int, end: int, line_at: _LineAt) -> Iterator[BadRow]:
    for line in re.finditer(r"[^\n]+", text[start:end]):
        if line[0].strip():
            yield BadRow(line_at(start + line.start()), line[0], "matches no event of the pattern")


def _event(match: re.Match[str], position: int, label: str) -> Row | BadRow:
    try:
        host = process(match["host"], "host")
        clock = _clock(match["clock"])
        if host not in clock:
            raise RowError(f"the clock has no entry for its own host {host!a}")
        if clock[host] < 1:
            raise RowError(
                f"the entry of its own host is {clock[host]}; hosts count their events from 1 on"
            )
        description = match.groupdict().get("event") or ""
        known = {name: count for name, count in clock.items() if count}
        fields = (host, known, description)
        return Row(position, match[0], fields, part=host, order=clock[host], label=label)
    except RowError as problem:
        return BadRow(position, match[0], str(problem))


def _clock(text: str) -> dict[str, int]:
    try:
        clock = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise RowError(f"the clock is not JSON ({problem})") from None
    if not isinstance(clock, dict):
        raise RowError("the clock isn't a JSON object")
    return {
        process(name, "a host of the clock"): integer(count, f"the entry of {name!a}", 0)
        for name, count in clock.items()
    }
