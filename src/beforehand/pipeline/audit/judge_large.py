"""Judging one run that is too large for one task: linearised once, then checked in parallel blocks of
clock components.

    chunks -> one task: all findings that need no clocks, and the steps in order
    steps x blocks -> a task for each block: deliveries that came too late
    the range of steps that these need -> one task: chains
    chunks -> when the reported events happened, and the receivers of the messages in chains

Steps stream through the tasks of the blocks; the memory of a block is bounded (`clock_blocks.blocks`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from beforehand.causality.ids import MessageId
from beforehand.errors import TraceError
from beforehand.pipeline.audit.assemble import assemble
from beforehand.pipeline.audit.clock_blocks import ClockBlock, blocks
from beforehand.pipeline.audit.findings import LISTED, RunFindings
from beforehand.pipeline.audit.judge import add_late, structural, unreadable
from beforehand.pipeline.audit.kernels.arrays import StepBatch
from beforehand.pipeline.audit.linearise import Lineariser
from beforehand.pipeline.audit.log_chunks import LogChunk
from beforehand.pipeline.audit.stages import unpacked
from beforehand.pipeline.audit.witness import WitnessSearch
from beforehand.pipeline.engine import Table
from beforehand.pipeline.engine.failures import clear_failures
from beforehand.pipeline.engine.spark import SparkTable, arrow_schema, spark_schema
from beforehand.pipeline.schemas import VERDICTS, VIOLATIONS

_BYTES: Final = BinaryType()
_INTEGER: Final = IntegerType()
_NUMBER: Final = LongType()
_TEXT: Final = StringType()
_COLUMNS: Final = ("process", "slot", "number")  # of a batch of steps


def _columns(nullable: bool, **columns: DataType) -> list[StructField]:
    return [StructField(name, kind, nullable) for name, kind in columns.items()]


# Rows with batches of steps, in the order of `position`; then one row with the findings so far.
STEPS: Final = StructType(
    _columns(False, position=_NUMBER)
    + _columns(True, **dict.fromkeys(_COLUMNS, _BYTES), names=ArrayType(_TEXT), slots=_NUMBER)
    + _columns(True, verdict=spark_schema(VERDICTS), violations=ArrayType(spark_schema(VIOLATIONS)))
)
LATE: Final = StructType(
    _columns(False, step=_NUMBER, process=_INTEGER, sender=_INTEGER, number=_INTEGER)
    + _columns(False, since=_NUMBER, newest=_INTEGER)
)
CHAINS: Final = StructType(
    _columns(False, step=_NUMBER, senders=ArrayType(_INTEGER), numbers=ArrayType(_NUMBER))
)
DETAILS: Final = StructType(
    _columns(False, process=_TEXT, sender=_TEXT, number=_NUMBER, seq=_NUMBER)
    + _columns(True, to=ArrayType(_TEXT))  # of a send; null for a delivery
)


@dataclass(frozen=True)
class JudgedRun:
    """The rows of both tables."""

    verdict: dict[str, Any]
    violations: list[dict[str, Any]]


def judge_large(table: Table, run: str, witnesses: int, memory: int) -> JudgedRun:
    """All findings about one run, given all of its chunks."""
    assert isinstance(table, SparkTable)
    with clear_failures():
        return _judge_large(table.frame(), run, witnesses, memory)


def _judge_large(chunks: DataFrame, run: str, witnesses: int, memory: int) -> JudgedRun:
    spark = chunks.sparkSession
    chunks = chunks.persist(StorageLevel.DISK_ONLY)
    steps = chunks.repartition(1).mapInArrow(partial(_linearise, run=run), STEPS)
    steps = steps.persist(StorageLevel.DISK_ONLY)
    try:
        last = steps.where(F.col("verdict").isNotNull()).drop(*_COLUMNS).collect()[0]
        verdict: dict[str, Any] = last.verdict.asDict(recursive=True)
        if verdict["verdict"] == "unreadable":
            return JudgedRun(verdict, [])
        violations = [row.asDict(recursive=True) for row in last.violations]
        parallelism = spark.sparkContext.defaultParallelism
        parts = blocks(len(last.names), last.slots, parallelism, memory)
        late = _late(steps, parts, len(last.names), last.slots).persist()
        counts = late.agg(F.count("*"), F.count_if(F.col("newest") > 0)).collect()[0]
        listed = late.orderBy("step").limit(LISTED).collect()
        late.unpersist()
        outcome = _findings(chunks, steps, listed, last.names, witnesses)
        outcome.count_more("causal", counts[0] - outcome.counts["causal"])
        outcome.count_more("fifo", counts[1] - outcome.counts["fifo"])
    finally:
        steps.unpersist()
        chunks.unpersist()
    if outcome.counts["causal"]:
        verdict["verdict"] = "violated"
    verdict |= {kind: verdict[kind] + outcome.counts[kind] for kind in outcome.counts}
    verdict["notes"] += outcome.notes
    return JudgedRun(verdict, violations + [finding.row(run) for finding in outcome.violations])


# ---- linearising ----


def _linearise(batches: Iterable[Any], *, run: str) -> Iterator[Any]:
    schema = arrow_schema(STEPS)
    chunks = [LogChunk.unpack(row) for batch in batches for row in unpacked(batch)]
    position = deliveries = 0
    try:
        log = assemble(chunks, renumber=False)
    except TraceError as problem:
        row = {"position": 0, "verdict": unreadable(chunks, problem).row(run)}
        yield pa.RecordBatch.from_pylist([row], schema=schema)
        return
    chunks.clear()
    lineariser = Lineariser(log)
    for steps in lineariser.steps():
        row = {"position": position, **{name: getattr(steps, name).tobytes() for name in _COLUMNS}}
        yield pa.RecordBatch.from_pylist([row], schema=schema)
        position += 1
        deliveries += int((steps.slot < 0).sum())
    outcome = structural(log, lineariser)
    outcome.deliveries = deliveries
    row = {
        "position": position,
        "names": log.table.names,
        "slots": lineariser.slots,
        "verdict": outcome.row(run),
        "violations": [finding.row(run) for finding in outcome.violations],
    }
    yield pa.RecordBatch.from_pylist([row], schema=schema)


def _steps(batches: Iterable[Any]) -> Iterator[tuple[dict[str, Any], StepBatch]]:
    for batch in batches:
        for row in unpacked(batch):
            process, slot, number = (np.frombuffer(row[name], np.int32) for name in _COLUMNS)
            yield row, StepBatch(process, slot, number, np.zeros(0, np.int64))


# ---- checking blocks ----


def _late(steps: DataFrame, parts: list[tuple[int, int]], processes: int, slots: int) -> DataFrame:
    """The deliveries that came too late, from a task for each block."""
    spark = steps.sparkSession
    table = F.broadcast(spark.createDataFrame(parts, "first int, width int"))
    return (
        steps.where(F.col("process").isNotNull())
        .select("position", *_COLUMNS)
        .crossJoin(table)
        .repartitionByRange(len(parts), "first")
        .sortWithinPartitions("first", "position")
        .mapInArrow(partial(_check, processes=processes, slots=slots), LATE)
    )


def _check(batches: Iterable[Any], *, processes: int, slots: int) -> Iterator[Any]:
    schema = arrow_schema(LATE)
    block: ClockBlock | None = None
    for row, steps in _steps(batches):
        if block is None or block.first != row["first"]:
            block = ClockBlock(processes, slots, row["first"], row["width"])
        late = block.check(steps)
        if len(late):
            columns = [pa.array(getattr(late, field.name), field.type) for field in schema]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


# ---- searching for witnesses ----


def _findings(
    chunks: DataFrame, steps: DataFrame, listed: list[Any], names: list[str], witnesses: int
) -> RunFindings:
    """The findings about late deliveries."""
    outcome = RunFindings()
    if not listed:
        return outcome
    chains = _chains(steps, listed[:witnesses], len(names))
    messages = {MessageId(names[i], k) for chain in chains.values() for i, k in chain}
    late = {(names[row.process], MessageId(names[row.sender], row.number)) for row in listed}
    seqs, receivers = _details(chunks, late, messages)
    for row in listed:
        process, message = names[row.process], MessageId(names[row.sender], row.number)
        chain = [MessageId(names[i], k) for i, k in chains.get(row.step, ())]
        add_late(
            outcome,
            process,
            message,
            seqs[process, message],
            {link: receivers.get(link, names) for link in chain},
            MessageId(message.sender, row.newest) if row.newest else None,
        )
    return outcome


def _chains(
    steps: DataFrame, listed: list[Any], processes: int
) -> dict[int, list[tuple[int, int]]]:
    """A chain for each step, outcome in the range of steps from the first of their sends on."""
    if not listed:
        return {}
    begin = min(row.since for row in listed)
    wanted = [row.step for row in listed]
    search = partial(_find_chains, begin=begin, wanted=wanted, processes=processes)
    rows = (
        steps.where(F.col("process").isNotNull())
        .select("position", *_COLUMNS)
        .repartition(1)
        .sortWithinPartitions("position")
        .mapInArrow(search, CHAINS)
        .collect()
    )
    return {row.step: list(zip(row.senders, row.numbers, strict=True)) for row in rows}


def _find_chains(
    batches: Iterable[Any], *, begin: int, wanted: list[int], processes: int
) -> Iterator[Any]:
    kept: list[StepBatch] = []
    first = passed = 0
    for _, steps in _steps(batches):
        if passed + steps.size > begin and passed <= max(wanted):
            first = first if kept else passed
            kept.append(steps)
        passed += steps.size
    search = WitnessSearch(StepBatch.join(kept), processes)
    chains = {step: search.chain(step - first) for step in wanted}
    rows = [
        {"step": step, "senders": [i for i, _ in chain], "numbers": [k for _, k in chain]}
        for step, chain in chains.items()
    ]
    yield pa.RecordBatch.from_pylist(rows, schema=arrow_schema(CHAINS))


def _details(
    chunks: DataFrame, late: set[tuple[str, MessageId]], messages: set[MessageId]
) -> tuple[dict[tuple[str, MessageId], int], dict[MessageId, list[str]]]:
    """The `seq` of deliveries, and the receivers of messages, without broadcasts."""
    rows = chunks.mapInArrow(_look_up(late, messages), DETAILS).collect()
    seqs: dict[tuple[str, MessageId], int] = {}
    receivers: dict[MessageId, list[str]] = {}
    for row in rows:
        message = MessageId(row.sender, row.number)
        if row.to is not None:
            receivers[message] = row.to
            continue
        key = (row.process, message)
        seqs[key] = min(row.seq, seqs.get(key, row.seq))  # a second one is a duplicate
    return seqs, receivers


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
                likely = np.isin(chunk.events.number, numbers) & known[chunk.events.sender]
                rows = [
                    detail
                    for event in np.flatnonzero(likely).tolist()
                    if (detail := _detail(chunk, event, late, messages)) is not None
                ]
                if rows:
                    yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return look_up


def _detail(
    chunk: LogChunk, event: int, late: set[tuple[str, MessageId]], messages: set[MessageId]
) -> dict[str, Any] | None:
    events = chunk.events
    process = chunk.names[events.process[event]]
    message = MessageId(chunk.names[events.sender[event]], int(events.number[event]))
    row = {
        "process": process,
        "sender": message.sender,
        "number": message.number,
        "seq": int(events.seq[event]),
    }
    if not events.is_send[event]:
        return row if (process, message) in late else None
    if message not in messages:
        return None
    send = int(events.is_send[:event].sum())
    if events.to_size[send] < 0:
        return None
    begin = int(np.maximum(events.to_size[:send], 0).sum())
    to = events.to[begin : begin + int(events.to_size[send])]
    return {**row, "to": sorted(chunk.names[receiver] for receiver in to)}
