"""Tools of a diagram: search, log, processes, keys, and what it shows at first."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from beforehand.cli.diagram.judge import DeliveryJudge
from beforehand.report.diagram.build import build
from tests.browser.conftest import Pages
from tests.browser.diagrams import DiagramPage, plain, show, simulated
from tests.browser.test_diagram import diagram_page, first_of
from tests.report.diagram.traces import trace_of

__all__ = ["diagram_page"]  # a fixture

LATE = (213, 94, 0)  # the colour of the message that came late, --series-2 of theme.css
EARLY = (0, 114, 178)  # and of the one that came too early, --series-1
CURRENT = "document.querySelector('.diagram-line.current')"


def search(page: DiagramPage, text: str) -> str:
    """Search for a text, go to the first match, and return the count that is shown."""
    field = page.page.get_by_role("searchbox")
    field.fill(text)
    field.press("Enter")
    page.settle()
    return page.page.locator(".diagram-search output").inner_text()


def matching(page: DiagramPage, **fields: object) -> list[int]:
    """Return the marks whose fields have these values."""
    marks = enumerate(page.diagram.marks)
    return [n for n, mark in marks if all(getattr(mark, key) == fields[key] for key in fields)]


# ---- search ----


def test_search_by_message_process_kind_and_detail(diagram_page: DiagramPage) -> None:
    """All words must match; the count and the highlighted marks are those of the trace."""
    diagram = diagram_page.diagram
    control = next(mark.detail for mark in diagram.marks if mark.kind == "control")
    message = next(n for n, m in enumerate(diagram.messages) if (m.sender, m.mid) == (1, 3))
    for text, expected in (
        ("p1#3", matching(diagram_page, message=message)),
        ("deliver", matching(diagram_page, kind="deliver")),
        ("P2", matching(diagram_page, process=2)),
        ("p2 deliver", matching(diagram_page, process=2, kind="deliver")),
        (control, matching(diagram_page, detail=control)),
        ("at sender", matching(diagram_page, detail="at sender")),
    ):
        assert expected, text
        assert search(diagram_page, text) == f"1 of {len(expected)}"
        assert diagram_page.evaluate("diagram.stats()")["matches"] > 0
    assert search(diagram_page, "p1 nonsense") == "no match"
    assert diagram_page.evaluate("diagram.stats()")["matches"] == 0


def test_matches_can_be_stepped_through(diagram_page: DiagramPage) -> None:
    """Enter and Shift+Enter, or the buttons, go to the next and previous match, and around."""
    expected = matching(diagram_page, process=1, kind="deliver")
    expected.sort(key=lambda mark: diagram_page.diagram.marks[mark].time_ns)
    page, current = diagram_page.page, "document.getElementById('diagram').dataset.current"
    assert search(diagram_page, "p1 deliver") == f"1 of {len(expected)}"
    assert diagram_page.evaluate(current) == str(expected[0])
    page.get_by_role("button", name="Next match").click()
    assert diagram_page.evaluate(current) == str(expected[1])
    page.get_by_role("searchbox").press("Shift+Enter")
    page.get_by_role("searchbox").press("Shift+Enter")
    assert diagram_page.evaluate(current) == str(expected[-1])
    count = page.locator(".diagram-search output")
    assert count.inner_text() == f"{len(expected)} of {len(expected)}"


def test_matches_are_highlighted_while_typing(diagram_page: DiagramPage) -> None:
    """Without moving the view or selecting anything."""
    view = diagram_page.view()
    diagram_page.page.get_by_role("searchbox").press_sequentially("send")
    expect(diagram_page.page.locator(".diagram-search output")).to_contain_text("match")
    diagram_page.settle()
    assert diagram_page.evaluate("diagram.stats()")["matches"] > 5
    assert diagram_page.view() == view
    assert diagram_page.evaluate("diagram.selection()")["message"] == -1


# ---- the log ----


def test_a_line_of_the_log_selects_its_event(diagram_page: DiagramPage) -> None:
    """A click selects the message and moves the view there."""
    diagram_page.evaluate("diagram.see(0, 1000)")
    # At once, because the log follows the view a moment later.
    mark = diagram_page.evaluate("""() => {
      const lines = [...document.querySelectorAll(".diagram-line:not([hidden])")];
      const line = lines.filter(({ textContent }) => textContent.includes("delivers")).pop();
      const { mark } = line.dataset;
      line.click();
      return Number(mark);
    }""")
    selected = diagram_page.evaluate("diagram.selection()")["message"]
    assert selected == diagram_page.diagram.marks[mark].message
    low, high = diagram_page.view()
    assert low <= diagram_page.diagram.marks[mark].time_ns <= high
    assert diagram_page.evaluate(f"{CURRENT}.dataset.mark") == str(mark)


def test_selecting_an_event_highlights_its_line(diagram_page: DiagramPage) -> None:
    """And scrolls it into view; the other events of the message are marked too."""
    diagram_page.page.get_by_role("button", name="Draw by order").click()
    diagram_page.evaluate("diagram.fit()")
    mark = max(
        matching(diagram_page, kind="deliver"), key=lambda n: diagram_page.diagram.marks[n].order
    )
    diagram_page.click(mark)
    diagram_page.settle()
    assert diagram_page.evaluate(f"{CURRENT}.dataset.mark") == str(mark)
    lines = diagram_page.page.locator(".diagram-lines").bounding_box()
    line = diagram_page.page.locator(".diagram-line.current").bounding_box()
    assert (
        lines and line and lines["y"] <= line["y"] <= lines["y"] + lines["height"] - line["height"]
    )
    assert diagram_page.page.locator(".diagram-line.about:visible").count() >= 2


def test_the_log_has_all_events_in_order_with_full_names(open_page: Pages, tmp_path: Path) -> None:
    """The arrow keys go through them; names that are shortened are whole in a line's title."""
    long = "alice@0123456789abcdef"
    events = trace_of(f"""
        {long} 0 start
        {long} 10 send {long}#1 bob
        bob 20 receive {long}#1
        bob 20 deliver {long}#1
    """)
    page = show(open_page, tmp_path, build(events))
    expect(page.page.locator(".diagram-line:visible")).to_have_count(4)
    page.page.get_by_role("listbox", name="Log of events").focus()
    lines, titles = [], []
    for _ in range(4):
        page.page.keyboard.press("ArrowDown")
        lines.append(plain(page.evaluate(f"{CURRENT}.lastChild.textContent")))
        titles.append(page.evaluate(f"{CURRENT}.title"))
    assert lines == [
        "alice starts",
        "alice causal-sends alice#1",
        "bob receives alice#1",
        "bob delivers alice#1",
    ]
    assert f"{long}#1" in titles[3]
    page.page.mouse.move(5, 5)
    page.evaluate("diagram.fit()")
    point = page.where(3)
    page.page.mouse.move(point["x"], point["y"])
    assert f"{long}#1" in page.tip()


