"""The page of a diagram: what it shows, and that mouse, keys and fingers do what they should."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand.report.diagram.build import build
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import Shown, show, simulated

WHITE = (255, 255, 255)


@pytest.fixture
def shown(open_page: Pages, tmp_path: Path) -> Shown:
    """A small run with losses, held and buffered messages, all of it in sight."""
    diagram = simulated(protocol="hybrid", messages=6, interval="20ms", loss=0.15, seed=4)[1]
    assert {bar.kind for bar in diagram.bars} == {"held", "buffered"}
    assert {arrow.kind for arrow in diagram.arrows} == {"message", "control"}
    assert any(arrow.end is None for arrow in diagram.arrows)
    opened = show(open_page, tmp_path, diagram)
    opened.ask("diagram.fit()")
    opened.settle()
    return opened


def first_of(shown: Shown, kind: str) -> int:
    """The first mark of a kind."""
    return next(n for n, mark in enumerate(shown.diagram.marks) if mark.kind == kind)


def test_something_is_drawn_and_named(shown: Shown) -> None:
    """The canvas has ink, the page a title, and the line above says how much there is."""
    marks, diagram = shown.ask("diagram.stats()")["marks"], shown.diagram
    assert len(diagram.marks) >= marks > len(diagram.marks) / 2
    assert shown.ink() > 20
    assert shown.page.title() == f"{diagram.run}: space-time diagram"
    assert shown.status().startswith(f"4 processes, 24 messages, {len(diagram.marks)} events.")
    assert "noscript" in shown.page.content()


def test_pointing_tells_of_the_message(shown: Shown) -> None:
    """Over a delivery, the tooltip has the message's name, ends, size, times and how long it waited."""
    shown.page.get_by_role("button", name="Draw by order").click()  # by time, two may coincide
    shown.ask("diagram.fit()")
    waited = next(bar for bar in shown.diagram.bars if bar.kind == "buffered")
    assert waited.end is not None
    point = shown.where(waited.end)
    shown.page.mouse.move(point["x"], point["y"])
    message = shown.diagram.messages[waited.message]
    sender, receiver = (shown.diagram.labels[n] for n in (message.sender, (message.to or ())[0]))
    tip = shown.tip()
    assert tip.startswith(f"{sender}#{message.mid} {receiver} delivers {sender}#{message.mid} at ")
    assert f"from {sender} to {receiver} size {message.payload_bytes} bytes and " in tip
    assert "to released received delivered waited" in tip and tip.endswith("ms")
    assert shown.ask("document.getElementById('diagram').dataset.pointed") == str(waited.message)
    shown.page.mouse.move(point["x"], 5)
    assert not shown.page.locator(".diagram-tip").is_visible()


def test_clicking_again_reaches_messages_at_the_same_place(shown: Shown) -> None:
    """Two deliveries at the same moment: the tooltip says so, and clicks go from one to the other."""
    marks = list(enumerate(shown.diagram.marks))
    one, two = next(
        (n, m)
        for n, mark in marks
        for m, other in marks[n + 1 :]
        if (mark.kind, mark.process, mark.time_ns) == ("deliver", other.process, other.time_ns)
        and other.kind == "deliver"
    )
    assert shown.where(one) == shown.where(two)
    shown.click(one)
    assert "1 other message at the same point: click again" in shown.tip()
    first = shown.ask("diagram.selection()")["message"]
    shown.click(one)
    second = shown.ask("diagram.selection()")["message"]
    assert {first, second} == {shown.diagram.marks[one].message, shown.diagram.marks[two].message}


def test_pointing_at_an_arrow_or_a_control_frame(shown: Shown) -> None:
    """In the middle of an arrow its message is meant; a control frame says its kind and its ends."""
    diagram = shown.diagram
    lengths = {
        n: abs(diagram.marks[arrow.start].process - diagram.marks[arrow.end].process)
        for n, arrow in enumerate(diagram.arrows)
        if arrow.end is not None
    }
    tips = {}
    for kind in ("message", "control"):
        for n in (n for n in lengths if diagram.arrows[n].kind == kind and lengths[n] == 1):
            arrow = diagram.arrows[n]
            assert arrow.end is not None
            start, end = shown.where(arrow.start), shown.where(arrow.end)
            shown.page.mouse.move((start["x"] + end["x"]) / 2, (start["y"] + end["y"]) / 2)
            start_mark = diagram.marks[arrow.start]
            names = [
                diagram.labels[process] for process in (start_mark.process, start_mark.peer or 0)
            ]
            tips[kind] = (shown.tip(), start_mark, names)
            break
    tip, mark, _ = tips["message"]
    assert mark.message is not None
    message = diagram.messages[mark.message]
    assert tip.startswith(f"{diagram.labels[message.sender]}#{message.mid} from ")
    tip, mark, names = tips["control"]
    assert tip.startswith(
        f"{mark.detail} from {names[0]} to {names[1]} size {mark.meta_bytes} bytes"
    )


