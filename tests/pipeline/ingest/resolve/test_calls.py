"""Spans become messages: requests, replies, one-way messages, and what each of them follows."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from beforehand.pipeline.ingest.read.spans import CLIENT, CONSUMER, PRODUCER, SERVER, TraceSpan
from beforehand.pipeline.ingest.resolve.calls import SpanMessage, messages_of
from beforehand.pipeline.ingest.resolve.outcomes import CLOCK_SKEW, MISSING_PARENT, NOT_REPORTED
from beforehand.pipeline.replay import program_of
from tests.pipeline.ingest.plain import ancestors


def found(*spans: TraceSpan) -> dict[str, SpanMessage]:
    """The messages of a trace `t`, by their ids without the trace."""
    messages, _ = messages_of("t", spans)
    names = [each.id.removeprefix("t/") for each in messages]
    assert len(set(names)) == len(names)
    program_of([{**each._asdict(), "run": "r"} for each in messages] or [_ANY])
    return {
        name: each._replace(after=tuple(a.removeprefix("t/") for a in each.after))
        for name, each in zip(names, messages, strict=True)
    }


_ANY = {
    "run": "r",
    "id": "x",
    "sender": "a",
    "to": ["b"],
    "time_ns": 0,
    "after": [],
    "payload_bytes": None,
}


def after(*spans: TraceSpan) -> dict[str, set[str]]:
    """What each message follows."""
    return {name: set(each.after) for name, each in found(*spans).items()}


def test_an_edge_to_another_process_is_a_request_and_a_reply() -> None:
    """The request goes from the parent's process to the child's, the reply back."""
    messages = found(TraceSpan("1", None, "web", 0, 100), TraceSpan("2", "1", "db", 10, 20))
    request, reply = messages["2"], messages["2/reply"]
    assert (request.sender, request.to, request.kind, request.time_ns) == (
        "web",
        ("db",),
        "request",
        10,
    )
    assert (reply.sender, reply.to, reply.kind, reply.time_ns) == ("db", ("web",), "reply", 20)
    assert (request.after, reply.after) == ((), ("2",))


def test_spans_of_one_process_send_nothing() -> None:
    """A parent and a child in one process are local work."""
    assert found(TraceSpan("1", None, "web", 0, 100), TraceSpan("2", "1", "web", 10, 20)) == {}


def test_a_request_follows_what_its_task_received() -> None:
    """Through local spans up to the one that a request started."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "shop", 10, 90),
        TraceSpan("3", "2", "shop", 20, 80),
        TraceSpan("4", "3", "shop", 30, 70),
        TraceSpan("5", "4", "db", 40, 60),
    )
    assert after(*spans)["5"] == {"2"}


def test_a_request_follows_the_replies_of_calls_that_ended_before_it_began() -> None:
    """And not those of calls that were still under way."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("a", "1", "x", 10, 20),
        TraceSpan("b", "1", "y", 15, 40),
        TraceSpan("c", "1", "z", 30, 50),
    )
    assert after(*spans)["c"] == {"a/reply"}
    assert after(*spans)["b"] == set()


def test_a_call_that_begins_at_the_instant_another_ends_is_not_ordered() -> None:
    """Clocks are coarse: equal is not before."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("a", "1", "x", 10, 20),
        TraceSpan("b", "1", "y", 20, 30),
    )
    assert after(*spans)["b"] == set()


def test_calls_without_length_at_one_instant_are_not_after_each_other() -> None:
    """That would be a cycle."""
    spans = (
        TraceSpan("1", None, "web", 0, 9),
        TraceSpan("a", "1", "x", 5, 5),
        TraceSpan("b", "1", "y", 5, 5),
    )
    assert after(*spans)["a"] == after(*spans)["b"] == set()


