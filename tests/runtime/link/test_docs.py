"""docs/links.md is correct about first bytes and sizes."""

import re
from pathlib import Path

from beforehand.runtime.identity.handshake import HELLO_SIZE
from beforehand.runtime.link import datagrams, frames
from beforehand.runtime.link.link import MAX_ACK_DELAY

TEXT = (Path(__file__).parents[3] / "docs" / "links.md").read_text()


def test_the_first_bytes_are_those_of_the_code() -> None:
    """Each row names a constant and its value, and no constant is missing."""
    rows = re.findall(r"^\| `([0-9A-F]{2})` \| ([A-Z]+) \|", TEXT, re.MULTILINE)
    documented = {name: int(value, 16) for value, name in rows}
    kinds = ("HELLO", "COOKIE", "WELCOME", "REFUSE", "DATA")
    expected = {name: getattr(datagrams, name) for name in kinds}
    parts = ("PADDING", "ACK", "CREDIT", "PING", "FRAGMENT", "CHALLENGE", "RESPONSE", "CLOSE")
    expected |= {name: getattr(frames, name) for name in parts}
    assert documented == expected


def test_the_sizes_are_those_of_the_code() -> None:
    """Constants that a reader of a capture relies on."""
    assert f"always {HELLO_SIZE:,} bytes" in TEXT
    assert f"The {datagrams.HEADER} bytes before the body" in TEXT
    assert f"delayed by up to {MAX_ACK_DELAY // 1_000_000} ms" in TEXT
