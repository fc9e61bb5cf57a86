"""One violation in two runs: what is selected, judged, drawn and refused."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from beforehand.causality import MessageId, Violation
from beforehand.causality.violations import causal
from beforehand.cli.diagram.judge import DeliveryJudge
from beforehand.errors import ReportError
from beforehand.report.diagram.side_by_side import Run, SideBySide, side_by_side
from beforehand.trace import Event
from tests.report.diagram.traces import trace_of
from tests.simulator.traced_run import traced

SPACE = "{http://www.w3.org/2000/svg}"

WRONG = """
    alice 0 send alice#1 bob,carol
    bob 10 receive alice#1
    bob 10 deliver alice#1
    bob 20 send bob#1 carol
    carol 30 receive bob#1
    carol 30 deliver bob#1
    carol 40 send carol#1 dave
    dave 45 deliver carol#1
    carol 50 receive alice#1
    carol 50 deliver alice#1
"""
RIGHT = """
    alice 0 send alice#1 bob,carol
    bob 10 receive alice#1
    bob 10 deliver alice#1
    bob 20 send bob#1 carol
    bob 20 hold bob#1 carol at sender
    carol 50 receive alice#1
    carol 50 deliver alice#1
    bob 60 release bob#1 carol
    carol 70 receive bob#1
    carol 70 deliver bob#1
"""
BUFFERED = """
    alice 0 send alice#1 bob,carol
    bob 10 deliver alice#1
    bob 20 send bob#1 carol
    carol 30 receive bob#1
    carol 50 receive alice#1
    carol 50 deliver alice#1
    carol 50 deliver bob#1
"""


class _Sends:
    """What was sent, for the sentence of a violation."""

    def receivers(self, message: MessageId, /) -> frozenset[str]:
        """All of them."""
        return frozenset({"bob", "carol"})

    def sends(self, process: str, /) -> int:
        """One each."""
        return 1


def violation(alice: str = "alice", bob: str = "bob", carol: str = "carol") -> Violation:
    """Carol got the answer before the question."""
    return causal(_Sends(), carol, (MessageId(alice, 1), MessageId(bob, 1)))


def compared(left: str = WRONG, right: str = RIGHT, **options: Any) -> SideBySide:
    """Compare two traces."""
    runs = Run("fifo", trace_of(left)), Run("hybrid-sps", trace_of(right))
    return side_by_side(*runs, violation(), **options)


def texts(svg: str) -> list[str]:
    """Return all visible texts of a picture."""
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SPACE}text")]


def test_both_sides_show_only_the_chain_and_its_processes() -> None:
    """Dave and carol#1 are left out; each side has its title, its sentence and the names."""
    pair = compared()
    for side, title in ((pair.left, "fifo"), (pair.right, "hybrid-sps")):
        shown = texts(side.svg)
        assert {title, "alice", "bob", "carol", "alice#1", "bob#1"} <= set(shown)
        assert not {"dave", "carol#1"} & set(shown)
    assert set(texts(pair.svg)) == {*texts(pair.left.svg), *texts(pair.right.svg)}
    assert "held at its sender" in texts(pair.right.svg)
    assert "held at its sender" not in texts(pair.left.svg)


def test_the_wrong_delivery_is_marked_on_the_side_where_it_happened() -> None:
    """With a ring, a sign and a sentence; the other side has neither."""
    pair = compared()
    assert (pair.left.verdict, pair.right.verdict) == ("broken", "kept")
    assert pair.left.sentence == "carol delivered bob#1, then alice#1: the wrong way round."
    assert pair.right.sentence == "carol delivered alice#1, then bob#1."
    assert "!" in texts(pair.left.svg) and "!" not in texts(pair.right.svg)
    assert pair.left.sentence in ElementTree.fromstring(pair.left.svg).get("aria-label", "")


