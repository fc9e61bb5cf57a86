"""What a user may specify about the files: format, columns, patterns of their lines."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from beforehand.errors import PipelineError
from beforehand.pipeline.ingest.read.values import UNITS

AUTO: Final = "auto"
FORMATS: Final = ("trace", "otlp", "jaeger", "zipkin", "span-csv", "shiviz", "list", "graph")

SPAN_COLUMNS: Final = ("trace", "span", "parent", "process", "start", "end", "duration")
LIST_COLUMNS: Final = ("sender", "receiver", "time", "bytes")
_TIMES: Final = ("start", "end", "duration", "time")
_JAVASCRIPT_GROUP: Final = re.compile(r"\(\?<(?=[A-Za-z_])")


class SourceColumn(NamedTuple):
    """Where a value comes from: a column by its title or number, and the unit of a time."""

    name: str
    unit: str | None = None


@dataclass(frozen=True)
class Options:
    """How to read the files; options that make no sense raise PipelineError."""

    format: str = AUTO
    columns: Mapping[str, SourceColumn] = field(default_factory=dict)
    pattern: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        if self.format != AUTO and self.format not in FORMATS:
            raise PipelineError(f"`format` {self.format!r}: there is {', '.join((AUTO, *FORMATS))}")
        named = set(self.columns)
        if named & set(SPAN_COLUMNS) and named & set(LIST_COLUMNS):
            raise PipelineError(
                f"`columns` names columns of spans ({', '.join(SPAN_COLUMNS)}) and of lists "
                f"({', '.join(LIST_COLUMNS)}); ingest the two kinds of files one after the other"
            )
        if self.maps_spans and not (
            named >= {"trace", "span", "parent", "process", "start"} and named & {"end", "duration"}
        ):
            raise PipelineError(
                "`columns` for spans needs trace, span, parent, process, start, and end or duration; "
                f"it has {', '.join(sorted(named))}"
            )
        if self.pattern is not None:
            missing = {"host", "clock"} - set(compiled(self.pattern, "pattern").groupindex)
            if missing:
                raise PipelineError(
                    f"`pattern` {self.pattern!r} has no group {' and '.join(sorted(missing))}; "
                    r"write it like (?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
                )
        if self.delimiter is not None:
            compiled(self.delimiter, "delimiter")

    @property
    def maps_spans(self) -> bool:
        """Whether the columns are those of spans."""
        return bool(set(self.columns) & set(SPAN_COLUMNS))


def columns_of(texts: Iterable[str]) -> dict[str, SourceColumn]:
    """Columns from text, each like `start=began:us`; several separated by commas."""
    columns: dict[str, SourceColumn] = {}
    for text in (part for group in texts for part in group.split(",")):
        ours, equals, theirs = text.partition("=")
        ours = ours.strip()
        if not equals or not theirs.strip():
            raise PipelineError(
                f"`columns` {text!r}: write it like trace=TraceID or start=began:us"
            )
        if ours not in (*SPAN_COLUMNS, *LIST_COLUMNS):
            raise PipelineError(
                f"`columns` {text!r}: there is {', '.join(SPAN_COLUMNS)} for spans, and "
                f"{', '.join(LIST_COLUMNS)} for lists"
            )
        if ours in columns:
            raise PipelineError(f"`columns` {text!r}: {ours} is named twice")
        name, colon, unit = theirs.strip().rpartition(":")
        if not colon:
            name, unit = unit, ""
        if (colon and unit not in UNITS) or (unit and ours not in _TIMES):
            raise PipelineError(
                f"`columns` {text!r}: a time may have one of the units {', '.join(UNITS)}, "
                "and other columns have none"
            )
        columns[ours] = SourceColumn(name, unit or None)
    return columns


def compiled(pattern: str, what: str) -> re.Pattern[str]:
    """A regular expression; named groups may be in the syntax of Python or of JavaScript."""
    try:
        return re.compile(_JAVASCRIPT_GROUP.sub("(?P<", pattern), re.MULTILINE)
    except re.error as problem:
        raise PipelineError(
            f"`{what}` {pattern!r} is not a regular expression ({problem})"
        ) from None
