"""The first byte of every frame but hybrid messages, which have the bit `MARKER` set in theirs.

A tag is never given to another frame later: an old decoder must refuse a frame that it does not
know, and not misread it. Whole groups of four are left for the frames of a protocol to come.
"""

from typing import Final

MARKER: Final = 0x20  # set in the first byte of a hybrid message, clear in every tag

HYBRID_ACK: Final = 0x01
HYBRID_PERMIT: Final = 0x02

FENCED: Final = 0x04
SEGMENT: Final = 0x05
SEGMENT_ACK: Final = 0x06

MATTERN_MESSAGE: Final = 0x08
MATTERN_ACK: Final = 0x09

CYKAS_MESSAGE: Final = 0x0C
CYKAS_EAGER_MESSAGE: Final = 0x0D
CYKAS_ACK: Final = 0x0E
CYKAS_YOU_CAN_TELL: Final = 0x0F

RST_MESSAGE: Final = 0x10
KS_MESSAGE: Final = 0x14
KS_FLUSH: Final = 0x15

FIFO_MESSAGE: Final = 0x18
FIFO_ACK: Final = 0x19
RAW_MESSAGE: Final = 0x1C

VECTOR_MESSAGE: Final = 0x40
NEWTOP_MESSAGE: Final = 0x44
NEWTOP_NULL: Final = 0x45
