"""Traces on disk, whatever their format: what is written is read, and only if it is complete."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.errors import ResourceError, TraceError
from beforehand.trace import Event, JsonLinesSink, ParquetSink, Recorder, create, read
from beforehand.trace.parquet import ROWS_PER_BATCH
from tests.trace.events import SAMPLES, columns_of, events, fill, write
from tests.wire.memory import peak_of

FORMATS = ["parquet", "jsonl", "jsonl.gz"]

each_format = pytest.mark.parametrize("ending", FORMATS)


@each_format
def test_round_trip(ending: str) -> None:
    """Whatever the events, reading gives back equal ones in the same order."""

    @settings(max_examples=60)
    @given(st.lists(events, max_size=12))
    def round_trip(rows: list[Event]) -> None:
        with TemporaryDirectory() as folder:
            assert list(read(write(Path(folder, f"x.{ending}"), rows))) == rows

    round_trip()


@each_format
def test_types_survive(tmp_path: Path, ending: str) -> None:
    """Receivers come back as a tuple, and an empty one is not the same as None."""
    rows = [SAMPLES[0]._replace(to=to) for to in (None, (), ("bob",))]
    receivers = [event.to for event in read(write(tmp_path / f"x.{ending}", rows))]
    assert receivers == [None, (), ("bob",)]
    assert [type(to) for to in receivers] == [type(None), tuple, tuple]


@each_format
def test_recorder_to_file_and_back(tmp_path: Path, ending: str) -> None:
    """The whole way, as a simulation goes it."""
    path = tmp_path / f"x.{ending}"
    with Recorder("r7", create(path)) as recorder:
        recorder.record(
            "alice",
            1,
            "send",
            "alice",
            1,
            ("bob",),
            time_ns=10,
            payload_bytes=5,
            meta_bytes=0,
            detail="",
        )
        recorder.record(
            "bob",
            1,
            "control",
            "bob",
            0,
            ("alice",),
            time_ns=20,
            payload_bytes=0,
            meta_bytes=2,
            detail="ack",
        )
    assert list(read(str(path))) == [
        Event(
            "r7",
            "alice",
            1,
            "send",
            "alice",
            1,
            ("bob",),
            time_ns=10,
            payload_bytes=5,
            meta_bytes=0,
            detail="",
        ),
        Event(
            "r7",
            "bob",
            1,
            "control",
            "bob",
            None,
            ("alice",),
            time_ns=20,
            payload_bytes=0,
            meta_bytes=2,
            detail="ack",
        ),
    ]


@each_format
def test_a_trace_without_events(tmp_path: Path, ending: str) -> None:
    """A trace without events can be written and read."""
    assert list(read(write(tmp_path / f"x.{ending}", []))) == []


@each_format
def test_equal_rows_are_equal_bytes(tmp_path: Path, ending: str) -> None:
    """Neither the time, nor the name of the file, nor chance gets into it."""
    code = (
        "import sys; from pathlib import Path; from tests.trace.events import SAMPLES, write;"
        "write(Path(sys.argv[1]), SAMPLES * 50)"
    )
    one, other = tmp_path / f"one.{ending}", tmp_path / f"other.{ending}"
    write(one, SAMPLES * 50)
    # Another process has another hash seed.
    subprocess.run(
        [sys.executable, "-c", code, other], cwd=Path(__file__).parents[2], check=True, timeout=60
    )
    assert one.read_bytes() == other.read_bytes()


@each_format
def test_the_name_appears_at_the_end(tmp_path: Path, ending: str) -> None:
    """Until it is complete, a folder holds nothing that a reader would take for a trace."""
    path = tmp_path / f"x.{ending}"
    sink = create(path)
    fill(sink, SAMPLES)
    assert [file.name for file in tmp_path.iterdir()] == [f".x.{ending}.unfinished"]
    with pytest.raises(TraceError, match="no trace in this folder"):
        read(tmp_path)
    sink.close()
    assert list(tmp_path.iterdir()) == [path]


@each_format
def test_abort_leaves_nothing(tmp_path: Path, ending: str) -> None:
    """Neither a file nor its beginning; what was there before stays."""
    path = write(tmp_path / f"x.{ending}", SAMPLES)
    before = path.read_bytes()
    sink = create(path)
    fill(sink, SAMPLES[:2])
    sink.abort()
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


@each_format
def test_a_killed_run_leaves_no_trace_and_does_not_block_the_next(
    tmp_path: Path, ending: str
) -> None:
    """Not even a kill without warning makes a file that looks complete; the next run succeeds."""
    path = tmp_path / f"x.{ending}"
    code = (
        "import os, signal, sys; from tests.trace.events import *;"
        "sink = create(sys.argv[1]); fill(sink, SAMPLES); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code, path], cwd=Path(__file__).parents[2], timeout=60
    )
    assert killed.returncode == -9
    assert not path.exists()
    assert list(read(write(path, SAMPLES))) == SAMPLES
    assert list(tmp_path.iterdir()) == [path]


@each_format
def test_an_end_that_fails_leaves_nothing(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full at the last moment is an error, and not half a file."""
    sink = create(tmp_path / f"x.{ending}")
    fill(sink, SAMPLES)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        sink.close()
    assert list(tmp_path.iterdir()) == []


