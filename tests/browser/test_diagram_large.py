"""A diagram of 20,000 events: it opens, and the cost of a view depends on what is in it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from beforehand.report.diagram.build import build
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import show

PROCESSES, MESSAGES = 8, 5_000


def large_trace(messages: int = MESSAGES) -> list[Event]:
    """Return a trace with a message every 100 ns, round-robin, and four events per message."""
    rows = []
    for number in range(messages):
        round_number, sender = divmod(number, PROCESSES)
        receiver = (sender + 1 + round_number % (PROCESSES - 1)) % PROCESSES
        steps = [("send", sender, 0), ("release", sender, 40)]
        steps += [("receive", receiver, 300), ("deliver", receiver, 330)]
        for kind, process, delay in steps:
            to = (f"n{receiver}",) if process == sender else None
            rows.append(
                (number * 100 + delay, f"n{process}", kind, f"n{sender}", round_number + 1, to)
            )
    counts: Counter[str] = Counter()
    events = []
    for time, name, kind, origin, mid, to in sorted(rows, key=lambda row: row[0]):
        counts[name] += 1
        events.append(Event("large", name, counts[name], kind, origin, mid, to, time, 8, 2))
    return events


def test_twenty_thousand_events(open_page: Pages, tmp_path: Path) -> None:
    """The full view draws nearly everything; a hundredth of the axis draws about a hundredth."""
    diagram = build(large_trace())
    assert len(diagram.marks) == 20_000 and not diagram.note
    page = show(open_page, tmp_path, diagram)
    initial = page.evaluate("diagram.stats()")["drawn"]
    assert 0 < initial < 2_000, "the initial view is readable"
    page.evaluate("diagram.fit()")
    page.settle()
    full = page.evaluate("diagram.stats()")
    assert 4_000 < full["marks"] <= 20_000 and full["arrows"] == 5_000
    assert page.colour_count() > 20
    low, high = page.view()
    middle, width = (low + high) / 2, (high - low) / 100
    page.evaluate("([low, high]) => diagram.see(low, high)", [middle, middle + width])
    page.settle()
    part = page.evaluate("diagram.stats()")
    assert 0 < part["drawn"] < full["drawn"] / 20
    assert 150 < part["marks"] < 300
    page.select(MESSAGES - 1)
    assert len(page.evaluate("diagram.selection()")["past"]) > MESSAGES * 0.9
