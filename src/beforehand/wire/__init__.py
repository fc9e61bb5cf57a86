"""Every frame of every protocol to bytes and back; `docs/wire-format.md` specifies the format.

- `encode(frame)` returns the bytes of a frame, `encode_into(frame, buffer)` appends them.
- `size(frame)` is their number.
- `decode(data, peer)` takes exactly one frame, `decode_at(data, offset, peer)` the one that starts
  there, and returns where it ends: frames are self-delimiting, so a datagram may hold many.

Decoding is total: any bytes give a frame or `RemoteProtocolError`, which names the peer, in time and
memory linear in their number. It is also canonical: what is accepted encodes to the very same bytes.

All of it is in `codec.py`, which dispatches by the first byte or the class of a frame. What the bytes
are is defined by each protocol in `beforehand.protocols`, with the fields of `beforehand.encoding`.
"""

from beforehand.wire.codec import decode, decode_at, encode, encode_into, size

__all__ = ["decode", "decode_at", "encode", "encode_into", "size"]
