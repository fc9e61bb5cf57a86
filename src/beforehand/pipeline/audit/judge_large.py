"""One huge run on Spark: put in order once, then judged in blocks of clock components side by side.

    chunks -> one task: all findings that need no clocks, and the steps in order
    steps x blocks -> a task for each block: deliveries that came too late
    the stretch of steps that these need -> one task: chains
    chunks -> when the reported events happened, and whom the messages in chains went to

StepBatch stream through the tasks of the blocks; what a block holds is bounded (`order.blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructType,
)

from beforehand.causality.ids import MessageId
from beforehand.errors import TraceError
from beforehand.pipeline.arrow import arrow_schema
from beforehand.pipeline.audit.assemble import assemble
from beforehand.pipeline.audit.clock_blocks import ClockBlock, LateDeliveries, blocks
from beforehand.pipeline.audit.findings import LISTED, RunFindings
from beforehand.pipeline.audit.judge import add_late, structure
from beforehand.pipeline.audit.linearise import Lineariser, StepBatch
from beforehand.pipeline.audit.log_chunks import LogChunk
from beforehand.pipeline.audit.stages import unpacked
from beforehand.pipeline.audit.witness import WitnessSearch
from beforehand.pipeline.schemas import VERDICTS, VIOLATIONS, optional, required

_BYTES: Final = BinaryType()

# Rows with steps, in the order of `place`; after them one with all that was found on the way.
STEPS: Final = StructType(
    [
        required("place", LongType()),
        optional("process", _BYTES),
        optional("slot", _BYTES),
        optional("number", _BYTES),
        optional("names", ArrayType(StringType())),
        optional("slots", LongType()),
        optional("verdict", VERDICTS),
        optional("violations", ArrayType(VIOLATIONS)),
    ]
)
WRONG: Final = StructType(
    [
        required("step", LongType()),
        required("process", IntegerType()),
        required("sender", IntegerType()),
        required("number", IntegerType()),
        required("since", LongType()),
        required("newest", IntegerType()),
    ]
)
CHAINS: Final = StructType(
    [
        required("step", LongType()),
        required("senders", ArrayType(IntegerType())),
        required("numbers", ArrayType(LongType())),
    ]
)
DETAILS: Final = StructType(
    [
        required("process", StringType()),
        required("sender", StringType()),
        required("number", LongType()),
        required("seq", LongType()),
        optional("to", ArrayType(StringType())),  # of a send; null for a delivery
    ]
)


@dataclass(frozen=True)
class JudgedRun:
    """The rows of both tables."""

    verdict: dict[str, Any]
    violations: list[dict[str, Any]]


def judge_large(chunks: DataFrame, run: str, witnesses: int, memory: int) -> JudgedRun:
    """All findings about one run, of which all chunks are given."""
    spark = chunks.sparkSession
    chunks = chunks.persist(StorageLevel.DISK_ONLY)
    steps = chunks.repartition(1).mapInArrow(_order(run), STEPS).persist(StorageLevel.DISK_ONLY)
    try:
        last = (
            steps.where(F.col("verdict").isNotNull()).drop("process", "slot", "number").collect()[0]
        )
        verdict: dict[str, Any] = last.verdict.asDict(recursive=True)
        if verdict["verdict"] == "unreadable":
            return JudgedRun(verdict, [])
        violations = [each.asDict(recursive=True) for each in last.violations]
        parallelism = spark.sparkContext.defaultParallelism
        cut = blocks(len(last.names), last.slots, parallelism, memory)
        wrong = _wrong(steps, cut, len(last.names), last.slots).persist()
        counts = wrong.agg(F.count("*"), F.count_if(F.col("newest") > 0)).collect()[0]
        listed = wrong.orderBy("step").limit(LISTED).collect()
        wrong.unpersist()
        found = _late(chunks, steps, listed, last.names, witnesses)
        found.count_more("causal", counts[0] - found.counts["causal"])
        found.count_more("fifo", counts[1] - found.counts["fifo"])
    finally:
        steps.unpersist()
        chunks.unpersist()
    if found.counts["causal"]:
        verdict["verdict"] = "violated"
    verdict |= {kind: verdict[kind] + found.counts[kind] for kind in found.counts}
    verdict["notes"] += found.notes
    return JudgedRun(verdict, violations + [each.row(run) for each in found.violations])


# ---- in order ----


def _order(run: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def order(batches: Iterable[Any]) -> Iterator[Any]:
        schema = arrow_schema(STEPS)
        chunks = [LogChunk.unpack(row) for batch in batches for row in unpacked(batch)]
        place = deliveries = 0
        try:
            log = assemble(chunks, renumber=False)
        except TraceError as problem:
            events = sum(int(chunk.rows.sum()) for chunk in chunks)
            found = RunFindings(events=events, readable=False, notes=[str(problem)])
            yield pa.RecordBatch.from_pylist(
                [{"place": 0, "verdict": found.row(run)}], schema=schema
            )
            return
        chunks.clear()
        sorter = Lineariser(log)
        for some in sorter.steps():
            row = {"place": place, **{name: getattr(some, name).tobytes() for name in _COLUMNS}}
            yield pa.RecordBatch.from_pylist([row], schema=schema)
            place += 1
            deliveries += int((some.slot < 0).sum())
        found = structure(log, sorter)
        found.deliveries = deliveries
        row = {
            "place": place,
            "names": log.table.names,
            "slots": sorter.slots,
            "verdict": found.row(run),
            "violations": [each.row(run) for each in found.violations],
        }
        yield pa.RecordBatch.from_pylist([row], schema=schema)

    return order


_COLUMNS: Final = ("process", "slot", "number")


def _steps(batches: Iterable[Any]) -> Iterator[tuple[dict[str, Any], StepBatch]]:
    for batch in batches:
        for row in unpacked(batch):
            process, slot, number = (np.frombuffer(row[name], np.int32) for name in _COLUMNS)
            yield row, StepBatch(process, slot, number, np.zeros(0, np.int64))


# ---- in blocks ----


def _wrong(steps: DataFrame, cut: list[tuple[int, int]], processes: int, slots: int) -> DataFrame:
    """The deliveries that came too late, from a task for each block."""
    spark = steps.sparkSession
    table = F.broadcast(spark.createDataFrame(cut, "first int, width int"))
    return (
        steps.where(F.col("process").isNotNull())
        .select("place", *_COLUMNS)
        .crossJoin(table)
        .repartitionByRange(len(cut), "first")
        .sortWithinPartitions("first", "place")
        .mapInArrow(_check(processes, slots), WRONG)
    )


def _check(processes: int, slots: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def check(batches: Iterable[Any]) -> Iterator[Any]:
        schema = arrow_schema(WRONG)
        block: ClockBlock | None = None
        for row, steps in _steps(batches):
            if block is None or block.first != row["first"]:
                block = ClockBlock(processes, slots, row["first"], row["width"])
            wrong = block.check(steps)
            if len(wrong):
                columns = [pa.array(each, field.type) for each, field in _fields(wrong, schema)]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return check


def _fields(wrong: LateDeliveries, schema: Any) -> Iterator[tuple[Any, Any]]:
    return ((getattr(wrong, field.name), field) for field in schema)


# ---- the witnesses ----


def _late(
    chunks: DataFrame, steps: DataFrame, listed: list[Any], names: list[str], witnesses: int
) -> RunFindings:
    """The late deliveries as people read them."""
    found = RunFindings()
    if not listed:
        return found
    chains = _chains(steps, listed[:witnesses], len(names))
    messages = {MessageId(names[i], k) for chain in chains.values() for i, k in chain}
    late = {(names[each.process], MessageId(names[each.sender], each.number)) for each in listed}
    when, receivers = _details(chunks, late, messages)
    for each in listed:
        message = MessageId(names[each.sender], each.number)
        chain = [MessageId(names[i], k) for i, k in chains.get(each.step, ())]
        add_late(
            found,
            names[each.process],
            message,
            when[names[each.process], message],
            {part: receivers.get(part, names) for part in chain},
            MessageId(message.sender, each.newest) if each.newest else None,
        )
    return found


def _chains(
    steps: DataFrame, listed: list[Any], processes: int
) -> dict[int, list[tuple[int, int]]]:
    """A chain for each step, in the stretch of steps from the first sending on."""
    if not listed:
        return {}
    begin = min(each.since for each in listed)
    end = max(each.step for each in listed)
    wanted = [each.step for each in listed]
    rows = (
        steps.where(F.col("process").isNotNull())
        .select("place", *_COLUMNS)
        .repartition(1)
        .sortWithinPartitions("place")
        .mapInArrow(_find(begin, end, wanted, processes), CHAINS)
        .collect()
    )
    return {row.step: list(zip(row.senders, row.numbers, strict=True)) for row in rows}


def _find(
    begin: int, end: int, wanted: list[int], processes: int
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def find(batches: Iterable[Any]) -> Iterator[Any]:
        kept: list[StepBatch] = []
        first = passed = 0
        for _, some in _steps(batches):
            if passed + len(some) > begin and passed <= end:
                first = first if kept else passed
                kept.append(some)
            passed += len(some)
        witness = WitnessSearch(StepBatch.join(kept), processes)
        found = [(step, witness.chain(step - first)) for step in wanted]
        rows = [
            {"step": step, "senders": [i for i, _ in chain], "numbers": [k for _, k in chain]}
            for step, chain in found
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=arrow_schema(CHAINS))

    return find


def _details(
    chunks: DataFrame, late: set[tuple[str, MessageId]], messages: set[MessageId]
) -> tuple[dict[tuple[str, MessageId], int], dict[MessageId, list[str]]]:
    """When deliveries happened, and whom messages were sent to; those to everybody are left out."""
    rows = chunks.mapInArrow(_look_up(late, messages), DETAILS).collect()
    when: dict[tuple[str, MessageId], int] = {}
    receivers: dict[MessageId, list[str]] = {}
    for row in rows:
        message = MessageId(row.sender, row.number)
        if row.to is not None:
            receivers[message] = row.to
            continue
        key = (row.process, message)
        when[key] = min(row.seq, when.get(key, row.seq))  # a second one is a duplicate
    return when, receivers


def _look_up(
    late: set[tuple[str, MessageId]], messages: set[MessageId]
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    numbers = np.unique([m.number for m in messages] + [m.number for _, m in late])
    senders = {m.sender for m in messages} | {m.sender for _, m in late}

    def look_up(batches: Iterable[Any]) -> Iterator[Any]:
        schema = arrow_schema(DETAILS)
        for batch in batches:
            for row in unpacked(batch):
                chunk = LogChunk.unpack(row)
                known = np.array([name in senders for name in chunk.names])
                likely = np.isin(chunk.number, numbers) & known[chunk.sender]
                rows = [
                    found
                    for each in np.flatnonzero(likely).tolist()
                    if (found := _detail(chunk, each, late, messages)) is not None
                ]
                if rows:
                    yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return look_up


def _detail(
    chunk: LogChunk, each: int, late: set[tuple[str, MessageId]], messages: set[MessageId]
) -> dict[str, Any] | None:
    process = chunk.names[chunk.process[each]]
    message = MessageId(chunk.names[chunk.sender[each]], int(chunk.number[each]))
    row = {
        "process": process,
        "sender": message.sender,
        "number": message.number,
        "seq": int(chunk.seq[each]),
    }
    if not chunk.is_send[each]:
        return row if (process, message) in late else None
    if message not in messages:
        return None
    place = int(chunk.is_send[:each].sum())
    if chunk.to_size[place] < 0:
        return None
    begin = int(np.maximum(chunk.to_size[:place], 0).sum())
    to = chunk.to[begin : begin + int(chunk.to_size[place])]
    return {**row, "to": sorted(chunk.names[receiver] for receiver in to)}
