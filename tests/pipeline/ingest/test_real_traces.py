"""The real traces: numbers that are counted here once more, in plain Python and in another way."""

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
from tests.pipeline.ingest.logs import At, Clock, disagreements
from tests.pipeline.ingest.plain import NO_REAL, REAL, Ingested, ingest_files

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason=NO_REAL)

UNREADABLE = {"alibaba"}  # call graphs whose format no reader understands yet


@cache
def ingested(folder: str) -> Ingested:
    """A folder, ingested once."""
    paths = sorted((REAL / folder).iterdir())
    return ingest_files({path.as_uri().replace("///", "/"): path.read_bytes() for path in paths})


def kinds(found: Ingested) -> dict[str, int]:
    """How many messages of each kind."""
    return dict(Counter(each["kind"] for each in found.messages))


def test_every_file_is_used_but_the_licences() -> None:
    """And of those the reason is that they are none of the formats."""
    for folder in sorted(path.name for path in REAL.iterdir() if path.is_dir()):
        if folder in UNREADABLE:
            continue
        found = ingested(folder)
        unused = [each.file for each in found.summary.files if not each.accepted]
        assert all("LICENSE" in each for each in unused), folder
        assert len(unused) < len(found.summary.files)


def test_nezha() -> None:
    """Spans, rows that two files share, calls between pods, children before their parents."""
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

    found = ingested("nezha-onlineboutique")
    first, second = (each for each in found.summary.files if each.format == "span-csv")
    assert [first.rows, second.rows] == [len(rows[0]), len(rows[1])]
    assert (first.duplicates, second.duplicates) == (0, len(set(rows[0]) & set(rows[1])))
    assert first.accepted + second.accepted == len(distinct)
    assert kinds(found) == {"request": len(calls), "reply": len(calls)}
    assert found.summary.flags == {"clock skew": len(skewed)} and skewed
    told = Counter(
        (each["sender"], *each["to"]) for each in found.messages if each["kind"] == "request"
    )
    assert told == Counter((parent[3], row[3]) for parent, row in calls)


def test_deathstarbench() -> None:
    """Spans of 20 traces, and the calls between their services."""
    [path] = (REAL / "dsb-socialnetwork").glob("*.json")
    calls: Counter[tuple[str, str]] = Counter()
    spans = 0
    for trace in json.loads(path.read_text())["data"]:
        service = {key: each["serviceName"] for key, each in trace["processes"].items()}
        of = {span["spanID"]: service[span["processID"]] for span in trace["spans"]}
        spans += len(trace["spans"])
        for span in trace["spans"]:
            for reference in span["references"]:
                pair = of[reference["spanID"]], of[span["spanID"]]
                calls[pair] += pair[0] != pair[1]
    found = ingested("dsb-socialnetwork")
    assert sum(each.accepted for each in found.summary.files) == spans
    assert kinds(found) == {"request": calls.total(), "reply": calls.total()}
    requests = (each for each in found.messages if each["kind"] == "request")
    assert Counter((each["sender"], *each["to"]) for each in requests) == +calls


def test_deathstarbench_calls_one_after_the_other() -> None:
    """By eye, in the first trace: compose-post asks for a number, then for media; and two at once."""
    found = ingested("dsb-socialnetwork")
    first = [each for each in found.messages if each["id"].startswith("151e8ea44a5cf41c/")]
    by_receiver = {each["to"][0]: each for each in first if each["kind"] == "request"}
    unique, media = by_receiver["unique-id-service"], by_receiver["media-service"]
    assert media["after"] == (f"{unique['id']}/reply",)
    mentions, urls = by_receiver["user-mention-service"], by_receiver["url-shorten-service"]
    assert mentions["after"] == urls["after"] == (by_receiver["text-service"]["id"],)  # at once


def test_zipkin() -> None:
    """Every span is used; the databases and the broker that did not report are named and flagged."""
    found = ingested("zipkin")
    spans = {path.name: json.loads(path.read_text()) for path in (REAL / "zipkin").glob("*.json")}
    for each in found.summary.files:
        name = each.file.rpartition("/")[2]
        if name in spans:
            assert each.rows == each.accepted == len(spans[name])
    yelp = spans["yelp.json"]
    served = {span["id"] for span in yelp if span.get("kind") == "SERVER"}
    silent = [s for s in yelp if s.get("kind") == "CLIENT" and s["id"] not in served]
    told = [
        each
        for each in found.messages
        if each["file"].endswith("yelp.json")
        and each["kind"] == "request"
        and "remote side not reported" in each["flags"]
    ]
    assert Counter(each["to"][0] for each in told) == Counter(
        span["remoteEndpoint"]["serviceName"] for span in silent
    )
    kafka = [each for each in found.messages if each["file"].endswith("kafka.json")]
    assert {each["kind"] for each in kafka} == {"message"}


