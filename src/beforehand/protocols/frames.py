"""What travels between cores: small immutable values. `beforehand.wire` turns them into bytes.

Each protocol defines its own frames beside its core, so that a frame of another protocol is never
mistaken for one of its own.
"""

from __future__ import annotations

from mypy_extensions import i64


class Frame:
    """The base of all frames. Equality and hash go by the class and its `key()`."""

    __slots__ = ()

    def key(self) -> tuple[object, ...]:
        """The fields, in the order of the constructor: what makes two frames of a class equal."""
        raise NotImplementedError

    def messages(self) -> int:
        """How many application messages this frame carries; none for control frames."""
        return 0

    def payload_bytes(self) -> i64:
        """How many bytes of what it carries are the application's."""
        return 0

    def payload_sizes(self) -> list[int]:
        """The same for each of its messages, in order."""
        return [int(self.payload_bytes())] if self.messages() else []

    def about(self) -> i64:
        """The number of the (first) message that it carries or speaks of; 0 if there is none."""
        return 0

    def origin(self) -> str:
        """Whose (first) message it carries, where messages are passed on; empty: its sender's own."""
        return ""

    def bundle(self) -> tuple[Frame, ...]:
        """The frames that this one is a sequence of; empty for all but such sequences."""
        return ()

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), self.key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and type(self) is type(other) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([repr(field) for field in self.key()])})"
