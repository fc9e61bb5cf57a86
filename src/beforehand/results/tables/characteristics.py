"""What a workload is like: sizes, degrees, rates, causal chains and concurrency.

Whatever has a distribution is counted, as rows (run, what, value, count), and quantiles come from the
counts, so that a run of any size leaves small tables.
"""

from typing import Final

from beforehand.results.schema import Schema, integer, optional, real, text

_RUN: Final = text("run", "The name of the run in the source.")
_RATE: Final = optional(real("rate", "Messages per second."))
_GAP_CV: Final = optional(
    real("gap_cv", "Coefficient of variation of the times between sends.", "variation of gaps")
)
_BURSTINESS: Final = optional(
    real("burstiness", "(sigma - mu) / (sigma + mu) of these: -1 regular, 0 random, +1 bursts.")
)

# One row per run; what the source does not record is null.
RUNS: Final = Schema(
    _RUN,
    integer("processes", "Processes that send or receive."),
    integer("messages", "Messages that were sent; a multicast is one."),
    integer("copies", "Receivers of all messages, counted."),
    integer("requests", "Messages that ask."),
    integer("replies", "Messages that answer."),
    optional(integer("answered", "Requests that have a reply.")),
    integer("payload_known", "Messages whose size the source records.", "sizes known"),
    integer("flagged", "Messages with an anomaly."),
    optional(
        integer("before_cause", "Messages with a time before that of a cause.", "before a cause")
    ),
    integer("span_ns", "From the first send to the last.", "span", "time"),
    _RATE,
    optional(integer("window_ns", "In which the peak rate was counted.", "window", "time")),
    optional(real("peak_rate", "Messages per second in the busiest window.")),
    _GAP_CV,
    _BURSTINESS,
    optional(integer("edges", "Direct causes of messages, counted.")),
    optional(integer("pairs", "Pairs of messages that were compared.")),
    optional(
        real(
            "concurrent_share",
            "Of these pairs, those where neither is before the other.",
            "concurrent",
            "share",
        )
    ),
    optional(real("standard_error", "Of that share; 0 if all pairs were compared.", unit="share")),
    text("note", "Why something is missing; empty if nothing is."),
)

# One row per process that sends or receives.
PROCESSES: Final = Schema(
    _RUN,
    text("process", "Its name."),
    integer("in_degree", "Other processes that send to it.", "in"),
    integer("out_degree", "Other processes that it sends to.", "out"),
    integer("sent", "Messages."),
    integer("received", "Copies."),
    _RATE,
    _GAP_CV,
    _BURSTINESS,
)

DISTRIBUTIONS: Final = Schema(_RUN, text("what"), integer("value"), integer("count"))

SUMMARIES: Final = Schema(
    _RUN,
    text("what", "What was counted.", "distribution"),
    integer("count", "How many.", "of"),
    integer("min", "The smallest.", "least"),
    real("median", "Half are no larger."),
    real("mean", "Mean."),
    real("p90", "90 of 100 are no larger."),
    real("p99", "99 of 100 are no larger."),
    integer("max", "The largest.", "most"),
)

FLAGS: Final = Schema(_RUN, text("flag"), integer("count"))

# The formulas of Table 1 of Almeida's hybrid-buffering paper, with the degrees of this workload.
TABLE1: Final = Schema(
    _RUN,
    integer("place", "In the order of the paper."),
    text("algorithm", "As the paper calls it."),
    text("protocol", "Its name here."),
    text("quantity"),
    text("formula"),
    integer("n"),
    real("i_mean"),
    integer("i_max"),
    real("o_mean"),
    integer("o_max"),
    real("mean", "Of the formula, over the processes."),
    integer("max"),
)

# By the names of their folders.
TABLES: Final = {
    "runs": RUNS,
    "processes": PROCESSES,
    "summaries": SUMMARIES,
    "distributions": DISTRIBUTIONS,
    "flags": FLAGS,
    "table1": TABLE1,
}
