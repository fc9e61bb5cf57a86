"""Spans of every format: what is read, and the effect of each kind of damage."""

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


# ---- the same call in four formats: web calls shop 10 us after its own start ----


def zipkin(**changes: Any) -> list[dict[str, Any]]:
    """Two spans; keyword arguments change fields of the second one, and None removes a field."""
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
    spans[1] = {name: value for name, value in {**spans[1], **changes}.items() if value is not None}
    return spans


def jaeger(**changes: Any) -> dict[str, Any]:
    """The same spans, with the whole parent inside the reference."""
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
        **changes,
    }
    processes = {"p1": {"serviceName": "web"}, "p2": {"serviceName": "shop"}}
    spans = [parent, {name: value for name, value in child.items() if value is not None}]
    return {"data": [{"traceID": TRACE, "spans": spans, "processes": processes}]}


def otlp(scope: str = "scopeSpans", **changes: Any) -> dict[str, Any]:
    """The same spans, with each service as a resource."""
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
        **changes,
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
def test_all_formats_yield_the_same_messages(
    text: str, name: str, sizes: tuple[int | None, int | None]
) -> None:
    """One request and one reply, at the same times, under the same ids."""
    ingested = ingest_one(text)
    assert (ingested.file.format, ingested.file.accepted, ingested.file.rejected) == (name, 2, 0)
    messages = [
        (m["id"], m["sender"], m["to"], m["time_ns"], m["after"], m["kind"])
        for m in ingested.messages
    ]
    request = f"{TRACE}/{TWO}"
    assert messages == [
        (request, "web", ("shop",), 110_000, (), "request"),
        (f"{request}/reply", "shop", ("web",), 130_000, (request,), "reply"),
    ]
    assert tuple(message["payload_bytes"] for message in ingested.messages) == sizes


def test_base64_ids_are_decoded() -> None:
    """Protobuf's JSON mapping encodes bytes that way."""
    encoded = base64.b64encode(bytes.fromhex(TWO)).decode()
    assert read(otlp(spanId=encoded)).messages[0]["id"] == f"{TRACE}/{TWO}"


def test_two_instances_of_a_service_are_two_processes() -> None:
    """The resource's `service.instance.id` distinguishes them."""
    value = otlp()
    for number, resource in enumerate(value["resourceSpans"]):
        resource["resource"]["attributes"] = [
            {"key": "service.name", "value": {"stringValue": "shop"}},
            {"key": "service.instance.id", "value": {"stringValue": str(number)}},
        ]
    assert read(value).messages[0]["sender"] == "shop/0"


@pytest.mark.parametrize("kind", [5, "SPAN_KIND_CONSUMER"])
def test_span_kinds_may_be_numbers_or_names(kind: Any) -> None:
    """A consumer has no reply."""
    assert [message["kind"] for message in read(otlp(kind=kind)).messages] == ["message"]


def test_follows_from_has_no_reply() -> None:
    """If a span also has a CHILD_OF reference, that one takes precedence."""
    follows = {"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": ONE}
    assert [message["kind"] for message in read(jaeger(references=[follows])).messages] == [
        "message"
    ]
    both = [follows, {"refType": "CHILD_OF", "traceID": TRACE, "spanID": ONE}]
    assert [message["kind"] for message in read(jaeger(references=both)).messages] == [
        "request",
        "reply",
    ]


def test_a_reference_to_another_trace_is_not_a_parent() -> None:
    """The span is a root, and is not flagged as missing its parent."""
    ingested = read(jaeger(references=[{"refType": "CHILD_OF", "traceID": "other", "spanID": ONE}]))
    assert ingested.messages == [] and ingested.summary.flags == {}


def test_csv_columns_can_be_mapped() -> None:
    """--map gives their names and units."""
    text = f"t,s,p,svc,begin,took\n{TRACE},{ONE},,web,0.1,50\n{TRACE},{TWO},{ONE},shop,0.11,20\n"
    columns = columns_of(
        ["trace=t,span=s,parent=p,process=svc", "start=begin:ms", "duration=took:us"]
    )
    ingested = ingest_one(text, Options(columns=columns))
    assert [message["time_ns"] for message in ingested.messages] == [110_000, 130_000]


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
    """The reject has the span's position in the file and its text."""
    ingested = read(value)
    [(position, rejection)] = ingested.reasons
    assert position == 2 and reason in rejection and ingested.rejects[0]["raw"].startswith("{")
    assert ingested.file.accepted == 1