def test_the_clock_of_the_caller_counts_where_it_has_one() -> None:
    """The callee's clock runs an hour ahead; the client spans still tell which call came first."""
    hour = 3600
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("a", "1", "web", 10, 20),
        TraceSpan("a2", "a", "fast", 10 + hour, 20 + hour),
        TraceSpan("b", "1", "web", 30, 40),
        TraceSpan("b2", "b", "db", 32, 38),
    )
    assert after(*spans)["b2"] == {"a2/reply"}
    assert found(*spans)["a2"].time_ns == 10
    assert found(*spans)["a2/reply"].time_ns == 20 + hour  # sent by the callee, with its clock


def test_a_local_span_with_several_calls_is_not_the_side_of_one() -> None:
    """Its times say nothing about any one of them."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("work", "1", "web", 5, 95),
        TraceSpan("a", "work", "x", 10, 20),
        TraceSpan("b", "work", "y", 30, 40),
    )
    assert after(*spans)["b"] == {"a/reply"}


def test_calls_of_different_tasks_of_one_process_are_not_ordered() -> None:
    """The two requests that `shop` gets run in two threads for all that anybody knows."""
    spans = (
        TraceSpan("1", None, "web", 0, 200),
        TraceSpan("a", "1", "shop", 10, 50),
        TraceSpan("a1", "a", "db", 20, 30),
        TraceSpan("b", "1", "shop", 15, 150),
        TraceSpan("b1", "b", "db", 100, 110),
    )
    assert after(*spans)["b1"] == {"b"}


def test_a_reply_follows_the_calls_that_had_ended_by_then() -> None:
    """Those that end at that instant too, and not one that goes on."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "shop", 10, 60),
        TraceSpan("a", "2", "x", 20, 60),
        TraceSpan("b", "2", "y", 25, 70),
    )
    assert after(*spans)["2/reply"] == {"a/reply"}


def test_what_is_implied_is_not_listed() -> None:
    """Of fifty calls one after the other, a message follows the last only."""
    calls = [TraceSpan(f"c{i}", "2", f"x{i}", 10 * i, 10 * i + 5) for i in range(1, 51)]
    spans = (TraceSpan("1", None, "web", 0, 999), TraceSpan("2", "1", "shop", 1, 990), *calls)
    told = after(*spans)
    assert told["c50"] == {"c49/reply"}
    assert told["2/reply"] == {"c50/reply"}
    assert len(ancestors(told)["2/reply"]) == 101


def test_the_two_sides_of_a_call_may_share_one_id() -> None:
    """Zipkin's client and server: one call, with the client's clock; what is below is the server's."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "web", 10, 50, CLIENT),
        TraceSpan("2", "1", "shop", 1020, 1040, SERVER),
        TraceSpan("3", "2", "db", 1025, 1030),
    )
    messages = found(*spans)
    assert sorted(messages) == ["2", "2/reply", "3", "3/reply"]
    assert (messages["2"].sender, messages["2"].to, messages["2"].time_ns) == ("web", ("shop",), 10)
    assert messages["3"].sender == "shop" and messages["3"].after == ("2",)


def test_a_client_side_below_another_process_is_a_message_of_its_own() -> None:
    """The side that shares its id keeps its messages apart from those of the server."""
    spans = (
        TraceSpan("1", None, "edge", 0, 100),
        TraceSpan("2", "1", "web", 10, 50, CLIENT),
        TraceSpan("2", "1", "shop", 20, 40, SERVER),
    )
    assert after(*spans) == {
        "2/client": set(),
        "2": {"2/client"},
        "2/reply": {"2"},
        "2/client/reply": {"2/reply"},
    }


def test_a_call_to_a_process_that_did_not_report() -> None:
    """A database that is named as the remote side gets its request and answers, and this is flagged."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "web", 10, 20, CLIENT, "mysql"),
    )
    messages = found(*spans)
    assert messages["2"].to == ("mysql",) and messages["2"].flags == (NOT_REPORTED,)
    assert messages["2/reply"].after == ("2",) and messages["2/reply"].flags == (NOT_REPORTED,)


