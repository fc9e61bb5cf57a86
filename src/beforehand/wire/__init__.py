"""Every frame of every protocol to bytes and back; `docs/wire-format.md` tells the format.

- `encode(frame)` gives the bytes of a frame, `encode_into(frame, buffer)` appends them.
- `size(frame)` tells how many bytes those are.
- `decode(data, peer)` takes exactly one frame, `decode_at(data, offset, peer)` the one that starts
  there and says where it ends: frames tell their own length, so a datagram may hold many.

Decoding is total: any bytes give a frame or `RemoteProtocolError`, which names the peer, in time and
memory linear in their number. It is also canonical: what is accepted encodes to the very same bytes.
"""

from beforehand.wire.codec import decode, decode_at, encode, encode_into
from beforehand.wire.size import size

__all__ = ["decode", "decode_at", "encode", "encode_into", "size"]
