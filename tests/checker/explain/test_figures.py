"""Runs from published figures: recognised under any names, and not confused with others."""

from __future__ import annotations

from itertools import permutations

import pytest

from beforehand.checker.explain.figures import FIGURES, recognise
from beforehand.checker.explore import check
from beforehand.checker.program import OpenStep
from beforehand.checker.setting import Setting, setting
from tests.checker.runs import written_run

SECRETS, LINKS = FIGURES
TWO_SECRETS = "a>b a>c b>a b>c c<a c<b c>b b<c2 b<a"
LATE_LINK = "a>* c<a b+c b<a c<b c<b"


def star(opener: str, acceptor: str) -> Setting:
    """Three processes of which two are linked to the third, and one opens a link to the other."""
    (middle,) = set("abc") - {opener, acceptor}
    links = [pair for end in (opener, acceptor) for pair in ((middle, end), (end, middle))]
    sends = [int(name == middle) for name in "abc"]
    return setting("link-memory", sends=sends, links=links, opens=[(opener, OpenStep(acceptor))])


def test_the_shortest_violation_of_the_unsafe_variant_is_the_one_in_the_paper() -> None:
    """The model checker of the paper's authors found the same run as ours (Cykas, figure 3)."""
    unsafe = setting("cykas-unsafe", sends=[2, 2, 1])
    counterexample = check(unsafe).counterexample
    assert counterexample is not None and counterexample.problem.kind == "causal"
    assert recognise(unsafe, counterexample.run) == SECRETS


def test_a_link_at_the_wrong_moment_is_the_one_in_the_paper() -> None:
    """The `prc` paper, figure 2, as the shortest run of all."""
    counterexample = check(star("b", "c")).counterexample
    assert counterexample is not None and counterexample.problem.kind == "duplicate"
    assert recognise(star("b", "c"), counterexample.run) == LINKS


@pytest.mark.parametrize("names", list(permutations("abc")))
def test_names_do_not_matter(names: tuple[str, str, str]) -> None:
    """It is the same run whichever process plays which part."""
    unsafe = setting("cykas-unsafe", messages=2)
    parts = str.maketrans("abc", "".join(names))
    assert recognise(unsafe, written_run(unsafe, TWO_SECRETS.translate(parts))) == SECRETS
    _, b, c = names
    overlay = star(b, c)
    assert recognise(overlay, written_run(overlay, LATE_LINK.translate(parts))) == LINKS


def test_the_order_of_what_is_concurrent_does_not_matter() -> None:
    """Carol may causal-send her answer before she receives the second secret: it leaves no earlier."""
    unsafe = setting("cykas-unsafe", messages=2)
    for text in (
        "b>a b>c a>b a>c c<a c<b c>b b<c2 b<a",
        "a>b b>a a>c c<a c>b b>c c<b b<c2 b<a",
    ):
        assert recognise(unsafe, written_run(unsafe, text)) == SECRETS, text


def test_other_runs_are_not_recognised() -> None:
    """Neither a part of a figure, nor an extension of it, nor another violation."""
    unsafe = setting("cykas-unsafe", messages=2)
    for text in (
        "",
        TWO_SECRETS.rpartition(" ")[0],
        TWO_SECRETS.replace(" b<a", " a<b b<a"),
        "a>b a>c b>a c<a b>c c<b c>b b<c2",
    ):
        assert recognise(unsafe, written_run(unsafe, text)) is None, text
    raw = setting("raw", sends=[2, 0])
    counterexample = check(raw).counterexample
    assert counterexample is not None
    assert recognise(raw, counterexample.run) is None
