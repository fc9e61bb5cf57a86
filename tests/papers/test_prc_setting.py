"""Nédelec et al., section 3: the setting of its experiments can be expressed, for any protocol.

Broadcasts at a constant rate while the delay grows from 1 ms to 2.5 s. Here the minutes are seconds
and the system is small; who broadcasts and how delays grow is as there.
"""

from __future__ import annotations

from tests.simulator.traced_run import of_kind, traced

MS = 10**6
SCHEDULE = "schedule:0s=1ms,15s=1ms,17s=300ms,40s=2.5s"


def test_latency_follows_the_schedule() -> None:
    """10 broadcasts a second from 2 to 50; each copy takes as long as the schedule says."""
    result, events = traced(
        audit=True,
        protocol="raw",
        processes=8,
        workload="broadcast:10,2s,50s",
        delay=SCHEDULE,
    )
    assert result.metrics.sent == 480 and result.metrics.delivered == 480 * 8
    sent = {(e.sender, e.mid): e.time_ns for e in of_kind(events, "send")}
    delays = {
        sent[event.sender, event.mid]: event.time_ns - sent[event.sender, event.mid]
        for event in of_kind(events, "receive")
    }
    assert delays[2_000 * MS] == delays[15_000 * MS] == MS
    assert delays[16_000 * MS] == 150_500_000  # half way from 1 to 300 ms
    assert delays[17_000 * MS] == 300 * MS
    assert delays[28_500 * MS] == 1_400 * MS  # half way from 300 ms to 2.5 s
    assert delays[49_900 * MS] == 2_500 * MS


def test_messages_in_flight_grow_with_the_delay() -> None:
    """Causal protocols deliver all of it; what their senders keep follows the delay up."""
    peaks = []
    for delay in ("1ms", "300ms", "2.5s"):
        result, _ = traced(
            audit=True,
            protocol="hybrid",
            processes=8,
            workload="broadcast:10,0s,20s",
            delay=delay,
        )
        assert result.clean
        peaks.append(result.metrics.unacknowledged.peak)
    assert peaks[0] < peaks[1] < peaks[2]
