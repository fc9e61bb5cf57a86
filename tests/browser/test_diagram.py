"""The page of a diagram: its content, and mouse, keyboard and touch input."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand.report.diagram.build import build
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import DiagramPage, show, simulated

WHITE = (255, 255, 255)


@pytest.fixture
def diagram_page(open_page: Pages, tmp_path: Path) -> DiagramPage:
    """A small run with losses, held and buffered messages, fully in view."""
    diagram = simulated(protocol="hybrid", messages=6, interval="20ms", loss=0.15, seed=4)[1]
    assert {bar.kind for bar in diagram.bars} == {"held", "buffered"}
    assert {arrow.kind for arrow in diagram.arrows} == {"message", "control"}
    assert any(arrow.end is None for arrow in diagram.arrows)
    page = show(open_page, tmp_path, diagram)
    page.evaluate("diagram.fit()")
    page.settle()
    return page


def first_of(diagram_page: DiagramPage, kind: str) -> int:
    """Return the first mark of a kind."""
    return next(n for n, mark in enumerate(diagram_page.diagram.marks) if mark.kind == kind)


def test_a_diagram_is_drawn_with_title_and_status(diagram_page: DiagramPage) -> None:
    """The canvas isn't empty, the page has a title, and the status line has the counts."""
    marks, diagram = diagram_page.evaluate("diagram.stats()")["marks"], diagram_page.diagram
    assert len(diagram.marks) >= marks > len(diagram.marks) / 2
    assert diagram_page.colour_count() > 20
    assert diagram_page.page.title() == f"{diagram.run}: space-time diagram"
    assert diagram_page.status().startswith(
        f"4 processes, 24 messages, {len(diagram.marks)} events."
    )
    assert "noscript" in diagram_page.page.content()


def test_the_tooltip_describes_the_message(diagram_page: DiagramPage) -> None:
    """Over a delivery, it has the message's name, ends, size, times and waiting time."""
    # By time, two marks may coincide.
    diagram_page.page.get_by_role("button", name="Draw by order").click()
    diagram_page.evaluate("diagram.fit()")
    waited = next(bar for bar in diagram_page.diagram.bars if bar.kind == "buffered")
    assert waited.end is not None
    point = diagram_page.where(waited.end)
    diagram_page.page.mouse.move(point["x"], point["y"])
    message = diagram_page.diagram.messages[waited.message]
    sender, receiver = (
        diagram_page.diagram.labels[n] for n in (message.sender, (message.to or ())[0])
    )
    tip = diagram_page.tip()
    assert tip.startswith(f"{sender}#{message.mid} {receiver} delivers {sender}#{message.mid} at ")
    assert f"from {sender} to {receiver} size {message.payload_bytes} bytes and " in tip
    assert "to released received delivered waited" in tip and tip.endswith("ms")
    pointed = diagram_page.evaluate("document.getElementById('diagram').dataset.pointed")
    assert pointed == str(waited.message)
    diagram_page.page.mouse.move(point["x"], 5)
    assert not diagram_page.page.locator(".diagram-tip").is_visible()


def test_clicking_again_selects_the_next_message_at_the_same_point(
    diagram_page: DiagramPage,
) -> None:
    """For simultaneous deliveries, the tooltip says so, and clicks alternate between them."""
    marks = list(enumerate(diagram_page.diagram.marks))
    one, two = next(
        (n, m)
        for n, mark in marks
        for m, other in marks[n + 1 :]
        if (mark.kind, mark.process, mark.time_ns) == ("deliver", other.process, other.time_ns)
        and other.kind == "deliver"
    )
    assert diagram_page.where(one) == diagram_page.where(two)
    diagram_page.click(one)
    assert "1 other message at the same point: click again" in diagram_page.tip()
    first = diagram_page.evaluate("diagram.selection()")["message"]
    diagram_page.click(one)
    second = diagram_page.evaluate("diagram.selection()")["message"]
    assert {first, second} == {
        diagram_page.diagram.marks[one].message,
        diagram_page.diagram.marks[two].message,
    }


def test_pointing_at_an_arrow_or_a_control_frame(diagram_page: DiagramPage) -> None:
    """An arrow shows the tooltip of its message; a control frame that of its kind and its ends."""
    diagram = diagram_page.diagram
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
            start, end = diagram_page.where(arrow.start), diagram_page.where(arrow.end)
            diagram_page.page.mouse.move((start["x"] + end["x"]) / 2, (start["y"] + end["y"]) / 2)
            start_mark = diagram.marks[arrow.start]
            names = [
                diagram.labels[process] for process in (start_mark.process, start_mark.peer or 0)
            ]
            tips[kind] = (diagram_page.tip(), start_mark, names)
            break
    tip, mark, _ = tips["message"]
    assert mark.message is not None
    message = diagram.messages[mark.message]
    assert tip.startswith(f"{diagram.labels[message.sender]}#{message.mid} from ")
    tip, mark, names = tips["control"]
    assert tip.startswith(
        f"{mark.detail} from {names[0]} to {names[1]} size {mark.meta_bytes} bytes"
    )


