"""Spans become messages: requests, replies, one-way messages, and what each message follows."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from beforehand.pipeline.ingest.read.spans import CLIENT, CONSUMER, PRODUCER, SERVER, TraceSpan
from beforehand.pipeline.ingest.resolve.calls import SpanMessage, messages_of
from beforehand.pipeline.ingest.resolve.outcomes import CLOCK_SKEW, MISSING_PARENT, NOT_REPORTED
from beforehand.pipeline.replay import program_of
from tests.pipeline.ingest.plain import ancestors


def resolved(*spans: TraceSpan) -> dict[str, SpanMessage]:
    """The messages of a trace `t`, by their ids without the trace."""
    messages, _ = messages_of("t", spans)
    names = [message.id.removeprefix("t/") for message in messages]
    assert len(set(names)) == len(names)
    program_of([{**message._asdict(), "run": "r"} for message in messages] or [_PLACEHOLDER])
    return {
        name: message._replace(after=tuple(cause.removeprefix("t/") for cause in message.after))
        for name, message in zip(names, messages, strict=True)
    }


_PLACEHOLDER = {
    "run": "r",
    "id": "x",
    "sender": "a",
    "to": ["b"],
    "time_ns": 0,
    "after": [],
    "payload_bytes": None,
}


def after(*spans: TraceSpan) -> dict[str, set[str]]:
    """The ids that each message follows."""
    return {name: set(message.after) for name, message in resolved(*spans).items()}


def test_an_edge_to_another_process_is_a_request_and_a_reply() -> None:
    """The request goes from the parent's process to the child's, the reply back."""
    messages = resolved(TraceSpan("1", None, "web", 0, 100), TraceSpan("2", "1", "db", 10, 20))
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
    assert resolved(TraceSpan("1", None, "web", 0, 100), TraceSpan("2", "1", "web", 10, 20)) == {}


def test_a_request_follows_what_its_task_received() -> None:
    """The cause is found through local spans, up to the span that a request started."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "shop", 10, 90),
        TraceSpan("3", "2", "shop", 20, 80),
        TraceSpan("4", "3", "shop", 30, 70),
        TraceSpan("5", "4", "db", 40, 60),
    )
    assert after(*spans)["5"] == {"2"}


def test_a_request_follows_the_replies_of_calls_that_ended_before_it_began() -> None:
    """It does not follow replies of calls that were still under way."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("a", "1", "x", 10, 20),
        TraceSpan("b", "1", "y", 15, 40),
        TraceSpan("c", "1", "z", 30, 50),
    )
    assert after(*spans)["c"] == {"a/reply"}
    assert after(*spans)["b"] == set()


def test_a_call_that_begins_at_the_instant_another_ends_is_not_ordered() -> None:
    """Clocks are coarse, so equal times are not an order."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("a", "1", "x", 10, 20),
        TraceSpan("b", "1", "y", 20, 30),
    )
    assert after(*spans)["b"] == set()


def test_instantaneous_calls_at_the_same_time_are_not_ordered() -> None:
    """Ordering them would create a cycle."""
    spans = (
        TraceSpan("1", None, "web", 0, 9),
        TraceSpan("a", "1", "x", 5, 5),
        TraceSpan("b", "1", "y", 5, 5),
    )
    assert after(*spans)["a"] == after(*spans)["b"] == set()


def test_the_callers_clock_is_used_where_it_has_a_client_span() -> None:
    """The callee's clock is an hour ahead; the client spans still show which call came first."""
    hour = 3600
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("a", "1", "web", 10, 20),
        TraceSpan("a2", "a", "fast", 10 + hour, 20 + hour),
        TraceSpan("b", "1", "web", 30, 40),
        TraceSpan("b2", "b", "db", 32, 38),
    )
    assert after(*spans)["b2"] == {"a2/reply"}
    assert resolved(*spans)["a2"].time_ns == 10
    assert resolved(*spans)["a2/reply"].time_ns == 20 + hour  # sent by the callee, on its clock


