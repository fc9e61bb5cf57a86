"""Small runs whose every number is worked out by hand.

Frames, as `docs/wire-format.md` has them: a message of `raw` is a tag, an id, the length and the
payload; ids below 64 and lengths below 64 take one byte, lengths below 16,384 take two.
"""

from __future__ import annotations

import pytest

from beforehand.simulator import Program, Result, Scenario, Send, run

MS = 10**6

# Three sites, one for each of a, b and c; it takes 100 ms between a and c, and 10 ms elsewhere.
TRIANGLE = "matrix:1ms,10ms,100ms;10ms,1ms,10ms;100ms,10ms,1ms"

# a sends to c, then to b; b, after delivering, sends to c.
OVERTAKING = Program(
    [
        Send("to c", "a", ("c",)),
        Send("to b", "a", ("b",), after=("to c",)),
        Send("b to c", "b", ("c",), after=("to b",)),
    ]
)


def replay(protocol: str, program: Program, **fields: object) -> Result:
    """Run a program, judged."""
    scenario = Scenario(protocol=protocol, workload="replay", program=program, **fields)  # type: ignore[arg-type]
    return run(scenario, audit=True)


def burst(count: int, payload_bytes: int = 94) -> Program:
    """a sends some messages to b, all at once."""
    return Program(
        [Send(f"m{number}", "a", ("b",), payload_bytes=payload_bytes) for number in range(count)]
    )


def test_an_uplink_sends_one_frame_after_the_other() -> None:
    """94 bytes are 98 on the wire and 100 with a header of 2: 100 ms each at 1 kB/s, then 10 ms."""
    result = replay("raw", burst(3), bandwidth="1kB/s", header=2, delay="10ms")
    metrics = result.metrics
    assert metrics.wire_bytes == 300
    assert metrics.metadata_bytes == 3 * 4, "the header is not the protocol's"
    assert metrics.latency.mean == (110 + 210 + 310) / 3 * MS
    assert metrics.latency.max == 310 * MS == metrics.execution_ns
    assert metrics.most_in_transit == 3


def test_metadata_takes_time_on_the_uplink() -> None:
    """The first frame of rst among 3 has 9 counts, 1 receiver of 2 bytes, 1 size more than raw's."""
    plain = replay("raw", burst(1), bandwidth="1kB/s", delay="10ms").metrics
    matrix = replay(
        "rst",
        Program(burst(1).sends, ["a", "b", "c"]),
        bandwidth="1kB/s",
        delay="10ms",
    ).metrics
    extra = 9 + 1 + 2 + 1  # counts; how many receivers, and "b"; how many rows
    assert matrix.metadata_bytes - plain.metadata_bytes == extra
    assert matrix.execution_ns - plain.execution_ns == extra * MS


def test_an_idle_uplink_does_not_save_time_up() -> None:
    """Sent at 0 and at 500 ms: each takes its own 98 ms, and no queue forms."""
    program = Program(
        [
            Send("m0", "a", ("b",), payload_bytes=94),
            Send("m1", "a", ("b",), payload_bytes=94, at_ns=500 * MS),
        ]
    )
    metrics = replay("raw", program, bandwidth="1kB/s", delay="10ms").metrics
    assert (metrics.latency.p50, metrics.latency.max) == (108 * MS, 108 * MS)
    assert metrics.execution_ns == 608 * MS


def test_littles_law_at_the_sender() -> None:
    """mattern has one in flight: released at 0, 20 and 40 ms, delivered 10 ms later, over at 60.

    Held for 0, 20 and 40 ms. Two wait until 20, one until 40: 60 message-milliseconds in 60 ms.
    Arrival rate times mean time held is the mean number held: 3/60 * 20 = 1.
    """
    metrics = replay("mattern", burst(3), delay="10ms").metrics
    assert metrics.execution_ns == 60 * MS
    assert metrics.latency.mean == (10 + 30 + 50) / 3 * MS
    assert (metrics.held_time.mean, metrics.held_time.max) == (20 * MS, 40 * MS)
    assert (metrics.held.peak, metrics.held.mean) == (2, 1.0)
    arrival_rate = metrics.copies / metrics.execution_ns
    assert metrics.held.mean == pytest.approx(arrival_rate * metrics.held_time.mean, rel=1e-12)
    # The second could have been delivered at 10, right after the first; the third after the second.
    assert metrics.noncausal is not None
    assert (metrics.noncausal.mean, metrics.noncausal.max) == (40 / 3 * MS, 20 * MS)
    assert metrics.most_in_transit == 1


