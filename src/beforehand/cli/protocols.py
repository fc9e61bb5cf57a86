"""`beforehand protocols`: what each protocol can do and what it requires of the network."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from beforehand.cli import options as shared
from beforehand.cli.ui.output import print_json, print_table

if TYPE_CHECKING:
    from beforehand.protocols.registry import Capabilities

COLUMNS = ("name", "causal", "sends", "network", "members", "metadata", "waits at")
PROSE = ("what it is", "source")


def command(as_json: shared.Json = False) -> None:
    """List the protocols: what each can do, what it requires of the network, and what it costs."""
    from beforehand import protocols

    known = [protocols.describe(name) for name in protocols.names()]
    if as_json:
        print_json([asdict(protocol) for protocol in known])
    else:
        print_table(COLUMNS + PROSE, [_row(protocol) for protocol in known], prose=len(PROSE))


def _row(protocol: Capabilities) -> tuple[str, ...]:
    remarks = [protocol.note] if protocol.note else []
    if protocol.timer:
        remarks.append("needs its timer")
    return (
        protocol.name,
        "yes" if protocol.causal else "no",
        ", ".join(protocol.casts),
        protocol.network + (", FIFO links" if protocol.fifo_links else ""),
        protocol.membership + ("" if protocol.overlay == "none" else f", {protocol.overlay}"),
        protocol.metadata,
        protocol.buffering,
        protocol.title + (f" ({'; '.join(remarks)})" if remarks else ""),
        protocol.source,
    )
