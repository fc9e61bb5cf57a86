"""Selecting a message highlights its causal past and future, as computed by the oracle's history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beforehand.causality.history import History
from beforehand.causality.ids import MessageId
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import message_ids, message_index, show, simulated

RUNS: dict[str, dict[str, Any]] = {
    "in order, with losses": {"protocol": "hybrid", "messages": 9, "loss": 0.2, "seed": 1},
    "out of order": {"protocol": "raw", "messages": 12, "duplicate": 0.2, "seed": 2},
    "broadcasts": {"protocol": "vector", "messages": 6, "workload": "broadcast:300", "seed": 3},
}


def history_of(events: list[Event]) -> History:
    """Build a history from the causal-sends and deliveries of a trace alone."""
    history = History()
    all_processes = sorted({event.process for event in events})
    for event in events:
        if event.kind == "send":
            history.send(event.process, event.to or all_processes, event.mid)
        elif event.kind == "deliver":
            assert event.sender is not None and event.mid is not None
            history.deliver(event.process, MessageId(event.sender, event.mid))
    return history


def relations(history: History) -> dict[MessageId, tuple[set[MessageId], set[MessageId]]]:
    """Return past and future of every message, by comparing every pair."""
    messages = [MessageId(p, k + 1) for p in history.processes for k in range(history.sends(p))]
    before = {
        later: {m for m in messages if history.happens_before(m, later)} for later in messages
    }
    after = {first: {m for m in messages if first in before[m]} for first in messages}
    return {message: (before[message], after[message]) for message in messages}


@pytest.mark.parametrize("fields", RUNS.values(), ids=list(RUNS))
def test_selection_is_the_past_and_future_of_the_oracle(
    open_page: Pages, tmp_path: Path, fields: dict[str, Any]
) -> None:
    """Every message is selected by script, and some also by a click on one of their marks."""
    events, diagram = simulated(**fields)
    expected = relations(history_of(events))
    diagram_page = show(open_page, tmp_path, diagram)
    concurrent = 0
    for number, selection in enumerate(diagram_page.selections()):
        [name] = message_ids(diagram, [number])
        past, future = expected[name]
        assert selection["message"] == number
        assert message_ids(diagram, selection["past"]) == past, f"before {name} of {fields}"
        assert message_ids(diagram, selection["future"]) == future, f"after {name} of {fields}"
        others = len(expected) - 1 - len(past) - len(future)
        count = f"{len(past)} message{'' if len(past) == 1 else 's'}"
        status = f"{name}: {count} before it, {len(future)} after it, {others} concurrent"
        assert selection["status"] == status
        concurrent += others
    assert concurrent > len(expected) and any(past and future for past, future in expected.values())

    # By order, no two marks coincide.
    diagram_page.page.get_by_role("button", name="Draw by order").click()
    diagram_page.evaluate("diagram.fit()")
    marks = [n for n, mark in enumerate(diagram.marks) if mark.kind in ("send", "deliver")]
    for number in marks[:: len(marks) // 6]:
        diagram_page.click(number)
        selected = diagram_page.evaluate("diagram.selection()")
        [name] = message_ids(diagram, [selected["message"]])
        assert selected["message"] == diagram.marks[number].message
        assert message_ids(diagram, selected["past"]) == expected[name][0]
        assert message_ids(diagram, selected["future"]) == expected[name][1]


def test_past_future_and_other_messages_are_drawn_differently(
    open_page: Pages, tmp_path: Path
) -> None:
    """Marks of past and future messages have distinct colours, and those of others are faint."""
    events, diagram = simulated(protocol="rst", messages=4, interval="20ms", seed=5)
    expected = relations(history_of(events))
    name, (past, future) = max(expected.items(), key=lambda item: len(item[1][0]) * len(item[1][1]))
    others = set(expected) - past - future - {name}
    assert past and future and others
    diagram_page = show(open_page, tmp_path, diagram)
    diagram_page.evaluate("diagram.fit()")

    def colours(group: set[MessageId]) -> set[tuple[int, int, int]]:
        sends = [
            diagram.messages[message_index(diagram, *message)].send for message in sorted(group)
        ]
        points = [diagram_page.where(mark) for mark in sends if mark is not None]
        return set(diagram_page.pixels(*points))

    [default] = colours(set(expected))
    diagram_page.select(message_index(diagram, *name))
    [before], [after], [faint], [itself] = (
        colours(past),
        colours(future),
        colours(others),
        colours({name}),
    )
    assert len({default, before, after, faint, itself}) >= 4
    assert before != after and faint not in (before, after, itself)
    assert min(faint) > min(default)  # closer to the white background
    diagram_page.page.keyboard.press("Tab")
    diagram_page.select(None)
    assert colours(past | future | others) == {default}
