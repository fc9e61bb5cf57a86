"""The header of every datagram: one byte for its type, eight for the connection id.

    HELLO    connection | suite | cookie | Noise message 1            always HELLO_SIZE bytes
    COOKIE   connection | cookie
    WELCOME  connection | Noise message 2
    REFUSE   connection | Noise message 2
    DATA     connection | packet number | sealed body

In a HELLO the connection id is the initiator's; everywhere else it is that of the datagram's receiver,
who chose it at random and finds the session by these bytes alone. `identity/handshake.py` has the
handshake, `sealing.py` the encryption of bodies.
"""

from typing import Final

from mypy_extensions import i64

HELLO: Final = 0xB1
COOKIE: Final = 0xB2
WELCOME: Final = 0xB3
REFUSE: Final = 0xB4
DATA: Final = 0xB5

CONNECTION_SIZE: Final = 8  # random: off-path attackers cannot guess one
PREFIX: Final = 1 + CONNECTION_SIZE  # the type and the connection
HEADER: Final = PREFIX + 8  # of DATA, with the packet number: authenticated, but not secret


def packet_number(datagram: bytes) -> i64:
    """The packet number in the header of a DATA datagram, whose first byte is small."""
    number: i64 = 0
    at: i64 = PREFIX
    while at < HEADER:
        number = number << 8 | datagram[at]
        at += 1
    return number
