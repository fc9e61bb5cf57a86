"""The network: how long a frame waits for the sender's uplink, and how long it travels.

An uplink is a queue: frames leave one after the other, each taking its bytes divided by the bandwidth,
and then travel in parallel. So metadata costs time, and a burst delays what comes after it. Since
nothing overtakes in that queue, the time at which a frame leaves is known when it enters.

Loss, duplication and partitions are decided in `faults.py`.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.simulator.world.distributions import Constant, Distribution
from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream

SECOND: Final = 10**9  # nanoseconds


class Delay:
    """How long a frame travels, by sender, receiver and time."""

    def draw(self, sender: i64, receiver: i64, now: i64, stream: Stream) -> i64:
        """Nanoseconds from the sender's uplink to the receiver, processes by their index."""
        raise NotImplementedError

    def high(self) -> i64:
        """A delay that is rarely exceeded: for time-outs."""
        raise NotImplementedError

    def typical(self, now: i64) -> i64:
        """The delay at a time, if it is deterministic; otherwise one rarely exceeded."""
        return self.high()

    def keeps_order(self) -> bool:
        """Whether frames on a link never overtake each other anyway."""
        return False


class EqualDelay(Delay):
    """The same distribution everywhere and always."""

    def __init__(self, distribution: Distribution) -> None:
        self.distribution = distribution

    def draw(self, sender: i64, receiver: i64, now: i64, stream: Stream) -> i64:
        return self.distribution.draw(stream)

    def high(self) -> i64:
        return self.distribution.high()

    def keeps_order(self) -> bool:
        return isinstance(self.distribution, Constant)


class SiteDelay(Delay):
    """A matrix of distributions between sites."""

    def __init__(self, sites: list[int], matrix: list[list[Distribution]]) -> None:
        self.sites = sites  # process -> site
        self.matrix = matrix

    def draw(self, sender: i64, receiver: i64, now: i64, stream: Stream) -> i64:
        return self.matrix[self.sites[sender]][self.sites[receiver]].draw(stream)

    def high(self) -> i64:
        return max([max([cell.high() for cell in row]) for row in self.matrix])


class ScheduledDelay(Delay):
    """A delay that changes over time, interpolated linearly between the points of a schedule."""

    def __init__(self, times: list[int], delays: list[int]) -> None:
        self.times = times  # strictly increasing
        self.delays = delays
        self._index: i64 = 0  # of the last point that is not in the future

    def draw(self, sender: i64, receiver: i64, now: i64, stream: Stream) -> i64:
        return self.typical(now)

    def typical(self, now: i64) -> i64:
        times, delays = self.times, self.delays
        if now < times[self._index]:  # calls may be slightly out of order: duplicates leave later
            self._index = 0
        while self._index + 1 < len(times) and times[self._index + 1] <= now:
            self._index += 1
        index = self._index
        if now <= times[index] or index + 1 == len(times):
            return delays[index]
        # Plain integers: the product may exceed 64 bits.
        passed, length = int(now) - times[index], times[index + 1] - times[index]
        return delays[index] + (delays[index + 1] - delays[index]) * passed // length

    def high(self) -> i64:
        return max(self.delays)

    def keeps_order(self) -> bool:
        return sorted(self.delays) == self.delays


class Network:
    """Uplinks and propagation."""

    def __init__(
        self,
        delay: Delay,
        jitter: Distribution,
        bandwidth: i64,
        header: i64,
        fifo: bool,
        stream: Stream,
    ) -> None:
        # Whether FIFO links need enforcement: remembering the last arrival of each is costly.
        self.fifo: Final = fifo and not (delay.keeps_order() and jitter.is_zero())
        self._bandwidth: Final = bandwidth  # bytes per second, 0 if unlimited
        self.header: Final = header  # bytes of overhead of every frame
        self._delay: Final = delay
        self._jitter: Final = None if jitter.is_zero() else jitter
        self._stream: Final = stream
        self._latest: dict[tuple[int, int], int] = {}  # (sender, receiver) -> latest arrival

    def typical(self, now: i64) -> i64:
        """The delay at a time, if it is deterministic; otherwise one rarely exceeded."""
        return self._delay.typical(now)

    def leaves(self, sender: Process, size: i64, now: i64) -> i64:
        """Hand a frame to the uplink of its sender; returns when its last byte will be out."""
        if self._bandwidth == 0:
            return now
        start = max(now, sender.uplink_free_at)
        # Rounded up, so that no frame is free. A frame of 9 GB fits 64 bits here.
        transmission = ((size + self.header) * SECOND + self._bandwidth - 1) // self._bandwidth
        sender.uplink_free_at = start + transmission
        return sender.uplink_free_at

    def arrives(self, sender: Process, receiver: Process, left: i64) -> i64:
        """When a frame arrives that left at `left`."""
        at = left + self._delay.draw(sender.index, receiver.index, left, self._stream)
        if self._jitter is not None:
            at += self._jitter.draw(self._stream)
        if self.fifo:
            link = (int(sender.index), int(receiver.index))
            at = max(at, self._latest.get(link, 0))  # ties keep their order
            self._latest[link] = int(at)
        return at
