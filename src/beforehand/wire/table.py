"""What a module of this package has to offer for one kind of frame: an entry for the dispatch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from beforehand.protocols.frames import Frame
from beforehand.wire.reader import Reader

Encoder = Callable[[Frame], bytes]  # all of the frame, tag included
Decoder = Callable[[Reader], Frame]  # what follows the tag


class Kind:
    """A class of frames, how they are written, and how what follows a tag is read."""

    frame: Final[object]  # the class itself
    encode: Final[Encoder]
    decode: Final[dict[int, Decoder]]  # by tag: a frame may have several

    def __init__(self, frame: object, encode: Encoder, decode: dict[int, Decoder]) -> None:
        self.frame = frame
        self.encode = encode
        self.decode = decode