def test_an_unreported_call_of_a_span_that_was_called_has_an_id_of_its_own() -> None:
    """The request to the span has its name already."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "shop", 10, 20, CLIENT, "mysql"),
    )
    assert after(*spans) == {
        "2": set(),
        "2/out": {"2"},
        "2/out/reply": {"2/out"},
        "2/reply": {"2/out/reply"},
    }


def test_a_client_whose_server_reported_under_an_id_of_its_own() -> None:
    """OpenTelemetry's way: the remote name adds nothing."""
    spans = (
        TraceSpan("1", None, "web", 10, 50, CLIENT, "shop.internal"),
        TraceSpan("2", "1", "shop", 20, 40, SERVER),
    )
    assert sorted(found(*spans)) == ["2", "2/reply"]


def test_a_request_from_a_process_that_did_not_report() -> None:
    """A root that names its caller has a request and a reply."""
    spans = (
        TraceSpan("1", None, "web", 0, 100, SERVER, "phone"),
        TraceSpan("2", "1", "db", 10, 20),
    )
    messages = found(*spans)
    assert messages["1"].sender == "phone" and messages["1"].flags == (NOT_REPORTED,)
    assert messages["2"].after == ("1",)
    assert messages["1/reply"].to == ("phone",) and messages["1/reply"].after == ("2/reply",)


def test_messaging_has_no_reply() -> None:
    """All consumers of what one producer sent get one message, after what it received."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "shop", 10, 60),
        TraceSpan("p", "2", "shop", 20, 30, PRODUCER, "kafka"),
        TraceSpan("c1", "p", "mail", 500, 510, CONSUMER, "kafka"),
        TraceSpan("c2", "p", "bill", 400, 410, CONSUMER, "kafka"),
        TraceSpan("c3", "c1", "db", 502, 503),
    )
    messages = found(*spans)
    assert sorted(messages) == ["2", "2/reply", "c3", "c3/reply", "p"]
    assert messages["p"].to == ("bill", "mail") and messages["p"].kind == "message"
    assert messages["p"].time_ns == 20 and messages["p"].after == ("2",)
    assert messages["c3"].after == ("p",)
    assert messages["2/reply"].after == ("p",)  # it had been sent by then


def test_what_is_produced_for_nobody_known_goes_to_the_broker() -> None:
    """It is the only receiver that is named."""
    spans = (TraceSpan("1", None, "web", 0, 9), TraceSpan("p", "1", "web", 2, 3, PRODUCER, "kafka"))
    [(name, message)] = found(*spans).items()
    assert (name, message.to, message.kind) == ("p", ("kafka",), "message")
    assert message.flags == (NOT_REPORTED,)


def test_what_is_consumed_from_nobody_known_comes_from_the_broker() -> None:
    """Without a producer, the broker is the only sender that is named."""
    messages = found(
        TraceSpan("c", None, "mail", 0, 9, CONSUMER, "kafka"), TraceSpan("d", "c", "db", 2, 3)
    )
    assert messages["c"].sender == "kafka" and messages["d"].after == ("c",)
    assert "c/reply" not in messages


def test_follows_from_is_one_way() -> None:
    """The parent does not wait for it."""
    spans = (TraceSpan("1", None, "web", 0, 9), TraceSpan("2", "1", "mail", 5, 50, one_way=True))
    messages = found(*spans)
    assert sorted(messages) == ["2"] and messages["2"].kind == "message"


def test_a_child_before_its_parent_is_kept_and_flagged() -> None:
    """Its clock is wrong; the order does not depend on it."""
    spans = [TraceSpan("1", None, "web", 100, 200), TraceSpan("2", "1", "db", 50, 60)]
    messages, flags = messages_of("t", spans)
    assert messages[0].flags == (CLOCK_SKEW,) and flags == [set(), {CLOCK_SKEW}]
    assert after(*spans)["2/reply"] == {"2"}


def test_a_missing_parent_makes_a_root_and_is_flagged() -> None:
    """What it calls is still known."""
    spans = [TraceSpan("2", "lost", "web", 0, 9), TraceSpan("3", "2", "db", 2, 3)]
    messages, flags = messages_of("t", spans)
    assert flags == [{MISSING_PARENT}, set()]
    assert [each.after for each in messages] == [(), ("t/3",)]


def test_sizes_are_taken_from_either_side() -> None:
    """The callee's word counts first."""
    spans = (
        TraceSpan("1", None, "web", 0, 9, CLIENT, request_bytes=7, reply_bytes=70),
        TraceSpan("2", "1", "db", 2, 3, SERVER, reply_bytes=80),
    )
    messages = found(*spans)
    assert messages["2"].payload_bytes == 7 and messages["2/reply"].payload_bytes == 80