def test_wheel_buttons_and_drag_change_the_view(diagram_page: DiagramPage) -> None:
    """The wheel zooms around the pointer, a drag pans without selecting, and Fit shows everything."""
    full = diagram_page.view()
    point = diagram_page.where(first_of(diagram_page, "deliver"))
    mouse = diagram_page.page.mouse
    mouse.move(point["x"], point["y"])
    mouse.wheel(0, -700)
    diagram_page.settle()
    zoomed = diagram_page.view()
    assert zoomed[1] - zoomed[0] < (full[1] - full[0]) / 2
    moved = diagram_page.where(first_of(diagram_page, "deliver"))
    assert abs(moved["x"] - point["x"]) < 1.5 and moved["y"] == point["y"]
    mouse.down()
    mouse.move(point["x"] - 200, point["y"], steps=4)
    mouse.up()
    dragged = diagram_page.view()
    assert dragged[0] > zoomed[0] and diagram_page.evaluate("diagram.selection()")["message"] == -1
    assert dragged[1] - dragged[0] == pytest.approx(zoomed[1] - zoomed[0])
    diagram_page.page.get_by_role("button", name="Zoom out").click()
    assert diagram_page.view()[1] - diagram_page.view()[0] > dragged[1] - dragged[0]
    diagram_page.page.get_by_role("button", name="Show all of it").click()
    assert diagram_page.view() == full
    mouse.dblclick(point["x"], point["y"])
    assert diagram_page.view()[1] - diagram_page.view()[0] < full[1] - full[0]


def test_the_keyboard_can_do_everything(diagram_page: DiagramPage) -> None:
    """Zoom, pan, step through messages, select and deselect; Tab leaves the canvas."""
    full, press = diagram_page.view(), diagram_page.page.keyboard.press
    diagram_page.page.locator("canvas[role=application]").focus()
    press("+")
    press("+")
    zoomed = diagram_page.view()
    assert zoomed[1] - zoomed[0] < (full[1] - full[0]) * 0.6
    press("ArrowRight")
    assert diagram_page.view()[0] > zoomed[0]
    press("Home")
    assert diagram_page.view() == full
    press("n")
    press("n")
    sends = [
        (mark.time_ns, mark.process) for mark in diagram_page.diagram.marks if mark.kind == "send"
    ]
    second = next(
        n
        for n, message in enumerate(diagram_page.diagram.messages)
        if message.send is not None
        and (diagram_page.diagram.marks[message.send].time_ns, message.sender) == sorted(sends)[1]
    )
    pointed = diagram_page.evaluate("document.getElementById('diagram').dataset.pointed")
    assert pointed == str(second)
    press("Enter")
    assert diagram_page.evaluate("diagram.selection()")["message"] == second
    press("Escape")
    assert diagram_page.evaluate("diagram.selection()")["message"] == -1
    press("Tab")
    assert diagram_page.evaluate("document.activeElement.tagName") != "CANVAS"


def test_toggles_and_axes(diagram_page: DiagramPage) -> None:
    """Bars, control frames and names can be hidden; by order, the axis counts events."""
    before = diagram_page.evaluate("diagram.stats()")
    assert before["bars"] > 0
    for name in ("Bars", "Acks", "Names"):
        button = diagram_page.page.locator(".diagram-bar button", has_text=name)
        assert button.get_attribute("aria-pressed") == "true"
        button.click()
        assert button.get_attribute("aria-pressed") == "false"
    diagram_page.settle()
    after = diagram_page.evaluate("diagram.stats()")
    assert after["bars"] == 0 < after["arrows"] < before["arrows"]
    diagram_page.page.get_by_role("button", name="Draw by order").click()
    diagram_page.evaluate("diagram.fit()")
    last = max(mark.order for mark in diagram_page.diagram.marks)
    assert diagram_page.view()[1] == pytest.approx(last, rel=0.05)


def test_search_finds_messages_and_processes(diagram_page: DiagramPage) -> None:
    """A name selects a message and scrolls it into view; a name without a match is reported."""
    search = diagram_page.page.get_by_role("searchbox")
    diagram_page.evaluate("diagram.see(0, 1000)")
    search.fill("p2#5")
    search.press("Enter")
    selection = diagram_page.evaluate("diagram.selection()")
    selected = diagram_page.diagram.messages[selection["message"]]
    assert (diagram_page.diagram.labels[selected.sender], selected.mid) == ("p2", 5)
    low, high = diagram_page.view()
    assert selected.send is not None
    assert low < diagram_page.diagram.marks[selected.send].time_ns < high
    search.fill("p2#77")
    search.press("Enter")
    assert diagram_page.page.locator(".diagram-search output").inner_text() == "no match"


def test_the_selection_is_described_as_text(diagram_page: DiagramPage) -> None:
    """The table has every event of the selected message."""
    diagram_page.page.locator("summary", has_text="As text").click()
    message = next(bar.message for bar in diagram_page.diagram.bars if bar.kind == "held")
    diagram_page.select(message)
    text = diagram_page.page.locator(".diagram-text table").inner_text()
    events = [mark for mark in diagram_page.diagram.marks if mark.message == message]
    assert {mark.kind for mark in events} >= {"send", "hold", "release", "receive", "deliver"}
    for verb in ("causal-sends", "holds", "releases", "receives", "delivers"):
        assert verb in text
    assert diagram_page.page.locator(".diagram-text tbody tr").count() >= len(events)


