"""Kinds of violations, in the order in which they are reported; each is a column of the verdicts."""

from typing import Final

MEANINGS: Final = {
    "causal": "Messages delivered after one that they happened before.",
    "fifo": "Messages delivered after a later one of the same sender.",
    "duplicate": "Messages delivered twice.",
    "invented": "Deliveries of a message that was not sent, or not to this process.",
    "lost": "Messages that were never delivered.",
}
KINDS: Final = tuple(MEANINGS)
