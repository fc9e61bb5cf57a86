"""What the papers claim, next to what the runs of a sweep show."""

from typing import Final

from beforehand.results.schema import Schema, integer, optional, real, text
from beforehand.results.tables.sweep import NETWORK, PROTOCOL, SETTING, SIZE, WORKLOAD

# Table 1 of Almeida's hybrid-buffering paper; the claims are null for protocols that it does not list.
TABLE1: Final = Schema(
    text("protocol", "A protocol of Table 1 of Almeida's Hybrid Buffering, or another."),
    *(
        optional(text(f"claimed_{name}", meaning, f"claimed: {title}"))
        for name, title, meaning in (
            ("failures", "failures", "Failures that the network may have."),
            ("order", "order", "Order that the network must keep."),
            ("message_space", "message", "Integers in each message."),
            ("process_space", "process", "Integers of state in each process."),
            ("sender_work", "sender", "Work of the sender for a message."),
            ("receiver_work", "receiver", "Work of the receiver for a message."),
            (
                "noncausal",
                "non-causal latency",
                "Where latency that causal order does not require is caused, and how much.",
            ),
            ("in_transit", "in transit", "Messages that may be in transit."),
            ("liveness", "liveness", "Whether every message is delivered eventually."),
            ("control", "control", "Messages in addition to the application's."),
        )
    ),
    integer("runs", "Runs that the measured figures are means of."),
    integer("stalled", "Runs that stopped making progress."),
    real("metadata_bytes", "Mean bytes per message that are not payload.", "metadata", "bytes"),
    optional(
        real("metadata_exponent", "The k that fits best.", "metadata grows as n^k", "exponent")
    ),
    real("integers_mean", "Mean integers of state in a process.", "state"),
    integer("integers_peak", "The most integers of state in a process.", "state at most"),
    optional(real("state_exponent", "The k that fits best.", "state grows as n^k", "exponent")),
    real("work_us", "Wall-clock microseconds of the simulator per message.", "work, µs"),
    optional(real("work_exponent", "The k that fits best.", "work grows as n^k", "exponent")),
    real("latency_ms", "Mean milliseconds from causal-send to delivery.", "latency, ms"),
    optional(
        real("noncausal_ms", "Of these, what causal order does not require.", "non-causal, ms")
    ),
    integer("most_in_transit", "Of one sender.", "in transit at most"),
    real("control_frames", "Frames without a message, per message.", "control"),
)

EXPONENTS: Final = Schema(
    PROTOCOL,
    NETWORK,
    WORKLOAD,
    optional(SETTING),  # null where runs of all settings are fitted together
    optional(SIZE),  # null where it is x
    text("y", "Metadata, state of a process, or work per message.", "what grows"),
    text("x", "n: processes; degree; messages buffered; or in flight.", "with what"),
    real("exponent", "y = c x^k, by least squares on the logarithms.", "k", "exponent"),
    real("r2", "Share of the variance that the fit explains; 1 if y does not vary.", unit="share"),
    real("low", "The smallest x.", "from"),
    real("high", "The largest x.", "to"),
    integer("values", "How many different x there are."),
    integer("used", "Runs that were fitted.", "runs"),
    integer("unused", "Runs where x or y is 0 or unknown, so that it has no logarithm."),
)

# Figures 4 to 6 of Tong, Liittschwager and Kuper's paper.
FIGURES_001: Final = Schema(
    integer("figure"),
    text("panel", "Of figure 5: the interval; elsewhere empty."),
    text("series"),
    SIZE,
    real("x", "Processes per kB/s; milliseconds; per cent."),
    real("y", "Seconds; how many times faster."),
    integer("runs", "Or pairs of runs, that y is the mean of."),
)

# Figure 5 of Nédelec, Molli and Mostéfaoui's paper.
FIGURE_004: Final = Schema(
    PROTOCOL,
    WORKLOAD,
    NETWORK,
    SETTING,
    SIZE,
    real("time_s"),
    real("delay_ms", "Of a frame that leaves then."),
    real("entries", "About messages, held per process (figure 5a)."),
    integer("most_entries", "Of one process, in any of the runs."),
    real("control_per_second", "Control frames that a process received (figure 5b)."),
    integer("runs", "That these are means of."),
)