def test_littles_law_at_the_receiver() -> None:
    """The delay falls from 50 to 10 ms: the second message comes at 20 and waits until 50.

    Then both are delivered, and their acknowledgement is back at 60: one message for 30 of 60 ms.
    """
    program = Program([Send("m0", "a", ("b",)), Send("m1", "a", ("b",), at_ns=10 * MS)])
    metrics = replay("fifo", program, delay="schedule:0ms=50ms,10ms=10ms").metrics
    assert metrics.execution_ns == 60 * MS
    assert (metrics.buffered.peak, metrics.buffered.mean) == (1, 0.5)
    assert (metrics.latency.max, metrics.latency.mean) == (50 * MS, 45 * MS)
    assert metrics.noncausal is not None and metrics.noncausal.max == 0, "it had to wait"


def test_hybrid_holds_what_rst_buffers() -> None:
    """b's message could be at c by 20 ms, but a's takes until 100.

    rst sends it at once and keeps it at c until then. hybrid waits for the permit: c's ack is at a
    by 200, the permit at b by 210, the message at c by 220: 120 ms later than it could have been.
    """
    hybrid = replay("hybrid", OVERTAKING, delay=TRIANGLE).metrics
    assert hybrid.latency.max == 210 * MS and hybrid.held_time.max == 200 * MS
    assert hybrid.noncausal is not None
    assert (hybrid.noncausal.count, hybrid.noncausal.max) == (3, 120 * MS)
    assert hybrid.noncausal.mean == 120 / 3 * MS
    rst = replay("rst", OVERTAKING, delay=TRIANGLE).metrics
    assert rst.latency.max == 100 * MS and rst.held_time.max == 0
    assert rst.noncausal is not None and rst.noncausal.max == 0
    # Buffered from 20 to 100, of 100 ms in all.
    assert (rst.buffered.peak, rst.buffered.mean, rst.execution_ns) == (1, 0.8, 100 * MS)


def test_the_network_alone_lets_it_overtake() -> None:
    """raw and fifo deliver b's message to c at 20 ms: the oracle reports it, with the chain."""
    for protocol in ("raw", "fifo"):
        result = replay(protocol, OVERTAKING, delay=TRIANGLE)
        assert not result.clean and result.outcome == "complete"
        (violation,) = result.violations
        assert violation.kind == "causal" and violation.process == "c"
        assert [str(message) for message in violation.chain] == ["a#1", "a#2", "b#1"]


def test_a_job_keeps_its_process_from_sending() -> None:
    """b delivers at 10, works until 35, then answers: at a by 45. The job of that starts there."""
    program = Program([Send("ask", "a", ("b",)), Send("answer", "b", ("a",), after=("ask",))])
    result = replay("raw", program, delay="10ms", job="25ms", job_share=1.0)
    metrics = result.metrics
    assert metrics.jobs == 2 and metrics.mean_job_start_ns == (10 + 45) / 2 * MS
    assert metrics.execution_ns == 70 * MS, "the last job is a part of the run"


def test_jobs_of_a_process_follow_each_other() -> None:
    """Three messages at 10 ms start jobs of 25 ms at 10, 35 and 60; the answer goes at 85."""
    answer = Send("answer", "b", ("a",), after=("m0",))
    program = Program([*burst(3).sends, answer])
    metrics = replay("raw", program, delay="10ms", job="25ms", job_share=1.0).metrics
    assert metrics.mean_job_start_ns == (10 + 35 + 60 + 95) / 4 * MS
    assert metrics.execution_ns == (95 + 25) * MS


def test_a_partition_loses_what_crosses_it_and_hybrid_sends_it_again() -> None:
    """Cut off from 0 to 100 ms, ticks every 40: sent again at 100 or later, there 10 ms after."""
    result = replay("hybrid", burst(1), delay="10ms", partitions=("0ms-100ms:a",), tick="40ms")
    metrics = result.metrics
    assert result.outcome == "complete" and metrics.frames_lost >= 2
    assert 110 * MS <= metrics.latency.max < 150 * MS
    assert metrics.noncausal is not None and metrics.noncausal.max == 0, "the network's fault"


def test_a_frame_that_arrives_into_a_partition_is_lost() -> None:
    """It left before the cut, and would have arrived during it."""
    result = replay("raw", burst(1), delay="10ms", partitions=("5ms-20ms:a",))
    assert result.metrics.frames_lost == 1 and result.outcome == "stalled"
    later = replay("raw", burst(1), delay="10ms", partitions=("11ms-20ms:a",))
    assert later.metrics.frames_lost == 0 and later.clean


def test_percentiles_are_of_all_deliveries() -> None:
    """100 messages, one each 20 ms, one of them slow: p50 and p99 are fast, the maximum is not."""
    sends = [Send(f"m{n}", "a", ("b",), at_ns=n * 20 * MS) for n in range(100)]
    slow_at_the_end = "schedule:0ms=1ms,1979ms=1ms,1980ms=7ms"  # when the last one leaves
    metrics = replay("raw", Program(sends), delay=slow_at_the_end).metrics
    latency = metrics.latency
    assert (latency.count, latency.p50, latency.p99, latency.max) == (100, MS, MS, 7 * MS)
    assert latency.mean == (99 * 1 + 7) / 100 * MS