def test_only_lines_in_view_are_elements(open_page: Pages, tmp_path: Path) -> None:
    """However many events there are, and wherever the log is scrolled to."""
    diagram = simulated(protocol="raw", messages=200)[1]
    assert len(diagram.marks) > 2_000 and "control" not in {mark.kind for mark in diagram.marks}
    page = show(open_page, tmp_path, diagram)
    expect(page.page.locator(".diagram-line:visible").first).to_be_visible()
    assert page.page.locator(".diagram-line").count() < 80
    last = page.page.locator(f".diagram-line[aria-posinset='{len(diagram.marks)}']:visible")
    counts = set()
    for _ in range(50):  # at first, the log may still follow the view
        page.page.locator(".diagram-lines").evaluate("it => { it.scrollTop = it.scrollHeight; }")
        page.settle()
        counts.add(last.count())
        if 1 in counts:
            break
    assert 1 in counts and page.page.locator(".diagram-line").count() < 80


# ---- processes ----


def test_processes_can_be_hidden_and_shown_again(diagram_page: DiagramPage) -> None:
    """Their marks, lines of the log and matches vanish; arrows to them end in a circle."""
    before = diagram_page.evaluate("diagram.stats()")
    page = diagram_page.page
    page.locator("summary", has_text="Processes").click()
    page.get_by_role("checkbox", name="p1").uncheck()
    diagram_page.settle()
    after = diagram_page.evaluate("diagram.stats()")
    assert 0 < after["marks"] < before["marks"]
    assert 0 < after["arrows"] < before["arrows"], "those between p1 and others are stubs"
    assert page.locator(".diagram-legend li", has_text="hidden process").is_visible()
    assert search(diagram_page, "p1") == "no match"
    again = page.get_by_role("button", name="Show p1 again")
    assert plain(page.locator(".diagram-hidden").inner_text()) == "Hidden: p1"
    again.click()
    diagram_page.settle()
    assert diagram_page.evaluate("diagram.stats()")["marks"] == before["marks"]
    assert not page.locator(".diagram-hidden").is_visible()
    assert not page.locator(".diagram-legend li", has_text="hidden process").is_visible()


