"""What the tables say, in words: for the terminal and for the recommendation of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

NANOSECONDS: Final = 10**9
_LONG: Final = (("days", 86_400), ("hours", 3_600), ("minutes", 60))
_SHORT: Final = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))

Row = Mapping[str, Any]


def title(row: Row) -> str:
    """How large a run is."""
    within = f" within {span(row['span_ns'])}" if row["span_ns"] else ""
    return (
        f"{row['run']}: {row['processes']:,} processes, {row['messages']:,} messages, "
        f"{row['copies']:,} copies{within}"
    )


def sentences(row: Row, flags: Sequence[Row]) -> list[str]:
    """What a row of the table of runs says, in words."""
    found = [_pace(row), _calls(row), _payload(row), _order(row)]
    if flags:
        found.append("flagged: " + ", ".join(f"{number(e['count'])} {e['flag']}" for e in flags))
    if row["before_cause"]:
        found.append(
            f"{row['before_cause']:,} messages have a time before that of one of their causes"
        )
    return [each for each in found if each]


def _pace(row: Row) -> str:
    if row["rate"] is None:
        return "the source tells no times, so there are no rates"
    text = (
        f"messages: {pace(row['rate'])}, at most {pace(row['peak_rate'])} within "
        f"{span(row['window_ns'])}"
    )
    if row["gap_cv"] is None:
        return text
    return text + (
        f"; times between sends: coefficient of variation {row['gap_cv']:.2f}, burstiness "
        f"{row['burstiness']:+.2f} (-1 regular, 0 random, +1 bursts)"
    )


def _calls(row: Row) -> str:
    if not row["requests"] and not row["replies"]:
        return "neither requests nor replies, as far as the source tells"
    text = f"{percent(row['replies'] / row['messages'])} of the messages are replies"
    if row["answered"] is not None and row["requests"]:
        text += f"; {percent(row['answered'] / row['requests'])} of the requests are answered"
    return text


def _payload(row: Row) -> str:
    if not row["payload_known"]:
        return "the source tells no payload sizes"
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


def span(nanoseconds: float) -> str:
    """A duration as people write it: 2 days, 15 ms."""
    for unit, size in _LONG:
        if nanoseconds >= 2 * size * NANOSECONDS:
            return f"{nanoseconds / size / NANOSECONDS:,.3g} {unit}"
    for unit, size in _SHORT:
        if nanoseconds >= size:
            return f"{nanoseconds / size:,.3g} {unit}"
    return "0 s"


def pace(per_second: float) -> str:
    """A rate in a unit that suits it: 12 per second, 3.5 per hour."""
    for unit, size in (("second", 1), ("minute", 60), ("hour", 3_600)):
        if per_second * size >= 1:
            return f"{number(per_second * size)} per {unit}"
    return f"{number(per_second * 86_400)} per day"


def number(value: float | None) -> str:
    """With three digits, or whole; a dash for what is not known."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.3g}"


def percent(share: float | None) -> str:
    """With three digits; close to all of it, with four."""
    if share is None:
        return "-"
    return f"{100 * share:.4g} %" if share > 0.99 else f"{100 * share:.3g} %"
