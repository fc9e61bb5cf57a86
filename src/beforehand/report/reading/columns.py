"""What the columns of the pipeline's tables mean, for people.

Per message means per causal-send; in a study, per message of the traffic. State is of the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from beforehand.report.contents import Column, Kind

Meanings = Mapping[str, tuple[str, Kind, str]]  # name -> title, kind, what it means

_POINT: Final[Meanings] = {
    "run": ("run", "text", "The name of the run: a hash of its whole scenario."),
    "protocol": ("protocol", "text", "Which protocol delivered the messages."),
    "workload": ("workload", "text", "Who sends to whom, and when."),
    "network": ("network", "text", "Delays, losses and bandwidth; by name."),
    "setting": ("setting", "text", "What else the grid varied."),
    "processes": ("processes", "count", "How many processes took part."),
    "messages": ("messages each", "count", "Messages that each process sends of its own accord."),
    "seed": ("seed", "count", "Decides every random choice of the run."),
    "degree": ("degree", "number", "To how many others a process sends, on average."),
    "outcome": (
        "outcome",
        "text",
        "Complete; stalled: it did not get on; or cut short; or failed.",
    ),
    "error": ("error", "text", "Why the run failed; empty if it did not."),
}

SHARED: Final = _POINT.keys()  # by several tables, of which some lack some

PROTOCOLS: Final[Meanings] = {
    **_POINT,
    "causal": ("causal", "text", "Whether the protocol promises causal order; controls do not."),
    "metadata": ("promised metadata", "text", "Integers per message that the protocol promises."),
    "verdict": ("audit", "text", "What the auditor says of every delivery of the run."),
    "violations": ("violations", "count", "Broken promises of any kind."),
    "causal_violations": ("out of order", "count", "Deliveries out of causal order."),
    "deliveries": ("deliveries", "count", "Copies of messages that were delivered."),
    "latency_mean": ("latency", "time", "Mean time from causal-send to delivery."),
    "latency_p99": ("p99 latency", "time", "99 of 100 deliveries took no longer."),
    "held_mean": ("held", "time", "Mean time that a message waits at its sender before it leaves."),
    "held_p99": ("p99 held", "time", "99 of 100 messages waited no longer at their sender."),
    "metadata_per_message": (
        *("metadata", "bytes"),
        "Bytes per message that are not payload, of all frames.",
    ),
    "control_per_message": ("control", "number", "Frames without a message, per message."),
    "wire_per_message": (
        *("on the wire", "bytes"),
        "All bytes per message: payloads, headers, and what is sent again.",
    ),
    "integers_peak": ("state at most", "count", "The most integers of state in one process."),
    "integers_mean": ("state", "number", "Mean integers of state in a process."),
    "waiting_peak": (
        *("waiting at most", "count"),
        "Messages held at senders and buffered at receivers, at most, all together.",
    ),
}


def _durations(name: str, title: str, told: str) -> Meanings:
    return {
        f"{name}_count": (f"{title}: how many", "count", f"How many were measured. {told}"),
        f"{name}_mean": (title, "time", f"Mean. {told}"),
        f"{name}_p50": (f"median {title}", "time", f"Half of them are no longer. {told}"),
        f"{name}_p99": (f"p99 {title}", "time", f"99 of 100 are no longer. {told}"),
        f"{name}_max": (f"longest {title}", "time", f"The longest. {told}"),
    }


def _level(name: str, title: str, told: str) -> Meanings:
    return {
        f"{name}_peak": (f"{title} at most", "count", f"At most. {told}"),
        f"{name}_mean": (title, "number", f"Mean. {told}"),
    }


RESULTS: Final[Meanings] = {
    **_POINT,
    "violations": ("violations", "count", "Broken promises; empty if the run was not audited."),
    "sent": ("sent", "count", "Causal-sends; a multicast is one."),
    "copies": ("copies", "count", "Receivers of all messages, counted."),
    "delivered": ("delivered", "count", "Copies that were delivered."),
    "undelivered": ("undelivered", "count", "Copies between living processes that were not."),
    "duplicates": ("delivered twice", "count", "Deliveries that should not have been."),
    "unsent": ("unsent", "count", "Sends of the workload that never became possible."),
    "skipped": ("skipped", "count", "Sends that were left out, all their receivers being dropped."),
    "execution_ns": (
        "execution time",
        "time",
        "Until the last frame arrived and the last job ended.",
    ),
    "jobs": ("jobs", "count", "Jobs that deliveries started."),
    "mean_job_start_ns": ("mean start of jobs", "time", "Mean time at which jobs started."),
    **_durations("latency", "latency", "Time from causal-send to delivery."),
    **_durations("noncausal", "non-causal latency", "Latency that causal order does not ask for."),
    **_durations("held_time", "held", "Time from causal-send to release to the network."),
    **_level("held", "messages held", "Messages that wait at their senders, all together."),
    **_level("buffered", "messages buffered", "Messages that wait at receivers, all together."),
    **_level("unacknowledged", "unacknowledged", "Frames kept for resending, of one process."),
    **_level("permits_missing", "permits missing", "Permits that one process waits for."),
    **_level("integers", "state", "Integers of state of one process."),
    **_level("entries", "entries", "Integers of state that are about messages, of one process."),
    "frames": ("frames", "count", "Frames on the network."),
    "control_frames": ("control frames", "count", "Frames without a message."),
    "control_received": ("control received", "count", "Of these, those that arrived."),
    "frames_lost": ("frames lost", "count", "By the network."),
    "frames_doubled": ("frames doubled", "count", "By the network."),
    "metadata_bytes": ("metadata in all", "bytes", "Bytes of all frames that are not payload."),
    "wire_bytes": ("wire in all", "bytes", "All bytes: payloads, headers, what is sent again."),
    "metadata_bytes_per_message": ("metadata", "bytes", "Bytes per message that are not payload."),
    "control_frames_per_message": ("control", "number", "Frames without a message, per message."),
    "control_per_process_second": (
        *("control per second", "number"),
        "Control frames that a process receives per second.",
    ),
    "most_in_transit": (
        *("in transit at most", "count"),
        "Of one sender: copies released and not yet arrived.",
    ),
    "links_opened": ("links opened", "count", "Links of the overlay that came into use."),
    "links_closed": ("links closed", "count", "Links of the overlay that went out of use."),
    "frames_ignored": ("frames ignored", "count", "Came too late or too early to matter."),
    "events": ("events", "count", "Events of the simulator."),
    "seconds": ("seconds", "number", "Wall-clock seconds that the simulator took; never exact."),
    "seconds_per_message": (
        *("work", "number"),
        "Wall-clock seconds of the simulator per message: only good for large differences.",
    ),
    "wave": ("wave", "text", "In which part of the sweep the run was done."),
}

VERDICTS: Final[Meanings] = {
    "run": ("run", "text", "The name of the run in the trace."),
    "title": ("what ran", "text", "Protocol and network of the run."),
    "verdict": ("verdict", "text", "Clean, violated, or unreadable."),
    "complete": ("complete", "text", "Whether the log has no gaps."),
    "processes": ("processes", "count", "Processes in the log."),
    "events": ("events", "count", "Events in the log."),
    "sends": ("sent", "count", "Causal-sends."),
    "deliveries": ("deliveries", "count", "Deliveries, each of which was judged."),
    "causal": ("causal", "count", "Messages delivered after one that they happened before."),
    "fifo": ("fifo", "count", "Messages delivered after a later one of the same sender."),
    "duplicate": ("duplicate", "count", "Messages delivered twice."),
    "invented": ("invented", "count", "Deliveries of what was not sent, or not to this process."),
    "lost": ("lost", "count", "Messages that were never delivered."),
    "notes": ("notes", "text", "What is missing or odd."),
}

TABLE1: Final[Meanings] = {
    "protocol": (
        "protocol",
        "text",
        "One of those in Table 1 of Almeida's Hybrid Buffering, or not.",
    ),
    "claimed_failures": ("claimed: failures", "text", "Failures that the network may have."),
    "claimed_order": ("claimed: order", "text", "Order that the network must keep."),
    "claimed_message_space": ("claimed: message", "text", "Integers in each message."),
    "claimed_process_space": ("claimed: process", "text", "Integers of state in each process."),
    "claimed_sender_work": ("claimed: sender", "text", "Work of the sender for a message."),
    "claimed_receiver_work": ("claimed: receiver", "text", "Work of the receiver for a message."),
    "claimed_noncausal": (
        *("claimed: non-causal latency", "text"),
        "Where latency that causal order does not ask for is caused, and how much.",
    ),
    "claimed_in_transit": ("claimed: in transit", "text", "Messages that may be under way."),
    "claimed_liveness": (
        "claimed: liveness",
        "text",
        "Whether every message is delivered in the end.",
    ),
    "claimed_control": ("claimed: control", "text", "Messages besides the application's."),
    "runs": ("runs", "count", "Runs that the measured figures are means of."),
    "stalled": ("stalled", "count", "Runs that did not get on."),
    "metadata_bytes": ("metadata", "bytes", "Mean bytes per message that are not payload."),
    "metadata_exponent": ("metadata grows as n^k", "exponent", "The k that fits best."),
    "integers_mean": ("state", "number", "Mean integers of state in a process."),
    "integers_peak": ("state at most", "count", "The most integers of state in a process."),
    "state_exponent": ("state grows as n^k", "exponent", "The k that fits best."),
    "work_us": ("work, us", "number", "Wall-clock microseconds of the simulator per message."),
    "work_exponent": ("work grows as n^k", "exponent", "The k that fits best."),
    "latency_ms": ("latency, ms", "number", "Mean milliseconds from causal-send to delivery."),
    "noncausal_ms": ("non-causal, ms", "number", "Of these, what causal order does not ask for."),
    "most_in_transit": ("in transit at most", "count", "Of one sender."),
    "control_frames": ("control", "number", "Frames without a message, per message."),
}

EXPONENTS: Final[Meanings] = {
    **_POINT,
    "y": ("what grows", "text", "Metadata, state of a process, or work per message."),
    "x": ("with what", "text", "n: processes; degree; messages buffered; or in flight."),
    "exponent": ("k", "exponent", "y = c x^k, by least squares on the logarithms."),
    "r2": ("r2", "share", "The part of the variance that the fit explains; 1 if y does not vary."),
    "low": ("from", "number", "The smallest x."),
    "high": ("to", "number", "The largest x."),
    "values": ("values", "count", "How many different x there are."),
    "used": ("runs", "count", "Runs that were fitted."),
    "unused": ("unused", "count", "Runs where x or y is 0 or unknown: they have no logarithm."),
}

_RATES: Final[Meanings] = {
    "rate": ("rate", "number", "Messages per second."),
    "gap_cv": ("variation of gaps", "number", "Coefficient of variation of times between sends."),
    "burstiness": ("burstiness", "number", "-1 regular, 0 random, +1 bursts."),
}

CHARACTERISTICS: Final[Mapping[str, Meanings]] = {
    "runs": {
        **_RATES,
        "run": ("run", "text", "The name of the run in the source."),
        "processes": ("processes", "count", "That send or receive."),
        "messages": ("messages", "count", "That were sent; a multicast is one."),
        "copies": ("copies", "count", "Receivers, counted."),
        "requests": ("requests", "count", "Messages that ask."),
        "replies": ("replies", "count", "Messages that answer."),
        "answered": ("answered", "count", "Requests that have a reply."),
        "payload_known": ("sizes known", "count", "Messages whose size the source tells."),
        "flagged": ("flagged", "count", "Messages with something odd about them."),
        "before_cause": ("before a cause", "count", "Messages with a time before that of a cause."),
        "span_ns": ("span", "time", "From the first send to the last."),
        "window_ns": ("window", "time", "In which the peak rate was counted."),
        "peak_rate": ("peak rate", "number", "Messages per second in the busiest window."),
        "edges": ("edges", "count", "Direct causes of messages, counted."),
        "pairs": ("pairs", "count", "Pairs of messages that were compared."),
        "concurrent_share": (
            "concurrent",
            "share",
            "Of these pairs, where neither is before the other.",
        ),
        "standard_error": (
            "standard error",
            "share",
            "Of that share; 0 if all pairs were compared.",
        ),
        "note": ("note", "text", "Why something is missing."),
    },
    "processes": {
        **_RATES,
        "run": ("run", "text", "The name of the run in the source."),
        "process": ("process", "text", "Its name."),
        "in_degree": ("in", "count", "Other processes that send to it."),
        "out_degree": ("out", "count", "Other processes that it sends to."),
        "sent": ("sent", "count", "Messages."),
        "received": ("received", "count", "Copies."),
    },
    "summaries": {
        "run": ("run", "text", "The name of the run in the source."),
        "what": ("distribution", "text", "What was counted."),
        "count": ("of", "count", "How many."),
        "min": ("least", "count", "The smallest."),
        "median": ("median", "number", "Half are no larger."),
        "mean": ("mean", "number", "Mean."),
        "p90": ("p90", "number", "90 of 100 are no larger."),
        "p99": ("p99", "number", "99 of 100 are no larger."),
        "max": ("most", "count", "The largest."),
    },
}

CLUSTER: Final[Meanings] = {
    "name": ("process", "text", "What its peers call it."),
    "life": ("life", "count", "1, or 2 for one that was started again."),
    "killed": ("killed", "text", "On purpose, in the middle of the run."),
    "sent": ("sent", "count", "Messages."),
    "delivered": ("delivered", "count", "Messages."),
    "reactions": ("reactions", "count", "Messages that it sent because of one that it delivered."),
    "held": ("held", "count", "Messages that waited in the core at the end."),
    "most_held": ("held at most", "count", "Messages that waited in the core at a time."),
    "lost": ("lost", "count", "Datagrams that the fault injector lost."),
    "doubled": ("doubled", "count", "Datagrams that it doubled."),
    "held_back": ("held back", "count", "Datagrams that it delayed, so that others overtook them."),
    "resent": ("resent", "count", "Frames that were sent again."),
    "round_trip_ms": ("round trip, ms", "number", "Milliseconds to a peer and back, as estimated."),
    "damaged": ("damaged", "count", "Messages with another content than they were sent with."),
    "misbehaved": ("misbehaved", "count", "Frames of peers that made no sense."),
}


def column(name: str, meanings: Meanings, found: pa.DataType | None = None) -> Column:
    """A column by its name; of one that is not known, what its type tells."""
    if name in meanings:
        title, kind, told = meanings[name]
        return Column(name, title, kind, told)
    guess: Kind = "text"
    if found is not None and pa.types.is_integer(found):
        guess = "count"
    elif found is not None and pa.types.is_floating(found):
        guess = "number"
    return Column(name, name.replace("_", " "), guess)
