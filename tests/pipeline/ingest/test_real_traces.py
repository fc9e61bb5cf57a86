"""The real traces: their numbers are counted a second time here, in plain Python."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter, defaultdict
from functools import cache
from typing import Any

import pytest

from beforehand.pipeline.replay import program_of
from beforehand.simulator import Scenario, run
from tests.pipeline.ingest.logs import Clock, EventId, disagreements
from tests.pipeline.ingest.plain import NO_REAL, REAL, Ingested, ingest_files

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason=NO_REAL)

UNREADABLE = {"alibaba"}  # call graphs whose format no reader understands yet


@cache
def ingested(folder: str) -> Ingested:
    """A folder, ingested once."""
    paths = sorted((REAL / folder).iterdir())
    return ingest_files({path.as_uri().replace("///", "/"): path.read_bytes() for path in paths})


def kinds(result: Ingested) -> dict[str, int]:
    """The number of messages of each kind."""
    return dict(Counter(message["kind"] for message in result.messages))


def test_every_file_but_the_licences_is_used() -> None:
    """Licences are not in any of the formats."""
    for folder in sorted(path.name for path in REAL.iterdir() if path.is_dir()):
        if folder in UNREADABLE:
            continue
        result = ingested(folder)
        unused = [file.file for file in result.summary.files if not file.accepted]
        assert all("LICENSE" in name for name in unused), folder
        assert len(unused) < len(result.summary.files)


def test_nezha() -> None:
    """Spans, rows that two files share, calls between pods, and children before their parents."""
    rows = []
    for name in ("12_02_trace.csv", "12_03_trace.csv"):
        with (REAL / "nezha-onlineboutique" / name).open() as lines:
            rows.append([tuple(row) for row in csv.reader(lines)][1:])
    distinct = set(rows[0]) | set(rows[1])
    by_id = {row[:2]: row for row in distinct}
    assert len(by_id) == len(distinct)  # no id is used twice
    children = [(by_id[row[0], row[2]], row) for row in distinct if row[2] != "root"]
    calls = [(parent, row) for parent, row in children if parent[3] != row[3]]
    skewed = [row for parent, row in children if int(row[5]) < int(parent[5])]

    result = ingested("nezha-onlineboutique")
    first, second = (file for file in result.summary.files if file.format == "span-csv")
    assert [first.rows, second.rows] == [len(rows[0]), len(rows[1])]
    assert (first.duplicates, second.duplicates) == (0, len(set(rows[0]) & set(rows[1])))
    assert first.accepted + second.accepted == len(distinct)
    assert kinds(result) == {"request": len(calls), "reply": len(calls)}
    assert result.summary.flags == {"clock skew": len(skewed)} and skewed
    requests = Counter(
        (message["sender"], *message["to"])
        for message in result.messages
        if message["kind"] == "request"
    )
    assert requests == Counter((parent[3], row[3]) for parent, row in calls)


def test_deathstarbench() -> None:
    """The spans of 20 traces, and the calls between their services."""
    [path] = (REAL / "dsb-socialnetwork").glob("*.json")
    calls: Counter[tuple[str, str]] = Counter()
    spans = 0
    for trace in json.loads(path.read_text())["data"]:
        service = {key: process["serviceName"] for key, process in trace["processes"].items()}
        service_of = {span["spanID"]: service[span["processID"]] for span in trace["spans"]}
        spans += len(trace["spans"])
        for span in trace["spans"]:
            for reference in span["references"]:
                pair = service_of[reference["spanID"]], service_of[span["spanID"]]
                calls[pair] += pair[0] != pair[1]
    result = ingested("dsb-socialnetwork")
    assert sum(file.accepted for file in result.summary.files) == spans
    assert kinds(result) == {"request": calls.total(), "reply": calls.total()}
    requests = (message for message in result.messages if message["kind"] == "request")
    assert Counter((request["sender"], *request["to"]) for request in requests) == +calls


def test_deathstarbench_orders_sequential_calls() -> None:
    """In the first trace, media is called after unique-id, while text-service calls two at once."""
    result = ingested("dsb-socialnetwork")
    first = [
        message for message in result.messages if message["id"].startswith("151e8ea44a5cf41c/")
    ]
    by_receiver = {message["to"][0]: message for message in first if message["kind"] == "request"}
    unique, media = by_receiver["unique-id-service"], by_receiver["media-service"]
    assert media["after"] == (f"{unique['id']}/reply",)
    mentions, urls = by_receiver["user-mention-service"], by_receiver["url-shorten-service"]
    assert mentions["after"] == urls["after"] == (by_receiver["text-service"]["id"],)  # at once


def test_zipkin() -> None:
    """Every span is used; databases and brokers that did not report are named and flagged."""
    result = ingested("zipkin")
    spans = {path.name: json.loads(path.read_text()) for path in (REAL / "zipkin").glob("*.json")}
    for file in result.summary.files:
        name = file.file.rpartition("/")[2]
        if name in spans:
            assert file.rows == file.accepted == len(spans[name])
    yelp = spans["yelp.json"]
    served = {span["id"] for span in yelp if span.get("kind") == "SERVER"}
    silent = [s for s in yelp if s.get("kind") == "CLIENT" and s["id"] not in served]
    unreported = [
        message
        for message in result.messages
        if message["file"].endswith("yelp.json")
        and message["kind"] == "request"
        and "remote side not reported" in message["flags"]
    ]
    assert Counter(message["to"][0] for message in unreported) == Counter(
        span["remoteEndpoint"]["serviceName"] for span in silent
    )
    kafka = [message for message in result.messages if message["file"].endswith("kafka.json")]
    assert {message["kind"] for message in kafka} == {"message"}


def test_college_messages() -> None:
    """Each line is a message after its sender's last one and those that the sender received since."""
    rows = [
        line.split() for line in (REAL / "messages" / "CollegeMsg.txt").read_text().splitlines()
    ]
    result = ingested("messages")
    assert len(result.messages) == len(rows) == result.file.accepted
    by_position = {message["position"]: message for message in result.messages}
    received: defaultdict[str, dict[str, int]] = defaultdict(dict)
    last: dict[str, int] = {}
    arriving: list[tuple[str, str, int]] = []
    now = ""
    for position, (sender, receiver, time) in enumerate(rows, 1):
        if time != now:  # the file is sorted by time
            for process, peer, message in arriving:
                received[process][peer] = message
            now, arriving = time, []
        expected = set(received.pop(sender, {}).values()) | (
            {last[sender]} if sender in last else set()
        )
        assert {
            int(cause.partition(":")[2]) for cause in by_position[position]["after"]
        } == expected
        last[sender] = position
        arriving.append((receiver, sender, position))


