"""Parse and format addresses such as `127.0.0.1:7001`, `example.org:7001` and `[::1]:7001`."""

from ipaddress import IPv6Address, ip_address

from beforehand.errors import TransportError

LARGEST_PORT = 65_535


def parse(text: str) -> tuple[str, int]:
    """Host and port of an address; callers decide whether port 0 is acceptable."""
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


def format_address(host: str, port: int) -> str:
    """The inverse of `parse`."""
    try:
        address = ip_address(host)
    except ValueError:
        return f"{host}:{port}"
    if isinstance(address, IPv6Address):
        # People know an IPv4 peer of an IPv6 socket by its IPv4 address.
        return f"{address.ipv4_mapped}:{port}" if address.ipv4_mapped else f"[{host}]:{port}"
    return f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether a host is a loopback address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
