"""Integers, names and payloads as bytes: the alphabet that frames of every layer are written in.

- `varint`: integers in 1, 2, 4 or 8 bytes, each value with exactly one encoding;
- `fields`: ids, predecessors, payloads and names, written; also by the name of the field;
- `reader`: a bounds-checked cursor that reads the same fields from what a peer sent;
- `counts`: rows of counts, for clocks;
- `payload_runs`: several payloads in a row, each with its length.

Protocols describe their frames with these fields, `beforehand.wire` dispatches between frames, and
the runtime's links and handshakes write their own frames with the same functions. The package sits
below all three, so that a protocol can bring its codec along.
"""