def test_college_messages() -> None:
    """Every line is a message; each follows the last that its sender wrote and what it got since."""
    rows = [
        line.split() for line in (REAL / "messages" / "CollegeMsg.txt").read_text().splitlines()
    ]
    found = ingested("messages")
    assert len(found.messages) == len(rows) == found.file.accepted
    by_place = {each["position"]: each for each in found.messages}
    heard: defaultdict[str, dict[str, int]] = defaultdict(dict)
    last: dict[str, int] = {}
    waiting: list[tuple[str, str, int]] = []
    now = ""
    for place, (sender, receiver, time) in enumerate(rows, 1):
        if time != now:  # the file is sorted by time
            for who, by, what in waiting:
                heard[who][by] = what
            now, waiting = time, []
        expected = set(heard.pop(sender, {}).values()) | (
            {last[sender]} if sender in last else set()
        )
        assert {int(each.partition(":")[2]) for each in by_place[place]["after"]} == expected
        last[sender] = place
        waiting.append((receiver, sender, place))


def test_the_editing_trace() -> None:
    """Each transaction follows its parents, and nothing else: the order is that of the graph."""
    whole = json.loads(gzip.decompress((REAL / "editing" / "friendsforever.json.gz").read_bytes()))
    found = ingested("editing")
    assert len(found.messages) == len(whole["txns"]) == found.file.accepted
    for each in found.messages:
        txn = whole["txns"][int(each["id"])]
        assert sorted(map(int, each["after"])) == sorted(txn["parents"])
        assert each["sender"] == str(txn["agent"]) and each["to"] == (str(1 - txn["agent"]),)
        assert each["payload_bytes"] == sum(len(patch[2].encode()) for patch in txn["patches"])
    # If the agents were concurrent with themselves, a replay could not keep the order of the graph.
    assert found.summary.flags == {}


def clocks_of(name: str) -> dict[At, Clock]:
    """The clocks of a log, found by the braces and by the last word before them."""
    text = (REAL / "shiviz" / name).read_text()
    found = re.findall(r"([\w-]+)\]? (\{\".*?\})", text)
    return {(host, json.loads(clock)[host]): json.loads(clock) for host, clock in found}


@pytest.mark.parametrize("name", ["chord", "reliable-broadcast", "simpledb"])
def test_logs_with_clocks_keep_their_order(name: str) -> None:
    """All pairs of send and receive events are ordered by the messages as by the log's own clocks."""
    found = ingested("shiviz")
    clocks = clocks_of(f"{name}.log")
    [file] = (each for each in found.summary.files if each.file.endswith(f"{name}.log"))
    assert file.accepted == len(clocks)
    assert disagreements(found, name, clocks) == []


@pytest.mark.parametrize("name", ["chord", "reliable-broadcast", "simpledb"])
def test_the_number_of_messages_in_logs_with_clocks(name: str) -> None:
    """Counted by the definition: the events that another event knows of, and no event in between."""
    clocks = clocks_of(f"{name}.log")

    def before(a: At, b: At) -> bool:
        return a != b and clocks[b].get(a[0], 0) >= a[1]

    senders: defaultdict[At, set[str]] = defaultdict(set)
    for at, clock in clocks.items():
        known = [(q, count) for q, count in clock.items() if count]
        candidates = [(q, n) for q, n in known if q != at[0]]
        own = (at[0], at[1] - 1)
        for one in candidates:
            others = [each for each in (*candidates, own) if each != one and each in clocks]
            if not any(before(one, other) for other in others):
                senders[one].add(at[0])
    told = {each["id"]: set(each["to"]) for each in ingested("shiviz").run(name)}
    assert told == {f"{host}:{number}": to for (host, number), to in senders.items()}


def test_the_one_line_that_no_clock_explains() -> None:
    """Akka's note on a dead letter, in the middle of a log."""
    [reject] = (each for each in ingested("shiviz").rejects if each["position"])
    assert "dead letters" in reject["raw"] and reject["position"] == 8


def replayed(messages: list[dict[str, Any]]) -> None:
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
def test_real_traffic_is_replayed_clean(folder: str, name: str) -> None:
    """Every message of the run is sent and delivered in causal order."""
    replayed(ingested(folder).run(name))
