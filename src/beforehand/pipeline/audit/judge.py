"""Judging one run that fits into memory: from its chunks to all findings."""

from collections.abc import Sequence

import numpy as np

from beforehand._kernel import Ints
from beforehand.causality import violations
from beforehand.causality.ids import MessageId
from beforehand.errors import TraceError
from beforehand.pipeline.audit import findings
from beforehand.pipeline.audit.assemble import assemble
from beforehand.pipeline.audit.clock_blocks import BYTES, ClockBlock, LateDeliveries, blocks
from beforehand.pipeline.audit.findings import LISTED, Finding, Receivers, RunFindings
from beforehand.pipeline.audit.kernels import linearise
from beforehand.pipeline.audit.kernels.arrays import StepBatch
from beforehand.pipeline.audit.linearise import Lineariser
from beforehand.pipeline.audit.log_chunks import LogChunk
from beforehand.pipeline.audit.run_log import CUT_SHORT, RunLog
from beforehand.pipeline.audit.witness import MOST, WitnessSearch
from beforehand.results.format import some


def judge(chunks: Sequence[LogChunk], *, witnesses: int = MOST, memory: int = BYTES) -> RunFindings:
    """All findings about a run. That it cannot be audited is a finding too."""
    try:
        log = assemble(chunks)
    except TraceError as problem:
        return unreadable(chunks, problem)
    lineariser = Lineariser(log)
    batches = list(lineariser.steps())
    outcome = structural(log, lineariser)
    outcome.deliveries = sum(int((batch.slot < 0).sum()) for batch in batches)
    for first, width in blocks(log.processes, lineariser.slots, 1, memory):
        block = ClockBlock(log.processes, lineariser.slots, first, width)
        late = LateDeliveries.join([block.check(batch) for batch in batches])
        if len(late):
            _add_late(outcome, log, StepBatch.join(batches), late, witnesses)
    return outcome


def unreadable(chunks: Sequence[LogChunk], problem: TraceError) -> RunFindings:
    """The findings about a run that contradicts itself."""
    events = sum(int(chunk.rows.sum()) for chunk in chunks)
    return RunFindings(events=events, readable=False, notes=[str(problem)])


def structural(log: RunLog, lineariser: Lineariser) -> RunFindings:
    """All findings that need no clocks, after the last step."""
    table = log.table
    outcome = RunFindings(log.processes, int(table.rows.sum()), int(log.is_sent.sum()))
    _add_notes(outcome, log)
    _add_single(outcome, log, lineariser.fault)
    messages, receivers = lineariser.lost()
    for message, receiver in zip(
        messages[:LISTED].tolist(), receivers[:LISTED].tolist(), strict=True
    ):
        outcome.add(findings.lost(table.names[receiver], log.id(message)))
    outcome.count_more("lost", len(messages) - LISTED)
    return outcome


def add_late(
    outcome: RunFindings,
    process: str,
    message: MessageId,
    seq: int,
    chain: dict[MessageId, list[str]],
    later: MessageId | None,
) -> None:
    """Add a delivery that violated causal order, given its chain with the receivers of each message.

    If it came after a `later` message of its sender, it violated FIFO order too.
    """
    outcome.add(findings.out_of_order(process, message, seq, tuple(chain), Receivers(chain)))
    if later is not None:
        outcome.add(Finding.of(violations.fifo(process, message, later), seq))


def _add_late(
    outcome: RunFindings, log: RunLog, steps: StepBatch, late: LateDeliveries, witnesses: int
) -> None:
    """Add the late deliveries of one block, with chains for the first ones of the run."""
    base = log.table.base
    search = WitnessSearch(steps, log.processes)
    for index in range(min(len(late), LISTED)):
        step, newest = int(late.step[index]), int(late.newest[index])
        chain = search.chain(step) if outcome.counts["causal"] < witnesses else []
        messages = [int(base[sender]) + number - 1 for sender, number in chain]
        event = int(steps.event[step])
        message = ~int(log.events[event])
        add_late(
            outcome,
            log.table.names[late.process[index]],
            log.id(message),
            int(log.seq[event]),
            {log.id(link): log.receivers_of(link) for link in messages},
            log.id(int(base[log.sender[message]]) + newest - 1) if newest else None,
        )
    outcome.count_more("causal", len(late) - LISTED)
    outcome.count_more("fifo", int((late.newest[LISTED:] > 0).sum()))


def _add_notes(outcome: RunFindings, log: RunLog) -> None:
    table = log.table

    def names(mask: Ints) -> str:
        return some([table.names[index] for index in np.flatnonzero(mask)])

    if (table.rows == 0).any():
        outcome.notes.append(f"there is no log of {names(table.rows == 0)}")
    missing = table.last - table.rows
    if missing.any():
        outcome.notes.append(
            f"{int(missing.sum())} events are missing in the logs of {names(missing)}"
        )
    if table.is_open.any():
        outcome.notes.append(
            f"the logs of {names(table.is_open)} have a start and no stop, so their end may be missing"
        )
    if (table.flags & CUT_SHORT).any():
        outcome.notes.append(
            "the run was cut short, so messages that had not arrived are not counted as lost"
        )
    outcome.complete = not outcome.notes


def _add_single(outcome: RunFindings, log: RunLog, fault: Ints) -> None:
    """Add duplicates, and deliveries of messages that weren't sent there or then."""
    duplicates = np.flatnonzero(fault == linearise.DUPLICATE)
    invented = np.flatnonzero(fault > linearise.DUPLICATE)
    listed = np.concatenate([duplicates[:LISTED], invented[:LISTED]])
    owners = np.searchsorted(log.start, listed, side="right") - 1
    for event, owner in zip(listed.tolist(), owners.tolist(), strict=True):
        message = ~int(log.events[event])
        process, name, seq = log.table.names[owner], log.id(message), int(log.seq[event])
        if fault[event] == linearise.DUPLICATE:
            outcome.add(Finding.of(violations.duplicate(process, name), seq))
        elif fault[event] == linearise.BEFORE_SEND:
            outcome.add(findings.before_send(process, name, seq))
        else:
            sent = bool(log.is_sent[message])
            known = {name: log.receivers_of(message)} if sent else {}
            record = Receivers(known, _last_sent(log, int(log.sender[message])))
            outcome.add(Finding.of(violations.invented(record, process, name), seq))
    outcome.count_more("duplicate", len(duplicates) - LISTED)
    outcome.count_more("invented", len(invented) - LISTED)


def _last_sent(log: RunLog, sender: int) -> int:
    """The number of the last message that a process sent, 0 if there is none."""
    low, high = int(log.table.base[sender]), int(log.table.base[sender + 1])
    sent = np.flatnonzero(log.is_sent[low:high])
    return log.number(low + int(sent[-1])) if len(sent) else 0
