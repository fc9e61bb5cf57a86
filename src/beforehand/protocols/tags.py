"""The tags of the frames of this package: the first byte of each, except for hybrid messages.

Hybrid messages have the bit `MARKER` set in their first byte; no tag has it. A tag is never reused:
a decoder must refuse a frame that it doesn't know instead of misreading it. Groups of four are left
free for protocols to come. The tags of frames from elsewhere take two bytes (`frames.py`), of which
the first is from 0x90 to 0x9f; the runtime's links use those from 0xc0 on.
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

TREE_MESSAGE: Final = 0x48
TREE_BROADCAST: Final = 0x49
TREE_ASK: Final = 0x4A
TREE_LOCK: Final = 0x4B
TREE_READY: Final = 0x4C
TREE_REFUSAL: Final = 0x4D
TREE_LASTING_REFUSAL: Final = 0x4E
TREE_GO: Final = 0x4F
TREE_FAREWELL: Final = 0x50
TREE_HANDOVER: Final = 0x51
TREE_LAST: Final = 0x52
TREE_CLEAR: Final = 0x53
TREE_GONE: Final = 0x54

BROADCAST: Final = 0x80
FLOOD: Final = 0x81
ROUTED: Final = 0x82
BUFFERED: Final = 0x83
ALPHA: Final = 0x84
LINKED: Final = 0x85
PONG: Final = 0x86
CLOSE: Final = 0x87
REFUSE: Final = 0x88
JOIN: Final = 0x89
LEAVE: Final = 0x8A
WELCOME: Final = 0x8B
