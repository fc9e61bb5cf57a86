"""Lines of JSON: what may be omitted, and the errors for invalid lines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from beforehand.errors import TraceError
from beforehand.trace import Event, read
from beforehand.trace.jsonlines import LONGEST_LINE
from tests.trace.events import SAMPLES, read_text, write
from tests.wire.memory import peak_of

START = '{"process": "alice", "kind": "start"}'


def test_each_line_holds_every_field(tmp_path: Path) -> None:
    """A header, then one object per line with every field, so that any program can read it."""
    lines = write(tmp_path / "x.jsonl", SAMPLES).read_bytes().decode().split("\n")
    assert lines[0] == '{"beforehand-trace":1}'
    assert lines.pop() == ""
    assert [tuple(json.loads(line)) for line in lines[1:]] == [Event._fields] * len(SAMPLES)
    assert lines[2] == (
        '{"run":"r1","process":"alice","seq":2,"kind":"send","sender":"alice","mid":1,'
        '"to":["bob","carol"],"time_ns":11,"payload_bytes":5,"meta_bytes":0,"detail":""}'
    )


def test_omitted_fields_have_defaults(tmp_path: Path) -> None:
    """The least that a person has to write, and what it stands for."""
    text = '{"process": "bob", "kind": "deliver", "sender": "alice", "mid": 1}'
    assert read_text(tmp_path / "x.jsonl", text) == [
        Event("", "bob", 1, "deliver", "alice", 1, None, 0, 0, 0, "")
    ]


def test_a_missing_seq_is_the_position_in_the_file(tmp_path: Path) -> None:
    """Each process of each run is counted for itself, and events with a number count too."""
    lines = [
        ("a", "alice", None, 1),
        ("a", "bob", None, 1),
        ("a", "alice", None, 2),
        ("b", "alice", None, 1),
        ("a", "bob", 7, 7),
        ("a", "bob", None, 3),
    ]
    text = ""
    for run, process, seq, _ in lines:
        fields: dict[str, object] = {"run": run, "process": process, "kind": "start"}
        text += json.dumps(fields if seq is None else {**fields, "seq": seq}) + "\n"
    events = read_text(tmp_path / "x.jsonl", text)
    assert [event.seq for event in events] == [expected for *_, expected in lines]


def test_headers_blank_lines_and_marks(tmp_path: Path) -> None:
    """Files can be put together; editors may add a mark, empty lines and their own line ends."""
    header = '{"beforehand-trace": 1}'
    for text in (
        START,
        f"{START}\n",
        f"{header}\n{START}\n",
        f"\ufeff{header}\r\n\r\n{START}\r\n",
        f"\ufeff{START}\n",
        f"{header}\n{START}\n\n  \n{header}\n",
    ):
        assert read_text(tmp_path / "x.jsonl", text) == [
            Event("", "alice", 1, "start", None, None, None, 0, 0, 0, "")
        ]
    assert read_text(tmp_path / "x.jsonl", "") == []


@pytest.mark.parametrize("at", [1, 3])
def test_a_newer_version_is_refused(tmp_path: Path, at: int) -> None:
    """Wherever the version is, the error names those that this reader knows and a remedy."""
    lines = [START] * 3
    lines.insert(at - 1, '{"beforehand-trace": 2, "other": true}')
    error = (
        f"x.jsonl: line {at}: a trace of version 2, and this reader knows versions up to 1; "
        "upgrade beforehand"
    )
    with pytest.raises(TraceError, match=error):
        read_text(tmp_path / "x.jsonl", "\n".join(lines))


@pytest.mark.parametrize("version", ["0", "-1", "true", '"1"', "1.0", "null", "[]"])
def test_an_invalid_version(tmp_path: Path, version: str) -> None:
    """A version is a number from 1 on."""
    with pytest.raises(
        TraceError, match="line 1: the version .* is not a number from 1 on; write 1"
    ):
        read_text(tmp_path / "x.jsonl", f'{{"beforehand-trace": {version}}}')


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("hello", "not JSON .*; write one JSON object per line, like"),
        ("[" * 100_000, "not JSON"),
        ('{"process": ' + "9" * 5000 + "}", "not JSON"),
        ("[]", r"\[\] is not a JSON object; write the fields of one event in braces"),
        ("null", "None is not a JSON object"),
        ('{"kind": "start"}', "`process` is missing; every event needs one"),
        ('{"process": "alice"}', "`kind` is missing; every event needs one"),
        ('{"process": 1, "kind": "start"}', "`process`: .* must be a str, not int"),
        ('{"process": "a", "kind": "go"}', "`kind` is 'go'; it must be one of send, "),
        ('{"process": "a", "kind": "start", "seq": "1"}', "`seq` is '1', not an integer"),
        ('{"process": "a", "kind": "start", "seq": null}', "`seq` is None, not an integer"),
        ('{"process": "a", "kind": "start", "run": ["r"]}', r"`run` is \['r'\], not a string"),
        ('{"process": "a", "kind": "start", "time_ns": NaN}', "`time_ns` is nan, not an integer"),
        ('{"process": "a", "kind": "start", "to": "b"}', "`to` is 'b', not a list of names"),
        ('{"process": "a", "kind": "start", "detail": "\\ud800"}', "`detail` .* lone surrogate"),
        ('{"process": "a", "kind": "deliver", "mid": 1}', "`sender` is missing; for `deliver`"),
        (
            '{"process": "a", "kind": "start", "metabytes": 1}',
            "there is no field 'metabytes'; did you mean `meta_bytes`?",
        ),
        (
            '{"process": "a", "kind": "start", "colour": 1}',
            "there is no field 'colour'; put its value into `detail`",
        ),
    ],
    ids=lambda value: value[:40],
)
def test_an_invalid_line_is_reported_with_its_number(tmp_path: Path, line: str, error: str) -> None:
    """Events before it are read; the error names the file, the line, the problem and a remedy."""
    path = tmp_path / "x.jsonl"
    path.write_text(f"{START}\n\n{line}\n{START}\n")
    events = read(path)
    assert next(events).kind == "start"
    with pytest.raises(TraceError, match=f"x.jsonl: line 3: {error}"):
        next(events)


def test_a_file_that_was_cut_off(tmp_path: Path) -> None:
    """An invalid last line without a line end was probably cut off."""
    with pytest.raises(TraceError, match="line 2: not JSON .*; the file seems to be cut off here"):
        read_text(tmp_path / "x.jsonl", f"{START}\n{START[:-5]}")
    with pytest.raises(TraceError) as caught:
        read_text(tmp_path / "x.jsonl", f"{START}\n{START[:-5]}\n")
    assert "cut off" not in str(caught.value)


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    """The error names the encoding as the problem."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(START.encode() + b"\n" + b'{"process": "zo\xeb", "kind": "start"}\n')
    with pytest.raises(TraceError, match="line 2: not UTF-8 .*; save the file as UTF-8"):
        list(read(path))


def test_an_endless_line(tmp_path: Path) -> None:
    """A file that isn't text must not be read into memory as one line."""
    path = tmp_path / "x.jsonl.gz"
    megabytes = 6 * LONGEST_LINE // 2**20
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(megabytes):
            file.write(b" " * 2**20)

    def attempt() -> None:
        with pytest.raises(TraceError, match="line 1: longer than 16777216 bytes; is this text?"):
            list(read(path))

    _, peak = peak_of(attempt)
    assert peak < 4 * LONGEST_LINE


@pytest.mark.parametrize("damage", ["cut", "changed", "plain"])
def test_compressed_data_that_is_damaged(tmp_path: Path, damage: str) -> None:
    """One error, with the line, whatever gzip calls it."""
    path = write(tmp_path / "x.jsonl.gz", SAMPLES)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        del data[-20:]
    elif damage == "changed":
        data[40:60] = b"\xff" * 20
    else:
        data = bytearray(START.encode())
    path.write_bytes(data)
    with pytest.raises(TraceError, match=r"line \d+: the compressed data is damaged or cut off"):
        list(read(path))
