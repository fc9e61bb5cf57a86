"""The protocols of this package, registered through the same function as third-party ones.

`names()` lists them in this order: the recommended ones first, the controls last.
"""

from dataclasses import replace
from typing import Final

from beforehand.protocols import tags
from beforehand.protocols.clocks.codec import NEWTOP_FRAMES, RST_FRAMES, VECTOR_FRAMES
from beforehand.protocols.clocks.ks import Ks
from beforehand.protocols.clocks.ks_codec import FRAMES as KS_FRAMES
from beforehand.protocols.clocks.newtop import Newtop
from beforehand.protocols.clocks.rst import Rst
from beforehand.protocols.clocks.vector import Vector
from beforehand.protocols.controls import Fifo, FifoAck, FifoMessage, Raw, RawMessage
from beforehand.protocols.frames import FrameKind, allot
from beforehand.protocols.hybrid.csps import Hybrid
from beforehand.protocols.hybrid.frames import HYBRID_ACK, HYBRID_MESSAGE, HYBRID_PERMIT
from beforehand.protocols.hybrid.sps import HybridSps
from beforehand.protocols.overlay.codec import FRAMES as OVERLAY_FRAMES
from beforehand.protocols.overlay.link_memory import LinkMemory
from beforehand.protocols.overlay.prc import Prc
from beforehand.protocols.overlay.preventive import Preventive
from beforehand.protocols.registry import EAGER, HOLD, PERMIT, Capabilities, Protocol, register
from beforehand.protocols.reliable import SegmentAck, SegmentAckKind
from beforehand.protocols.sender_side.cykas import (
    Cykas,
    CykasAck,
    CykasMessage,
    CykasMessageKind,
    CykasYouCanTell,
)
from beforehand.protocols.sender_side.cykas_unsafe import CykasUnsafe
from beforehand.protocols.sender_side.mattern import Mattern, MatternAck, MatternMessage
from beforehand.protocols.support.numbering import SignalKind
from beforehand.protocols.tree.codec import FRAMES as TREE_FRAMES
from beforehand.protocols.tree.core import TreeCore

UNICAST: Final = ("unicast",)
MULTICAST: Final = ("unicast", "multicast")
BROADCAST: Final = ("broadcast",)

# What the protocols of a family have in common.
DEFAULT: Final = "hybrid-sps"  # wherever nobody names a protocol: in nodes, simulations and checks
HYBRID: Final = Capabilities("", "", "", casts=MULTICAST, buffering="hybrid")
SENDER_SIDE: Final = Capabilities("", "", "", casts=UNICAST, buffering="sender")
CLOCKS: Final = Capabilities(
    "", "", "", casts=MULTICAST, buffering="receiver", network="reliable", membership="fixed"
)
LINKS: Final = replace(
    SENDER_SIDE, casts=BROADCAST, network="reliable", fifo_links=True, overlay="links", timer=True
)
CONTROL: Final = Capabilities(
    "", "", source="control", casts=MULTICAST, buffering="receiver", causal=False
)

HYBRID_FRAMES: Final = (HYBRID_MESSAGE, HYBRID_ACK, HYBRID_PERMIT)
RUNS: Final = {"coalesce": True, "runs": True}  # fewer and larger frames, for real datagrams

CYKAS_FRAMES: Final[tuple[FrameKind, ...]] = (
    CykasMessageKind(CykasMessage, (tags.CYKAS_MESSAGE, tags.CYKAS_EAGER_MESSAGE)),
    SignalKind(CykasAck, tags.CYKAS_ACK, acknowledges=True),
    SignalKind(CykasYouCanTell, tags.CYKAS_YOU_CAN_TELL, permits=True),
)
MATTERN_FRAMES: Final[tuple[FrameKind, ...]] = (
    FrameKind(MatternMessage, tags.MATTERN_MESSAGE, "id predecessor payload"),
    SignalKind(MatternAck, tags.MATTERN_ACK, acknowledges=True),
)
FIFO_FRAMES: Final[tuple[FrameKind, ...]] = (
    FrameKind(FifoMessage, tags.FIFO_MESSAGE, "id predecessor payload"),
    SignalKind(FifoAck, tags.FIFO_ACK, acknowledges=True),
)

