"""The tables of `characterise`, compared with figures worked out by hand."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.characterise import characterise, read
from beforehand.pipeline.characterise.characterise import NOTE, TABLES
from beforehand.pipeline.characterise.runs import tables_of_run
from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.schemas import MESSAGES
from tests.pipeline.characterise.messages import MS, message, shop

Tables = dict[str, pa.Table]
Rows = list[dict[str, Any]]


def messages() -> Rows:
    """Four runs: the shop, one with regular sends, one without times, one without an order."""
    regular = [message(f"m{n}", "a", "b", run="regular", time_ns=n * MS) for n in range(201)]
    still = [message(f"m{n}", "a", ["a", "b"], run="still", time_ns=7) for n in range(3)]
    broken = [message("a", "p", "q", ["a"], run="broken"), message("b", "p", "q", run="broken")]
    return [*shop(), *regular, *still, *broken]


@pytest.fixture(scope="module")
def tables() -> Tables:
    """The tables of the four runs, one after the other."""
    whole: dict[str, Rows] = {name: [] for name in TABLES}
    for run in ("r", "regular", "still", "broken"):
        mine = pa.Table.from_pylist([r for r in messages() if r["run"] == run], MESSAGES)
        for name, part in tables_of_run(mine, seed=1).items():
            whole[name] += part
    return {name: pa.Table.from_pylist(rows, TABLES[name]) for name, rows in whole.items()}


def rows(table: pa.Table, run: str, *columns: str) -> list[tuple[Any, ...]]:
    """These columns of the rows of a run, sorted."""
    mine = [row for row in table.to_pylist() if row["run"] == run]
    return sorted(tuple(row[name] for name in columns) for row in mine)


def row(tables: Tables, run: str) -> dict[str, Any]:
    """The row of a run in the runs table."""
    record: dict[str, Any]
    (record,) = (row for row in tables["runs"].to_pylist() if row["run"] == run)
    return record


def test_an_engine_writes_the_tables_of_all_runs(
    engine: PipelineEngine, tables: Tables, tmp_path: Path
) -> None:
    """Whatever the order of the messages, and with the declared columns for other programs."""
    shuffled = messages()
    random.Random(1).shuffle(shuffled)
    given = engine.table(pa.Table.from_pylist(shuffled, MESSAGES))
    written = characterise(engine, given, str(tmp_path / "out"), seed=1)
    assert written.keys() == TABLES.keys() == read(engine, str(tmp_path / "out")).keys()
    for name, schema in TABLES.items():
        assert sorted(map(str, written[name].to_pylist())) == sorted(
            map(str, tables[name].to_pylist())
        )
        stored = pq.read_table(tmp_path / "out" / name).schema
        assert (stored.names, stored.types) == (schema.names, schema.types)


def test_the_runs_row_of_the_shop(tables: Tables) -> None:
    """Counts, rates and order of its seven messages."""
    record = row(tables, "r")
    assert record | {"gap_cv": 0, "burstiness": 0} == {
        "run": "r",
        "processes": 4,
        "messages": 7,
        "copies": 8,
        "requests": 3,
        "replies": 3,
        "answered": 3,
        "payload_known": 4,
        "flagged": 1,
        "before_cause": 1,
        "span_ns": 60 * MS,
        "rate": pytest.approx(7 / 0.06),
        "window_ns": MS,
        "peak_rate": pytest.approx(1000),
        "gap_cv": 0,
        "burstiness": 0,
        "edges": 5,
        "pairs": 21,
        # Six form a chain; the seventh is concurrent with all of them.
        "concurrent_share": pytest.approx(6 / 21),
        "standard_error": 0.0,
        "note": "",
    }
    # 10, 10, 5, 5, 20 and 10 ms: mean 10, variance 25.
    assert record["gap_cv"] == pytest.approx(0.5)
    assert record["burstiness"] == pytest.approx(-1 / 3)


def test_processes_have_their_degrees_and_counts(tables: Tables) -> None:
    """Degrees count distinct peers; the shop exchanges messages with every other process."""
    columns = ("process", "in_degree", "out_degree", "sent", "received")
    assert rows(tables["processes"], "r", *columns) == [
        ("bank", 2, 1, 1, 2),
        ("customer", 1, 1, 1, 1),
        ("shop", 3, 3, 3, 4),
        ("store", 1, 2, 2, 1),
    ]
    # A message to oneself counts as sent and received, but not towards the degree.
    assert rows(tables["processes"], "still", *columns) == [("a", 0, 1, 3, 3), ("b", 1, 0, 0, 3)]


def test_regular_messages_have_no_bursts(tables: Tables) -> None:
    """With a message each millisecond, burstiness is -1 and the peak rate equals the rate."""
    record = row(tables, "regular")
    assert (record["gap_cv"], record["burstiness"]) == (0.0, -1.0)
    assert record["window_ns"] == MS and record["peak_rate"] == pytest.approx(1000)
    process = rows(tables["processes"], "regular", "process", "sent", "rate", "burstiness")[0]
    assert process == ("a", 201, pytest.approx(201 / 0.2), -1.0)


def test_without_times_there_are_no_rates(tables: Tables) -> None:
    """If all times are equal, rates are null instead of a division by zero."""
    record = row(tables, "still")
    assert [record[name] for name in ("rate", "window_ns", "peak_rate", "gap_cv")] == [None] * 4
    assert record["span_ns"] == 0 and record["concurrent_share"] == 1.0


def test_distributions_and_their_summaries(tables: Tables) -> None:
    """Counts add up, and quantiles are computed from the counts."""
    assert rows(tables["distributions"], "r", "what", "value", "count") == [
        *(("causal depth", depth, 2 if depth == 1 else 1) for depth in range(1, 7)),
        *(("in-degree", value, count) for value, count in ((1, 2), (2, 1), (3, 1))),
        *(("out-degree", value, count) for value, count in ((1, 2), (2, 1), (3, 1))),
        *(("payload bytes", value, 1) for value in (10, 20, 30, 40)),
        *(("received per process", value, count) for value, count in ((1, 2), (2, 1), (4, 1))),
        *(("receivers per message", value, count) for value, count in ((1, 6), (2, 1))),
        *(("requests per received request", value, count) for value, count in ((0, 2), (2, 1))),
        *(("sent per process", value, count) for value, count in ((1, 2), (2, 1), (3, 1))),
    ]
    figures = {what: figure for what, *figure in rows(tables["summaries"], "r", *ALL)}
    assert figures["payload bytes"] == [4, 10, 25.0, 25.0, 37.0, pytest.approx(39.7), 40]
    assert figures["causal depth"][:3] == [7, 1, 3.0]


ALL = ("what", "count", "min", "median", "mean", "p90", "p99", "max")


def test_flags_are_counted(tables: Tables) -> None:
    """The flags set by ingest are counted per run."""
    assert rows(tables["flags"], "r", "flag", "count") == [("clock skew", 1)]
    assert rows(tables["flags"], "still", "flag", "count") == []


def test_table_1_of_almeidas_paper(tables: Tables) -> None:
    """Its formulas for the shop, with n = 4 and the degrees from above as i and o."""
    rows_by_algorithm = {
        (algorithm, quantity): figures
        for algorithm, quantity, *figures in rows(
            tables["table1"], "r", "algorithm", "quantity", "formula", "mean", "max"
        )
    }
    assert len(rows_by_algorithm) == 6 * 4
    assert rows_by_algorithm["RST", "message"] == ["n^2", 16.0, 16]
    assert rows_by_algorithm["KS", "work of the sender"] == ["n^2", 16.0, 16]
    assert rows_by_algorithm["Newtop", "process"] == ["n + b", 5.0, 5]
    assert rows_by_algorithm["MF", "process"] == ["b", 1.0, 1]
    # o is 1, 1, 3 and 2; i is 2, 1, 3 and 1.
    assert rows_by_algorithm["Cykas", "process"] == ["n o + b", 4 * 7 / 4 + 1, 13]
    assert rows_by_algorithm["hybrid buffering", "process"] == ["i + o + b + p + u", 14 / 4 + 1, 7]
    assert rows_by_algorithm["hybrid buffering", "message"] == ["1", 1.0, 1]
    (parameters,) = set(rows(tables["table1"], "r", "n", "i_mean", "i_max", "o_mean"))
    assert parameters == (4, 7 / 4, 3, 7 / 4)


def test_a_run_without_an_order_has_a_note(tables: Tables) -> None:
    """Counts are still present; the figures that need an order are null."""
    record = row(tables, "broken")
    assert record["note"] == "message 'a' comes after itself"
    assert record["messages"] == 2 and record["concurrent_share"] is None


def test_a_run_with_too_many_messages_has_a_note() -> None:
    """Its messages are counted, and their order is not analysed."""
    mine = pa.Table.from_pylist(shop(), MESSAGES)
    (record,) = tables_of_run(mine, seed=1, limit=6)["runs"]
    assert record["note"] == "7 messages are more than 6, so their order was not analysed"
    assert record["messages"] == 7 and "concurrent_share" not in record


def test_a_failure_keeps_the_old_tables(
    engine: PipelineEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new ones are written aside; without any, there is nothing to read."""
    shop_messages = engine.table(pa.Table.from_pylist(shop(), MESSAGES))
    out = tmp_path / "out"
    characterise(engine, shop_messages, str(out))

    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(type(engine.storage), "write_note", fail)
    with pytest.raises(MemoryError):
        characterise(engine, shop_messages, str(out), seed=2)
    with pytest.raises(MemoryError):
        characterise(engine, shop_messages, str(tmp_path / "new"))
    assert '"seed": 1' in (out / NOTE).read_text() and read(engine, str(out))["runs"].num_rows == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    with pytest.raises(PipelineError, match="no complete characteristics here; characterise"):
        read(engine, str(tmp_path / "new"))
