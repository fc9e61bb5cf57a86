"""What happened and who sent what to whom: traces, and what an ingest makes of foreign logs."""

from typing import Final

from beforehand.results.schema import Schema, integer, optional, text, texts

# The trace schema of docs/trace-format.md; `beforehand.trace` writes and checks it.
EVENTS: Final = Schema(
    text("run"),
    text("process"),
    integer("seq"),
    text("kind"),
    optional(text("sender")),
    optional(integer("mid")),
    optional(texts("to")),
    integer("time_ns", unit="time"),
    integer("payload_bytes", unit="bytes"),
    integer("meta_bytes", unit="bytes"),
    text("detail"),
)

# What a replay needs.
MESSAGES: Final = Schema(
    text("run"),
    text("id", "Unique in its run."),
    text("sender"),
    texts("to", "At least one receiver."),
    integer("time_ns", "Of the causal-send, by the clock of the source.", unit="time"),
    texts("after", "Ids of messages known to the sender: its own, or sent to it."),
    optional(integer("payload_bytes", unit="bytes")),
    text("kind", "Request, reply or message."),
    texts("flags", "Anomalies such as clock skew, sorted."),
    text("file"),
    integer("position", "Of its row in the file, from 1 on."),
)

REJECTS: Final = Schema(
    text("file"),
    text("format"),
    integer("position", "Line, or index in the list of the file; 0: the whole file."),
    text("raw", "The row as it was, shortened if it is very long."),
    text("reason"),
)

# rows = accepted + rejected + duplicates: nothing gets lost.
FILES: Final = Schema(
    text("file"),
    text("format"),
    integer("rows"),
    integer("accepted"),
    integer("rejected"),
    integer("duplicates"),
    integer("flagged", "Accepted rows with an anomaly."),
    text("note", "What was decided about the file, such as the layout of a log."),
)
