"""What a click highlights is the causal past and future of a message, as the oracle's history has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beforehand.causality.history import History
from beforehand.causality.ids import MessageId
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import messages, named, show, simulated

RUNS: dict[str, dict[str, Any]] = {
    "in order, with losses": {"protocol": "hybrid", "messages": 9, "loss": 0.2, "seed": 1},
    "out of order": {"protocol": "raw", "messages": 12, "duplicate": 0.2, "seed": 2},
    "broadcasts": {"protocol": "vector", "messages": 6, "workload": "broadcast:300", "seed": 3},
}


def history_of(events: list[Event]) -> History:
    """The causal-sends and deliveries of a trace, and nothing else of it."""
    history = History()
    everybody = sorted({event.process for event in events})
    for event in events:
        if event.kind == "send":
            history.send(event.process, event.to or everybody, event.mid)
        elif event.kind == "deliver":
            assert event.sender is not None and event.mid is not None
            history.deliver(event.process, MessageId(event.sender, event.mid))
    return history


def relations(history: History) -> dict[MessageId, tuple[set[MessageId], set[MessageId]]]:
    """Past and future of every message, by asking about every pair."""
    known = [MessageId(p, k + 1) for p in history.processes for k in range(history.sends(p))]
    before = {later: {m for m in known if history.happens_before(m, later)} for later in known}
    after = {first: {m for m in known if first in before[m]} for first in known}
    return {message: (before[message], after[message]) for message in known}


@pytest.mark.parametrize("fields", RUNS.values(), ids=list(RUNS))
def test_selection_is_the_past_and_future_of_the_oracle(
    open_page: Pages, tmp_path: Path, fields: dict[str, Any]
) -> None:
    """Every message of a run, selected by a program; some also by a click on one of their marks."""
    events, diagram = simulated(**fields)
    expected = relations(history_of(events))
    shown = show(open_page, tmp_path, diagram)
    concurrent = 0
    for number, selection in enumerate(shown.selections()):
        [name] = messages(diagram, [number])
        past, future = expected[name]
        assert selection["message"] == number
        assert messages(diagram, selection["past"]) == past, f"before {name} of {fields}"
        assert messages(diagram, selection["future"]) == future, f"after {name} of {fields}"
        others = len(expected) - 1 - len(past) - len(future)
        count = f"{len(past)} message{'' if len(past) == 1 else 's'}"
        status = f"{name}: {count} before it, {len(future)} after it, {others} concurrent"
        assert selection["status"] == status
        concurrent += others
    assert concurrent > len(expected) and any(past and future for past, future in expected.values())

    shown.page.get_by_role("button", name="Draw by order").click()  # there, no two marks coincide
    shown.ask("diagram.fit()")
    marks = [n for n, mark in enumerate(diagram.marks) if mark.kind in ("send", "deliver")]
    for number in marks[:: len(marks) // 6]:
        shown.click(number)
        selected = shown.ask("diagram.selection()")
        [name] = messages(diagram, [selected["message"]])
        assert selected["message"] == diagram.marks[number].message
        assert messages(diagram, selected["past"]) == expected[name][0]
        assert messages(diagram, selected["future"]) == expected[name][1]


def test_past_future_and_the_rest_are_drawn_differently(open_page: Pages, tmp_path: Path) -> None:
    """The marks of a past message have one colour, those of a future one another, others are faint."""
    events, diagram = simulated(protocol="rst", messages=4, interval="20ms", seed=5)
    expected = relations(history_of(events))
    name, (past, future) = max(expected.items(), key=lambda item: len(item[1][0]) * len(item[1][1]))
    others = set(expected) - past - future - {name}
    assert past and future and others
    shown = show(open_page, tmp_path, diagram)
    shown.ask("diagram.fit()")

    def drawn(group: set[MessageId]) -> set[tuple[int, int, int]]:
        sends = [diagram.messages[named(diagram, *message)].send for message in sorted(group)]
        return set(shown.pixels(*(shown.where(mark) for mark in sends if mark is not None)))

    [usual] = drawn(set(expected))
    shown.select(named(diagram, *name))
    [before], [after], [faint], [itself] = drawn(past), drawn(future), drawn(others), drawn({name})
    assert len({usual, before, after, faint, itself}) >= 4
    assert before != after and faint not in (before, after, itself)
    assert min(faint) > min(usual)  # nearer to the white of the page
    shown.page.keyboard.press("Tab")
    shown.select(None)
    assert drawn(past | future | others) == {usual}