def test_slashes_in_ids_do_not_make_two_messages_one() -> None:
    """Trace `a/b` with span `c` and trace `a` with span `b/c` stay apart."""
    one, _ = messages_of("a/b", [TraceSpan("r", None, "x", 0, 9), TraceSpan("c", "r", "y", 1, 2)])
    two, _ = messages_of("a", [TraceSpan("r", None, "x", 0, 9), TraceSpan("b/c", "r", "y", 1, 2)])
    assert not {each.id for each in one} & {each.id for each in two}


def test_a_chain_of_thousands_of_spans_is_no_problem() -> None:
    """Nothing here recurses."""
    spans = [TraceSpan("0", None, "p0", 0, 10**6)]
    spans += [TraceSpan(str(i), str(i - 1), f"p{i % 7}", i, 10**6 - i) for i in range(1, 5000)]
    messages, _ = messages_of("t", spans)
    assert len(messages) == 2 * 4999


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_follow_the_rule_exactly(seed: int) -> None:
    """Against the rule written down naively: the same order, whatever the clocks say, and no cycles."""
    spans = _random_trace(random.Random(seed))
    told = ancestors(after(*spans))
    by_id = {span.id: span for span in spans}
    for one, two in combinations(_calls(spans), 2):
        for a, b in ((one, two), (two, one)):
            if _task(a, by_id) == _task(b, by_id):
                direct = a.end_ns < b.start_ns
                assert (f"{a.id}/reply" in told[b.id]) == direct, f"seed {seed}: {a} {b}"
    for call in _calls(spans):
        top = _task(call, by_id)
        assert call.id in told[f"{call.id}/reply"], f"seed {seed}"
        assert (top in told[call.id]) == (top in {c.id for c in _calls(spans)}), f"seed {seed}"
        for inner in _calls(spans):
            if _task(inner, by_id) == call.id:
                ended = inner.end_ns <= call.end_ns
                assert (f"{inner.id}/reply" in told[f"{call.id}/reply"]) == ended, f"seed {seed}"


def _random_trace(rng: random.Random) -> list[TraceSpan]:
    """Every span with several children or none, so that no span is the side of a single call."""
    spans = [TraceSpan("0", None, "p0", 0, 50)]
    for i in range(1, rng.randint(2, 25)):
        parent = rng.choice(spans)
        start = rng.randint(-5, 50)
        process = rng.choice(["p0", "p1", "p2"])
        spans.append(
            TraceSpan(str(i), parent.id, process, start, start + rng.randint(0, 12), SERVER)
        )
    return spans


def _calls(spans: list[TraceSpan]) -> list[TraceSpan]:
    by_id = {span.id: span for span in spans}
    return [s for s in spans if s.parent is not None and by_id[s.parent].process != s.process]


def _task(span: TraceSpan, by_id: dict[str, TraceSpan]) -> str:
    """The top span of the task that calls `span`."""
    assert span.parent is not None
    top = by_id[span.parent]
    while top.parent is not None and by_id[top.parent].process == top.process:
        top = by_id[top.parent]
    return top.id