@pytest.mark.parametrize("hidden", ["a", "b"])
def test_messages_of_hidden_processes_are_indicated(
    open_page: Pages, tmp_path: Path, hidden: str
) -> None:
    """An arrow whose sender or receiver is hidden is a stub; one between hidden ones vanishes."""
    events = trace_of("""
        a 0 send a#1 b
        b 10 deliver a#1
        b 20 send b#1 a
        a 30 deliver b#1
        c 40 start
    """)
    page = show(open_page, tmp_path, build(events))
    page.page.locator("summary", has_text="Processes").click()
    page.page.get_by_role("checkbox", name=hidden).uncheck()
    page.settle()
    assert page.evaluate("diagram.stats()")["arrows"] == 2, "one leaves, and one arrives"
    page.page.get_by_role("checkbox", name="a" if hidden == "b" else "b").uncheck()
    page.settle()
    assert page.evaluate("diagram.stats()")["arrows"] == 0


def test_processes_can_be_reordered_with_the_keyboard(diagram_page: DiagramPage) -> None:
    """The line moves, the focus stays on the button, and the first order can be restored."""
    marks = [first_of(diagram_page, "send"), matching(diagram_page, process=1)[0]]
    heights = [diagram_page.where(mark)["y"] for mark in marks]
    assert heights[0] < heights[1]
    page = diagram_page.page
    page.locator(".diagram-processes summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Move p1 up").focus()
    page.keyboard.press("Enter")
    moved = [diagram_page.where(mark)["y"] for mark in marks]
    assert moved[0] > moved[1]
    assert diagram_page.evaluate("document.activeElement.closest('li').dataset.process") == "1"
    page.get_by_role("button", name="Show all processes, in the first order").click()
    assert [diagram_page.where(mark)["y"] for mark in marks] == heights
    page.keyboard.press("Escape")
    assert page.locator(".diagram-processes[open]").count() == 0


def test_the_last_process_cannot_be_hidden(open_page: Pages, tmp_path: Path) -> None:
    """A diagram without lines would show nothing."""
    page = show(open_page, tmp_path, simulated(protocol="raw", processes=2, messages=4)[1])
    page.page.locator("summary", has_text="Processes").click()
    page.page.get_by_role("checkbox", name="p0").uncheck()
    assert page.page.get_by_role("checkbox", name="p1").is_disabled()


# ---- keys ----


def test_the_list_of_keys(diagram_page: DiagramPage) -> None:
    """A button and the key ? show it, and Escape closes it."""
    dialog = diagram_page.page.get_by_role("dialog", name="Keys")
    diagram_page.page.get_by_role("button", name="List the keys").click()
    assert dialog.is_visible() and "next wrong delivery" in dialog.inner_text()
    diagram_page.page.keyboard.press("Escape")
    assert not dialog.is_visible()
    diagram_page.page.locator("canvas[role=application]").focus()
    diagram_page.page.keyboard.press("?")
    assert dialog.is_visible()
    dialog.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


def test_keys_for_search_and_log(diagram_page: DiagramPage) -> None:
    """The slash focuses the search, and L hides and shows the log."""
    surface = diagram_page.page.locator("canvas[role=application]")
    surface.focus()
    diagram_page.page.keyboard.press("/")
    assert diagram_page.evaluate("document.activeElement.type") == "search"
    log = diagram_page.page.locator(".diagram-log")
    assert log.is_visible()
    surface.focus()
    diagram_page.page.keyboard.press("l")
    assert not log.is_visible()
    button = diagram_page.page.locator(".diagram-bar button", has_text="Log")
    assert button.get_attribute("aria-pressed") == "false"
    diagram_page.page.keyboard.press("l")
    assert log.is_visible()


