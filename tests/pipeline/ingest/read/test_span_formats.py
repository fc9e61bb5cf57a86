"""Spans of every format: what is read, and what each kind of damage does."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from beforehand.pipeline.ingest.read.options import Options, columns_of
from beforehand.pipeline.ingest.resolve.outcomes import CLOCK_SKEW, MISSING_PARENT
from tests.pipeline.ingest.plain import FOLDER, Ingested, ingest_files, ingest_one

TRACE = "0af7651916cd43dd8448eb211c80319c"
ONE, TWO, THREE = "00f067aa0ba902b7", "b7ad6b7169203331", "5fb397be34d26b51"


# ---- the same call in four formats: web asks shop, 10 us after it began ----


def zipkin(**more: Any) -> list[dict[str, Any]]:
    """Two spans; what is given changes the second one, and None takes a field away."""
    spans: list[dict[str, Any]] = [
        {
            "traceId": TRACE,
            "id": ONE,
            "timestamp": 100,
            "duration": 50,
            "localEndpoint": {"serviceName": "web"},
        },
        {
            "traceId": TRACE,
            "id": TWO,
            "parentId": ONE,
            "kind": "SERVER",
            "timestamp": 110,
            "duration": 20,
            "localEndpoint": {"serviceName": "shop"},
            "tags": {"http.request.body.size": "12", "http.response.body.size": 34},
        },
    ]
    spans[1] = {name: value for name, value in {**spans[1], **more}.items() if value is not None}
    return spans


def jaeger(**more: Any) -> dict[str, Any]:
    """The same, with the whole parent inside the reference."""
    parent = {
        "traceID": TRACE,
        "spanID": ONE,
        "startTime": 100,
        "duration": 50,
        "processID": "p1",
        "references": [],
    }
    child = {
        "traceID": TRACE,
        "spanID": TWO,
        "startTime": 110,
        "duration": 20,
        "processID": "p2",
        "references": [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": ONE, "span": parent}],
        "tags": [
            {"key": "http.request.body.size", "value": 12},
            {"key": "http.response.body.size", "value": 34},
        ],
        **more,
    }
    processes = {"p1": {"serviceName": "web"}, "p2": {"serviceName": "shop"}}
    spans = [parent, {name: value for name, value in child.items() if value is not None}]
    return {"data": [{"traceID": TRACE, "spans": spans, "processes": processes}]}


def otlp(scope: str = "scopeSpans", **more: Any) -> dict[str, Any]:
    """The same, with each service as a resource."""
    parent = {
        "traceId": TRACE,
        "spanId": ONE,
        "parentSpanId": "",
        "startTimeUnixNano": "100000",
        "endTimeUnixNano": "150000",
    }
    child = {
        "traceId": TRACE,
        "spanId": TWO,
        "parentSpanId": ONE,
        "kind": 2,
        "startTimeUnixNano": "110000",
        "endTimeUnixNano": "130000",
        "attributes": [
            {"key": "http.request.body.size", "value": {"intValue": "12"}},
            {"key": "http.response.body.size", "value": {"intValue": "34"}},
        ],
        **more,
    }
    child = {name: value for name, value in child.items() if value is not None}

    def resource(name: str, span: dict[str, Any]) -> dict[str, Any]:
        attributes = [{"key": "service.name", "value": {"stringValue": name}}]
        return {"resource": {"attributes": attributes}, scope: [{"spans": [span]}]}

    return {"resourceSpans": [resource("web", parent), resource("shop", child)]}


CSV = f"""\
TraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration
{TRACE},{ONE},root,web,"a, b",100000,150000,50
{TRACE},{TWO},{ONE},shop,op,110000,130000,20
"""


def read(value: Any) -> Ingested:
    """Ingest a JSON document."""
    return ingest_one(json.dumps(value))


@pytest.mark.parametrize(
    ("text", "name", "sizes"),
    [
        (json.dumps(zipkin()), "zipkin", (12, 34)),
        (json.dumps([zipkin()]), "zipkin", (12, 34)),
        (json.dumps(jaeger(), indent=1), "jaeger", (12, 34)),
        (json.dumps(jaeger()["data"][0]), "jaeger", (12, 34)),
        (json.dumps(otlp()), "otlp", (12, 34)),
        (json.dumps(otlp("instrumentationLibrarySpans"), indent=2), "otlp", (12, 34)),
        (json.dumps(otlp()) + "\n" + json.dumps({"resourceSpans": []}) + "\n", "otlp", (12, 34)),
        (CSV, "span-csv", (None, None)),
    ],
)
def test_all_formats_tell_the_same(
    text: str, name: str, sizes: tuple[int | None, int | None]
) -> None:
    """One request and one reply, at the same times, under the same ids."""
    found = ingest_one(text)
    assert (found.file.format, found.file.accepted, found.file.rejected) == (name, 2, 0)
    told = [
        (e["id"], e["sender"], e["to"], e["time_ns"], e["after"], e["kind"]) for e in found.messages
    ]
    request = f"{TRACE}/{TWO}"
    assert told == [
        (request, "web", ("shop",), 110_000, (), "request"),
        (f"{request}/reply", "shop", ("web",), 130_000, (request,), "reply"),
    ]
    assert tuple(each["payload_bytes"] for each in found.messages) == sizes


def test_ids_in_base64_are_the_same_ids() -> None:
    """Protobuf's own JSON writes bytes that way."""
    encoded = base64.b64encode(bytes.fromhex(TWO)).decode()
    assert read(otlp(spanId=encoded)).messages[0]["id"] == f"{TRACE}/{TWO}"


