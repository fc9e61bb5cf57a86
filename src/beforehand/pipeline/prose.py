"""The characteristics of a run as sentences, for the terminal and for the recommendation of a study."""

from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.results.format import duration, number, percent, rate

Row = Mapping[str, Any]


def title(row: Row) -> str:
    """The size of a run."""
    within = f" within {duration(row['span_ns'])}" if row["span_ns"] else ""
    return (
        f"{row['run']}: {row['processes']:,} processes, {row['messages']:,} messages, "
        f"{row['copies']:,} copies{within}"
    )


def sentences(row: Row, flags: Sequence[Row]) -> list[str]:
    """A row of the table of runs as sentences."""
    lines = [_rate(row), _calls(row), _payload(row), _order(row)]
    if flags:
        lines.append("flagged: " + ", ".join(f"{number(e['count'])} {e['flag']}" for e in flags))
    if row["before_cause"]:
        lines.append(
            f"{row['before_cause']:,} messages have a time before that of one of their causes"
        )
    return [line for line in lines if line]


def _rate(row: Row) -> str:
    if row["rate"] is None:
        return "the source has no times, so there are no rates"
    text = (
        f"messages: {rate(row['rate'])}, at most {rate(row['peak_rate'])} within "
        f"{duration(row['window_ns'])}"
    )
    if row["gap_cv"] is None:
        return text
    return text + (
        f"; times between sends: coefficient of variation {row['gap_cv']:.2f}, burstiness "
        f"{row['burstiness']:+.2f} (-1 regular, 0 random, +1 bursts)"
    )


def _calls(row: Row) -> str:
    if not row["requests"] and not row["replies"]:
        return "the source distinguishes no requests and replies"
    text = f"{percent(row['replies'] / row['messages'])} of the messages are replies"
    if row["answered"] is not None and row["requests"]:
        text += f"; {percent(row['answered'] / row['requests'])} of the requests are answered"
    return text


def _payload(row: Row) -> str:
    if not row["payload_known"]:
        return "the source has no payload sizes"
    return f"{percent(row['payload_known'] / row['messages'])} of the payload sizes are known"


def _order(row: Row) -> str:
    if row["note"]:
        return f"no chains and no concurrency: {row['note']}"
    share, pairs = percent(row["concurrent_share"]), row["pairs"]
    if not pairs:
        return ""
    if row["pairs"] == row["messages"] * (row["messages"] - 1) // 2:
        return f"{share} of all {pairs:,} pairs of messages are concurrent"
    return (
        f"about {share} of the pairs of messages are concurrent: {pairs:,} pairs were compared, "
        f"standard error {100 * row['standard_error']:.2g} percentage points"
    )