def test_a_local_span_with_several_calls_is_not_a_client_span() -> None:
    """Its times do not apply to any single call."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("work", "1", "web", 5, 95),
        TraceSpan("a", "work", "x", 10, 20),
        TraceSpan("b", "work", "y", 30, 40),
    )
    assert after(*spans)["b"] == {"a/reply"}


def test_calls_of_different_tasks_of_one_process_are_not_ordered() -> None:
    """The two requests that `shop` receives may be handled by two threads."""
    spans = (
        TraceSpan("1", None, "web", 0, 200),
        TraceSpan("a", "1", "shop", 10, 50),
        TraceSpan("a1", "a", "db", 20, 30),
        TraceSpan("b", "1", "shop", 15, 150),
        TraceSpan("b1", "b", "db", 100, 110),
    )
    assert after(*spans)["b1"] == {"b"}


def test_a_reply_follows_the_calls_that_had_ended_by_then() -> None:
    """A call that ends at the same instant counts as ended; one that goes on does not."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "shop", 10, 60),
        TraceSpan("a", "2", "x", 20, 60),
        TraceSpan("b", "2", "y", 25, 70),
    )
    assert after(*spans)["2/reply"] == {"a/reply"}


def test_implied_causes_are_not_listed() -> None:
    """After fifty sequential calls, a message lists only the last reply."""
    calls = [TraceSpan(f"c{i}", "2", f"x{i}", 10 * i, 10 * i + 5) for i in range(1, 51)]
    spans = (TraceSpan("1", None, "web", 0, 999), TraceSpan("2", "1", "shop", 1, 990), *calls)
    causes = after(*spans)
    assert causes["c50"] == {"c49/reply"}
    assert causes["2/reply"] == {"c50/reply"}
    assert len(ancestors(causes)["2/reply"]) == 101


def test_the_two_sides_of_a_call_may_share_one_id() -> None:
    """Zipkin's client and server are one call, on the client's clock; children are the server's."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "web", 10, 50, CLIENT),
        TraceSpan("2", "1", "shop", 1020, 1040, SERVER),
        TraceSpan("3", "2", "db", 1025, 1030),
    )
    messages = resolved(*spans)
    assert sorted(messages) == ["2", "2/reply", "3", "3/reply"]
    assert (messages["2"].sender, messages["2"].to, messages["2"].time_ns) == ("web", ("shop",), 10)
    assert messages["3"].sender == "shop" and messages["3"].after == ("2",)


def test_a_client_span_called_by_another_process_has_its_own_messages() -> None:
    """Their ids are distinct from those of the server span with the same id."""
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
    """A database named as the remote side gets a request and sends a reply, both flagged."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "web", 10, 20, CLIENT, "mysql"),
    )
    messages = resolved(*spans)
    assert messages["2"].to == ("mysql",) and messages["2"].flags == (NOT_REPORTED,)
    assert messages["2/reply"].after == ("2",) and messages["2/reply"].flags == (NOT_REPORTED,)


def test_an_unreported_call_by_a_called_span_has_its_own_id() -> None:
    """The plain id is taken by the request to the span."""
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


def test_a_client_whose_server_reported_under_another_id() -> None:
    """In OpenTelemetry's model, the remote name adds nothing."""
    spans = (
        TraceSpan("1", None, "web", 10, 50, CLIENT, "shop.internal"),
        TraceSpan("2", "1", "shop", 20, 40, SERVER),
    )
    assert sorted(resolved(*spans)) == ["2", "2/reply"]


def test_a_request_from_a_process_that_did_not_report() -> None:
    """A root that names its caller yields a request and a reply."""
    spans = (
        TraceSpan("1", None, "web", 0, 100, SERVER, "phone"),
        TraceSpan("2", "1", "db", 10, 20),
    )
    messages = resolved(*spans)
    assert messages["1"].sender == "phone" and messages["1"].flags == (NOT_REPORTED,)
    assert messages["2"].after == ("1",)
    assert messages["1/reply"].to == ("phone",) and messages["1/reply"].after == ("2/reply",)


def test_messaging_has_no_reply() -> None:
    """All consumers of a producer receive one message, which follows what the producer received."""
    spans = (
        TraceSpan("1", None, "web", 0, 100),
        TraceSpan("2", "1", "shop", 10, 60),
        TraceSpan("p", "2", "shop", 20, 30, PRODUCER, "kafka"),
        TraceSpan("c1", "p", "mail", 500, 510, CONSUMER, "kafka"),
        TraceSpan("c2", "p", "bill", 400, 410, CONSUMER, "kafka"),
        TraceSpan("c3", "c1", "db", 502, 503),
    )
    messages = resolved(*spans)
    assert sorted(messages) == ["2", "2/reply", "c3", "c3/reply", "p"]
    assert messages["p"].to == ("bill", "mail") and messages["p"].kind == "message"
    assert messages["p"].time_ns == 20 and messages["p"].after == ("2",)
    assert messages["c3"].after == ("p",)
    assert messages["2/reply"].after == ("p",)  # it had been sent by then