def test_two_instances_of_a_service_are_two_processes() -> None:
    """If the resource tells them apart."""
    value = otlp()
    for number, resource in enumerate(value["resourceSpans"]):
        resource["resource"]["attributes"] = [
            {"key": "service.name", "value": {"stringValue": "shop"}},
            {"key": "service.instance.id", "value": {"stringValue": str(number)}},
        ]
    assert read(value).messages[0]["sender"] == "shop/0"


@pytest.mark.parametrize("kind", [5, "SPAN_KIND_CONSUMER"])
def test_kinds_as_numbers_and_as_names(kind: Any) -> None:
    """A consumer has no reply."""
    assert [each["kind"] for each in read(otlp(kind=kind)).messages] == ["message"]


def test_follows_from_has_no_reply() -> None:
    """Jaeger's other kind of reference; a child-of counts first if there are both."""
    follows = {"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": ONE}
    assert [e["kind"] for e in read(jaeger(references=[follows])).messages] == ["message"]
    both = [follows, {"refType": "CHILD_OF", "traceID": TRACE, "spanID": ONE}]
    assert [e["kind"] for e in read(jaeger(references=both)).messages] == ["request", "reply"]


def test_a_link_to_another_trace_is_no_parent() -> None:
    """So the span is a root, and nothing is missing."""
    found = read(jaeger(references=[{"refType": "CHILD_OF", "traceID": "other", "spanID": ONE}]))
    assert found.messages == [] and found.summary.flags == {}


def test_columns_of_another_csv() -> None:
    """Their names, and their units, by --map."""
    text = f"t,s,p,svc,begin,took\n{TRACE},{ONE},,web,0.1,50\n{TRACE},{TWO},{ONE},shop,0.11,20\n"
    columns = columns_of(
        ["trace=t,span=s,parent=p,process=svc", "start=begin:ms", "duration=took:us"]
    )
    found = ingest_one(text, Options(columns=columns))
    assert [each["time_ns"] for each in found.messages] == [110_000, 130_000]


# ---- damage ----


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (zipkin(id=None), "id is missing"),
        (zipkin(traceId=None), "traceId is missing"),
        (zipkin(timestamp=None), "timestamp is missing"),
        (zipkin(timestamp="soon"), "timestamp is 'soon', not an integer"),
        (zipkin(timestamp=True), "not an integer"),
        (zipkin(timestamp=2**62), "out of the range"),
        (zipkin(duration=-30), "ends before it starts"),
        (zipkin(localEndpoint=None), "its process is unknown"),
        (zipkin(localEndpoint="shop"), "localEndpoint is not an object"),
        (zipkin(localEndpoint={"serviceName": "é" * 128}), "takes 256 bytes"),
        (zipkin(localEndpoint={"serviceName": "\ud800"}), "lone surrogate"),
        (zipkin(id="\ud800"), "lone surrogate"),
        (zipkin(parentId=7), "parentId is 7, not text"),
        (jaeger(spanID=None), "spanID is missing"),
        (jaeger(processID="p9"), "processID is 'p9'"),
        (jaeger(references="x"), "references is not a list"),
        (jaeger(references=[1]), "isn't an object"),
        (jaeger(references=[{"traceID": TRACE}]), "spanID is missing"),
        (jaeger(startTime=1.5), "not an integer"),
        (otlp(spanId="xyz"), "spanId is 'xyz', not 8 bytes"),
        (otlp(traceId=TRACE[:-1]), "traceId is"),
        (otlp(startTimeUnixNano=None), "startTimeUnixNano is missing"),
        (otlp(endTimeUnixNano="99"), "ends before it starts"),
        (otlp(startTimeUnixNano=str(2**64)), "out of the range"),
    ],
)
def test_a_bad_span_is_rejected_and_the_other_is_kept(value: Any, reason: str) -> None:
    """With its place in the file and its text."""
    found = read(value)
    [(position, told)] = found.reasons
    assert position == 2 and reason in told and found.rejects[0]["raw"].startswith("{")
    assert found.file.accepted == 1


