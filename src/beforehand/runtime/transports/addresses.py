"""Texts such as `127.0.0.1:7001`, `example.org:7001` and `[::1]:7001`, taken apart and put together."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from beforehand.errors import TransportError

LARGEST_PORT = 65_535


def parse(text: str) -> tuple[str, int]:
    """Host and port of a text; a port of 0 is left to the caller to judge."""
    host, colon, port = text.rpartition(":")
    if not colon:
        raise TransportError(f"{text!a} has no port; write an address as host:port")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise TransportError(
            f"{text!a} has several colons; write an IPv6 address in brackets, as in [::1]:7001"
        )
    if not host:
        raise TransportError(
            f"{text!a} has no host; write 127.0.0.1 for this machine, 0.0.0.0 to listen everywhere"
        )
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= LARGEST_PORT):
        raise TransportError(
            f"{text!a} has {port!a} for a port; write a number up to {LARGEST_PORT}"
        )
    return host, int(port)


def show(host: str, port: int) -> str:
    """The text for a host and a port, such that `parse` gives them back."""
    try:
        address = ip_address(host)
    except ValueError:
        return f"{host}:{port}"
    if isinstance(address, IPv6Address):
        # What reaches an IPv6 socket from an IPv4 address is known to people by the latter.
        return f"{address.ipv4_mapped}:{port}" if address.ipv4_mapped else f"[{host}]:{port}"
    return f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine and can be reached from no other."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