def test_a_message_without_known_consumers_goes_to_the_broker() -> None:
    """The broker is the only receiver that is named."""
    spans = (TraceSpan("1", None, "web", 0, 9), TraceSpan("p", "1", "web", 2, 3, PRODUCER, "kafka"))
    [(name, message)] = resolved(*spans).items()
    assert (name, message.to, message.kind) == ("p", ("kafka",), "message")
    assert message.flags == (NOT_REPORTED,)


def test_a_message_without_a_known_producer_comes_from_the_broker() -> None:
    """The broker is the only sender that is named."""
    messages = resolved(
        TraceSpan("c", None, "mail", 0, 9, CONSUMER, "kafka"), TraceSpan("d", "c", "db", 2, 3)
    )
    assert messages["c"].sender == "kafka" and messages["d"].after == ("c",)
    assert "c/reply" not in messages


def test_follows_from_is_one_way() -> None:
    """The parent does not wait for the child."""
    spans = (TraceSpan("1", None, "web", 0, 9), TraceSpan("2", "1", "mail", 5, 50, one_way=True))
    messages = resolved(*spans)
    assert sorted(messages) == ["2"] and messages["2"].kind == "message"


def test_a_child_before_its_parent_is_kept_and_flagged() -> None:
    """Its clock is wrong, but the order does not depend on it."""
    spans = [TraceSpan("1", None, "web", 100, 200), TraceSpan("2", "1", "db", 50, 60)]
    messages, flags = messages_of("t", spans)
    assert messages[0].flags == (CLOCK_SKEW,) and flags == [set(), {CLOCK_SKEW}]
    assert after(*spans)["2/reply"] == {"2"}


def test_a_span_without_its_parent_becomes_a_flagged_root() -> None:
    """Its own calls are still known."""
    spans = [TraceSpan("2", "lost", "web", 0, 9), TraceSpan("3", "2", "db", 2, 3)]
    messages, flags = messages_of("t", spans)
    assert flags == [{MISSING_PARENT}, set()]
    assert [message.after for message in messages] == [(), ("t/3",)]


def test_sizes_are_taken_from_either_side() -> None:
    """The callee's value takes precedence."""
    spans = (
        TraceSpan("1", None, "web", 0, 9, CLIENT, request_bytes=7, reply_bytes=70),
        TraceSpan("2", "1", "db", 2, 3, SERVER, reply_bytes=80),
    )
    messages = resolved(*spans)
    assert messages["2"].payload_bytes == 7 and messages["2/reply"].payload_bytes == 80


def test_slashes_in_ids_do_not_merge_messages() -> None:
    """Trace `a/b` with span `c` and trace `a` with span `b/c` stay distinct."""
    one, _ = messages_of("a/b", [TraceSpan("r", None, "x", 0, 9), TraceSpan("c", "r", "y", 1, 2)])
    two, _ = messages_of("a", [TraceSpan("r", None, "x", 0, 9), TraceSpan("b/c", "r", "y", 1, 2)])
    assert not {message.id for message in one} & {message.id for message in two}


def test_a_chain_of_thousands_of_spans_does_not_overflow_the_stack() -> None:
    """Nothing here recurses."""
    spans = [TraceSpan("0", None, "p0", 0, 10**6)]
    spans += [TraceSpan(str(i), str(i - 1), f"p{i % 7}", i, 10**6 - i) for i in range(1, 5000)]
    messages, _ = messages_of("t", spans)
    assert len(messages) == 2 * 4999


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_follow_the_rule_exactly(seed: int) -> None:
    """A naive formulation of the rule gives the same order, whatever the clocks, and no cycles."""
    spans = _random_trace(random.Random(seed))
    causes = ancestors(after(*spans))
    by_id = {span.id: span for span in spans}
    for one, two in combinations(_calls(spans), 2):
        for a, b in ((one, two), (two, one)):
            if _task(a, by_id) == _task(b, by_id):
                direct = a.end_ns < b.start_ns
                assert (f"{a.id}/reply" in causes[b.id]) == direct, f"seed {seed}: {a} {b}"
    for call in _calls(spans):
        top = _task(call, by_id)
        assert call.id in causes[f"{call.id}/reply"], f"seed {seed}"
        assert (top in causes[call.id]) == (top in {c.id for c in _calls(spans)}), f"seed {seed}"
        for inner in _calls(spans):
            if _task(inner, by_id) == call.id:
                ended = inner.end_ns <= call.end_ns
                assert (f"{inner.id}/reply" in causes[f"{call.id}/reply"]) == ended, f"seed {seed}"


def _random_trace(rng: random.Random) -> list[TraceSpan]:
    """A random tree of server spans, none of which counts as the client side of a call."""
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
