"""Tables and sentences are never truncated, whatever the width; JSON output is valid."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from beforehand.cli.ui import output
from tests.cli.terminal import on_terminal, plain

TITLES = ("protocol", "p99", "on the wire", "what it is", "waits")
ROWS = [
    ("hybrid-sps", "3.68 s", "1,824", "hybrid buffering, optimal (SPS)", "sender"),
    ("(raw)", "289 ms", "1,544", "stalled, 755 violations; see https://a.long.place/indeed", "-"),
]


class Screen:
    """A terminal of a chosen width that captures what is printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")  # treat standard output as a terminal
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def lines(self, width: int, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        """Print a table and return its lines."""
        self._monkeypatch.setenv("COLUMNS", str(width))
        output.print_table(titles, rows)
        return plain(self._capsys.readouterr().out).splitlines()


def tables_in(lines: list[str]) -> int:
    """Count the tables: each has one rule below its titles."""
    return sum(set(line.strip()) == {"─"} for line in lines)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Screen:
    """A terminal."""
    return Screen(monkeypatch, capsys)


@pytest.mark.parametrize("width", range(12, 140, 7))
def test_nothing_is_truncated(screen: Screen, width: int) -> None:
    """Every character of every cell is printed; the first column is repeated in each table."""
    lines = screen.lines(width, TITLES, ROWS)
    assert all(len(line) <= width for line in lines)
    cells = [TITLES, *ROWS]
    expected = Counter("".join(cell for row in cells for cell in row[1:]))
    for _ in range(tables_in(lines)):
        expected += Counter("".join(row[0] for row in cells))
    printed = Counter("".join(lines).replace("─", ""))
    for counts in (expected, printed):
        del counts[" "]
    assert printed == expected


def test_a_table_is_split_only_if_necessary(screen: Screen) -> None:
    """All columns stay in one table if they fit; values keep their units."""
    for width, is_split in ((120, False), (70, False), (40, True)):
        lines = screen.lines(width, TITLES, ROWS)
        assert (tables_in(lines) > 1) == is_split
        assert any("3.68 s" in line and "hybrid-sps" in line for line in lines)


def test_key_columns_are_in_every_table() -> None:
    """Prose columns come last, if they have any text."""
    code = (
        "from beforehand.cli.ui.output import print_table\n"
        "titles = ('run', 'seed', *('figure-%d' % n for n in range(9)), 'note')\n"
        "figures = ['0.123456789'] * 9\n"
        "print_table(titles, [('a', '71', *figures, {})], keys=2, prose=1)"
    )
    without, with_note = (
        plain(on_terminal(code.format(note))) for note in ("''", "'it took long'")
    )
    assert without.count("figure-") == 9
    assert without.count(" seed ") == without.count(" 71 ") == 2 and "note" not in without
    assert with_note.count(" seed ") == with_note.count(" 71 ") == 3
    assert with_note.split()[-3:] == ["it", "took", "long"]


def phrase(dice: random.Random) -> str:
    """Return a few random words."""
    return " ".join("x" * dice.randint(1, 9) for _ in range(dice.randint(1, 9)))


def test_columns_use_the_available_width(screen: Screen) -> None:
    """For random tables: words stay whole, lines fit, and nothing wraps unnecessarily."""
    dice = random.Random(7)
    wrapped = unwrapped = 0
    for _ in range(200):
        count, width = dice.randint(2, 5), dice.randint(60, 160)
        columns = [(phrase(dice), phrase(dice)) for _ in range(count)]  # a title and a cell each
        lines = screen.lines(width, [c[0] for c in columns], [[c[1] for c in columns]])
        tables = tables_in(lines)
        assert all(len(line) <= width for line in lines)
        expected = Counter(
            word for column in columns[1:] for cell in column for word in cell.split()
        )
        for _ in range(tables):
            expected.update(word for cell in columns[0] for word in cell.split())
        printed = Counter(word for line in lines for word in line.split() if "─" not in word)
        assert printed == expected
        needed = sum(max(map(len, column)) + output.GAP for column in columns) + output.EDGES
        if needed <= width and max(len(columns[0][0]), len(columns[0][1])) <= width // 2 - 1:
            assert tables == 1 and sum("x" in line for line in lines) == 2
            unwrapped += 1
        else:
            wrapped += 1
    assert wrapped > 20 and unwrapped > 20


def test_sentences_wrap_between_words() -> None:
    """On a terminal, keeping their indentation; paths aren't split."""
    code = (
        "from beforehand.cli.ui.output import print_text\n"
        "print_text('  one two three /a/path-of/thirty-characters/x four')"
    )
    lines = plain(on_terminal(code, 24)).splitlines()
    assert lines == ["  one two three", "  /a/path-of/thirty-characters/x", "  four"]


def test_json_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    """NaN and infinity become null at any depth."""
    nan = float("nan")
    output.print_json({"a": [1.5, nan, (float("inf"),)], "b": {"c": -nan}, "d": "NaN"})
    printed = capsys.readouterr().out

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    value = json.loads(printed, parse_constant=refuse)
    assert value == {"a": [1.5, None, [None]], "b": {"c": None}, "d": "NaN"}
