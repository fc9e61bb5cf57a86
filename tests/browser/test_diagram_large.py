"""A diagram of 20,000 events: it opens, and a part of it costs what the part holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from beforehand.report.diagram.build import build
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import show

PROCESSES, MESSAGES = 8, 5_000


def large(messages: int = MESSAGES) -> list[Event]:
    """A message every 100 ns, from each in turn to each in turn, and four events for each."""
    rows = []
    for number in range(messages):
        turn, sender = divmod(number, PROCESSES)
        receiver = (sender + 1 + turn % (PROCESSES - 1)) % PROCESSES
        steps = [("send", sender, 0), ("release", sender, 40)]
        steps += [("receive", receiver, 300), ("deliver", receiver, 330)]
        for kind, process, later in steps:
            to = (f"n{receiver}",) if process == sender else None
            rows.append((number * 100 + later, f"n{process}", kind, f"n{sender}", turn + 1, to))
    seen: Counter[str] = Counter()
    events = []
    for time, name, kind, origin, mid, to in sorted(rows, key=lambda row: row[0]):
        seen[name] += 1
        events.append(Event("large", name, seen[name], kind, origin, mid, to, time, 8, 2))
    return events


def test_twenty_thousand_events(open_page: Pages, tmp_path: Path) -> None:
    """Nearly everything leaves ink in the whole view; a hundredth of the axis draws a hundredth."""
    diagram = build(large())
    assert len(diagram.marks) == 20_000 and not diagram.note
    shown = show(open_page, tmp_path, diagram)
    begun = shown.ask("diagram.stats()")["drawn"]
    assert 0 < begun < 2_000, "it begins with a part that can be read"
    shown.ask("diagram.fit()")
    shown.settle()
    whole = shown.ask("diagram.stats()")
    assert 4_000 < whole["marks"] <= 20_000 and whole["arrows"] == 5_000
    assert shown.ink() > 20
    low, high = shown.view()
    middle, part_of = (low + high) / 2, (high - low) / 100
    shown.ask("([low, high]) => diagram.see(low, high)", [middle, middle + part_of])
    shown.settle()
    part = shown.ask("diagram.stats()")
    assert 0 < part["drawn"] < whole["drawn"] / 20
    assert 150 < part["marks"] < 300
    shown.select(MESSAGES - 1)
    assert len(shown.ask("diagram.selection()")["past"]) > MESSAGES * 0.9
