"""Every protocol by its name: what it can do, and how to make a core of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, UnknownProtocolError
from beforehand.protocols.capabilities import Capabilities
from beforehand.protocols.clocks.ks import Ks
from beforehand.protocols.clocks.newtop import Newtop
from beforehand.protocols.clocks.rst import Rst
from beforehand.protocols.clocks.vector import Vector
from beforehand.protocols.controls import Fifo, Raw
from beforehand.protocols.core import Core
from beforehand.protocols.hybrid.csps import Hybrid
from beforehand.protocols.hybrid.sps import HybridSps
from beforehand.protocols.overlay.link_memory import LinkMemory
from beforehand.protocols.overlay.prc import Prc
from beforehand.protocols.overlay.preventive import Preventive
from beforehand.protocols.sender_side.cykas import Cykas
from beforehand.protocols.sender_side.cykas_unsafe import CykasUnsafe
from beforehand.protocols.sender_side.mattern import Mattern
from beforehand.protocols.tree.core import TreeCore
from beforehand.protocols.tree.topology import Tree

UNICAST = ("unicast",)
MULTICAST = ("unicast", "multicast")
BROADCAST = ("broadcast",)


@dataclass(frozen=True)
class Entry:
    """A protocol in the registry."""

    capabilities: Capabilities
    # (process), (process, processes), (process, tree, processes) or (process, links, processes),
    # by what it needs; then the options by name.
    make: Callable[..., Core]
    options: tuple[str, ...] = ()


_ENTRIES = (
    Entry(
        Capabilities(
            name="hybrid",
            title="hybrid buffering, conservative (CSPS)",
            source="Almeida, Hybrid Buffering, Algorithms 1 and 3",
            casts=MULTICAST,
            buffering="hybrid",
        ),
        Hybrid,
        ("coalesce", "runs"),
    ),
    Entry(
        Capabilities(
            name="hybrid-sps",
            title="hybrid buffering, optimal (SPS)",
            source="Almeida, Hybrid Buffering, Algorithm 2, with multicast",
            casts=MULTICAST,
            buffering="hybrid",
        ),
        HybridSps,
        ("coalesce", "runs"),
    ),
    Entry(
        Capabilities(
            name="mattern",
            title="output buffers with acknowledgements",
            source="Mattern and Fünfrocken 1995, section 3",
            casts=UNICAST,
            buffering="sender",
            note="one message in flight; fifo_links=True: several to one receiver",
        ),
        Mattern,
        ("fifo_links",),
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
    Entry(
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
    ),
)

_BY_NAME = {entry.capabilities.name: entry for entry in _ENTRIES}


def names() -> list[str]:
    """The names of all protocols."""
    return list(_BY_NAME)


def describe(name: str) -> Capabilities:
    """What a protocol can do and what it assumes."""
    return _entry(name).capabilities


def create(
    name: str,
    process: str,
    *,
    processes: Iterable[str] | None = None,
    tree: Tree | Mapping[str, str] | None = None,
    links: Iterable[str | tuple[str, str]] | None = None,
    **options: Any,
) -> Core:
    """A core of the named protocol for `process`.

    `processes` is everybody, for protocols of a fixed membership. `tree` maps each process to its
    parent, or is a `Tree` made of that. `links` are the neighbours of this process, or pairs (from,
    to) where links go one way only; pairs of others are ignored, so that all processes can be given
    the same list. Protocols that need none of it ignore it, so that a program can try one protocol
    after the other.
    """
    entry = _entry(name)
    check_process(process)
    for option in options:
        if option not in entry.options:
            known = ", ".join(entry.options) or "none"
            raise LocalProtocolError(f"{name} has no option {option!r}; its options: {known}")
    if entry.capabilities.overlay == "tree":
        if tree is None:
            raise LocalProtocolError(f"{name} runs on a tree; pass tree={{child: parent, ...}}")
        return entry.make(process, tree, processes, **options)
    if entry.capabilities.overlay == "links":
        return entry.make(process, () if links is None else links, processes, **options)
    if entry.capabilities.membership == "open":
        return entry.make(process, **options)
    if processes is None:
        raise LocalProtocolError(
            f"{name} must know everybody from the start; pass processes=[...] with all names"
        )
    return entry.make(process, processes, **options)


def _entry(name: str) -> Entry:
    entry = _BY_NAME.get(name)
    if entry is None:
        close = get_close_matches(str(name), _BY_NAME, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        known = ", ".join(_BY_NAME)
        raise UnknownProtocolError(f"there is no protocol {name!r}{hint}; the protocols: {known}")
    return entry
