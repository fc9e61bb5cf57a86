"""The measurements of a run: counters, and the instruments of `instruments.py`."""

from mypy_extensions import i64

from beforehand.protocols.core import Core
from beforehand.simulator.measures.instruments import Gauge, Histogram, Samples, SeriesPoint


class Meters:
    """Updated by the parts of a run, read when it is over."""

    def __init__(self) -> None:
        # Sends that the workload asked for: more than one message if they are split.
        self.actions: i64 = 0
        self.sent: i64 = 0  # causal-sends
        self.copies: i64 = 0  # their receivers, counted
        self.delivered: i64 = 0
        self.duplicates: i64 = 0  # deliveries of messages delivered before, or never sent there
        self.skipped: i64 = 0  # causal-sends that had no receiver left
        self.frames: i64 = 0
        self.control_frames: i64 = 0
        self.control_received: i64 = 0
        self.lost: i64 = 0
        self.doubled: i64 = 0
        self.metadata_bytes: int = 0
        self.wire_bytes: int = 0
        self.jobs: i64 = 0
        self.job_starts: int = 0  # sum of times
        self.most_in_transit: i64 = 0  # of one sender
        self.ended_at: i64 = 0  # when something last happened, ticks aside
        self.latency = Histogram()
        self.noncausal = Histogram()
        self.held_time = Histogram()
        self.held = Gauge()  # causal-sent, not released
        self.buffered = Gauge()  # received, not delivered
        self.unacknowledged = Samples()  # of one process, like the two below
        self.permits_missing = Samples()
        self.integers = Samples()
        self.entries = Samples()
        self.series: list[SeriesPoint] = []

    def sample(self, core: Core, broadcasts: bool) -> None:
        """Measure the state of a core; unless it broadcasts, all its integers may be about messages."""
        self.unacknowledged.add(core.unacknowledged())
        self.permits_missing.add(core.permits_missing())
        integers = core.integers()
        self.integers.add(integers)
        self.entries.add(core.entries() if broadcasts else integers)
