"""One program under several protocols; a list of objects in the note of a comparison."""

from typing import Final

from beforehand.results.schema import Schema, boolean, integer, optional, real, text

RUNS: Final = Schema(
    text("protocol"),
    boolean("causal", "Whether the protocol promises causal order."),
    boolean("clean", "Everything was delivered once, in causal order and undamaged."),
    boolean("complete", "False: the judge stopped after many violations, so there may be more."),
    integer("sends", "Messages.", "messages"),
    integer("deliveries", "Deliveries, each of which was judged."),
    integer("violations", "Violations that the oracle reported."),
    integer("harm", "How often a user saw what made no sense yet.", "noticed by users"),
    integer("held", "Messages that had to wait for others."),
    integer("lost", "Datagrams that the fault injector dropped."),
    integer("doubled", "Datagrams that it duplicated."),
    integer("held_back", "Datagrams that it delayed."),
    optional(integer("latency_p50_ns", "From send to delivery.", "latency, median", "time")),
    optional(integer("latency_p99_ns", "From send to delivery.", "latency, 99 %", "time")),
    optional(real("meta_bytes_per_message", "Of the protocol.", "metadata per message", "bytes")),
    optional(real("wire_bytes_per_message", "All of it.", "on the wire per message", "bytes")),
    real("seconds", "From the start of the processes to their end.", "whole run", "seconds"),
)
