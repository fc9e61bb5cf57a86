"""Judge one run that fits into memory: from its chunks to all findings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beforehand._kernel import Ints
from beforehand.causality.ids import MessageId
from beforehand.errors import TraceError
from beforehand.pipeline.audit import findings
from beforehand.pipeline.audit.assemble import assemble
from beforehand.pipeline.audit.clock_blocks import BYTES, ClockBlock, LateDeliveries, blocks
from beforehand.pipeline.audit.findings import LISTED, Receivers, RunFindings
from beforehand.pipeline.audit.kernels import linearise
from beforehand.pipeline.audit.linearise import Lineariser, StepBatch
from beforehand.pipeline.audit.log_chunks import LogChunk
from beforehand.pipeline.audit.run_log import CUT_SHORT, RunLog
from beforehand.pipeline.audit.witness import MOST, WitnessSearch
from beforehand.results.format import some


def judge(chunks: Sequence[LogChunk], *, witnesses: int = MOST, memory: int = BYTES) -> RunFindings:
    """All findings about a run. That it cannot be audited is a finding too."""
    try:
        log = assemble(chunks)
    except TraceError as problem:
        events = sum(int(chunk.rows.sum()) for chunk in chunks)
        return RunFindings(events=events, readable=False, notes=[str(problem)])
    sorter = Lineariser(log)
    stretches = list(sorter.steps())
    found = structure(log, sorter)
    found.deliveries = sum(int((stretch.slot < 0).sum()) for stretch in stretches)
    for first, width in blocks(log.processes, sorter.slots, 1, memory):
        block = ClockBlock(log.processes, sorter.slots, first, width)
        wrong = LateDeliveries.join([block.check(stretch) for stretch in stretches])
        if len(wrong):
            steps = StepBatch.join(stretches)
            witness = WitnessSearch(steps, log.processes)
            for count in range(min(len(wrong), LISTED)):
                step = int(wrong.step[count])
                wanted = found.counts["causal"] < witnesses
                messages = [
                    int(log.table.base[i]) + k - 1
                    for i, k in (witness.chain(step) if wanted else ())
                ]
                event = int(steps.event[step])
                late = ~int(log.events[event])
                add_late(
                    found,
                    log.table.names[wrong.process[count]],
                    log.id(late),
                    int(log.seq[event]),
                    {log.id(each): log.receivers_of(each) for each in messages},
                    _later(log, late, int(wrong.newest[count])),
                )
            found.count_more("causal", len(wrong) - LISTED)
            found.count_more("fifo", int((wrong.newest[LISTED:] > 0).sum()))
    return found


def _later(log: RunLog, message: int, number: int) -> MessageId | None:
    """The message of the same sender that counts as the given number; None for 0."""
    return log.id(int(log.table.base[log.sender[message]]) + number - 1) if number else None


def structure(log: RunLog, sorter: Lineariser) -> RunFindings:
    """All findings that need no clocks; for these, all steps must have been taken."""
    table = log.table
    found = RunFindings(log.processes, int(table.rows.sum()), int(log.is_sent.sum()))
    _add_notes(found, log)
    _add_single(found, log, sorter.matter)
    messages, receivers = sorter.lost()
    for message, receiver in zip(
        messages[:LISTED].tolist(), receivers[:LISTED].tolist(), strict=True
    ):
        found.add(findings.lost(table.names[receiver], log.id(message)))
    found.count_more("lost", len(messages) - LISTED)
    return found


def add_late(
    found: RunFindings,
    process: str,
    message: MessageId,
    seq: int,
    chain: dict[MessageId, list[str]],
    later: MessageId | None,
) -> None:
    """One delivery that broke causal order, with its chain and the receivers of each message in it;
    and if it came after a later message of its sender, that too.
    """
    found.add(findings.out_of_order(process, message, seq, tuple(chain), Receivers(chain)))
    if later is not None:
        found.add(findings.behind(process, message, seq, later))


def _add_notes(found: RunFindings, log: RunLog) -> None:
    table = log.table
    silent = [name for name, rows in zip(table.names, table.rows, strict=True) if not rows]
    if silent:
        found.notes.append(f"there is no log of {some(silent)}")
    missing = table.last - table.rows
    if missing.any():
        whose = some([table.names[each] for each in np.flatnonzero(missing)])
        found.notes.append(f"{int(missing.sum())} events are missing in the logs of {whose}")
    if table.is_open.any():
        whose = some([table.names[each] for each in np.flatnonzero(table.is_open)])
        found.notes.append(
            f"the logs of {whose} have a start and no stop, so their end may be missing"
        )
    if (table.flags & CUT_SHORT).any():
        found.notes.append(
            "the run was cut short, so what had not arrived yet is not counted as lost"
        )
    found.complete = not found.notes


def _add_single(found: RunFindings, log: RunLog, matter: Ints) -> None:
    """Duplicates and inventions."""
    repeated = np.flatnonzero(matter == linearise.DUPLICATE)
    made_up = np.flatnonzero(matter > linearise.DUPLICATE)
    places = np.concatenate([repeated[:LISTED], made_up[:LISTED]])
    owners = np.searchsorted(log.start, places, side="right") - 1
    for event, owner in zip(places.tolist(), owners.tolist(), strict=True):
        message = ~int(log.events[event])
        process, name, seq = log.table.names[owner], log.id(message), int(log.seq[event])
        if matter[event] == linearise.DUPLICATE:
            found.add(findings.duplicate(process, name, seq))
        elif matter[event] == linearise.TOO_SOON:
            found.add(findings.too_soon(process, name, seq))
        else:
            sent = bool(log.is_sent[message])
            known = {name: log.receivers_of(message)} if sent else {}
            last = _last(log, int(log.sender[message]))
            found.add(findings.invented(process, name, seq, Receivers(known, last)))
    found.count_more("duplicate", len(repeated) - LISTED)
    found.count_more("invented", len(made_up) - LISTED)


def _last(log: RunLog, sender: int) -> int:
    """The number of the last message that a process sent, 0 if there is none."""
    low, high = int(log.table.base[sender]), int(log.table.base[sender + 1])
    sent = np.flatnonzero(log.is_sent[low:high])
    return log.number(low + int(sent[-1])) if len(sent) else 0