@each_format
def test_events_that_make_no_sense_are_not_written(tmp_path: Path, ending: str) -> None:
    """A trace that its own reader would refuse fails when it is written, and names the row."""
    sink = create(tmp_path / f"x.{ending}")
    fill(sink, SAMPLES)
    bad = columns_of("r1", [SAMPLES[0], SAMPLES[1]._replace(seq=0)])
    row = len(SAMPLES) + 2
    with pytest.raises(TraceError, match=f"x.{ending}: row {row}, recorded by 'alice': `seq` is 0"):
        sink.write(bad)
    sink.abort()


@pytest.mark.parametrize(
    ("ending", "count"), [("parquet", 2 * ROWS_PER_BATCH), ("jsonl", 3000), ("jsonl.gz", 3000)]
)
def test_reading_takes_bounded_memory(tmp_path: Path, ending: str, count: int) -> None:
    """Three times the events take no more memory."""
    rows = [SAMPLES[1]._replace(seq=number) for number in range(1, count + 1)]
    peaks = []
    for times in (1, 3):
        path = write(tmp_path / f"{times}.{ending}", rows * times)  # one row group in Parquet
        rows_read, peak = peak_of(lambda path=path: sum(1 for _ in read(path)))  # type: ignore[misc]
        assert rows_read == count * times
        peaks.append(peak)
    assert peaks[1] < 1.5 * peaks[0]


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    """All formats, each file as a whole; other files and unfinished ones are passed over."""
    for name, event in (("b.parquet", 1), ("c.jsonl", 2), ("a.jsonl.gz", 0)):
        write(tmp_path / name, [SAMPLES[event]])
    write(tmp_path / "hidden.jsonl", [SAMPLES[3]]).rename(tmp_path / ".hidden.jsonl")
    (tmp_path / "_temporary.parquet").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "folder.parquet").mkdir()
    create(tmp_path / "d.jsonl").file.close()  # killed
    assert list(read(tmp_path)) == SAMPLES[:3]


def test_paths_that_are_not_a_trace_are_refused_at_once(tmp_path: Path) -> None:
    """Before anybody iterates."""
    (tmp_path / "x.csv").write_text("a,b\n")
    for path, error in (
        ("missing.parquet", "missing.parquet: there is no such file or folder; check the path"),
        ("x.csv", "x.csv: not the name of a trace; it should end in one of .parquet, .jsonl"),
        ("", "there is no trace in this folder, no file that ends in .parquet, .jsonl"),
    ):
        with pytest.raises(TraceError, match=error):
            read(tmp_path / path)


def test_sinks_want_a_name_that_readers_know(tmp_path: Path) -> None:
    """A file that could not be read again is not even begun."""
    with pytest.raises(TraceError, match="x.csv: not the name of a trace; end it in one of"):
        create(tmp_path / "x.csv")
    with pytest.raises(TraceError, match="x.jsonl: .* a name that ends in .parquet"):
        ParquetSink(tmp_path / "x.jsonl")
    with pytest.raises(TraceError, match="x.json: .* a name that ends in .jsonl or .jsonl.gz"):
        JsonLinesSink(tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []


@each_format
def test_a_folder_that_is_not_there(tmp_path: Path, ending: str) -> None:
    """The error comes at the beginning of a run and not at its end."""
    with pytest.raises(TraceError, match=f"x.{ending}: cannot be written .* create its folder"):
        create(tmp_path / "missing" / f"x.{ending}")


@each_format
def test_a_file_that_goes_away(tmp_path: Path, ending: str) -> None:
    """An error of the operating system is reported as such, and not as damage."""
    path = write(tmp_path / f"x.{ending}", SAMPLES)
    reader = read(path)
    path.unlink()
    with pytest.raises(TraceError, match=f"x.{ending}: cannot be read .*; check that you may"):
        list(reader)


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of Parquet names what to install, and lines of JSON go on working."""
    path = write(tmp_path / "x.parquet", SAMPLES)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    error = r"\.parquet: Parquet needs pyarrow, .*; run `pip install 'beforehand\[trace\]'`"
    with pytest.raises(ResourceError, match=error):
        list(read(path))
    with pytest.raises(ResourceError, match=error):
        ParquetSink(tmp_path / "y.parquet")
    assert list(read(write(tmp_path / "x.jsonl", SAMPLES))) == SAMPLES
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.jsonl", "x.parquet"]


def test_importing_does_not_load_pyarrow() -> None:
    """It takes long, and a process that only records may never need it."""
    code = "import sys, beforehand.trace; print('pyarrow' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout == "False\n"
