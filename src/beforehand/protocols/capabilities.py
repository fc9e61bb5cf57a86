"""What a protocol can do and what it assumes, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """What a protocol can do and what it assumes, as data."""

    name: str
    title: str
    source: str
    casts: tuple[str, ...]  # of "unicast", "multicast", "broadcast"
    buffering: str  # where messages wait: "sender", "receiver", "hybrid" or "none"
    network: str = "lossy"  # any network will do; or "reliable": each frame arrives exactly once
    fifo_links: bool = False  # True: frames between two processes must not overtake each other
    membership: str = "open"  # anybody may join; or "fixed": `processes` must be given
    overlay: str = "none"  # everybody reaches everybody; or "tree", "links": `create` wants these
    timer: bool = False  # True: it needs `tick` to go on even where nothing is lost
    causal: bool = True
    metadata: str = "O(1)"  # integers per message, as in Almeida's Table 1
    note: str = ""