def test_wheel_buttons_and_drag_change_the_view(shown: Shown) -> None:
    """The wheel zooms around the pointer, a drag moves, Fit shows all again; a drag selects nothing."""
    whole = shown.view()
    point = shown.where(first_of(shown, "deliver"))
    mouse = shown.page.mouse
    mouse.move(point["x"], point["y"])
    mouse.wheel(0, -700)
    shown.settle()
    zoomed = shown.view()
    assert zoomed[1] - zoomed[0] < (whole[1] - whole[0]) / 2
    moved = shown.where(first_of(shown, "deliver"))
    assert abs(moved["x"] - point["x"]) < 1.5 and moved["y"] == point["y"]
    mouse.down()
    mouse.move(point["x"] - 200, point["y"], steps=4)
    mouse.up()
    dragged = shown.view()
    assert dragged[0] > zoomed[0] and shown.ask("diagram.selection()")["message"] == -1
    assert dragged[1] - dragged[0] == pytest.approx(zoomed[1] - zoomed[0])
    shown.page.get_by_role("button", name="Zoom out").click()
    assert shown.view()[1] - shown.view()[0] > dragged[1] - dragged[0]
    shown.page.get_by_role("button", name="Show all of it").click()
    assert shown.view() == whole
    mouse.dblclick(point["x"], point["y"])
    assert shown.view()[1] - shown.view()[0] < whole[1] - whole[0]


def test_keys_do_all_of_it(shown: Shown) -> None:
    """Without a mouse: zoom, move, go from message to message, select and let go; Tab goes on."""
    whole, press = shown.view(), shown.page.keyboard.press
    shown.page.locator("canvas[role=application]").focus()
    press("+")
    press("+")
    near = shown.view()
    assert near[1] - near[0] < (whole[1] - whole[0]) * 0.6
    press("ArrowRight")
    assert shown.view()[0] > near[0]
    press("Home")
    assert shown.view() == whole
    press("n")
    press("n")
    sends = [(mark.time_ns, mark.process) for mark in shown.diagram.marks if mark.kind == "send"]
    second = next(
        n
        for n, message in enumerate(shown.diagram.messages)
        if message.send is not None
        and (shown.diagram.marks[message.send].time_ns, message.sender) == sorted(sends)[1]
    )
    assert shown.ask("document.getElementById('diagram').dataset.pointed") == str(second)
    press("Enter")
    assert shown.ask("diagram.selection()")["message"] == second
    press("Escape")
    assert shown.ask("diagram.selection()")["message"] == -1
    press("Tab")
    assert shown.ask("document.activeElement.tagName") != "CANVAS"


def test_toggles_and_axes(shown: Shown) -> None:
    """Bars, control frames and names come and go; by order, the axis counts events."""
    before = shown.ask("diagram.stats()")
    assert before["bars"] > 0
    for name in ("Bars", "Acks", "Names"):
        button = shown.page.locator(".diagram-bar button", has_text=name)
        assert button.get_attribute("aria-pressed") == "true"
        button.click()
        assert button.get_attribute("aria-pressed") == "false"
    shown.settle()
    after = shown.ask("diagram.stats()")
    assert after["bars"] == 0 < after["arrows"] < before["arrows"]
    shown.page.get_by_role("button", name="Draw by order").click()
    shown.ask("diagram.fit()")
    assert shown.view()[1] == pytest.approx(max(m.order for m in shown.diagram.marks), rel=0.05)


def test_search_finds_messages_and_processes(shown: Shown) -> None:
    """A name selects a message and brings it into sight; what is not there is said."""
    search = shown.page.get_by_role("searchbox")
    shown.ask("diagram.see(0, 1000)")
    search.fill("p2#5")
    search.press("Enter")
    selected = shown.diagram.messages[shown.ask("diagram.selection()")["message"]]
    assert (shown.diagram.labels[selected.sender], selected.mid) == ("p2", 5)
    low, high = shown.view()
    assert selected.send is not None
    assert low < shown.diagram.marks[selected.send].time_ns < high
    search.fill("p2#77")
    search.press("Enter")
    assert shown.status() == "Nothing here is called p2#77."


def test_selection_is_also_told_as_text(shown: Shown) -> None:
    """The table has every event of the selected message, in words."""
    shown.page.locator("summary", has_text="As text").click()
    message = next(bar.message for bar in shown.diagram.bars if bar.kind == "held")
    shown.select(message)
    text = shown.page.locator(".diagram-text table").inner_text()
    events = [mark for mark in shown.diagram.marks if mark.message == message]
    assert {mark.kind for mark in events} >= {"send", "hold", "release", "receive", "deliver"}
    for word in ("causal-sends", "holds", "releases", "receives", "delivers"):
        assert word in text
    assert shown.page.locator(".diagram-text tbody tr").count() >= len(events)


