"""Rate limits per subject: for answers to strangers, notices to dropped peers, events to the user."""

from typing import Final

MAX_SUBJECTS: Final = 1024  # remembered; older ones are evicted


class RateLimit:
    """When each subject was last allowed; the oldest are evicted, so that memory is bounded."""

    def __init__(self) -> None:
        self._allowed_at: dict[str, int] = {}

    def allow(self, subject: str, now: int, interval: int) -> bool:
        """Whether `subject` was not allowed within `interval`; if so, it counts as allowed now."""
        last = self._allowed_at.pop(subject, None)
        if last is not None and now - last < interval:
            self._allowed_at[subject] = last
            return False
        if len(self._allowed_at) >= MAX_SUBJECTS:
            del self._allowed_at[next(iter(self._allowed_at))]
        self._allowed_at[subject] = now
        return True