def test_spans_without_a_service_name_are_rejected() -> None:
    """Their process is unknown."""
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
def test_a_bad_csv_line_is_rejected(line: str, reason: str) -> None:
    """The line after it is still read."""
    ingested = ingest_one(CSV + line + "\n" + f"{TRACE},{'0' * 16},{ONE},shop,op,1,2,3\n")
    [(position, rejection)] = ingested.reasons
    assert position == 4 and reason in rejection and ingested.rejects[0]["raw"] == line
    assert ingested.file.accepted == 3


def test_a_missing_duration_is_flagged() -> None:
    """Zipkin and OTLP omit it for spans that were not finished."""
    for value in (zipkin(duration=None), otlp(endTimeUnixNano=None), otlp(endTimeUnixNano=0)):
        ingested = read(value)
        assert ingested.summary.flags == {"no duration": 1}
        assert ingested.messages[0]["flags"] == ("no duration",)


def test_unknown_span_fields_are_ignored() -> None:
    """Tracers add their own all the time."""
    assert read(zipkin(colour="red")).file.accepted == 2


def test_an_invalid_size_does_not_reject_the_span() -> None:
    """It is only a tag."""
    ingested = read(zipkin(tags={"http.request.body.size": "large"}))
    assert ingested.messages[0]["payload_bytes"] is None


def test_spans_with_a_missing_parent_or_a_skewed_clock_are_flagged() -> None:
    """They are kept; the flag is counted per row and set on the message."""
    assert read(zipkin(parentId="gone")).summary.flags == {MISSING_PARENT: 1}
    ingested = read(zipkin(timestamp=99))
    assert ingested.messages[0]["flags"] == (CLOCK_SKEW,) and ingested.file.flagged == 1


def test_a_duplicated_id_is_rejected() -> None:
    """The first span in the file is kept."""
    spans = zipkin()
    ingested = read([*spans, {**spans[1], "name": "another"}])
    [(position, reason)] = ingested.reasons
    assert position == 3 and "belongs to another span of its trace (x, 2)" in reason


def test_an_exact_copy_in_another_file_is_a_duplicate() -> None:
    """Adjacent files of one log repeat rows."""
    header, one, two = CSV.splitlines(keepends=True)
    files = {f"{FOLDER}/1.csv": CSV.encode(), f"{FOLDER}/2.csv": (header + two + one).encode()}
    ingested = ingest_files(files)
    assert [(f.accepted, f.duplicates) for f in ingested.summary.files] == [(2, 0), (0, 2)]
    assert len(ingested.messages) == 2


def test_a_row_that_differs_in_an_unused_column_is_not_a_duplicate() -> None:
    """Only exact copies are duplicates."""
    ingested = ingest_one(CSV + CSV.splitlines()[2].replace("op", "other") + "\n")
    assert (ingested.file.duplicates, ingested.file.rejected) == (0, 1)


def test_spans_in_a_parent_cycle_are_rejected() -> None:
    """Their children are flagged as missing their parent."""
    spans = zipkin(parentId=TWO)  # its own parent
    three = {**spans[1], "id": THREE, "parentId": TWO}
    ingested = read([*spans, three])
    [(position, reason)] = ingested.reasons
    assert position == 2 and "form a cycle" in reason
    assert ingested.summary.flags == {MISSING_PARENT: 1}


def test_a_truncated_otlp_line_is_one_reject() -> None:
    """The lines before it are complete documents."""
    whole = json.dumps(otlp())
    ingested = ingest_one(f"{whole}\n{whole[:200]}")
    [(position, reason)] = ingested.reasons
    assert position == 3 and "line 2 is not JSON" in reason and ingested.file.accepted == 2
