"""The common part of protocols that only broadcast."""

from __future__ import annotations

from collections.abc import Iterable

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect


class BroadcastCore(Core):
    """A process whose messages all go to everyone. Not to be instantiated itself."""

    def _send(self, to: str, payload: bytes, now: i64, out: list[Effect]) -> None:
        raise self._only_broadcasts()

    def _receivers(self, to: str | Iterable[object]) -> list[str]:
        raise self._only_broadcasts()

    def _only_broadcasts(self) -> LocalProtocolError:
        return LocalProtocolError(
            f"{self.process}: this protocol only broadcasts; send(None, payload) reaches everyone"
        )
