"""Runs on overlays: messages are passed on, links come and go, and so do processes."""

from __future__ import annotations

from typing import Any

import pytest

from beforehand.errors import ScenarioError
from beforehand.simulator import Scenario, run
from tests.simulator.shop import purchase_program
from tests.simulator.traced_run import of_kind, traced

MS = 10**6
SECOND = 10**9
BROADCASTS: dict[str, Any] = {
    "processes": 16,
    "workload": "broadcast:100,0s,2s",
    "delay": "uniform:1ms,20ms",
}
CHANGING: dict[str, Any] = {**BROADCASTS, "overlay": "spray:200ms"}
CHURN: dict[str, Any] = {
    **CHANGING,
    "churn": "joins=6,leaves=4,crashes=4,from=100ms,to=1500ms",
    "drop_after": "150ms",
}


@pytest.mark.parametrize("overlay", ["ring", "complete", "random", "tree", "tree:1", "spray"])
@pytest.mark.parametrize("protocol", ["link-memory", "preventive", "prc"])
def test_on_links_that_stay(protocol: str, overlay: str) -> None:
    """Everything is delivered once, in causal order, over several hops."""
    fields = {**BROADCASTS, "workload": "broadcast:100,0s,500ms"}
    result = run(Scenario(protocol=protocol, overlay=overlay, **fields), audit=True)
    assert result.clean and result.outcome == "complete"
    assert result.metrics.delivered == result.metrics.copies == 50 * 16
    assert result.metrics.links_opened == result.metrics.frames_ignored == 0
    if overlay == "ring":
        assert result.metrics.latency.max > 40 * MS, "as if everybody were one hop away"


@pytest.mark.parametrize("loss", [0.0, 0.15])
@pytest.mark.parametrize("protocol", ["preventive", "prc"])
def test_on_links_that_change(protocol: str, loss: float) -> None:
    """Hundreds of links come and go while messages are in flight, without effect on applications."""
    result = run(Scenario(protocol=protocol, loss=loss, seed=4, **CHANGING), audit=True)
    metrics = result.metrics
    assert result.clean and result.outcome == "complete", result.violations[:1]
    assert metrics.delivered == 200 * 16
    assert metrics.links_opened > 60 and metrics.links_closed > 60
    assert (metrics.frames_lost > 100) == (loss > 0)


def test_link_memory_delivers_twice_where_prc_does_not() -> None:
    """The same workload and exchanges: that is why prc exists (Nédelec et al., figure 2)."""
    fields = {**CHANGING, "workload": "broadcast:100,0s,500ms", "until": "1s"}
    wrong = run(Scenario(protocol="link-memory", **fields), audit=True)
    right = run(Scenario(protocol="prc", **fields), audit=True)
    assert wrong.metrics.sent == right.metrics.sent == 50
    assert wrong.metrics.duplicates > 10 and right.metrics.duplicates == 0
    assert "duplicate" in {violation.kind for violation in wrong.violations}
    assert right.clean


def test_figure_2_by_the_clock() -> None:
    """a's message reaches c at once and b late; meanwhile b opens a link to c, and passes it on."""
    fields: dict[str, Any] = {
        "processes": ("a", "b", "c"),
        "workload": "broadcast:1000,0s,1ms",
        "overlay": "links:a>b,a>c,b>a,c>a",
        "delay": "matrix:1ms,50ms,2ms;50ms,1ms,1ms;2ms,1ms,1ms",
        "opens": ("b>c@10ms",),
        "fifo": True,
    }
    seed = next(
        seed
        for seed in range(50)
        if traced(protocol="prc", seed=seed, **fields)[1][3].process == "a"
    )
    for protocol, expected in (("link-memory", 1), ("prc", 0)):
        result, events = traced(audit=True, protocol=protocol, seed=seed, **fields)
        delivered = [
            event.time_ns // MS for event in of_kind(events, "deliver") if event.process == "c"
        ]
        assert result.metrics.duplicates == expected, protocol
        assert delivered[0] == 2 and len(delivered) == 1 + expected
        assert result.metrics.links_opened == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [0.0, 0.15])
