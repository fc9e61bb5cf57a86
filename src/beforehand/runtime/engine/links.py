"""When the links of an engine need attention: those with something to write, and their timers."""

from heapq import heappop, heappush
from typing import Final

from mypy_extensions import i64

from beforehand.runtime.link.link import Link

FARTHEST: Final = 10_000_000_000  # ns: so that superseded timers don't pile up for longer


class Links:
    """The links to write at the next flush, and a heap of timers."""

    def __init__(self, heartbeat: i64) -> None:
        self._timers_set: i64 = 0  # orders timers of the same time
        self.heartbeat: Final = heartbeat  # ns without traffic after which a link sends a ping
        self._dirty: list[Link] = []
        self._timers: list[tuple[int, int, Link]] = []

    def touch(self, link: Link) -> None:
        """The link may have something to write."""
        if not link.dirty:
            link.dirty = True
            self._dirty.append(link)

    def has_dirty(self) -> bool:
        """Whether a link waits to be written."""
        return len(self._dirty) > 0

    def take_dirty(self) -> list[Link]:
        """The links to write now."""
        links = self._dirty
        self._dirty = []
        for link in links:
            link.dirty = False
        return links

    def schedule(self, link: Link, now: i64) -> None:
        """Set the timer of a link, unless it already has an earlier one."""
        when = min(link.deadline(now, self.heartbeat), now + FARTHEST)
        if link.scheduled == 0 or when < link.scheduled:
            link.scheduled = when
            self._timers_set += 1
            heappush(self._timers, (int(when), int(self._timers_set), link))

    def next_timer(self) -> i64:
        """When the next timer is due, 0 for never."""
        return self._timers[0][0] if self._timers else 0

    def expire(self, now: i64) -> list[Link]:
        """Run the timers that are due; the links that they belong to."""
        expired: list[Link] = []
        while self._timers and self._timers[0][0] <= now:
            when, _, link = heappop(self._timers)
            if link.closed or link.scheduled != when:
                continue
            link.scheduled = 0
            link.expired(now, self.heartbeat)
            expired.append(link)
            self.touch(link)
        return expired

    def sizes(self) -> dict[str, int]:
        """How many entries each table has."""
        return {"dirty": len(self._dirty), "timers": len(self._timers)}
