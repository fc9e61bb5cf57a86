"""Who takes part: handshakes, incarnations, keys, and peers that come, move, fall silent and leave.

In reading order: `introductions.py` finds peers and answers hellos, by `handshake.py` (with
`greeting.py` and `noise.py` for its messages and `cookies.py` against forged addresses); `members.py`
decides what becomes of a peer: restarted, silent, moved, gone. `keys.py` reads cluster keys,
`rate_limit.py` bounds what is repeated. docs/security.md states who is trusted.
"""
