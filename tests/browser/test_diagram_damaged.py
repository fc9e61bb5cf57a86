"""Highlighting of causal past and future in logs with gaps, wrong clocks, several or partial runs.

The expected result is computed from the marks by the definition of happens-before: whatever a process
knows when it causal-sends a message happens before that message, and the relation is transitive.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from beforehand import protocols
from beforehand.report.bundle import as_json
from beforehand.report.diagram.build import build
from beforehand.report.diagram.columns import columns
from beforehand.report.diagram.model import Diagram
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import show
from tests.simulator.traced_run import traced, traffic_for

# Mount another diagram, select its messages in turn, and return their pasts and futures.
SELECTED = """data => {
  const element = document.createElement("div");
  document.body.append(element);
  const diagram = BeforehandDiagram.mount(element, data);
  const selections = { first: diagram.selection().message, all: [] };
  for (const message of data.messages.sender.keys()) {
    diagram.select(message);
    const { past, future } = diagram.selection();
    selections.all.push([past, future, element.querySelector(".diagram-status").textContent]);
  }
  diagram.destroy();
  element.remove();
  return selections;
}"""


def futures(diagram: Diagram) -> list[set[int]]:
    """Return the messages after each message: a brute-force transitive closure."""
    effects: list[set[int]] = [set() for _ in diagram.messages]
    known: dict[int, set[int]] = {}  # by each process, so far
    for mark in diagram.marks:  # sorted by process and seq
        if mark.message is None or mark.kind not in ("send", "deliver"):
            continue
        own = known.setdefault(mark.process, set())
        if mark.kind == "send":
            for before in own:
                effects[before].add(mark.message)
        own.add(mark.message)
    for middle in range(len(effects)):
        for after in effects:
            if middle in after:
                after |= effects[middle]
    return effects


def damaged(events: list[Event], random: Random) -> list[Event]:
    """Return the events shuffled, with random gaps, clock skew, missing logs and another run."""
    if random.random() < 0.6:
        lost = random.uniform(0.02, 0.3)
        events = [event for event in events if random.random() > lost]
    if random.random() < 0.6:
        skew = {event.process: random.randint(-(10**7), 10**7) for event in events}
        events = [event._replace(time_ns=event.time_ns + skew[event.process]) for event in events]
    if random.random() < 0.3:
        missing = random.choice(sorted({event.process for event in events}))
        events = [event for event in events if event.process != missing]
    if random.random() < 0.3:
        events = [event for event in events if event.kind in ("send", "deliver")]
    other = [event._replace(run="other") for event in events[::2]]
    return random.sample([*events, *other], len(events) + len(other))


def damaged_diagram(seed: int) -> Diagram:
    """Build a diagram of a damaged log, possibly around a message; the seed selects the protocol."""
    random = Random(seed)
    protocol = protocols.names()[seed % len(protocols.names())]
    fields: dict[str, Any] = {"processes": 4, "messages": 6, "interval": "3ms", "seed": seed}
    if protocol in ("hybrid", "raw", "fifo"):
        fields |= {"loss": 0.2, "duplicate": 0.2}
    run, events = traced(protocol=protocol, **fields | traffic_for(protocol))
    events = damaged(events, random)
    around = None
    if random.random() < 0.5:
        event = random.choice([event for event in events if event.kind in ("send", "deliver")])
        assert event.sender is not None and event.mid is not None
        around = event.sender, event.mid
    most = random.choice((40, 20_000))
    return build(events, run=run.scenario.digest(), around=around, most=most)


def test_past_and_future_match_the_definition(open_page: Pages, tmp_path: Path) -> None:
    """For every message, in logs of all protocols with all kinds of damage."""
    page = show(open_page, tmp_path, damaged_diagram(0)).page
    related = notes = 0
    for seed in range(len(protocols.names()) + 3):
        diagram = damaged_diagram(seed)
        selected = page.evaluate(SELECTED, json.loads(as_json(columns(diagram))))
        after = futures(diagram)
        assert selected["first"] == (-1 if diagram.selected is None else diagram.selected)
        for message, (past, future, status) in enumerate(selected["all"]):
            before = {other for other, effects in enumerate(after) if message in effects}
            assert set(future) == after[message], f"after {message}, {seed=}: {status}"
            assert set(past) == before, f"before {message}, {seed=}: {status}"
            related += len(past) * len(future)
        notes += "missing" in diagram.note
    assert related > 1000 and notes > 3


def test_a_log_that_contradicts_itself(open_page: Pages, tmp_path: Path) -> None:
    """Two messages precede each other: it is drawn and noted, and no count is negative."""
    rows = [("a", "deliver", "b"), ("a", "send", "a"), ("b", "deliver", "a"), ("b", "send", "b")]
    events = [
        Event("r", process, 1 + n % 2, kind, sender, 1, None, 0, 0, 0)
        for n, (process, kind, sender) in enumerate(rows)
    ]
    page = show(open_page, tmp_path, build(events))
    assert "contradicts itself" in page.diagram.note
    for selection in page.selections():
        assert set(selection["past"]) == set(selection["future"]) == {0, 1}, "a cycle"
        assert "-" not in selection["status"]


def test_a_container_that_is_too_narrow(open_page: Pages, tmp_path: Path) -> None:
    """Narrower than the names, as while a window is resized: nothing fails, and it recovers."""
    page = show(open_page, tmp_path, damaged_diagram(0))
    for width in ("2px", "40px", "800px"):
        page.evaluate("width => { document.getElementById('diagram').style.width = width; }", width)
        page.settle()
    assert page.evaluate("diagram.stats()")["marks"] > 0
