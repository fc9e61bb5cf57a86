"""The measurements of a run: counters, and the instruments of `instruments.py`."""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.protocols.core import Core
from beforehand.simulator.measures.instruments import Gauge, Histogram, Samples, SeriesPoint


class Meters:
    """Updated by the parts of a run, read when it is over."""

    actions: i64  # sends that the workload asked for: more than one message if they are split
    sent: i64  # causal-sends
    copies: i64  # their receivers, counted
    delivered: i64
    duplicates: i64  # deliveries of messages delivered before, or never sent there
    skipped: i64  # causal-sends that had no receiver left
    frames: i64
    control_frames: i64
    control_received: i64
    lost: i64
    doubled: i64
    metadata_bytes: int
    wire_bytes: int
    jobs: i64
    job_starts: int  # sum of times
    most_in_transit: i64  # of one sender
    ended_at: i64  # when something last happened, ticks aside

    latency: Histogram
    noncausal: Histogram
    held_time: Histogram
    held: Gauge  # causal-sent, not released
    buffered: Gauge  # received, not delivered
    unacknowledged: Samples  # of one process, like the two below
    permits_missing: Samples
    integers: Samples
    entries: Samples
    series: list[SeriesPoint]

    def __init__(self) -> None:
        self.actions = 0
        self.sent = 0
        self.copies = 0
        self.delivered = 0
        self.duplicates = 0
        self.skipped = 0
        self.frames = 0
        self.control_frames = 0
        self.control_received = 0
        self.lost = 0
        self.doubled = 0
        self.metadata_bytes = 0
        self.wire_bytes = 0
        self.jobs = 0
        self.job_starts = 0
        self.most_in_transit = 0
        self.ended_at = 0
        self.latency = Histogram()
        self.noncausal = Histogram()
        self.held_time = Histogram()
        self.held = Gauge()
        self.buffered = Gauge()
        self.unacknowledged = Samples()
        self.permits_missing = Samples()
        self.integers = Samples()
        self.entries = Samples()
        self.series = []

    def sample(self, core: Core, broadcasts: bool) -> None:
        """Measure the state of a core; unless it broadcasts, all its integers may be about messages."""
        self.unacknowledged.add(core.unacknowledged())
        self.permits_missing.add(core.permits_missing())
        integers = core.integers()
        self.integers.add(integers)
        self.entries.add(core.entries() if broadcasts else integers)
