"""The outcome of a study: protocols compared on a workload, and which to choose."""

from typing import Final

from beforehand.results.schema import Schema, boolean, integer, real, text, texts
from beforehand.results.tables.sweep import ERROR, NETWORK, OUTCOME, PROTOCOL, RUN

# Where less is better.
COSTS: Final = Schema(
    real("latency_mean", "Mean time from causal-send to delivery.", "latency", "time"),
    real("latency_p99", "99 of 100 deliveries took no longer.", "p99 latency", "time"),
    real("held_mean", "Mean time that a message is held by its sender.", "held", "time"),
    real("held_p99", "99 of 100 messages were held no longer.", "p99 held", "time"),
    real(
        "metadata_per_message",
        "Bytes per message that are not payload, of all frames.",
        "metadata",
        "bytes",
    ),
    real("control_per_message", "Frames without a message, per message.", "control"),
    real(
        "wire_per_message",
        "All bytes per message: payloads, headers and retransmissions.",
        "on the wire",
        "bytes",
    ),
    integer("integers_peak", "The most integers of state in one process.", "state at most"),
    real("integers_mean", "Mean integers of state in a process.", "state"),
    integer(
        "waiting_peak",
        "Messages held at senders and buffered at receivers, at most, all together.",
        "waiting at most",
    ),
)

# One row per protocol and network.
PROTOCOLS: Final = Schema(
    PROTOCOL,
    NETWORK,
    boolean("causal", "Whether the protocol promises causal order; controls do not."),
    text("metadata", "Integers per message that the protocol promises.", "promised metadata"),
    RUN,
    OUTCOME,
    text("verdict", "The auditor's verdict on every delivery of the run.", "audit"),
    integer("violations", "Broken guarantees of any kind."),
    integer("causal_violations", "Deliveries out of causal order.", "out of order"),
    integer("deliveries", "Copies of messages that were delivered."),
    *COSTS,
    ERROR,
)

# What to choose when, in the order of the rules.
RECOMMENDATION: Final = Schema(
    integer("place"), text("situation"), texts("protocols"), text("sentence")
)
