"""Every protocol by its name: one registration has all that the rest of the package asks for.

The protocols of this package register in `builtin.py`. Others call `register`, or are found by their
entry point in the group `beforehand.protocols` (`plugins.py`); `docs/adding-a-protocol.md` shows how.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, UnknownProtocolError
from beforehand.protocols import plugins
from beforehand.protocols.core import Core
from beforehand.protocols.frames import FrameKind, allot
from beforehand.protocols.tree.topology import Tree

# What a thorough check of a protocol can be expected to see at least once.
HOLD: Final = "hold"  # a message waits inside a core
EAGER: Final = "eager"  # a message leaves with a `Frame.restriction`
PERMIT: Final = "permit"  # a restriction is lifted: `FrameKind.permits`


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
    keeps_dropped: bool = False  # True: what had arrived from a dropped peer is still delivered
    metadata: str = "O(1)"  # integers per message, as in Almeida's Table 1
    note: str = ""


@dataclass(frozen=True)
class Protocol:
    """Everything that others need to know about a protocol."""

    capabilities: Capabilities
    # Called as (process), (process, processes), (process, tree, processes) or (process, links,
    # processes), depending on the capabilities; then the options by name.
    create: Callable[..., Core]
    frames: tuple[FrameKind, ...]
    options: tuple[str, ...] = ()
    node_options: Mapping[str, object] = field(default_factory=dict)  # with which a node creates it
    coverage: tuple[str, ...] = ()  # of HOLD, EAGER and PERMIT
    cost_per_process: float = (
        0.0  # extra time to simulate a message, in those of an average message
    )
    series: int | None = None  # its colour and symbol in charts; None: whatever is free
    represents: str = ""  # the approach that it stands for where reports contrast approaches


_BY_NAME: Final[dict[str, Protocol]] = {}


def register(protocol: Protocol) -> None:
    """Make a protocol known under its name, and its frames to `beforehand.wire`.

    Registering the same value again does nothing. LocalProtocolError if its name or a tag of its
    frames is taken.
    """
    name = protocol.capabilities.name
    known = _BY_NAME.get(name)
    if known is protocol:
        return
    if known is not None:
        raise LocalProtocolError(f"{name}: there is a protocol of this name; choose another one")
    allot(protocol.frames)
    _BY_NAME[name] = protocol


def names() -> list[str]:
    """The names of all protocols, those of installed plugins included."""
    plugins.load_once(_register_plugin)
    return list(_BY_NAME)


def find(name: str) -> Protocol | None:
    """The registration of a protocol, or None if there is no protocol of that name."""
    if name not in _BY_NAME:
        plugins.load_once(_register_plugin)
    return _BY_NAME.get(name)


def registration(name: str) -> Protocol:
    """The registration of a protocol; UnknownProtocolError if there is none of that name."""
    protocol = find(name)
    if protocol is None:
        close = get_close_matches(str(name), _BY_NAME, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        broken = plugins.problem(name)
        raise UnknownProtocolError(
            f"there is no protocol {name!r}{hint}; "
            + (f"{broken}; " if broken else "")
            + f"the protocols: {', '.join(_BY_NAME)}"
        )
    return protocol


def describe(name: str) -> Capabilities:
    """What a protocol can do and what it assumes."""
    return registration(name).capabilities


def create(
    name: str,
    process: object,  # a str; checked below, because compiled code would only say TypeError
    *,
    processes: Iterable[str] | None = None,
    tree: Tree | Mapping[str, str] | None = None,
    links: Iterable[str | tuple[str, str]] | None = None,
    **options: Any,
) -> Core:
    """A core of the named protocol for `process`.

    `processes` lists all processes, for protocols with a fixed membership. `tree` maps each process
    to its parent, or is a `Tree` built from such a mapping. `links` are the neighbours of this process,
    or pairs (from, to) where links are one-way; pairs of other processes are ignored, so that all
    processes can be given the same list. Protocols ignore what they don't need, so that a program can
    try one protocol after the other.
    """
    protocol = registration(name)
    process = check_process(process)
    for option in options:
        if option not in protocol.options:
            known = ", ".join(protocol.options) or "none"
            raise LocalProtocolError(f"{name} has no option {option!r}; its options: {known}")
    capabilities = protocol.capabilities
    if capabilities.overlay == "tree":
        if tree is None:
            raise LocalProtocolError(f"{name} runs on a tree; pass tree={{child: parent, ...}}")
        return protocol.create(process, tree, processes, **options)
    if capabilities.overlay == "links":
        return protocol.create(process, () if links is None else links, processes, **options)
    if capabilities.membership == "open":
        return protocol.create(process, **options)
    if processes is None:
        raise LocalProtocolError(
            f"{name} has a fixed membership; pass processes=[...] with all names"
        )
    return protocol.create(process, processes, **options)


def _register_plugin(value: object) -> None:
    if not isinstance(value, Protocol):
        raise LocalProtocolError(f"a protocols.Protocol is needed, not {type(value).__name__}")
    register(value)
