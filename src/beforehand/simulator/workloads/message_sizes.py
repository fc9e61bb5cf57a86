"""How large messages are, and how much work they start at their receivers."""

from typing import Final

from mypy_extensions import i64

from beforehand.simulator.world.distributions import Constant, Distribution
from beforehand.simulator.world.processes import NEVER, Process
from beforehand.simulator.world.random_streams import Stream

MAX_PAYLOAD: Final = 2**24  # bytes: larger draws are clamped
CACHED: Final = 4096  # bytes: payloads up to here are cached: most runs have few sizes


class MessageSizes:
    """Draws payload sizes and job lengths, for each process from a stream of its own."""

    def __init__(
        self,
        seed: int,
        processes: int,
        payload_sizes: Distribution,
        job_lengths: Distribution,
        job_share: float,
    ) -> None:
        self._seed = seed
        self._streams: list[Stream | None] = [None] * processes
        self._payload_sizes = payload_sizes
        # If all payloads have the same size; otherwise negative.
        self._payload_bytes = payload_sizes.value if isinstance(payload_sizes, Constant) else -1
        self._job_lengths = job_lengths
        self._job_share = job_share
        self._payloads: dict[int, bytes] = {}  # by length

    def payload_bytes(self, process: Process) -> i64:
        """The size of the next payload of a process."""
        if self._payload_bytes >= 0:
            return self._payload_bytes
        return min(self._payload_sizes.draw(self._stream(process)), MAX_PAYLOAD)

    def payload(self, length: i64) -> bytes:
        """A payload of zeros: its contents do not matter."""
        payload = self._payloads.get(int(length))
        if payload is None:
            payload = bytes(length)
            if length <= CACHED:
                self._payloads[int(length)] = payload
        return payload

    def job(self, process: Process) -> i64:
        """The length of the job that the next message of a process starts; NEVER for none."""
        if self._job_share == 0.0 or self._stream(process).uniform() >= self._job_share:
            return NEVER
        return self._job_lengths.draw(self._stream(process))

    def _stream(self, process: Process) -> Stream:
        stream = self._streams[process.index]
        if stream is None:
            stream = Stream(f"{self._seed}/messages/{process.name}")
            self._streams[process.index] = stream
        return stream
