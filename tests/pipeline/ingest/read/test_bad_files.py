"""Files that are wholly or partly unusable: each has a reason, and none stops the others."""

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
from tests.pipeline.ingest.read.test_traces import CONVERSATION, lines

LIST = "a b 1\nb a 2\nc d 3\n"
SAMPLES = {
    "trace": lines(*CONVERSATION),
    "otlp": json.dumps(otlp()),
    "jaeger": json.dumps(jaeger()),
    "zipkin": json.dumps(zipkin()),
    "span-csv": CSV,
    "shiviz": 'x\na {"a": 1}\ny\nb {"b": 1, "a": 1}\n',
    "list": LIST,
    "graph": json.dumps({"txns": [txn(0, []), txn(1, [0])]}),
}


def rejection_of(content: bytes | str, options: Options | None = None) -> str:
    """The reason why a whole file is rejected."""
    ingested = ingest_one(content, options)
    assert (ingested.file.rows, ingested.file.rejected, ingested.file.accepted) == (1, 1, 0)
    [(position, reason)] = ingested.reasons
    assert position == 0
    return reason


def test_there_is_a_sample_of_every_format() -> None:
    """Guards the tests below against missing a format."""
    assert set(SAMPLES) == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_recognised(name: str) -> None:
    """Content decides, whatever the file's name, compressed or not, with a byte order mark or not."""
    data = SAMPLES[name].encode()
    for content in (data, gzip.compress(data), b"\xef\xbb\xbf" + data, b"\n" + data):
        ingested = ingest_one(content)
        assert ingested.file.format == name
        assert ingested.file.accepted >= 2 and ingested.file.rejected == 0 and ingested.messages


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_can_be_given(name: str) -> None:
    """Files of other formats then yield rejects and no exceptions."""
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
def test_an_unrecognised_file_is_one_reject(content: str) -> None:
    """A licence in a folder of traces is reported and does no harm."""
    assert rejection_of(content).startswith("not recognised as any of trace, otlp, jaeger, zipkin")


def test_binary_data_is_shown_in_the_reject() -> None:
    """It is decoded with replacement characters and truncated."""
    ingested = ingest_one(bytes(range(128, 256)) * 100)
    assert "not recognised" in ingested.reasons[0][1]
    assert "�" in ingested.rejects[0]["raw"] and len(ingested.rejects[0]["raw"]) <= tasks.MOST_RAW


@pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"")])
def test_an_empty_file_is_a_reject(content: bytes) -> None:
    """Somebody expected something in it."""
    assert rejection_of(content) == "the file is empty"


@pytest.mark.parametrize("name", ["otlp", "jaeger", "zipkin", "graph"])
def test_a_truncated_document_is_a_reject(name: str) -> None:
    """Half a JSON document isn't usable."""
    text = SAMPLES[name]
    assert "truncated" in rejection_of(text[:-20])


def test_a_damaged_document_is_a_reject() -> None:
    """The reason gives the line."""
    assert "line 1" in rejection_of(SAMPLES["zipkin"].replace(":", ";", 3))


def test_a_document_that_is_not_utf8_is_a_reject() -> None:
    """It has a name in Latin-1."""
    data = SAMPLES["zipkin"].replace("shop", "caf\xe9").encode("latin-1")
    assert rejection_of(data).startswith("not UTF-8")


def test_deep_nesting_is_a_reject() -> None:
    """Nesting beyond the limit of Python's parser does not crash the reader."""
    deep = '[{"traceId": "t", "tags": ' + "[" * 100_000 + "]" * 100_000 + "}]"
    assert rejection_of(deep) == "nested too deeply; flatten it"


def test_a_number_with_too_many_digits_is_a_reject() -> None:
    """Python refuses to parse it."""
    assert "not readable as JSON" in rejection_of('[{"traceId": ' + "1" * 5000 + "}]")


def test_a_line_that_is_too_long_is_a_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of a gigabyte isn't a row."""
    monkeypatch.setattr("beforehand.pipeline.ingest.read.lines.LONGEST_LINE", 1000)
    ingested = ingest_one(LIST + "a b " + "1" * 2000 + "\n" + "d e 4\n")
    assert [position for position, _ in ingested.reasons] == [4] and ingested.file.accepted == 4