@pytest.mark.parametrize("protocol", ["preventive", "prc"])
def test_processes_come_and_go(protocol: str, loss: float, seed: int) -> None:
    """Every message reaches all processes that stay, and newcomers from their admission on."""
    result, events = traced(audit=True, protocol=protocol, loss=loss, seed=seed, **CHURN)
    metrics = result.metrics
    about = f"{protocol}, seed {seed}"
    assert result.clean and result.outcome == "complete", f"{about}: {result.violations[:1]}"
    stops = [event.detail for event in of_kind(events, "stop")]
    assert stops.count("left") == stops.count("crashed") == 4, about
    newcomers = {event.process for event in of_kind(events, "start") if event.time_ns}
    assert len(newcomers) == 6
    gone = {
        event.process for event in of_kind(events, "stop") if event.detail in ("left", "crashed")
    }
    delivered = [event for event in of_kind(events, "deliver") if event.process in newcomers]
    assert len(delivered) > 100 and {event.process for event in delivered} >= newcomers - gone, (
        about
    )
    assert metrics.links_opened > 60 and metrics.processes == 22
    # Some of what came to a newcomer was sent before it was there.
    starts = {event.process: event.time_ns for event in of_kind(events, "start")}
    sent = {(e.sender, e.mid): e.time_ns for e in of_kind(events, "send")}
    early = [e for e in delivered if sent[e.sender, e.mid] < starts[e.process]]
    assert early or loss, about


def test_newcomers_exchange_neighbours_too() -> None:
    """Long after the last join their links still change, as those of the others do."""
    result, events = traced(
        protocol="prc",
        processes=6,
        workload="broadcast:20,0s,4s",
        overlay="spray:200ms",
        churn="joins=6,to=300ms",
        fifo=True,
        seed=2,
    )
    newcomers = {event.process for event in of_kind(events, "start") if event.time_ns}
    late = [event for event in of_kind(events, "control") if event.time_ns > 2 * SECOND]
    openers = {event.process for event in late if event.detail == "Alpha"}
    closers = {event.process for event in late if event.detail == "Close"}
    assert len(newcomers) == 6 and result.metrics.undelivered == 0
    assert newcomers <= openers and newcomers <= closers


def test_entries_left_after_the_last_delivery() -> None:
    """prc and link-memory have forgotten everything; preventive and vector never do."""
    for protocol, fields in (
        ("prc", CHANGING),
        ("prc", {**CHANGING, "loss": 0.15}),
        ("prc", CHURN),
        ("link-memory", BROADCASTS),
        ("preventive", CHANGING),
        ("vector", BROADCASTS),
    ):
        shorter = {**fields, "workload": "broadcast:100,0s,1s"}
        result = run(Scenario(protocol=protocol, sample="100ms", **shorter))
        assert result.metrics.undelivered == 0
        assert max(moment.entries for moment in result.series) > 1
        last = result.series[-1]
        assert (last.most_entries == 0) == (protocol in ("prc", "link-memory")), (protocol, last)


def test_a_series_samples_the_state_of_the_run() -> None:
    """At each interval: which processes take part, what they hold and receive, and the delay."""
    result = run(
        Scenario(
            protocol="prc",
            processes=20,
            overlay="spray:1s,8s",
            workload="broadcast:20,2s,8s",
            delay="schedule:0s=1ms,4s=1ms,5s=200ms,6s=200ms,7s=1ms",
            fifo=True,
            sample="500ms",
        )
    )
    at = {moment.time_ns / SECOND: moment for moment in result.series}
    assert at[0.0].control_per_second == 0 and at[0.0].delivered == 0
    assert [at[t].delay_ns for t in (3.0, 4.5, 5.5, 7.5)] == [MS, 100_500_000, 200 * MS, MS]
    assert at[1.5].entries == 0 and at[6.0].entries > 10 * at[3.5].entries
    assert at[7.5].entries < at[6.0].entries / 5
    assert result.series[-1].entries == 0
    assert all(moment.control_per_second > 0 for t, moment in at.items() if 1 < t < 8)
    rates = [moment.control_per_second for moment in result.series]
    assert result.metrics.control_received == round(sum(rates) * 20 * 0.5)
    assert result.series[-1].delivered == result.metrics.delivered == 120 * 20


@pytest.mark.parametrize("protocol", ["prc", "tree"])
def test_a_relay_passes_on_what_it_has_received(protocol: str) -> None:
    """In the trace: first the message arrives, then it leaves again, and its bytes are counted."""
    workload: dict[str, Any] = {"workload": "broadcast:100"} if protocol == "prc" else {}
    result, events = traced(protocol=protocol, processes=12, messages=5, fifo=True, **workload)
    received: set[tuple[str, str | None, int | None]] = set()
    relayed = 0
    for event in events:
        message = (event.process, event.sender, event.mid)
        if event.kind == "receive":
            assert (event.detail == "again") == (
                message in received or event.process == event.sender
            )
            received.add(message)
        elif event.kind == "release" and event.detail == "relay":
            assert message in received and event.process != event.sender
            relayed += 1
        elif event.kind == "deliver" and event.process != event.sender:
            assert message in received
    assert relayed > 30
    out = [event for event in events if event.kind == "release"]
    out += [event for event in events if event.kind == "control" and event.process == event.sender]
    assert sum(event.meta_bytes + event.payload_bytes for event in out) == result.metrics.wire_bytes