PROTOCOLS: Final = (
    Protocol(
        replace(
            HYBRID,
            name="hybrid",
            title="hybrid buffering, conservative (CSPS)",
            source="Almeida, Hybrid Buffering, Algorithms 1 and 3",
        ),
        Hybrid,
        HYBRID_FRAMES,
        options=tuple(RUNS),
        node_options=RUNS,
        coverage=(HOLD, EAGER, PERMIT),
        represents="hybrid buffering",
    ),
    Protocol(
        replace(
            HYBRID,
            name="hybrid-sps",
            title="hybrid buffering, optimal (SPS)",
            source="Almeida, Hybrid Buffering, Algorithm 2, with multicast",
        ),
        HybridSps,
        HYBRID_FRAMES,
        options=tuple(RUNS),
        node_options=RUNS,
        coverage=(HOLD, EAGER, PERMIT),
        represents="hybrid buffering",
    ),
    Protocol(
        replace(
            SENDER_SIDE,
            name="mattern",
            title="output buffers with acknowledgements",
            source="Mattern and Fünfrocken 1995, section 3",
            note="one message in flight; with fifo_links=True, several to the same receiver",
        ),
        Mattern,
        MATTERN_FRAMES,
        options=("fifo_links",),
        coverage=(HOLD,),
    ),
    Protocol(
        replace(
            SENDER_SIDE,
            name="cykas",
            title="eager sends to receivers that keep a secret",
            source="Tong, Liittschwager and Kuper 2024, section 2",
            network="reliable",
            note="can starve (Almeida, section 4.3)",
        ),
        Cykas,
        CYKAS_FRAMES,
        coverage=(HOLD, EAGER, PERMIT),
    ),
    Protocol(
        replace(
            SENDER_SIDE,
            name="cykas-unsafe",
            title="cykas with replies in secret mode",
            source="Tong, Liittschwager and Kuper 2024, section 2.3",
            network="reliable",
            causal=False,
            note="the variant that its paper refutes",
        ),
        CykasUnsafe,
        CYKAS_FRAMES,
        coverage=(HOLD, EAGER, PERMIT),
    ),
    Protocol(
        replace(
            CLOCKS,
            name="rst",
            title="matrix clocks",
            source="Raynal, Schiper and Toueg 1991",
            metadata="O(n^2)",
            note="delivers as early as possible",
        ),
        Rst,
        RST_FRAMES,
        coverage=(HOLD,),
        cost_per_process=1 / 10,
        represents="matrix clocks",
    ),
    Protocol(
        replace(
            CLOCKS,
            name="ks",
            title="optimal dependency logs",
            source="Kshemkalyani and Singhal 1998",
            metadata="O(n^2)",
            note="delivers as early as possible, with the least metadata for that",
        ),
        Ks,
        KS_FRAMES,
        coverage=(HOLD,),
        cost_per_process=1 / 3,
    ),
    Protocol(
        replace(
            CLOCKS,
            name="newtop",
            title="Lamport clocks",
            source="Ezhilchelvan, Macêdo and Shrivastava 1995",
            casts=BROADCAST,
            fifo_links=True,
            timer=True,
            keeps_dropped=True,
            note="totally ordered, too; waits until it has heard from every process",
        ),
        Newtop,
        NEWTOP_FRAMES,
        coverage=(HOLD,),
    ),
    Protocol(
        replace(
            CLOCKS,
            name="vector",
            title="vector clocks",
            source="Birman, Schiper and Stephenson 1991",
            casts=BROADCAST,
            metadata="O(n)",
            note="delivers as early as possible",
        ),
        Vector,
        VECTOR_FRAMES,
        coverage=(HOLD,),
    ),
    Protocol(
        replace(
            CLOCKS,
            name="tree",
            title="causal order by topology",
            source="Blessing, Clebsch and Drossopoulou 2017",
            casts=(*MULTICAST, *BROADCAST),
            fifo_links=True,
            overlay="tree",
            note="no metadata at all; inner processes must not fail",
        ),
        TreeCore,
        TREE_FRAMES,
    ),
    Protocol(
        replace(
            LINKS,
            name="link-memory",
            title="broadcast that forgets, on a static overlay",
            source="Nédelec, Molli and Mostéfaoui 2018, Algorithm 1",
            timer=False,
            buffering="receiver",
            note="opening a link breaks causal order (figure 2)",
        ),
        LinkMemory,
        OVERLAY_FRAMES,
    ),
    Protocol(
        replace(
            LINKS,
            name="preventive",
            title="broadcast on safe links",
            source="Nédelec, Molli and Mostéfaoui, SRDS 2018",
            note="remembers every process that ever sent",
        ),
        Preventive,
        OVERLAY_FRAMES,
    ),
    Protocol(
        replace(
            LINKS,
            name="prc",
            title="broadcast that forgets, on a dynamic overlay",
            source="Nédelec, Molli and Mostéfaoui 2018, Algorithm 2, corrected",
        ),
        Prc,
        OVERLAY_FRAMES,
    ),
    Protocol(
        replace(
            CONTROL, name="fifo", title="FIFO order per sender", note="what TCP or a queue provides"
        ),
        Fifo,
        FIFO_FRAMES,
        coverage=(HOLD,),
        represents="order kept per sender only",
    ),
    Protocol(
        replace(
            CONTROL,
            name="raw",
            title="the bare network",
            network="reliable",
            buffering="none",
            note="delivers exactly what arrives",
        ),
        Raw,
        (FrameKind(RawMessage, tags.RAW_MESSAGE, "id payload"),),
    ),
)

# Their colours and symbols in charts: the position here. Append, so that older charts stay comparable.
SERIES: Final = (
    "hybrid rst hybrid-sps ks mattern cykas tree fifo raw newtop vector link-memory preventive prc "
    "cykas-unsafe"
)

allot((SegmentAckKind(SegmentAck, tags.SEGMENT_ACK, "id", label="segment ack"),))
for _protocol in PROTOCOLS:
    register(replace(_protocol, series=SERIES.split().index(_protocol.capabilities.name)))