def test_a_file_with_only_a_header_has_no_rows() -> None:
    """It counts neither accepted nor rejected rows."""
    ingested = ingest_one(CSV.splitlines()[0] + "\n")
    assert (ingested.file.rows, ingested.file.accepted, ingested.file.rejected) == (0, 0, 0)


def test_csv_without_the_expected_columns_is_a_reject() -> None:
    """The remedy is --map."""
    assert "there is no column TraceID" in rejection_of("a,b\n1,2\n", Options(format="span-csv"))
    assert "not a line" in rejection_of('"a,b\n1,2\n', Options(format="span-csv"))


# ---- gzip ----


def test_truncated_gzip_yields_its_complete_lines() -> None:
    """The last line may be incomplete without showing it, so it is part of the reject."""
    text = "".join(f"a b {i * 7919}\n" for i in range(5000))
    packed = gzip.compress(text.encode())
    ingested = ingest_one(packed[: len(packed) // 2])
    [(position, reason)] = ingested.reasons
    assert position == 0 and reason.startswith("the gzip data is truncated")
    assert 100 < ingested.file.accepted < 5000
    assert [message["time_ns"] for message in ingested.messages] == [
        i * 7919 * 10**9 for i in range(ingested.file.accepted)
    ]


def test_damaged_gzip_yields_what_precedes_the_damage() -> None:
    """Rows are read as far as the data can be decompressed."""
    text = "".join(f"a b {i * 7919}\n" for i in range(50000))
    packed = bytearray(gzip.compress(text.encode()))
    middle = len(packed) // 2
    packed[middle : middle + 200] = b"\0" * 200
    ingested = ingest_one(bytes(packed))
    assert "damaged" in ingested.reasons[-1][1] or "damaged" in ingested.reasons[0][1]
    assert ingested.file.accepted > 100


def test_a_truncated_compressed_document_is_one_reject() -> None:
    """There is no second reject for the truncated JSON."""
    packed = gzip.compress(json.dumps(zipkin() * 50).encode())
    assert rejection_of(packed[:-40]).startswith("the gzip data is truncated")


def test_concatenated_gzip_members_are_one_file() -> None:
    """`cat` produces such files; trailing data of another kind is reported."""
    packed = gzip.compress(b"a b 1\n") + gzip.compress(b"b a 2\n")
    assert ingest_one(packed).file.accepted == 2
    ingested = ingest_one(packed + b"rubbish")
    assert ingested.file.accepted == 2 and "other data follows" in ingested.reasons[0][1]


def test_a_decompression_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes can expand to gigabytes of nothing."""
    monkeypatch.setattr(gzipped, "MOST_UNPACKED", 1000)
    assert "more than 1,000 bytes; split it" in rejection_of(gzip.compress(b"a b 1\n" * 1000))


def test_uncompressed_data_is_not_decompressed() -> None:
    """The suffix of the file does not matter."""
    assert ingest_one(LIST, name="x.gz").file.accepted == 3


# ---- together ----


def test_bad_files_do_not_stop_the_others() -> None:
    """In a folder with good and bad files, every format yields its messages."""
    files = {f"{FOLDER}/{name}": text.encode() for name, text in SAMPLES.items()}
    files |= {
        f"{FOLDER}/LICENSE": b"free\n",
        f"{FOLDER}/empty": b"",
        f"{FOLDER}/cut.json": SAMPLES["jaeger"].encode()[:-9],
        f"{FOLDER}/bytes": bytes(range(256)),
    }
    ingested = ingest_files(files)
    assert {file.format for file in ingested.summary.files if file.accepted} == set(FORMATS)
    assert ingested.summary.total("rejected") == 4
    assert len(ingested.summary.runs) == len(FORMATS)


def test_a_failing_reader_yields_a_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of ours must not cost the user the other files."""

    def broken(_: bytes) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("beforehand.pipeline.ingest.read.read.read_zipkin", broken)
    reason = rejection_of(SAMPLES["zipkin"])
    assert reason == "the reader failed (ZeroDivisionError: oh); please report it"


def test_a_long_row_is_truncated_in_the_reject() -> None:
    """Two thousand characters are enough to recognise it."""
    ingested = ingest_one(LIST + "x" * 5000 + "\n")
    raw = ingested.rejects[0]["raw"]
    assert len(raw) == tasks.MOST_RAW and raw.endswith("...")
