"""The strategy of a search makes no difference to what it finds."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from beforehand.checker.explore import check
from beforehand.checker.packed import tables
from beforehand.checker.search import frontier, search, visited
from beforehand.checker.setting import Setting, setting
from beforehand.checker.verdict import SearchProgress, Verdict
from tests.checker.cores import Plain, setting_of


def summary(verdict: Verdict) -> tuple[object, ...]:
    """The results that must not depend on the strategy."""
    run = () if verdict.counterexample is None else verdict.counterexample.run
    counts = () if run else (verdict.states, verdict.transitions, verdict.symmetries, verdict.seen)
    return (verdict.outcome, len(run), *counts)


@pytest.mark.parametrize("name", ["vector", "raw"])
def test_order_and_workers_make_no_difference(name: str) -> None:
    """Depth-first or breadth-first, one worker or two: the same states, the same shortest run."""
    chosen = setting(name, sends=[2, 1, 0])
    for reduce in (False, True):
        first = summary(check(chosen, reduce=reduce, workers=1))
        for workers, depth_first in product([1, 2], [False, True]):
            other = check(chosen, reduce=reduce, workers=workers, depth_first=depth_first)
            assert summary(other) == first


def test_a_limit_is_never_a_pass() -> None:
    """An unfinished search is never "correct"; but a problem found by then counts."""
    chosen = setting("hybrid", sends=[2, 1, 0])
    for verdict in (check(chosen, max_states=50), check(chosen, seconds=0)):
        assert verdict.outcome == "unfinished" and "limit" in verdict.reason
        assert verdict.counterexample is None
    whole = check(chosen)
    assert check(chosen, max_states=whole.states + 1).outcome == "correct" and not whole.reason


def small_buffers(patch: pytest.MonkeyPatch) -> None:
    """Everything that grows begins as small as possible, and all workers always have something to do."""
    patch.setattr(visited, "INITIAL_CAPACITY", 2)
    patch.setattr(tables, "INITIAL_CAPACITY", 4)
    patch.setattr(search, "FRAME_COLUMNS", 1)
    patch.setattr(search, "ROWS_PER_WORKER", 2)
    for module in (frontier, search):
        patch.setattr(module, "BLOCK", 32)


@pytest.mark.parametrize(
    "chosen",
    [
        setting("hybrid-sps", sends=[2, 1, 0]),
        setting("newtop", sends=[1, 1, 0]),
        setting("raw", program="a>c a>b a>b b>c"),
        setting_of(Plain, "a>b,c b>a,c c>a,b"),
    ],
    ids=lambda chosen: chosen.protocol,
)
def test_growing_tables_change_nothing(monkeypatch: pytest.MonkeyPatch, chosen: Setting) -> None:
    """Tables, rows and blocks that are too small at first change nothing."""
    before = [summary(check(chosen, reduce=reduce, workers=1)) for reduce in (False, True)]
    small_buffers(monkeypatch)
    for workers, depth_first in ((1, False), (3, False), (3, True)):
        after = [
            summary(check(chosen, reduce=reduce, workers=workers, depth_first=depth_first))
            for reduce in (False, True)
        ]
        assert after == before


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Again and again, with numbers that only grow."""
    monkeypatch.setattr(search, "PROGRESS_INTERVAL", 0)
    reports: list[SearchProgress] = []
    verdict = check(setting("hybrid", sends=[2, 1, 0]), workers=1, progress=reports.append)
    assert len(reports) > 5
    for before, after in pairwise(reports):
        assert before.states <= after.states and before.transitions <= after.transitions
        assert before.depth <= after.depth and before.seconds <= after.seconds
    assert reports[-1].states == verdict.states and any(report.waiting for report in reports)
