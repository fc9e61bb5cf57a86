"""The protocols of this package, registered through the same door as those of anybody else.

The order is that in which `names()` lists them: the recommended ones first, the controls last.
"""

from __future__ import annotations

from typing import Final

from beforehand.protocols import tags
from beforehand.protocols.capabilities import Capabilities
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
from beforehand.protocols.registry import EAGER, HOLD, PERMIT, Protocol, register
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

HYBRID_FRAMES: Final = (HYBRID_MESSAGE, HYBRID_ACK, HYBRID_PERMIT)
RUNS: Final = {"coalesce": True, "runs": True}  # fewer and larger frames, for real datagrams

CYKAS_FRAMES: Final[tuple[FrameKind, ...]] = (
    CykasMessageKind(CykasMessage, (tags.CYKAS_MESSAGE, tags.CYKAS_EAGER_MESSAGE)),
    SignalKind(CykasAck, tags.CYKAS_ACK, acknowledges=True),
    SignalKind(CykasYouCanTell, tags.CYKAS_YOU_CAN_TELL, permits=True),
)

PROTOCOLS: Final = (
    Protocol(
        Capabilities(
            name="hybrid",
            title="hybrid buffering, conservative (CSPS)",
            source="Almeida, Hybrid Buffering, Algorithms 1 and 3",
            casts=MULTICAST,
            buffering="hybrid",
        ),
        Hybrid,
        HYBRID_FRAMES,
        options=("coalesce", "runs"),
        node_options=RUNS,
        coverage=(HOLD, EAGER, PERMIT),
        series=0,
        represents="hybrid buffering",
    ),
    Protocol(
        Capabilities(
            name="hybrid-sps",
            title="hybrid buffering, optimal (SPS)",
            source="Almeida, Hybrid Buffering, Algorithm 2, with multicast",
            casts=MULTICAST,
            buffering="hybrid",
        ),
        HybridSps,
        HYBRID_FRAMES,
        options=("coalesce", "runs"),
        node_options=RUNS,
        coverage=(HOLD, EAGER, PERMIT),
        series=2,
        represents="hybrid buffering",
    ),
    Protocol(
        Capabilities(
            name="mattern",
            title="output buffers with acknowledgements",
            source="Mattern and Fünfrocken 1995, section 3",
            casts=UNICAST,
            buffering="sender",
            note="one message in flight; fifo_links=True: several to one receiver",
        ),
        Mattern,
        (
            FrameKind(MatternMessage, tags.MATTERN_MESSAGE, "id predecessor payload"),
            SignalKind(MatternAck, tags.MATTERN_ACK, acknowledges=True),
        ),
        options=("fifo_links",),
        coverage=(HOLD,),
        series=4,
    ),
    Protocol(
        Capabilities(
            name="cykas",
            title="eager sends to receivers that can keep a secret",
            source="Tong, Liittschwager and Kuper 2024, section 2",
            casts=UNICAST,
            network="reliable",
            buffering="sender",
            note="can starve: Almeida, section 4.3",
        ),
        Cykas,
        CYKAS_FRAMES,
        coverage=(HOLD, EAGER, PERMIT),
        series=5,
    ),
    Protocol(
        Capabilities(
            name="cykas-unsafe",
            title="cykas that answers in secret mode",
            source="Tong, Liittschwager and Kuper 2024, section 2.3",
            casts=UNICAST,
            network="reliable",
            causal=False,
            buffering="sender",
            note="the variant that its paper refutes",
        ),
        CykasUnsafe,
        CYKAS_FRAMES,
        coverage=(HOLD, EAGER, PERMIT),
        series=14,
    ),
    Protocol(
        Capabilities(
            name="rst",
            title="matrix clocks",
            source="Raynal, Schiper and Toueg 1991",
            casts=MULTICAST,
            network="reliable",
            membership="fixed",
            metadata="O(n^2)",
            buffering="receiver",
            note="delivers as early as possible",
        ),
        Rst,
        RST_FRAMES,
        coverage=(HOLD,),
        cost_per_process=1 / 10,
        series=1,
        represents="matrix clocks",
    ),
    Protocol(
        Capabilities(
            name="ks",
            title="optimal dependency logs",
            source="Kshemkalyani and Singhal 1998",
            casts=MULTICAST,
            network="reliable",
            membership="fixed",
            metadata="O(n^2)",
            buffering="receiver",
            note="delivers as early as possible, with the least metadata for that",
        ),
        Ks,
        KS_FRAMES,
        coverage=(HOLD,),
        cost_per_process=1 / 3,
        series=3,
    ),
    Protocol(
        Capabilities(
            name="newtop",
            title="Lamport clocks",
            source="Ezhilchelvan, Macêdo and Shrivastava 1995",
            casts=BROADCAST,
            network="reliable",
            fifo_links=True,
            membership="fixed",
            timer=True,
            buffering="receiver",
            note="total order too; waits until everybody has been heard",
        ),
        Newtop,
        NEWTOP_FRAMES,
        coverage=(HOLD,),
        series=9,
    ),
    Protocol(
        Capabilities(
            name="vector",
            title="vector clocks",
            source="Birman, Schiper and Stephenson 1991",
            casts=BROADCAST,
            network="reliable",
            membership="fixed",
            metadata="O(n)",
            buffering="receiver",
            note="delivers as early as possible",
        ),
        Vector,
        VECTOR_FRAMES,
        coverage=(HOLD,),
        series=10,
    ),
    Protocol(
        Capabilities(
            name="tree",
            title="order by topology",
            source="Blessing, Clebsch and Drossopoulou 2017",
            casts=(*MULTICAST, *BROADCAST),
            network="reliable",
            fifo_links=True,
            membership="fixed",
            overlay="tree",
            buffering="receiver",
            note="no metadata at all; an inner process must not fail",
        ),
        TreeCore,
        TREE_FRAMES,
        series=6,
    ),
    Protocol(
        Capabilities(
            name="link-memory",
            title="broadcast that forgets, on links that stay as they are",
            source="Nédelec, Molli and Mostéfaoui 2018, Algorithm 1",
            casts=BROADCAST,
            network="reliable",
            fifo_links=True,
            overlay="links",
            buffering="receiver",
            note="opening a link breaks it: figure 2",
        ),
        LinkMemory,
        OVERLAY_FRAMES,
        series=11,
    ),
    Protocol(
        Capabilities(
            name="preventive",
            title="broadcast on safe links",
            source="Nédelec, Molli and Mostéfaoui, SRDS 2018",
            casts=BROADCAST,
            network="reliable",
            fifo_links=True,
            overlay="links",
            timer=True,
            buffering="sender",
            note="remembers everybody who ever sent",
        ),
        Preventive,
        OVERLAY_FRAMES,
        series=12,
    ),
    Protocol(
        Capabilities(
            name="prc",
            title="broadcast that forgets, on links that come and go",
            source="Nédelec, Molli and Mostéfaoui 2018, Algorithm 2, corrected",
            casts=BROADCAST,
            network="reliable",
            fifo_links=True,
            overlay="links",
            timer=True,
            buffering="sender",
        ),
        Prc,
        OVERLAY_FRAMES,
        series=13,
    ),
    Protocol(
        Capabilities(
            name="fifo",
            title="order of each sender only",
            source="control",
            casts=MULTICAST,
            causal=False,
            buffering="receiver",
            note="what TCP or a queue gives",
        ),
        Fifo,
        (
            FrameKind(FifoMessage, tags.FIFO_MESSAGE, "id predecessor payload"),
            SignalKind(FifoAck, tags.FIFO_ACK, acknowledges=True),
        ),
        coverage=(HOLD,),
        series=7,
        represents="order kept per sender only",
    ),
    Protocol(
        Capabilities(
            name="raw",
            title="the network itself",
            source="control",
            casts=MULTICAST,
            network="reliable",
            causal=False,
            buffering="none",
            note="delivers exactly what arrives",
        ),
        Raw,
        (FrameKind(RawMessage, tags.RAW_MESSAGE, "id payload"),),
        series=8,
    ),
)

allot((SegmentAckKind(SegmentAck, tags.SEGMENT_ACK, "id", label="segment ack"),))
for _protocol in PROTOCOLS:
    register(_protocol)
