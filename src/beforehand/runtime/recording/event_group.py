"""Consecutive events of one process, as columns that are cheap to append to."""

from __future__ import annotations

# The text fields of an event, shared by many rows: kind, sender, has a mid, receivers, detail.
Labels = tuple[str, str | None, bool, tuple[str, ...] | None, str]


class EventGroup:
    """The n-th item of each list belongs to the n-th event; `codes` are indexes into `labels`."""

    first: int  # the seq of the first event
    codes: list[int]
    mids: list[int | None]
    times: list[int]
    payloads: list[int]
    metas: list[int]
    labels: list[Labels]
    rows: list[int]  # for each of the labels, the first event that has them
    end_of_part: bool  # this group completes a file
    _codes_by_labels: dict[Labels, int]
    _latest: Labels  # most events have the same labels as the one before
    _latest_code: int

    def __init__(self, first: int) -> None:
        self.first = first
        self.codes = []
        self.mids = []
        self.times = []
        self.payloads = []
        self.metas = []
        self.labels = []
        self.rows = []
        self.end_of_part = False
        self._codes_by_labels = {}
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
        """The index of these labels, for the event that is about to be appended."""
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
        labels = (kind, sender, has_mid, to, detail)
        code = self._codes_by_labels.get(labels)
        if code is None:
            code = len(self.labels)
            self._codes_by_labels[labels] = code
            self.labels.append(labels)
            self.rows.append(len(self.codes))
        self._latest = labels
        self._latest_code = code
        return code
