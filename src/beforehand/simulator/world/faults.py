"""Faults: frames that are lost or duplicated, partitions, processes that stop for good.

Each fault is a small rule. Those on frames decide from the two ends, the time and a random number.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream


class Partition:
    """From `start` until `end`, nothing passes between the group and the other processes."""

    def __init__(self, start: i64, end: i64, group: set[int]) -> None:
        self.start: Final = start
        self.end: Final = end
        self.group: Final = group  # processes by their index

    def separates(self, sender: Process, receiver: Process, time: i64) -> bool:
        """Whether two processes are on different sides at a time."""
        if time < self.start or time >= self.end:
            return False
        return (int(sender.index) in self.group) != (int(receiver.index) in self.group)


class Stop:
    """A process that crashes at a time, and when the others drop it."""

    def __init__(self, process: str, time: i64, dropped_at: i64) -> None:
        self.process: Final = process
        self.time: Final = time
        self.dropped_at: Final = dropped_at  # NEVER if they do not


class FaultPlan:
    """The faults of one run."""

    def __init__(
        self, loss: float, duplicate: float, partitions: list[Partition], stream: Stream
    ) -> None:
        self.partitions: Final = partitions
        self._loss: Final = loss
        self._duplicate: Final = duplicate
        self._stream: Final = stream

    def loses(self) -> bool:
        """Whether the network loses this frame."""
        return self._loss > 0.0 and self._stream.uniform() < self._loss

    def duplicates(self) -> bool:
        """Whether the network duplicates this frame."""
        return self._duplicate > 0.0 and self._stream.uniform() < self._duplicate

    def cuts(self, sender: Process, receiver: Process, left: i64, arrives: i64) -> bool:
        """Whether a partition separates the two when a frame leaves or when it would arrive."""
        for partition in self.partitions:
            if partition.separates(sender, receiver, left) or partition.separates(
                sender, receiver, arrives
            ):
                return True
        return False

    def last_heal(self) -> i64:
        """When the last partition ends; 0 if there is none."""
        return max([0, *[partition.end for partition in self.partitions]])