def test_a_tree_that_is_rearranged() -> None:
    """Subtrees move while messages of all kinds fly, over several hops."""
    moves = tuple(f"p{a:02}>p{b:02}@{at}ms" for a, b, at in ((9, 2, 50), (5, 13, 90), (3, 6, 130)))
    for workload in ("uniform", "groups:4", "broadcast:200"):
        result = run(
            Scenario(
                protocol="tree",
                processes=20,
                messages=20,
                workload=workload,
                overlay="tree:2",
                reparents=moves,
            ),
            audit=True,
        )
        assert result.clean and result.outcome == "complete", workload
        still = run(
            Scenario(protocol="tree", processes=20, messages=20, workload=workload), audit=True
        )
        assert still.clean and still.metrics.control_frames < result.metrics.control_frames


@pytest.mark.parametrize(
    "tree",
    [
        "customer=relay,relay=bank,shop=bank",
        "customer=relay,shop=relay,bank=relay",
        "customer=shop,shop=relay,bank=relay",
    ],
)
def test_customer_shop_and_bank_on_trees(tree: str) -> None:
    """Whatever the tree, no debit overtakes its credit; where links go everywhere, some do."""
    names = ("customer", "relay", "shop", "bank")
    fields: dict[str, Any] = {"delay": "lognormal:5ms,1"}
    program = purchase_program(60)
    on_tree = run(
        Scenario(
            protocol="tree",
            workload="replay",
            program=program,
            overlay=f"tree:{tree}",
            **fields,
        ),
        audit=True,
    )
    assert set(on_tree.scenario.names) == set(names)
    assert on_tree.clean and on_tree.metrics.metadata_bytes < 60 * on_tree.metrics.frames
    direct = run(
        Scenario(protocol="fifo", workload="replay", program=program, **fields), audit=True
    )
    assert direct.violations, "the order was never in danger"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"protocol": "prc"}, "prc only broadcasts"),
        ({"protocol": "tree", "overlay": "ring"}, "tree runs on a tree, not on 'ring'"),
        ({"protocol": "tree", "overlay": "tree:p1=p2,p2=p1"}, "cycle"),
        ({"protocol": "tree", "overlay": "tree:p1=p0"}, "p2|processes"),
        ({"protocol": "hybrid", "churn": "joins=1,to=1s"}, "no links that come and go"),
        ({"protocol": "hybrid", "opens": ("p0>p1@1s",)}, "no links that come and go"),
        ({"protocol": "hybrid", "reparents": ("p0>p1@1s",)}, "hybrid has no tree"),
        ({"protocol": "prc", "churn": "joins=1"}, "has no end"),
        ({"protocol": "prc", "churn": "joins=x,to=1s"}, "joins is 'x'"),
        ({"protocol": "prc", "churn": "stays=1,to=1s"}, "is not understood"),
        ({"protocol": "prc", "churn": "joins=1,from=2s,to=1s"}, "ends before it begins"),
        ({"protocol": "prc", "opens": ("p0>p0@1s",)}, "a link from a process to itself"),
        ({"protocol": "prc", "opens": ("p0>x@1s",)}, "there is no process 'x'"),
        ({"protocol": "prc", "closes": ("p0-p1@1s",)}, "is not understood"),
        ({"protocol": "prc", "overlay": "links:p0>p1", "churn": "joins=1,to=1s"}, "both ways"),
        ({"protocol": "prc", "link": "never"}, "do not overtake each other"),
        ({"protocol": "prc", "overlay": 5}, "overlay is 5"),
        ({"protocol": "prc", "sample": "0s"}, "sample is 0"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(fields: dict[str, Any], problem: str) -> None:
    """Before anything runs."""
    workload = {} if problem.startswith("prc only") else {"workload": "broadcast:10"}
    with pytest.raises(ScenarioError, match=problem):
        Scenario(**{"processes": 5, **workload, **fields})


def test_closing_a_link_that_is_not_open_does_nothing() -> None:
    """A scenario may ask for it; the run goes on."""
    result = run(
        Scenario(
            protocol="prc",
            processes=5,
            overlay="complete",
            workload="broadcast:100,0s,100ms",
            closes=("p0>p1@10ms", "p0>p1@20ms"),
            opens=("p0>p1@60ms", "p2>p3@60ms"),
        ),
        audit=True,
    )
    assert result.clean and result.metrics.links_closed == 1 == result.metrics.links_opened
