"""Parsing addresses: valid forms, and the errors for invalid ones."""

import pytest

from beforehand.errors import TransportError
from beforehand.runtime.transports import addresses


@pytest.mark.parametrize("text", ["127.0.0.1:7001", "example.org:1", "[::1]:65535", "[fe80::1]:0"])
def test_an_address_is_shown_as_it_was_written(text: str) -> None:
    """Taking a text apart and putting it together changes nothing."""
    assert addresses.format_address(*addresses.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("localhost", "no port"),
        ("", "no port"),
        ("::1:7001", "brackets"),
        (":7001", "no host"),
        ("[]:7001", "no host"),
        ("alice:", "for a port"),
        ("alice:70000", "for a port"),
        ("alice:-1", "for a port"),
        ("alice:١٢", "for a port"),
        ("alice:" + "9" * 5_000, "for a port"),
    ],
)
def test_errors_explain_invalid_addresses(text: str, problem: str) -> None:
    """Each mistake gets an error of its own."""
    with pytest.raises(TransportError, match=problem):
        addresses.parse(text)


def test_an_ipv4_peer_of_an_ipv6_socket_is_shown_as_people_know_it() -> None:
    """The mapped form is the kernel's, not the user's."""
    assert addresses.format_address("::ffff:10.0.0.1", 7) == "10.0.0.1:7"


def test_only_this_machine_is_loopback() -> None:
    """A host name that may be another machine isn't loopback."""
    assert all(map(addresses.is_loopback, ["127.0.0.1", "127.9.9.9", "::1", "localhost"]))
    assert not any(map(addresses.is_loopback, ["0.0.0.0", "::", "10.0.0.1", "localhost.example"]))
