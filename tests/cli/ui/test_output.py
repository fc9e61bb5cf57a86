"""Tables and sentences: nothing is cut off, whatever the width; and JSON is JSON."""

from __future__ import annotations

import io
import json
import random
from collections import Counter

import pytest
from rich.console import Console

from beforehand.cli.ui import output
from tests.cli.terminal import on_terminal, plain

TITLES = ("protocol", "p99", "on the wire", "what it is", "waits")
ROWS = [
    ("hybrid-sps", "3.68 s", "1,824", "hybrid buffering, optimal (SPS)", "sender"),
    ("(raw)", "289 ms", "1,544", "stalled, 755 violations; see https://a.long.place/indeed", "-"),
]


def drawn(width: int) -> list[str]:
    """The tables of a terminal of that width, each as text."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    tables = output._drawn(TITLES, ROWS, 1, width)
    texts = []
    for table in tables:
        with console.capture() as captured:
            console.print(table)
        texts.append(captured.get())
    return texts


@pytest.mark.parametrize("width", range(12, 140, 7))
def test_nothing_is_cut_off(width: int) -> None:
    """Every character of every cell is there, those of the first column in each table."""
    tables = drawn(width)
    lines = "".join(tables).splitlines()
    assert all(len(line) <= width for line in lines)
    cells = [TITLES, *ROWS]
    expected = Counter("".join(cell for row in cells for cell in row[1:]))
    for _ in tables:
        expected += Counter("".join(row[0] for row in cells))
    found = Counter("".join(lines).replace("─", ""))
    for counts in (expected, found):
        del counts[" "]
    assert found == expected


def test_a_table_is_split_only_if_it_must_be() -> None:
    """All columns beside each other where there is room; values keep their units everywhere."""
    assert len(drawn(120)) == len(drawn(70)) == 1
    assert len(drawn(40)) > 1
    for width in (120, 70, 40):
        assert any(
            "3.68 s" in line and "hybrid-sps" in line for line in "".join(drawn(width)).split("\n")
        )


def test_what_tells_rows_apart_is_in_every_table() -> None:
    """And the sentences come last, if there are any."""
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


def test_columns_are_as_wide_as_there_is_room() -> None:
    """Random columns: none is narrower than its longest word, and together they fit."""
    seed = 7
    dice = random.Random(seed)
    shared = 0
    for _ in range(200):
        columns = [
            output._Column(
                [" ".join("x" * dice.randint(1, 9) for _ in range(dice.randint(1, 9)))] * 2, 60
            )
            for _ in range(dice.randint(2, 5))
        ]
        least = sum(column.least for column in columns)
        room = least + dice.randint(0, 60)
        widths = output._widths(columns, room)
        assert sum(widths) <= room, seed
        for column, wide in zip(columns, widths, strict=True):
            assert column.least <= wide <= column.full, seed
        shared += least < sum(widths) < sum(column.full for column in columns)
    assert shared > 20


def test_sentences_wrap_between_words() -> None:
    """On a terminal, under their indentation; paths stay whole."""
    code = (
        "from beforehand.cli.ui.output import print_text\n"
        "print_text('  one two three /a/path-of/thirty-characters/x four')"
    )
    lines = plain(on_terminal(code, 24)).splitlines()
    assert lines == ["  one two three", "  /a/path-of/thirty-characters/x", "  four"]


def test_json_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    """What is no number becomes null, wherever it is."""
    nothing = float("nan")
    output.print_json({"a": [1.5, nothing, (float("inf"),)], "b": {"c": -nothing}, "d": "NaN"})
    told = capsys.readouterr().out

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    found = json.loads(told, parse_constant=refuse)
    assert found == {"a": [1.5, None, [None]], "b": {"c": None}, "d": "NaN"}
