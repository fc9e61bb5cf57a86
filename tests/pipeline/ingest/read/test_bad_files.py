"""Files that are of no use, wholly or in part: each has its reason, and none stops the others."""

from __future__ import annotations

import gzip
import json

import pytest

from beforehand.pipeline.ingest import tasks
from beforehand.pipeline.ingest.read import gzipped
from beforehand.pipeline.ingest.read.options import FORMATS, Options
from tests.pipeline.ingest.plain import FOLDER, ingest_files, ingest_one
from tests.pipeline.ingest.read.test_graphs import txn
from tests.pipeline.ingest.read.test_span_formats import CSV, jaeger, otlp, zipkin
from tests.pipeline.ingest.read.test_traces import TALK, lines

LIST = "a b 1\nb a 2\nc d 3\n"
SAMPLES = {
    "trace": lines(*TALK),
    "otlp": json.dumps(otlp()),
    "jaeger": json.dumps(jaeger()),
    "zipkin": json.dumps(zipkin()),
    "span-csv": CSV,
    "shiviz": 'x\na {"a": 1}\ny\nb {"b": 1, "a": 1}\n',
    "list": LIST,
    "graph": json.dumps({"txns": [txn(0, []), txn(1, [0])]}),
}


def whole_file(content: bytes | str, options: Options | None = None) -> str:
    """Why a file is of no use at all."""
    found = ingest_one(content, options)
    assert (found.file.rows, found.file.rejected, found.file.accepted) == (1, 1, 0)
    [(position, reason)] = found.reasons
    assert position == 0
    return reason


def test_there_is_a_sample_of_every_format() -> None:
    """Otherwise the tests below would miss one."""
    assert set(SAMPLES) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_recognised(name: str) -> None:
    """By its content, whatever the name of the file, packed or not, and with a byte order mark."""
    data = SAMPLES[name].encode()
    for content in (data, gzip.compress(data), b"\xef\xbb\xbf" + data, b"\n" + data):
        found = ingest_one(content)
        assert found.file.format == name
        assert found.file.accepted >= 2 and found.file.rejected == 0 and found.messages


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_can_be_said(name: str) -> None:
    """And then the others are read as that, which they are not: rejects, and no exceptions."""
    assert ingest_one(SAMPLES[name], Options(format=name)).file.rejected == 0
    for other, text in SAMPLES.items():
        spans = {"otlp", "jaeger", "zipkin"}
        if other != name and not (other in spans and name in spans):
            assert not ingest_one(text, Options(format=name)).messages or name == "list"


@pytest.mark.parametrize(
    "content",
    [
        "The licence of this is\n\nfree.\n",
        "# Title\n\n- a point\n",
        "{}",
        "[]",
        "[1, 2]",
        "a b\nc d\n",
    ],
)
def test_what_is_none_of_them_is_one_reject(content: str) -> None:
    """A licence in a folder of traces is said, and is no trouble."""
    assert whole_file(content).startswith("not recognised as any of trace, otlp, jaeger, zipkin")


def test_bytes_that_are_not_text() -> None:
    """Shown with replacement characters, cut to a decent length."""
    found = ingest_one(bytes(range(128, 256)) * 100)
    assert "not recognised" in found.reasons[0][1]
    assert "�" in found.rejects[0]["raw"] and len(found.rejects[0]["raw"]) <= tasks.MOST_RAW


@pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"")])
def test_an_empty_file(content: bytes) -> None:
    """Is a reject: somebody expected something in it."""
    assert whole_file(content) == "the file is empty"


@pytest.mark.parametrize("name", ["otlp", "jaeger", "zipkin", "graph"])
def test_a_document_that_is_cut_off(name: str) -> None:
    """Half a JSON document is none."""
    text = SAMPLES[name]
    assert "truncated" in whole_file(text[:-20])


def test_a_document_with_damage_inside() -> None:
    """The line is told."""
    assert "line 1" in whole_file(SAMPLES["zipkin"].replace(":", ";", 3))


def test_a_document_that_is_not_utf8() -> None:
    """A name in Latin-1."""
    data = SAMPLES["zipkin"].replace("shop", "caf\xe9").encode("latin-1")
    assert whole_file(data).startswith("not UTF-8")


def test_deep_nesting() -> None:
    """Deeper than Python's parser goes: said, and no crash."""
    deep = '[{"traceId": "t", "tags": ' + "[" * 100_000 + "]" * 100_000 + "}]"
    assert whole_file(deep) == "nested too deeply; flatten it"


def test_a_number_with_too_many_digits() -> None:
    """Python refuses to read it, and so do we."""
    assert "not readable as JSON" in whole_file('[{"traceId": ' + "1" * 5000 + "}]")


