"""The tables of the pipeline as Arrow sees them; a test in tests/pipeline/report compares them."""

from __future__ import annotations

import pyarrow as pa

KINDS = {"s": pa.string(), "i": pa.int64(), "f": pa.float64(), "b": pa.bool_()}
TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))


def schema(**columns: str | pa.DataType) -> pa.Schema:
    """Columns by their kinds: s for text, i for whole numbers, f for others, b for yes or no."""
    return pa.schema(
        [(name, KINDS[kind] if isinstance(kind, str) else kind) for name, kind in columns.items()]
    )


def several(kind: str, *names: str) -> dict[str, str | pa.DataType]:
    """Columns of one kind."""
    return dict.fromkeys(names, kind)


EVENTS = schema(
    **several("s", "run", "process"),
    seq="i",
    **several("s", "kind", "sender"),
    mid="i",
    to=TEXTS,
    **several("i", "time_ns", "payload_bytes", "meta_bytes"),
    detail="s",
)
VERDICTS = schema(
    **several("s", "run", "verdict"),
    complete="b",
    **several("i", "processes", "events", "sends", "deliveries"),
    **several("i", "causal", "fifo", "duplicate", "invented", "lost"),
    notes=TEXTS,
)
VIOLATIONS = schema(
    **several("s", "run", "kind", "process", "sender"),
    **several("i", "mid", "seq"),
    early="s",
    chain=TEXTS,
    sentence="s",
)
PROTOCOLS = schema(
    **several("s", "protocol", "network"),
    causal="b",
    **several("s", "metadata", "run", "outcome", "verdict"),
    **several("i", "violations", "causal_violations", "deliveries"),
    **several("f", "latency_mean", "latency_p99", "held_mean", "held_p99"),
    **several("f", "metadata_per_message", "control_per_message", "wire_per_message"),
    integers_peak="i",
    integers_mean="f",
    waiting_peak="i",
    error="s",
)
RECOMMENDATION = schema(place="i", situation="s", protocols=TEXTS, sentence="s")


def _durations(name: str) -> dict[str, str | pa.DataType]:
    kinds = {"count": "i", "mean": "f", "p50": "i", "p99": "i", "max": "i"}
    return {f"{name}_{each}": kind for each, kind in kinds.items()}


def _level(name: str) -> dict[str, str | pa.DataType]:
    return {f"{name}_peak": "i", f"{name}_mean": "f"}


METRICS = schema(
    **several("i", "sent", "copies", "delivered", "undelivered", "duplicates", "unsent"),
    **several("i", "skipped", "execution_ns", "jobs"),
    mean_job_start_ns="f",
    **_durations("latency"),
    **_durations("noncausal"),
    **_durations("held_time"),
    **_level("held"),
    **_level("buffered"),
    **_level("unacknowledged"),
    **_level("permits_missing"),
    **_level("integers"),
    **_level("entries"),
    **several("i", "frames", "control_frames", "control_received", "frames_lost"),
    **several("i", "frames_doubled", "metadata_bytes", "wire_bytes"),
    **several("f", "metadata_bytes_per_message", "control_frames_per_message"),
    control_per_process_second="f",
    **several("i", "most_in_transit", "links_opened", "links_closed", "frames_ignored", "events"),
)
_MOMENT = schema(
    **several("i", "time_ns", "processes"),
    entries="f",
    most_entries="i",
    control_per_second="f",
    **several("i", "delivered", "delay_ns"),
)
_MOMENTS = pa.list_(pa.field("element", pa.struct(list(_MOMENT)), nullable=False))
RESULTS = pa.unify_schemas(
    [
        schema(
            **several("s", "run", "protocol", "workload", "network", "setting"),
            **several("i", "processes", "messages", "seed"),
            degree="f",
            **several("s", "scenario", "wave", "outcome"),
            violations="i",
        ),
        METRICS,
        schema(series=_MOMENTS, seconds="f", error="s"),
    ]
)
TABLE1 = schema(
    **several("s", "protocol", "claimed_failures", "claimed_order", "claimed_message_space"),
    **several("s", "claimed_process_space", "claimed_sender_work", "claimed_receiver_work"),
    **several("s", "claimed_noncausal", "claimed_in_transit", "claimed_liveness"),
    claimed_control="s",
    **several("i", "runs", "stalled"),
    **several("f", "metadata_bytes", "metadata_exponent", "integers_mean"),
    integers_peak="i",
    **several("f", "state_exponent", "work_us", "work_exponent", "latency_ms", "noncausal_ms"),
    most_in_transit="i",
    control_frames="f",
)
EXPONENTS = schema(
    **several("s", "protocol", "network", "workload", "setting"),
    processes="i",
    **several("s", "y", "x"),
    **several("f", "exponent", "r2", "low", "high"),
    **several("i", "values", "used", "unused"),
)
RUNS = schema(
    run="s",
    **several("i", "processes", "messages", "copies", "requests", "replies", "answered"),
    **several("i", "payload_known", "flagged", "before_cause", "span_ns"),
    rate="f",
    window_ns="i",
    **several("f", "peak_rate", "gap_cv", "burstiness"),
    **several("i", "edges", "pairs"),
    **several("f", "concurrent_share", "standard_error"),
    note="s",
)
PROCESSES = schema(
    **several("s", "run", "process"),
    **several("i", "in_degree", "out_degree", "sent", "received"),
    **several("f", "rate", "gap_cv", "burstiness"),
)
SUMMARIES = schema(
    **several("s", "run", "what"),
    **several("i", "count", "min"),
    **several("f", "median", "mean", "p90", "p99"),
    max="i",
)
