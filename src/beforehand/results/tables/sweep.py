"""The runs of a sweep: what each run is, and what it measured.

The measured columns are the simulator's metrics, flattened: `latency.p99` is the column `latency_p99`.
"""

from typing import Final

from beforehand.results.schema import Field, Schema, integer, optional, real, text

RUN: Final = text("run", "The name of the run: a hash of its whole scenario.")
PROTOCOL: Final = text("protocol", "The protocol that delivered the messages.")
NETWORK: Final = text("network", "Delays, losses and bandwidth; by name.")
WORKLOAD: Final = text("workload", "Who sends to whom, and when.")
SETTING: Final = text("setting", "What else the grid varied.")
SIZE: Final = integer("processes", "How many processes took part.")
OUTCOME: Final = text("outcome", "Complete; stalled: no more progress; cut short; or failed.")
ERROR: Final = text("error", "Why the run failed; empty if it did not.")

# What identifies a run; known before it starts.
POINT: Final = Schema(
    RUN,
    PROTOCOL,
    WORKLOAD,
    NETWORK,
    SETTING,
    SIZE,
    optional(
        integer(
            "messages",
            "Messages that each process sends of its own accord; null for a replay.",
            "messages each",
        )
    ),
    integer("seed", "Determines every random choice of the run."),
    optional(real("degree", "How many others a process sends to, on average.")),
    text("scenario", "JSON."),
)


def _durations(name: str, title: str, meaning: str) -> tuple[Field, ...]:
    return (
        integer(f"{name}_count", f"How many were measured. {meaning}", f"{title}: how many"),
        real(f"{name}_mean", f"Mean. {meaning}", title, "time"),
        integer(f"{name}_p50", f"Half are no longer. {meaning}", f"median {title}", "time"),
        integer(f"{name}_p99", f"99 of 100 are no longer. {meaning}", f"p99 {title}", "time"),
        integer(f"{name}_max", f"The longest. {meaning}", f"longest {title}", "time"),
    )


def _level(name: str, title: str, meaning: str) -> tuple[Field, ...]:
    return (
        integer(f"{name}_peak", f"Peak. {meaning}", f"{title} at most"),
        real(f"{name}_mean", f"Mean. {meaning}", title),
    )


METRICS: Final = Schema(
    integer("sent", "Causal-sends; a multicast is one."),
    integer("copies", "Receivers of all messages, counted."),
    integer("delivered", "Copies that were delivered."),
    integer("undelivered", "Copies between live processes that were not delivered."),
    integer("duplicates", "Deliveries of a message that had been delivered.", "delivered twice"),
    integer("unsent", "Sends of the workload that never became possible."),
    integer("skipped", "Sends whose receivers had all been dropped."),
    integer(
        "execution_ns",
        "Until the last frame arrived and the last job ended.",
        "execution time",
        "time",
    ),
    integer("jobs", "Jobs that deliveries started."),
    real("mean_job_start_ns", "Mean time at which jobs started.", "mean start of jobs", "time"),
    *_durations("latency", "latency", "Time from causal-send to delivery."),
    *_durations("noncausal", "non-causal latency", "Latency that causal order does not require."),
    *_durations("held_time", "held", "Time from causal-send to release to the network."),
    *_level("held", "messages held", "Messages that wait at their senders, all together."),
    *_level("buffered", "messages buffered", "Messages that wait at receivers, all together."),
    *_level("unacknowledged", "unacknowledged", "Frames kept for resending, of one process."),
    *_level("permits_missing", "permits missing", "Permits that one process waits for."),
    *_level("integers", "state", "Integers of state of one process."),
    *_level("entries", "entries", "Integers of state about messages, of one process."),
    integer("frames", "Frames on the network."),
    integer("control_frames", "Frames without a message."),
    integer("control_received", "Of these, those that arrived."),
    integer("frames_lost", "By the network."),
    integer("frames_doubled", "By the network."),
    integer(
        "metadata_bytes", "Bytes of all frames that are not payload.", "metadata in all", "bytes"
    ),
    integer("wire_bytes", "All bytes: payloads, headers, retransmissions.", "wire in all", "bytes"),
    real(
        "metadata_bytes_per_message", "Bytes per message that are not payload.", "metadata", "bytes"
    ),
    real("control_frames_per_message", "Frames without a message, per message.", "control"),
    real(
        "control_per_process_second",
        "Control frames that a process receives per second.",
        "control per second",
    ),
    integer(
        "most_in_transit",
        "Of one sender: copies released and not yet arrived.",
        "in transit at most",
    ),
    integer("links_opened", "Links of the overlay that came into use."),
    integer("links_closed", "Links of the overlay that went out of use."),
    integer("frames_ignored", "Frames that came too late or too early to matter."),
    integer("events", "Events of the simulator."),
)

# A sample of a series.
MOMENT: Final = Schema(
    integer("time_ns", unit="time"),
    integer("processes"),
    real("entries"),
    integer("most_entries"),
    real("control_per_second"),
    integer("delivered"),
    integer("delay_ns", unit="time"),
)

# Of a run that failed, only the point, the wave and the error.
RESULTS: Final = Schema(
    *POINT,
    text("wave", "The wave of the sweep in which the run was done."),
    optional(OUTCOME),
    optional(integer("violations", "Broken guarantees; empty if the run was not audited.")),
    *(optional(field) for field in METRICS),
    optional(Field("series", type=MOMENT)),
    optional(real("seconds", "Wall-clock seconds that the simulator took; never exact.")),
    optional(ERROR),
)