def test_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of a gigabyte is no row."""
    monkeypatch.setattr("beforehand.pipeline.ingest.read.lines.LONGEST_LINE", 1000)
    found = ingest_one(LIST + "a b " + "1" * 2000 + "\n" + "d e 4\n")
    assert [position for position, _ in found.reasons] == [4] and found.file.accepted == 4


def test_a_header_and_nothing_else() -> None:
    """No rows in, none out."""
    found = ingest_one(CSV.splitlines()[0] + "\n")
    assert (found.file.rows, found.file.accepted, found.file.rejected) == (0, 0, 0)


def test_csv_without_the_columns() -> None:
    """The remedy is --map."""
    assert "there is no column TraceID" in whole_file("a,b\n1,2\n", Options(format="span-csv"))
    assert "not a line" in whole_file('"a,b\n1,2\n', Options(format="span-csv"))


# ---- gzip ----


def test_gzip_that_is_cut_off_gives_what_is_whole() -> None:
    """The last line may be half of one and look whole, so it goes with the reject."""
    text = "".join(f"a b {i * 7919}\n" for i in range(5000))
    packed = gzip.compress(text.encode())
    found = ingest_one(packed[: len(packed) // 2])
    [(position, reason)] = found.reasons
    assert position == 0 and reason.startswith("the gzip data is truncated")
    assert 100 < found.file.accepted < 5000
    assert [each["time_ns"] for each in found.messages] == [
        i * 7919 * 10**9 for i in range(found.file.accepted)
    ]


def test_gzip_that_is_damaged_gives_what_comes_before() -> None:
    """As far as it can be unpacked."""
    text = "".join(f"a b {i * 7919}\n" for i in range(50000))
    packed = bytearray(gzip.compress(text.encode()))
    middle = len(packed) // 2
    packed[middle : middle + 200] = b"\0" * 200
    found = ingest_one(bytes(packed))
    assert "damaged" in found.reasons[-1][1] or "damaged" in found.reasons[0][1]
    assert found.file.accepted > 100


def test_a_packed_document_that_is_cut_off_is_one_reject() -> None:
    """Not one for the gzip and one for the JSON."""
    packed = gzip.compress(json.dumps(zipkin() * 50).encode())
    assert whole_file(packed[:-40]).startswith("the gzip data is truncated")


def test_several_packed_parts_in_a_row_are_one_file() -> None:
    """As `cat` makes them; rubbish behind them is said."""
    packed = gzip.compress(b"a b 1\n") + gzip.compress(b"b a 2\n")
    assert ingest_one(packed).file.accepted == 2
    found = ingest_one(packed + b"rubbish")
    assert found.file.accepted == 2 and "other data follows" in found.reasons[0][1]


def test_what_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes can hold gigabytes of nothing."""
    monkeypatch.setattr(gzipped, "MOST_UNPACKED", 1000)
    assert "more than 1,000 bytes; split it" in whole_file(gzip.compress(b"a b 1\n" * 1000))


def test_what_is_not_packed_is_left_alone() -> None:
    """Whatever its name says."""
    assert ingest_one(LIST, name="x.gz").file.accepted == 3


# ---- together ----


def test_bad_files_do_not_stop_the_others() -> None:
    """All of it in one folder: every format gives its messages."""
    files = {f"{FOLDER}/{name}": text.encode() for name, text in SAMPLES.items()}
    files |= {
        f"{FOLDER}/LICENSE": b"free\n",
        f"{FOLDER}/empty": b"",
        f"{FOLDER}/cut.json": SAMPLES["jaeger"].encode()[:-9],
        f"{FOLDER}/bytes": bytes(range(256)),
    }
    found = ingest_files(files)
    assert {each.format for each in found.summary.files if each.accepted} == set(FORMATS)
    assert found.summary.total("rejected") == 4
    assert len(found.summary.runs) == len(FORMATS)


def test_a_reader_that_fails_is_a_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of ours must not cost anybody the other files."""

    def broken(_: bytes) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("beforehand.pipeline.ingest.read.read.read_zipkin", broken)
    reason = whole_file(SAMPLES["zipkin"])
    assert reason == "the reader failed (ZeroDivisionError: oh); please report it"


def test_a_long_row_is_cut_where_it_is_shown() -> None:
    """Two thousand characters tell enough."""
    found = ingest_one(LIST + "x" * 5000 + "\n")
    assert len(found.rejects[0]["raw"]) == tasks.MOST_RAW and found.rejects[0]["raw"].endswith(
        "..."
    )