def test_spans_without_a_service_name_are_rejected() -> None:
    """Whose they are is not known."""
    value = otlp()
    value["resourceSpans"][1]["resource"] = {}
    assert "no service.name" in read(value).reasons[0][1]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"{TRACE},{THREE},{ONE},shop", "has 4 cells, and the header has 8; is it truncated?"),
        (f'{TRACE},{THREE},{ONE},"shop,op,1,2,3', "not a line of comma-separated values"),
        (f"{TRACE},{THREE},{ONE},shop,op,late,2,3", "start is 'late', not a number"),
        (f"{TRACE},{THREE},{ONE},,op,1,2,3", "must not be empty"),
        (f"{TRACE},,{ONE},shop,op,1,2,3", "span is empty"),
        (f"{TRACE},{THREE},{ONE},shop,op,2,1,3", "ends before it starts, by 1 ns"),
        (f"{TRACE},{THREE},{ONE},shop,op,1,99999999999999999999,3", "out of the range"),
    ],
)
def test_a_bad_line_of_csv(line: str, reason: str) -> None:
    """It does not take the next one with it."""
    found = ingest_one(CSV + line + "\n" + f"{TRACE},{'0' * 16},{ONE},shop,op,1,2,3\n")
    [(position, told)] = found.reasons
    assert position == 4 and reason in told and found.rejects[0]["raw"] == line
    assert found.file.accepted == 3


def test_no_duration_is_no_time_at_all_and_flagged() -> None:
    """Zipkin and OTLP leave it out for spans that were not finished."""
    for value in (zipkin(duration=None), otlp(endTimeUnixNano=None), otlp(endTimeUnixNano=0)):
        found = read(value)
        assert found.summary.flags == {"no duration": 1}
        assert found.messages[0]["flags"] == ("no duration",)


def test_unknown_fields_of_spans_are_passed_over() -> None:
    """Tracers add their own all the time."""
    assert read(zipkin(colour="red")).file.accepted == 2


def test_an_odd_size_does_not_spoil_the_span() -> None:
    """It is only a tag."""
    found = read(zipkin(tags={"http.request.body.size": "large"}))
    assert found.messages[0]["payload_bytes"] is None


def test_a_missing_parent_and_a_skewed_clock_are_kept_and_flagged() -> None:
    """Per row and on the message."""
    assert read(zipkin(parentId="gone")).summary.flags == {MISSING_PARENT: 1}
    found = read(zipkin(timestamp=99))
    assert found.messages[0]["flags"] == (CLOCK_SKEW,) and found.file.flagged == 1


def test_a_duplicated_id_is_rejected() -> None:
    """The first one in the file stays."""
    spans = zipkin()
    found = read([*spans, {**spans[1], "name": "another"}])
    [(position, reason)] = found.reasons
    assert position == 3 and "belongs to another span of its trace (x, 2)" in reason


def test_an_exact_copy_is_a_duplicate_also_in_another_file() -> None:
    """Adjacent files of one log repeat rows."""
    header, one, two = CSV.splitlines(keepends=True)
    files = {f"{FOLDER}/1.csv": CSV.encode(), f"{FOLDER}/2.csv": (header + two + one).encode()}
    found = ingest_files(files)
    assert [(f.accepted, f.duplicates) for f in found.summary.files] == [(2, 0), (0, 2)]
    assert len(found.messages) == 2


def test_a_row_that_differs_in_a_column_we_do_not_use_is_no_copy() -> None:
    """Exact is exact."""
    found = ingest_one(CSV + CSV.splitlines()[2].replace("op", "other") + "\n")
    assert (found.file.duplicates, found.file.rejected) == (0, 1)


def test_parents_in_a_circle_are_all_rejected() -> None:
    """What hangs below them has lost its parent."""
    spans = zipkin(parentId=TWO)  # its own parent
    three = {**spans[1], "id": THREE, "parentId": TWO}
    found = read([*spans, three])
    [(position, reason)] = found.reasons
    assert position == 2 and "form a cycle" in reason
    assert found.summary.flags == {MISSING_PARENT: 1}


def test_a_cut_line_of_otlp_is_one_reject() -> None:
    """The lines before it are whole documents."""
    whole = json.dumps(otlp())
    found = ingest_one(f"{whole}\n{whole[:200]}")
    [(position, reason)] = found.reasons
    assert position == 3 and "line 2 is not JSON" in reason and found.file.accepted == 2