def test_theme_and_print_redraw(open_page: Pages, tmp_path: Path) -> None:
    """Page and marks are dark with the page, light after the switch, and in print always light."""
    shown = show(open_page, tmp_path, simulated(protocol="raw", messages=3)[1], dark=True)
    send = first_of(shown, "send")

    def colours() -> list[tuple[int, int, int]]:
        shown.settle()  # the window of a print is laid out anew
        point = shown.where(send)
        return shown.pixels({"x": 30.0, "y": point["y"] + 15}, point)

    dark = colours()
    assert max(dark[0]) < 40
    shown.page.emulate_media(media="print")
    printed = colours()
    shown.page.emulate_media(media="screen")
    assert colours() == dark
    shown.page.locator("[data-theme-switch]").click()
    light = colours()
    assert printed == light and light[0] == WHITE and light[1] != dark[1]


def test_fingers_on_a_phone(open_page: Pages, tmp_path: Path) -> None:
    """A tap selects, two fingers zoom, a finger that goes up or down is left to the page."""
    diagram = simulated(protocol="raw", messages=4)[1]
    shown = show(open_page, tmp_path, diagram, phone=True)
    page = shown.page
    assert shown.ask("document.documentElement.scrollWidth") <= 390
    shown.ask("diagram.fit()")
    mark = first_of(shown, "deliver")
    point = shown.where(mark)
    page.touchscreen.tap(point["x"], point["y"])
    assert shown.ask("diagram.selection()")["message"] == diagram.marks[mark].message
    action = "getComputedStyle(document.querySelector('canvas[role=application]')).touchAction"
    assert shown.ask(action) == "pan-y"
    before = shown.view()
    hand = page.context.new_cdp_session(page)

    def fingers(kind: str, *xs: float) -> None:
        points = [{"x": x, "y": 400, "id": n} for n, x in enumerate(xs)]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 200, 260)
    for spread in (20, 40, 60):
        fingers("touchMove", 200 - spread, 260 + spread)
    fingers("touchEnd")
    after = shown.view()
    assert after[1] - after[0] < (before[1] - before[0]) * 0.7


def test_several_diagrams_on_a_page_come_and_go(shown: Shown) -> None:
    """Any element can have one, also a hidden one; a wheel over it is the page's; it leaves nothing."""
    shown.ask("""() => {
      const data = JSON.parse(document.getElementById("diagram-data").textContent);
      const section = document.createElement("section");
      section.hidden = true;
      section.append(document.createElement("div"));
      document.getElementById("diagram").replaceWith(section);
      window.second = BeforehandDiagram.mount(section.firstChild, { ...data, selected: 2 });
    }""")
    assert shown.ask("second.stats()")["drawn"] == 0
    shown.page.locator("section").evaluate("section => { section.hidden = false; }")
    shown.settle()
    assert shown.ask("second.stats()")["drawn"] > 100
    box = shown.page.locator(".diagram-stage").bounding_box()
    assert box and 200 < box["height"] <= 0.7 * 900 + 2
    assert shown.ask("second.selection()")["message"] == 2
    shown.page.mouse.move(600, 300)
    before = shown.ask("second.view()")
    shown.page.mouse.wheel(0, -300)
    shown.settle()
    assert shown.ask("second.view()") == before
    shown.page.mouse.click(600, 300)
    shown.page.mouse.wheel(0, -300)
    shown.settle()
    assert shown.ask("second.view()") != before
    assert (
        shown.ask("() => { second.destroy(); return document.querySelectorAll('canvas').length; }")
        == 0
    )


def test_a_trace_of_sends_and_deliveries_only(open_page: Pages, tmp_path: Path) -> None:
    """Logs of other systems have no more; a delivery whose sending is not there is told as such."""
    rows = [("a", 1, "send", "a", 1, ("b",)), ("b", 1, "deliver", "a", 1, None)]
    rows += [("b", 2, "deliver", "c", 7, None), ("b", 3, "send", "b", 1, ("a",))]
    events = [
        Event("r", process, seq, kind, sender, mid, to, 1000 * seq, 1, 0)
        for process, seq, kind, sender, mid, to in rows
    ]
    shown = show(open_page, tmp_path, build(events))
    statuses = [selection["status"] for selection in shown.selections()]
    assert sorted(statuses) == [
        "a#1: 0 messages before it, 1 after it, 0 concurrent",
        "b#1: 2 messages before it, 0 after it, 0 concurrent",
        "c#7: 1 message after it; its sending is not shown here",
    ]