def test_nothing_moves_by_itself(diagram_page: DiagramPage) -> None:
    """Neither animations nor smooth scrolling, so people who asked for less motion get none."""
    search(diagram_page, "p3 deliver")
    diagram_page.page.locator("summary", has_text="Processes").click()
    assert diagram_page.evaluate("document.getAnimations().length") == 0
    smooth = """() => [...document.querySelectorAll("*")].filter((element) => {
      const style = getComputedStyle(element);
      return style.scrollBehavior !== "auto" || parseFloat(style.transitionDuration) > 0;
    }).length"""
    assert diagram_page.evaluate(smooth) == 0


# ---- what it shows at first ----


def wrong_run(open_page: Pages, folder: Path) -> DiagramPage:
    """A long run of `fifo` with violations, too long to be shown whole."""
    events, _ = simulated(protocol="fifo", processes=5, messages=120, interval="5ms", seed=3)
    page = show(open_page, folder, build(events, judge=DeliveryJudge()))
    assert page.diagram.flags and page.diagram.flags[0].chain
    return page


def test_a_long_run_begins_at_its_first_violation(open_page: Pages, tmp_path: Path) -> None:
    """All of its chain is in view and highlighted, the rest fades, and V goes to the next one."""
    page = wrong_run(open_page, tmp_path)
    flags = sorted(page.diagram.flags, key=lambda flag: page.diagram.marks[flag.mark].time_ns)
    assert page.status() == plain(flags[0].sentence)
    low, high = page.view()
    for message in flags[0].chain:
        send = page.diagram.messages[message].send
        assert send is not None and low <= page.diagram.marks[send].time_ns <= high
    assert low <= page.diagram.marks[flags[0].mark].time_ns <= high
    late, early = flags[0].chain[0], flags[0].chain[-1]
    send = page.diagram.messages[early].send
    assert send is not None and page.diagram.marks[flags[0].mark].message == late
    assert page.pixels(page.where(flags[0].mark), page.where(send)) == [LATE, EARLY]
    whole = max(mark.time_ns for mark in page.diagram.marks)
    assert high - low < whole / 2
    page.page.locator("canvas[role=application]").focus()
    page.page.keyboard.press("v")
    assert page.status() == plain(flags[1 % len(flags)].sentence)
    page.page.keyboard.press("Escape")
    assert page.status().startswith("5 processes")


def test_start_up_is_cut_out(open_page: Pages, tmp_path: Path) -> None:
    """Times count from the first send, and a long silence before it is a narrow, labelled band."""
    second = 10**9
    sends = "\n".join(
        f"a {9 * second + n * 1000} send a#{n} b\nb {9 * second + n * 1000 + 500} deliver a#{n}"
        for n in range(1, 30)
    )
    diagram = build(trace_of(f"a 0 start\nb 0 start\n{sends}"))
    assert min(mark.time_ns for mark in diagram.marks if mark.kind == "send") == 0
    page = show(open_page, tmp_path, diagram)
    page.evaluate("diagram.fit()")
    start, first, last = (page.where(n)["x"] for n in (0, 1, len(diagram.marks) - 1))
    assert diagram.marks[0].kind == "start" and diagram.marks[1].kind == "send"
    assert 5 < first - start < (last - first) / 5, "nine seconds against thirty microseconds"
    sent = matching(page, kind="send")
    gaps = {round(page.where(b)["x"] - page.where(a)["x"], 3) for a, b in pairwise(sent)}
    assert max(gaps) - min(gaps) < 0.01, "what is drawn is to scale"


@pytest.mark.parametrize("times", [(0, 10, 20), tuple(range(0, 200, 10))])
def test_ordinary_gaps_stay(open_page: Pages, tmp_path: Path, times: tuple[int, ...]) -> None:
    """Few events far apart are nothing to cut."""
    text = "\n".join(f"a {1000 * time} send a#{n} b" for n, time in enumerate(times, 1))
    page = show(open_page, tmp_path, build(trace_of(text)))
    page.evaluate("diagram.fit()")
    assert page.view()[1] >= 1000 * times[-1]
