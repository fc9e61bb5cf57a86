"""Some events of one process in a row, in the form that costs the least while they happen."""

from __future__ import annotations

# What several events have in common: kind, sender, whether there is a mid, receivers, detail.
Words = tuple[str, str | None, bool, tuple[str, ...] | None, str]


class Group:
    """The n-th of each list belongs to the n-th event; `codes` are places in `words`."""

    first: int  # the seq of the first event
    codes: list[int]
    mids: list[int | None]
    times: list[int]
    payloads: list[int]
    metas: list[int]
    words: list[Words]
    rows: list[int]  # for each of the words, the first event that has them
    end_of_part: bool  # whether the file is complete with this group
    _places: dict[Words, int]
    _latest: Words  # with the code of these: most events are like the one before
    _latest_code: int

    def __init__(self, first: int) -> None:
        self.first = first
        self.codes = []
        self.mids = []
        self.times = []
        self.payloads = []
        self.metas = []
        self.words = []
        self.rows = []
        self.end_of_part = False
        self._places = {}
        self._latest = ("", None, False, None, "")
        self._latest_code = -1

    def __len__(self) -> int:
        return len(self.codes)

    def code(
        self,
        kind: str,
        sender: str | None,
        has_mid: bool,
        to: tuple[str, ...] | None,
        detail: str,
    ) -> int:
        """The place of these words in the table, for the event that is about to be added."""
        last_kind, last_sender, last_has_mid, last_to, last_detail = self._latest
        if (
            kind is last_kind
            and sender is last_sender
            and to is last_to
            and has_mid == last_has_mid
            and detail is last_detail
            and self._latest_code >= 0
        ):
            return self._latest_code
        words = (kind, sender, has_mid, to, detail)
        found = self._places.get(words)
        if found is None:
            found = len(self.words)
            self._places[words] = found
            self.words.append(words)
            self.rows.append(len(self.codes))
        self._latest = words
        self._latest_code = found
        return found
