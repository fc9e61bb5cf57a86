"""Consecutive events of one process, as columns that are cheap to append to."""

# The text fields of an event, shared by many rows: kind, sender, has a mid, receivers, detail.
Labels = tuple[str, str | None, bool, tuple[str, ...] | None, str]


class EventGroup:
    """The n-th item of each list belongs to the n-th event; `codes` are indexes into `labels`."""

    def __init__(self, first: int) -> None:
        self.end_of_part: bool = False  # this group completes a file
        # Most events repeat the labels of the one before.
        self._latest: Labels = ("", None, False, None, "")
        self._latest_code: int = -1
        self.first = first  # the seq of the first event
        self.codes: list[int] = []
        self.mids: list[int | None] = []
        self.times: list[int] = []
        self.payloads: list[int] = []
        self.metas: list[int] = []
        self.labels: list[Labels] = []
        self.rows: list[int] = []  # for each of the labels, the first event that has them
        self._codes_by_labels: dict[Labels, int] = {}

    def __len__(self) -> int:
        return len(self.codes)

    def code(
        self, kind: str, sender: str | None, has_mid: bool, to: tuple[str, ...] | None, detail: str
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
