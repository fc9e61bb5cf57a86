"""`beforehand node`: a node to talk through, at a terminal or in a script."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from beforehand import requirements
from beforehand.cli import options as shared
from beforehand.cli.node.renderers import JsonRenderer, TextRenderer
from beforehand.cli.options import OUTPUT, switch, takes, value
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.interrupts import on_interrupt
from beforehand.errors import LocalProtocolError

if TYPE_CHECKING:
    from beforehand.runtime.node import Node

SILENT_AFTER: Final = 5.0  # seconds until a peer counts as silent, unless it is dropped earlier


@dataclass(frozen=True, kw_only=True)
class NodeOptions:
    """The node, and how to talk through it."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of this node.")]
    listen: Annotated[
        str, value("HOST:PORT", "Where to receive, over UDP; port 0 takes a free one.")
    ] = "127.0.0.1:0"
    peer: Annotated[
        list[str] | None,
        value(
            "NAME=HOST:PORT",
            "Another node: bob=127.0.0.1:7002; or only bob, if it knows our address. Repeatable.",
        ),
    ] = None
    key: Annotated[
        Path | None,
        value(
            "FILE",
            "The key of the cluster, to encrypt with: see `beforehand keygen`. Default: none.",
        ),
    ] = None
    protocol: shared.Protocol = shared.DEFAULT_PROTOCOL
    trace: Annotated[
        Path | None, value("FOLDER", "Where to write a trace of this node. Default: nowhere.")
    ] = None
    drop_after: Annotated[
        float | None,
        value("SECONDS", "How long a peer may be silent before it is dropped. Default: for ever."),
    ] = None
    insecure: Annotated[
        bool, switch("--insecure", "Listen to other machines even without a key.")
    ] = False
    nats: Annotated[
        str | None, value("URL", "Use a NATS server, nats://HOST:PORT, instead of UDP.")
    ] = None
    wait: Annotated[
        float, value("SECONDS", "How long to wait at the end for undelivered messages.")
    ] = 10.0
    as_json: Annotated[
        bool,
        switch(
            "--json",
            "Print a JSON object per line, for programs: messages, events, answers.",
            panel=OUTPUT,
        ),
    ] = False


@takes(NodeOptions)
def command(options: NodeOptions) -> None:
    """Run one node and talk through it: type `bob: hello`, and see what arrives.

    `bob, carol: hi` goes to both as one message, `*: hi` to everybody; /help lists the commands. The
    input may come from a pipe: at its end, and at /quit, the node waits until all is delivered; Ctrl-C
    does not wait. Exits with 0, or with 1 if something was not delivered.
    """
    from beforehand.cli.node.console import talk
    from beforehand.runtime.run import run

    node = _node(options)
    json_lines = JsonRenderer(typer.echo)
    renderer = json_lines if options.as_json else _text_renderer()
    with on_interrupt(kept="what was not delivered yet is lost"):
        undelivered = run(talk(node, renderer, options.wait))
    if options.as_json:
        json_lines.end(dict(undelivered))
    if undelivered:
        counts = ", ".join(f"{count:,} to {peer}" for peer, count in undelivered.items())
        typer.echo(
            f"beforehand: not known to be delivered after {options.wait:g} s: {counts}", err=True
        )
        raise typer.Exit(ExitCode.BROKEN)


def _text_renderer() -> TextRenderer:
    """Messages and answers on standard output, events of peers on standard error."""
    out, notes = Console(highlight=False), Console(stderr=True, highlight=False)
    return TextRenderer(
        lambda line: out.print(Text(line), soft_wrap=True),
        lambda line: notes.print(Text(line, style="dim"), soft_wrap=True),
    )


def _node(options: NodeOptions) -> Node:
    from beforehand import protocols
    from beforehand.runtime.node import Node
    from beforehand.runtime.transports import NatsTransport, Transport, UdpTransport

    if options.nats is not None:
        requirements.require("--nats", "nats")
    if protocols.describe(options.protocol).overlay != "none":
        raise LocalProtocolError(
            f"{options.protocol} runs on an overlay, which this command cannot describe; "
            "use beforehand.Node in Python, or another protocol"
        )
    nats, drop_after = options.nats, options.drop_after
    transport: Transport = (
        UdpTransport(options.listen) if nats is None else NatsTransport(nats, options.name)
    )
    if options.key is None and not options.insecure and not transport.loopback():
        raise LocalProtocolError(
            "without --key a node only listens to this machine, since anybody could read and forge its "
            "messages; make a key with `beforehand keygen`, or add --insecure to accept that"
        )
    dropped_early = drop_after is not None and 0 < drop_after < SILENT_AFTER
    return Node(
        options.name,
        peers=dict(_peer(text, nats is not None) for text in options.peer or []),
        key=options.key,
        protocol=options.protocol,
        transport=transport,
        trace=options.trace,
        run="node",
        silent_after=drop_after if dropped_early and drop_after else SILENT_AFTER,
        drop_after=drop_after,
        insecure=options.insecure,
    )


def _peer(text: str, by_name: bool) -> tuple[str, str]:
    name, equals, address = text.partition("=")
    if not name or (equals and not address):
        raise LocalProtocolError(f"--peer {text!r}: write it like bob=127.0.0.1:7002, or bob")
    return name, address or (name if by_name else "")
