"""Two runs compared: which deliveries moved, what is missing, and what is wrong in only one of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beforehand.cli.diagram.judge import DeliveryJudge
from beforehand.report.diagram.build import build
from beforehand.report.diagram.compare import RunComparison, compare, longest_increasing
from beforehand.report.diagram.page import comparison_html
from tests.report.diagram.test_side_by_side import RIGHT, WRONG
from tests.report.diagram.traces import mark_name, trace_of
from tests.simulator.traced_run import traced


def compared(left: str, right: str) -> RunComparison:
    """Compare two traces, judged by the oracle."""
    one, other = (build(trace_of(text), judge=DeliveryJudge()) for text in (left, right))
    return compare(one, other)


def test_moved_deliveries_are_marked_on_both_sides() -> None:
    """As few as possible: of two that are swapped, one."""
    both = compared(WRONG, RIGHT)
    assert (both.common, both.moved, both.only_left, both.only_right) == (3, 1, 1, 0)
    names = [
        [mark_name(diagram.marks[mark], diagram) for mark in diagram.differs]
        for diagram in (both.left, both.right)
    ]
    assert names == [["carol 2 deliver"], ["carol 4 deliver"]], "bob#1 on both sides"
    assert len(both.wrong_left) == 1 and both.wrong_right == ()
    assert both.summary == (
        "1 delivery of 3 comes in a different order. Wrong only on the left: 1; only on the right: "
        "none. 1 delivery is only on the left, and none only on the right."
    )


def test_a_run_compared_with_itself() -> None:
    """Nothing differs, and what is wrong in both is wrong only in neither."""
    both = compared(WRONG, WRONG)
    assert (both.moved, both.left.differs, both.right.differs) == (0, (), ())
    assert both.left.flags and both.wrong_left == both.wrong_right == ()
    assert both.summary.startswith("0 deliveries of 4 come in a different order.")


def test_messages_of_real_nodes_are_matched_by_label() -> None:
    """Their full names differ between runs."""
    left, right = WRONG, RIGHT
    for number, name in enumerate(("alice", "bob", "carol", "dave")):
        left = left.replace(name, f"{name}@{number:016x}")
        right = right.replace(name, f"{name}@{number + 10:016x}")
    assert compared(left, right).summary == compared(WRONG, RIGHT).summary


@given(st.permutations(range(7)))
def test_a_longest_increasing_subsequence(values: list[int]) -> None:
    """It increases, and no longer subsequence does."""
    chosen = sorted(longest_increasing(values))
    assert [values[index] for index in chosen] == sorted(values[index] for index in chosen)
    longer = combinations(values, len(chosen) + 1)
    assert not any(list(part) == sorted(part) for part in longer)


def test_a_simulated_workload_under_two_protocols() -> None:
    """Both deliver the same messages; only `fifo` delivers some of them wrongly."""
    fields: dict[str, Any] = {"processes": 4, "messages": 120, "interval": "5ms", "seed": 3}
    runs = [
        build(traced(protocol=protocol, fifo=False, **fields)[1], judge=DeliveryJudge())
        for protocol in ("fifo", "hybrid-sps")
    ]
    both = compare(*runs)
    assert both.common == 480 and both.only_left == both.only_right == 0
    assert both.moved > 10 and both.wrong_left and not both.wrong_right


def test_the_page_escapes_names_and_has_both_runs() -> None:
    """Names of runs are untrusted."""
    runs = [build(trace_of(text, f"<b>{text[5]}")) for text in (WRONG, RIGHT)]
    page = comparison_html(compare(*runs))
    assert "<b>" not in page and page.count("application/json") == 2