def test_nothing_is_assumed_about_the_right_side() -> None:
    """It may be just as wrong, buffer instead of hold, or not have the chain at all."""
    assert compared(right=WRONG).right.verdict == "broken"
    buffered = compared(right=BUFFERED)
    assert buffered.right.verdict == "kept"
    assert "buffered at its receiver" in texts(buffered.right.svg)
    unaware = """
        alice 0 send alice#1 bob,carol
        bob 5 send bob#1 carol
        bob 10 deliver alice#1
        carol 30 deliver bob#1
        carol 50 deliver alice#1
    """
    concurrent = compared(right=unaware).right
    assert concurrent.verdict == "concurrent" and "!" not in texts(concurrent.svg)
    assert concurrent.sentence == "carol delivered bob#1, then alice#1; they are concurrent here."


def test_incarnations_of_real_nodes_are_matched_by_name() -> None:
    """The same nodes have other suffixes in another run."""
    names = ("alice", "bob", "carol", "dave")
    left, right = WRONG, RIGHT
    for number, name in enumerate(names):
        left = left.replace(name, f"{name}@{number:016x}")
        right = right.replace(name, f"{name}@{number + 10:016x}")
    runs = Run("fifo", trace_of(left)), Run("hybrid", trace_of(right))
    broken = violation(*(f"{name}@{number:016x}" for number, name in enumerate(names[:3])))
    pair = side_by_side(*runs, broken)
    assert (pair.left.verdict, pair.right.verdict) == ("broken", "kept")
    assert pair.right.sentence == "carol delivered alice#1, then bob#1."


def test_texts_are_written_next_to_names_and_escaped() -> None:
    """Content of messages is untrusted."""
    pair = compared(texts={"alice#1": "<script>lost</script>"})
    assert "alice#1: <script>lost</script>" in texts(pair.svg)
    assert "<script>" not in pair.svg


def test_themed_pictures_use_the_colours_of_the_page() -> None:
    """Others have plain colours only, for viewers that know no variables."""
    assert "var(--bad, " in compared(themed=True).svg
    assert "var(" not in compared().svg


@pytest.mark.parametrize(
    ("right", "problem"),
    [
        ("alice 0 send alice#2 bob", "hybrid-sps: alice#1 was not sent in this run; compare two"),
        ("alice 0 send alice#1 bob", "alice#1 was not delivered at carol in this run; compare two"),
    ],
)
def test_runs_of_another_workload_are_refused(right: str, problem: str) -> None:
    """The error names the message that is missing."""
    with pytest.raises(ReportError, match=problem):
        compared(right=right)


def test_a_violation_without_a_chain_is_refused() -> None:
    """A duplicate, for example, has nothing to compare."""
    alone = Violation("duplicate", "carol", MessageId("alice", 1), None, (), "")
    with pytest.raises(ReportError, match="without a chain of two messages"):
        side_by_side(Run("fifo", trace_of(WRONG)), Run("hybrid", trace_of(RIGHT)), alone)


def test_a_simulated_workload_under_two_protocols() -> None:
    """Violations of `fifo` are drawn, and `hybrid-sps` delivers the same messages in order."""
    fields: dict[str, Any] = {"processes": 4, "messages": 120, "interval": "5ms", "seed": 3}
    fields["fifo"] = False
    result, left = traced(audit=True, protocol="fifo", **fields)
    right = traced(protocol="hybrid-sps", **fields)[1]
    broken = [one for one in result.violations if len(one.chain) > 1]
    assert broken, "nothing went wrong, so this test shows nothing"
    pairs = [side_by_side(Run("fifo", left), Run("hybrid", right), one) for one in broken]
    assert {pair.left.verdict for pair in pairs} == {"broken"}
    assert "broken" not in {pair.right.verdict for pair in pairs}
    assert "kept" in {pair.right.verdict for pair in pairs}
    assert _flagged(left) and not _flagged(right)


def _flagged(events: list[Event]) -> int:
    """Count the wrong deliveries that the oracle finds."""
    return len(DeliveryJudge()(events, True))