def test_the_diagram_is_redrawn_for_theme_and_print(open_page: Pages, tmp_path: Path) -> None:
    """Dark with a dark page, light after the switch, and always light in print."""
    diagram_page = show(open_page, tmp_path, simulated(protocol="raw", messages=3)[1], dark=True)
    send = first_of(diagram_page, "send")

    def colours() -> list[tuple[int, int, int]]:
        diagram_page.settle()  # printing changes the layout
        point = diagram_page.where(send)
        return diagram_page.pixels({"x": 30.0, "y": point["y"] + 15}, point)

    dark = colours()
    assert max(dark[0]) < 40
    diagram_page.page.emulate_media(media="print")
    printed = colours()
    diagram_page.page.emulate_media(media="screen")
    assert colours() == dark
    diagram_page.page.locator("[data-theme-switch]").click()
    light = colours()
    assert printed == light and light[0] == WHITE and light[1] != dark[1]


def test_touch_input_on_a_phone(open_page: Pages, tmp_path: Path) -> None:
    """A tap selects, a pinch zooms, and vertical swipes scroll the page."""
    diagram = simulated(protocol="raw", messages=4)[1]
    diagram_page = show(open_page, tmp_path, diagram, phone=True)
    page = diagram_page.page
    assert diagram_page.evaluate("document.documentElement.scrollWidth") <= 390
    diagram_page.evaluate("diagram.fit()")
    mark = first_of(diagram_page, "deliver")
    point = diagram_page.where(mark)
    page.touchscreen.tap(point["x"], point["y"])
    assert diagram_page.evaluate("diagram.selection()")["message"] == diagram.marks[mark].message
    action = "getComputedStyle(document.querySelector('canvas[role=application]')).touchAction"
    assert diagram_page.evaluate(action) == "pan-y"
    before = diagram_page.view()
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *xs: float) -> None:
        points = [{"x": x, "y": 400, "id": n} for n, x in enumerate(xs)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 200, 260)
    for spread in (20, 40, 60):
        touch("touchMove", 200 - spread, 260 + spread)
    touch("touchEnd")
    after = diagram_page.view()
    assert after[1] - after[0] < (before[1] - before[0]) * 0.7


def test_diagrams_can_be_mounted_and_destroyed(diagram_page: DiagramPage) -> None:
    """In any element, even a hidden one; the wheel scrolls the page until the diagram is clicked."""
    diagram_page.evaluate("""() => {
      const data = JSON.parse(document.getElementById("diagram-data").textContent);
      const section = document.createElement("section");
      section.hidden = true;
      section.append(document.createElement("div"));
      document.getElementById("diagram").replaceWith(section);
      window.second = BeforehandDiagram.mount(section.firstChild, { ...data, selected: 2 });
    }""")
    assert diagram_page.evaluate("second.stats()")["drawn"] == 0
    diagram_page.page.locator("section").evaluate("section => { section.hidden = false; }")
    diagram_page.settle()
    assert diagram_page.evaluate("second.stats()")["drawn"] > 100
    box = diagram_page.page.locator(".diagram-stage").bounding_box()
    assert box and 200 < box["height"] <= 0.7 * 900 + 2
    assert diagram_page.evaluate("second.selection()")["message"] == 2
    diagram_page.page.mouse.move(600, 300)
    before = diagram_page.evaluate("second.view()")
    diagram_page.page.mouse.wheel(0, -300)
    diagram_page.settle()
    assert diagram_page.evaluate("second.view()") == before
    diagram_page.page.mouse.click(600, 300)
    diagram_page.page.mouse.wheel(0, -300)
    diagram_page.settle()
    assert diagram_page.evaluate("second.view()") != before
    assert (
        diagram_page.evaluate(
            "() => { second.destroy(); return document.querySelectorAll('canvas').length; }"
        )
        == 0
    )


def test_a_trace_of_sends_and_deliveries_only(open_page: Pages, tmp_path: Path) -> None:
    """As in logs of other systems; a delivery without its send is described as such."""
    rows = [("a", 1, "send", "a", 1, ("b",)), ("b", 1, "deliver", "a", 1, None)]
    rows += [("b", 2, "deliver", "c", 7, None), ("b", 3, "send", "b", 1, ("a",))]
    events = [
        Event("r", process, seq, kind, sender, mid, to, 1000 * seq, 1, 0)
        for process, seq, kind, sender, mid, to in rows
    ]
    diagram_page = show(open_page, tmp_path, build(events))
    statuses = [selection["status"] for selection in diagram_page.selections()]
    assert sorted(statuses) == [
        "a#1: 0 messages before it, 1 after it, 0 concurrent",
        "b#1: 2 messages before it, 0 after it, 0 concurrent",
        "c#7: 1 message after it; its sending is not shown here",
    ]