def test_the_editing_trace() -> None:
    """Each transaction follows exactly its parents, so the order is that of the graph."""
    document = json.loads(
        gzip.decompress((REAL / "editing" / "friendsforever.json.gz").read_bytes())
    )
    result = ingested("editing")
    assert len(result.messages) == len(document["txns"]) == result.file.accepted
    for message in result.messages:
        txn = document["txns"][int(message["id"])]
        assert sorted(map(int, message["after"])) == sorted(txn["parents"])
        assert message["sender"] == str(txn["agent"]) and message["to"] == (str(1 - txn["agent"]),)
        assert message["payload_bytes"] == sum(len(patch[2].encode()) for patch in txn["patches"])
    # If the agents were concurrent with themselves, a replay could not keep the order of the graph.
    assert result.summary.flags == {}


def clocks_of(name: str) -> dict[EventId, Clock]:
    """The clocks of a log, found by their braces and the word before them."""
    text = (REAL / "shiviz" / name).read_text()
    events = re.findall(r"([\w-]+)\]? (\{\".*?\})", text)
    return {(host, json.loads(clock)[host]): json.loads(clock) for host, clock in events}


@pytest.mark.parametrize("name", ["chord", "reliable-broadcast", "simpledb"])
def test_logs_with_clocks_keep_their_order(name: str) -> None:
    """Messages order all pairs of send and receive events the way the log's clocks do."""
    result = ingested("shiviz")
    clocks = clocks_of(f"{name}.log")
    [file] = (file for file in result.summary.files if file.file.endswith(f"{name}.log"))
    assert file.accepted == len(clocks)
    assert disagreements(result, name, clocks) == []


@pytest.mark.parametrize("name", ["chord", "reliable-broadcast", "simpledb"])
def test_messages_of_logs_with_clocks(name: str) -> None:
    """By definition, the events that another event knows directly: no third event is in between."""
    clocks = clocks_of(f"{name}.log")

    def before(a: EventId, b: EventId) -> bool:
        return a != b and clocks[b].get(a[0], 0) >= a[1]

    receivers: defaultdict[EventId, set[str]] = defaultdict(set)
    for at, clock in clocks.items():
        known = [(q, count) for q, count in clock.items() if count]
        candidates = [(q, n) for q, n in known if q != at[0]]
        own = (at[0], at[1] - 1)
        for cause in candidates:
            rivals = [event for event in (*candidates, own) if event != cause and event in clocks]
            if not any(before(cause, rival) for rival in rivals):
                receivers[cause].add(at[0])
    sent = {message["id"]: set(message["to"]) for message in ingested("shiviz").run(name)}
    assert sent == {f"{host}:{number}": to for (host, number), to in receivers.items()}


def test_the_only_line_without_a_clock_is_rejected() -> None:
    """It is Akka's note on a dead letter, in the middle of a log."""
    [reject] = (reject for reject in ingested("shiviz").rejects if reject["position"])
    assert "dead letters" in reject["raw"] and reject["position"] == 8


def check_replay(messages: list[dict[str, Any]]) -> None:
    """Replay messages under `hybrid`, with an audit."""
    scenario = Scenario(protocol="hybrid", workload="replay", program=program_of(messages))
    result = run(scenario, audit=True)
    assert result.clean and result.metrics.sent == len(messages) and not result.metrics.undelivered


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("dsb-socialnetwork", "dsb-socialnetwork"),
        ("shiviz", "chord"),
        ("zipkin", "zipkin"),
    ],
)
def test_real_workloads_replay_cleanly(folder: str, name: str) -> None:
    """Every message of the run is sent and delivered in causal order."""
    check_replay(ingested(folder).run(name))
