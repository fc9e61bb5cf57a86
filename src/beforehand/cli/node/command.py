"""`beforehand node`: a node to talk through, at a terminal or in a script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from beforehand.cli.node.renderers import Lines, Objects
from beforehand.cli.ui import completion
from beforehand.cli.ui.failure import clear_errors
from beforehand.errors import LocalProtocolError

if TYPE_CHECKING:
    from beforehand.runtime.node import Node

NOT_DELIVERED = 1
SILENT_AFTER = 5.0  # seconds, if a peer is not given up on before


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the others call this node.")],
    listen: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT", help="Where to receive, over UDP; port 0 takes a free one."
        ),
    ] = "127.0.0.1:0",
    peer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=HOST:PORT",
            help="Another node: bob=127.0.0.1:7002; or bob alone, who has to know our address. "
            "Repeatable.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The key of the cluster, to encrypt with: see `beforehand keygen`. Default: none.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Which protocol, the same for all nodes: see `beforehand protocols`.",
            autocompletion=completion.protocol,
        ),
    ] = "hybrid-sps",
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where to write a trace of what happens here. Default: nowhere.",
            show_default=False,
        ),
    ] = None,
    drop_after: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="After how long a silence a peer is given up on. Default: never.",
            show_default=False,
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Without a key, listen to other machines nevertheless."),
    ] = False,
    nats: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Talk through a NATS server, nats://HOST:PORT, and not over UDP.",
            show_default=False,
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="At the end, how long to wait for what is under way."),
    ] = 10.0,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print a JSON object per line, for programs: messages, events, answers.",
        ),
    ] = False,
) -> None:
    """Run one node and talk through it: type `bob: hello`, and see what arrives.

    `bob, carol: hi` goes to both as one message, `*: hi` to everybody; /help tells the rest. The input
    may come from a pipe: at its end, and at /quit, the node waits until all is delivered. Exits with 0,
    or with 1 if something was not delivered.
    """
    from beforehand.cli.node.conversation import talk
    from beforehand.runtime.run import run

    with clear_errors():
        node = _node(name, listen, peer or [], key, protocol, trace, drop_after, insecure, nats)
        left = run(talk(node, Objects(typer.echo) if as_json else _lines(), wait))
    if as_json:
        Objects(typer.echo).end(dict(left))
    if left:
        names = ", ".join(f"{count:,} to {peer}" for peer, count in left.items())
        typer.echo(f"beforehand: not known to be delivered after {wait:g} s: {names}", err=True)
        raise typer.Exit(NOT_DELIVERED)


def _lines() -> Lines:
    """Messages and answers on standard output, what happens to peers on standard error."""
    out, notes = Console(highlight=False), Console(stderr=True, highlight=False)
    return Lines(
        lambda line: out.print(Text(line), soft_wrap=True),
        lambda line: notes.print(Text(line, style="dim"), soft_wrap=True),
    )


def _node(
    name: str,
    listen: str,
    peers: list[str],
    key: Path | None,
    protocol: str,
    trace: Path | None,
    drop_after: float | None,
    insecure: bool,
    nats: str | None,
) -> Node:
    from beforehand import protocols
    from beforehand.runtime.node import Node
    from beforehand.runtime.transports import NatsTransport, Transport, UdpTransport

    if protocols.describe(protocol).overlay != "none":
        raise LocalProtocolError(
            f"{protocol} runs on an overlay, for which this command has no words; "
            "use beforehand.Node in Python, or another protocol"
        )
    transport: Transport = UdpTransport(listen) if nats is None else NatsTransport(nats, name)
    if key is None and not insecure and not transport.loopback():
        raise LocalProtocolError(
            "without --key a node only listens to this machine, since anybody could read and forge its "
            "messages; make a key with `beforehand keygen`, or add --insecure if that is what you want"
        )
    early = drop_after is not None and 0 < drop_after < SILENT_AFTER
    return Node(
        name,
        peers=dict(_peer(text, nats is not None) for text in peers),
        key=key,
        protocol=protocol,
        transport=transport,
        trace=trace,
        run="node",
        silent_after=drop_after if early and drop_after else SILENT_AFTER,
        drop_after=drop_after,
        insecure=insecure,
    )


def _peer(text: str, by_name: bool) -> tuple[str, str]:
    name, equals, address = text.partition("=")
    if not name or (equals and not address):
        raise LocalProtocolError(f"--peer {text!r}: write it as bob=127.0.0.1:7002, or as bob")
    return name, address or (name if by_name else "")
