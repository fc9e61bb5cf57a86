"""How every datagram begins: one byte that says what it is, and eight that say for which session.

    HELLO    connection | suite | cookie | Noise message 1            always HELLO_SIZE bytes
    COOKIE   connection | cookie
    WELCOME  connection | Noise message 2
    REFUSE   connection | Noise message 2
    DATA     connection | packet number | sealed body

In a HELLO the connection is the initiator's, and everywhere else it is that of the receiver of the
datagram, who chose it at random: he finds what an answer or a packet belongs to by these bytes alone.
The handshake is in `handshake.py`, the sealing of bodies in `sealing.py`.
"""

from __future__ import annotations

from typing import Final

HELLO: Final = 0xB1
COOKIE: Final = 0xB2
WELCOME: Final = 0xB3
REFUSE: Final = 0xB4
DATA: Final = 0xB5

CONNECTION_SIZE: Final = 8  # random: nobody who cannot see our packets guesses one
PREFIX: Final = 1 + CONNECTION_SIZE  # the type and the connection
HEADER: Final = PREFIX + 8  # of DATA, with the packet number: authenticated, but not secret
