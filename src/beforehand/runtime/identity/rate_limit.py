"""Not saying the same thing again and again: to strangers, to the dropped, or to the user."""

from __future__ import annotations

from typing import Final

MOST_NOTED: Final = 1024  # things of which it is known when they were last said


class Hush:
    """When each thing was last said; the oldest are forgotten, so that nobody can fill the memory."""

    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    def may_say(self, about: str, now: int, pause: int) -> bool:
        """Whether this was not said within `pause`; remembers that now it is."""
        last = self._said.pop(about, None)
        if last is not None and now - last < pause:
            self._said[about] = last
            return False
        if len(self._said) >= MOST_NOTED:
            del self._said[next(iter(self._said))]
        self._said[about] = now
        return True
